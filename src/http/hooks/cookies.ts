import { SESSION_LIFETIME_MS } from '../../accounts/identity/sessions.ts';

const SESSION_SECONDS = SESSION_LIFETIME_MS / 1000;
/** Seconds: then the password is asked again. */
const LINK_SECONDS = 12 * 60 * 60;
/** Seconds: how long a sign-in at a provider may take. */
const SIGN_IN = { maxAge: 600, httpOnly: true };

const COOKIES = {
  svc_session: { maxAge: SESSION_SECONDS, httpOnly: true },
  // Readable for scripts, which send the CSRF token.
  svc_csrf: { maxAge: SESSION_SECONDS, httpOnly: false },
  // Of a link with a password, below its address only.
  svc_link: { maxAge: LINK_SECONDS, httpOnly: true },
  // Between the password and the second factor.
  svc_second: { maxAge: 300, httpOnly: true },
  svc_oidc_state: SIGN_IN,
  svc_oidc_verifier: SIGN_IN,
  svc_oidc_nonce: SIGN_IN,
  svc_oidc_next: SIGN_IN,
} as const;

export type CookieName = keyof typeof COOKIES;

/** Null deletes the cookie. */
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

/** The first when it comes twice; null when absent. */
export function cookieValue(header: string | null, name: string): string | null {
  if (header === null) return null;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    return pair.slice(equals + 1).trim();
  }
  return null;
}
