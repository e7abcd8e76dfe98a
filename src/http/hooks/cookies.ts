/** The cookies of this server. */
import { SESSION_LIFETIME_MS } from '../../accounts/identity/sessions.ts';

const SESSION_SECONDS = SESSION_LIFETIME_MS / 1000;
/** A sign-in under way; how long the provider's pages may take. */
const SIGN_IN = { maxAge: 600, httpOnly: true };

const COOKIES = {
  svc_session: { maxAge: SESSION_SECONDS, httpOnly: true },
  // Pages read the CSRF token.
  svc_csrf: { maxAge: SESSION_SECONDS, httpOnly: false },
  svc_oidc_state: SIGN_IN,
  svc_oidc_verifier: SIGN_IN,
  svc_oidc_nonce: SIGN_IN,
  svc_oidc_next: SIGN_IN,
} as const;

export type CookieName = keyof typeof COOKIES;

/** `Set-Cookie`; null: the browser forgets it. */
export function setCookieHeader(
  name: CookieName,
  value: string | null,
  secure: boolean,
  path: string,
): string {
  const { maxAge, httpOnly } = COOKIES[name];
  const attributes = { httpOnly, secure, sameSite: 'lax', path } as const;
  const life = value === null ? 0 : maxAge;
  return new Bun.Cookie(name, value ?? '', { ...attributes, maxAge: life }).serialize();
}

/** The value of a cookie in a `Cookie` header as it was sent; the first when it comes twice, null when it does not come. */
export function cookieValue(header: string | null, name: string): string | null {
  if (header === null) return null;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    return pair.slice(equals + 1).trim();
  }
  return null;
}
