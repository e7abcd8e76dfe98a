/**
 * The browser side of a session that was just started or ended: its cookies, and where to go.
 */
import { csrfToken } from '../../accounts/identity/csrf.ts';
import type { Browser, StartedSession } from '../../operations/accounts.ts';
import type { Context } from '../context.ts';
import type { Reply } from '../reply/reply.ts';
import { jsonReply, redirectReply } from '../reply/reply.ts';
import {
  clearedCsrfCookie,
  clearedSessionCookie,
  CSRF_COOKIE,
  csrfCookie,
  SESSION_COOKIE,
  sessionCookie,
} from './session-cookie.ts';

/** What a login needs to know of the browser. */
export function browserOf(context: Context): Browser {
  return {
    ...context.origin,
    userAgent: context.request.headers.get('user-agent'),
    sessionToken: context.session?.token ?? null,
  };
}

/** Gives the browser the cookies of its new session. */
export function sessionStarted(context: Context, { token }: StartedSession): void {
  const csrf = csrfToken(context.services.serverSecret, token);
  context.setCookie(SESSION_COOKIE, sessionCookie(token, context.isSecure));
  context.setCookie(CSRF_COOKIE, csrfCookie(csrf, context.isSecure));
}

/** The answer to a successful login: cookies, and for an HTML client with a form the way to `next`. */
export function signedIn(context: Context, started: StartedSession, next: string | null): Reply {
  sessionStarted(context, started);
  if (next !== null && context.wantsHtml) return redirectReply(next, 303);
  return jsonReply({ message: 'Logged in' });
}

/** Makes the browser forget its session. */
export function endSession(context: Context): void {
  context.setCookie(SESSION_COOKIE, clearedSessionCookie(context.isSecure));
  context.setCookie(CSRF_COOKIE, clearedCsrfCookie(context.isSecure));
}
