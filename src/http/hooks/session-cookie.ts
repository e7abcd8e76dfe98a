/**
 * The cookies of a browser session: `svc_session` and its companion `svc_csrf`.
 */
import { SESSION_LIFETIME_MS } from '../../accounts/identity/sessions.ts';
import { csrfToken } from '../../accounts/identity/csrf.ts';
import type { Browser, StartedSession } from '../../operations/accounts.ts';
import type { Context } from '../context.ts';
import { type Reply, jsonReply, redirectReply } from '../reply/reply.ts';

/** Name of the session's cookie. */
export const SESSION_COOKIE = 'svc_session';
/** Name of the cookie with the CSRF token. */
export const CSRF_COOKIE = 'svc_csrf';
const MAX_AGE_SECONDS = SESSION_LIFETIME_MS / 1000;

/** The value of a cookie in a `Cookie` header; the first when it comes twice, null when it does not come. */
export function cookieValue(header: string | null, name: string): string | null {
  if (header === null) return null;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    return pair.slice(equals + 1).trim();
  }
  return null;
}

/** `Set-Cookie` that starts or prolongs a session. */
export function sessionCookie(token: string, isSecure: boolean): string {
  return cookie(SESSION_COOKIE, token, MAX_AGE_SECONDS, isSecure, true);
}

/** `Set-Cookie` that ends a session in the browser. */
export function clearedSessionCookie(isSecure: boolean): string {
  return cookie(SESSION_COOKIE, '', 0, isSecure, true);
}

/** `Set-Cookie` of the CSRF token; pages read it, so it is not HttpOnly. */
export function csrfCookie(token: string, isSecure: boolean): string {
  return cookie(CSRF_COOKIE, token, MAX_AGE_SECONDS, isSecure, false);
}

/** `Set-Cookie` that forgets the CSRF token. */
function clearedCsrfCookie(isSecure: boolean): string {
  return cookie(CSRF_COOKIE, '', 0, isSecure, false);
}

/** The cookies of a sign-in under way at the identity provider. */
export const OIDC_COOKIES = [
  'svc_oidc_state',
  'svc_oidc_verifier',
  'svc_oidc_nonce',
  'svc_oidc_next',
] as const;

/** Name of one of them. */
export type OidcCookie = (typeof OIDC_COOKIES)[number];

/** How long the provider's pages may take. */
const OIDC_SECONDS = 600;

/** `Set-Cookie` of a sign-in under way; the value is percent-encoded. */
export function oidcCookie(name: OidcCookie, value: string, isSecure: boolean): string {
  return cookie(name, encodeURIComponent(value), OIDC_SECONDS, isSecure, true);
}

/** `Set-Cookie` that forgets it. */
export function clearedOidcCookie(name: OidcCookie, isSecure: boolean): string {
  return cookie(name, '', 0, isSecure, true);
}

function cookie(
  name: string,
  value: string,
  maxAge: number,
  isSecure: boolean,
  isHttpOnly: boolean,
): string {
  const httpOnly = isHttpOnly ? 'HttpOnly; ' : '';
  const secure = isSecure ? '; Secure' : '';
  return `${name}=${value}; ${httpOnly}Max-Age=${maxAge}; Path=/; SameSite=Lax${secure}`;
}

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
