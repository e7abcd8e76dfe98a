/** Signing in with a password: the page, on the first visit and after every failure a person can do something about, and its form. */
import { Elysia } from 'elysia';
import { loginModel, messageModel } from '../../api/account-models.ts';
import { AppError } from '../../base/errors.ts';
import { isForm } from '../../http/body/form-body.ts';
import type { Context } from '../../http/context.ts';
import { door } from '../../http/door.ts';
import { browserOf, safeNext, signedIn } from '../../http/hooks/session-cookie.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { RouteRules } from '../../http/route.ts';
import { login, parseLogin, requireLocalLogin } from '../../operations/accounts.ts';
import { pageReply } from '../page-reply.ts';
import { loginPage } from '../views/login.tsx';

const checks = {
  access: 'public',
  neverRedirects: true,
  requiresOwnOrigin: true,
  isExemptFromReadOnly: true,
} as const satisfies RouteRules;

export const loginRoute = new Elysia({ name: 'login', prefix: '/auth' })
  .use(door)
  .get(
    '/login',
    async ({ ask }) => {
      const isFirstRun = await ask.services.firstRun.isOpen();
      return loginForm(ask, { next: safeNext(ask.queryValue('next')), isFirstRun });
    },
    {
      checks,
      describes: {
        summary: 'Show the sign-in page',
        tag: 'auth',
        answers: {
          200: { description: 'A page for people', mediaType: 'text/html', schema: null },
        },
      },
    },
  )
  .post('/login', ({ ask }) => postLogin(ask), {
    checks,
    describes: {
      summary: 'Sign in with a password',
      tag: 'auth',
      body: [
        { schema: loginModel },
        { mediaType: 'application/x-www-form-urlencoded', schema: loginModel },
      ],
      answers: {
        200: { description: 'Signed in; the session is in a cookie', schema: messageModel },
        303: { description: 'Signed in, after a form', schema: null },
      },
      errors: [401, 403, 429, 503],
    },
  });

async function postLogin(context: Context): Promise<Reply> {
  requireLocalLogin(context.services);
  const isFormBody = isForm(context.body);
  const body = await context.formOrJson();
  const next = safeNext(textMember(body, 'next') ?? context.queryValue('next'));
  try {
    const started = await login(context.services, browserOf(context), parseLogin(body));
    return signedIn(context, started, isFormBody ? next : null);
  } catch (error) {
    const isShown = error instanceof AppError && SHOWN_IN_FORM.has(error.status);
    if (!isShown || !context.wantsHtml) throw error;
    const username = textMember(body, 'username') ?? '';
    return loginForm(context, { next, username, error });
  }
}

/** Failures that the person can correct in the form itself. */
const SHOWN_IN_FORM: ReadonlySet<number> = new Set([401, 422, 429, 503]);

function textMember(body: unknown, name: string): string | null {
  if (body === null || typeof body !== 'object' || !Object.hasOwn(body, name)) return null;
  const value = (body as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : null;
}

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
