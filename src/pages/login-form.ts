/**
 * The sign-in page as an answer, on the first visit and after every failure a person can do something about.
 */
import type { AppError } from '../base/errors.ts';
import type { Context } from '../http/context.ts';
import { pageReply } from '../http/reply/page-reply.ts';
import { loginPage } from './views/login.tsx';
import type { Reply } from '../http/reply/reply.ts';

interface LastAttempt {
  /** Where to go afterwards: a safe path. */
  readonly next: string;
  readonly username?: string;
  /** Its text is shown and its status answered. */
  readonly error?: AppError;
  /** Nobody has an account yet. */
  readonly isFirstRun?: boolean;
}

/** The page, for whoever asks. */
export function loginForm(context: Context, last: LastAttempt): Reply {
  const { next, username = '', error, isFirstRun = false } = last;
  const { localLogin, oidc } = context.services;
  const view = {
    next,
    username,
    problem: error === undefined ? null : problemText(error),
    hasPasswordForm: localLogin.isEnabled,
    hasOidc: oidc !== null,
    isFirstRun,
  };
  return pageReply(context, loginPage, view, { status: error?.status, headers: error?.headers });
}

function problemText(error: AppError): string {
  return error.issues === undefined ? error.message : 'Enter a user name and a password.';
}
