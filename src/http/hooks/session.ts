/** Cookies of a session that was just started or ended, and the redirect after it, always to a page of this site. */
import { csrfToken } from '../../accounts/identity/csrf-check.ts';
import type { Browser, StartedSession } from '../../operations/accounts/sessions.ts';
import type { Context } from '../context.ts';
import { type Reply, jsonReply, redirectReply } from '../reply/reply.ts';

const ELSEWHERE = '/';
/** The rule does not depend on the origin. */
const ANY_ORIGIN = 'http://own.invalid';

/** `/` for nothing and for everything that is not safe. */
export function safeNext(next: string | null): string {
  if (next === null || !/^\/(?![/\\])[^\\\u0000-\u0020\u007f]*$/.test(next)) return ELSEWHERE;
  if (!URL.canParse(next, ANY_ORIGIN)) return ELSEWHERE;
  const url = new URL(next, ANY_ORIGIN);
  if (url.origin !== ANY_ORIGIN) return ELSEWHERE;
  // As a browser resolves it: `/.//x` becomes `//x`.
  const resolved = url.pathname + url.search + url.hash;
  return resolved.startsWith('//') ? ELSEWHERE : resolved;
}

export function browserOf(context: Context): Browser {
  return {
    ...context.origin,
    userAgent: context.request.headers.get('user-agent'),
    sessionToken: context.session?.token ?? null,
  };
}

export function sessionStarted(context: Context, { token }: StartedSession): void {
  const csrf = csrfToken(context.services.serverSecret, token);
  context.setCookie('svc_session', token);
  context.setCookie('svc_csrf', csrf);
}

/** For an HTML client with a form, the redirect to `next`. */
export function signedIn(context: Context, started: StartedSession, next: string | null): Reply {
  sessionStarted(context, started);
  if (next !== null && context.wantsHtml) return redirectReply(next, 303);
  return jsonReply({ message: 'Logged in' });
}

export function endSession(context: Context): void {
  context.setCookie('svc_session', null);
  context.setCookie('svc_csrf', null);
}
