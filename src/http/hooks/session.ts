/**
 * The browser side of a session that was just started or ended: its cookies, and where to go, which is only ever a page of this site.
 */
import { csrfToken } from '../../accounts/identity/csrf-check.ts';
import type { Browser, StartedSession } from '../../operations/accounts/sessions.ts';
import type { Context } from '../context.ts';
import { type Reply, jsonReply, redirectReply } from '../reply/reply.ts';

const ELSEWHERE = '/';
/** Stands for the own origin; the rule does not depend on which one that is. */
const ANY_ORIGIN = 'http://own.invalid';

/** The path and query to go to; `/` for nothing and for everything that is not safe. */
export function safeNext(next: string | null): string {
  if (next === null || !/^\/(?![/\\])[^\\\u0000-\u0020\u007f]*$/.test(next)) return ELSEWHERE;
  if (!URL.canParse(next, ANY_ORIGIN)) return ELSEWHERE;
  const url = new URL(next, ANY_ORIGIN);
  if (url.origin !== ANY_ORIGIN) return ELSEWHERE;
  // As a browser will resolve it, and in the characters a header may hold. `/.//x` resolves to `//x`.
  const resolved = url.pathname + url.search + url.hash;
  return resolved.startsWith('//') ? ELSEWHERE : resolved;
}

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
  context.setCookie('svc_session', token);
  context.setCookie('svc_csrf', csrf);
}

/** The answer to a successful login: cookies, and for an HTML client with a form the way to `next`. */
export function signedIn(context: Context, started: StartedSession, next: string | null): Reply {
  sessionStarted(context, started);
  if (next !== null && context.wantsHtml) return redirectReply(next, 303);
  return jsonReply({ message: 'Logged in' });
}

/** Makes the browser forget its session. */
export function endSession(context: Context): void {
  context.setCookie('svc_session', null);
  context.setCookie('svc_csrf', null);
}
