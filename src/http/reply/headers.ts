/** About accounts, rights, health. */
export const NO_STORE = 'no-store';
/** Data and pages: stored by the browser, revalidated each time. */
export const PRIVATE = 'private, no-cache';
/** Embedded assets: their name changes with their content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

interface HeaderRules {
  /** Own TLS, or an https public address. */
  readonly isAlwaysSecure: boolean;
  /** While OIDC is on: sign-out redirects a form there. */
  readonly oidcIssuer: string | null;
}

/** Of all responses; cloned for each. */
export function securityHeaders({ isAlwaysSecure, oidcIssuer }: HeaderRules): Headers {
  const formAction = oidcIssuer === null ? "'self'" : `'self' ${new URL(oidcIssuer).origin}`;
  const headers = new Headers({
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Content-Security-Policy': [
      "default-src 'self'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      "img-src 'self' data: blob:",
      "media-src 'self' blob:",
      "connect-src 'self'",
      "object-src 'none'",
      "base-uri 'self'",
      `form-action ${formAction}`,
      "frame-ancestors 'none'",
    ].join('; '),
  });
  if (isAlwaysSecure) {
    headers.set('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
  }
  return headers;
}
