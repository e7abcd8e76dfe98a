/**
 * CSRF protection of browser sessions (DS-111 to DS-115).
 *
 * The token is derived from the session, not stored: a token planted by somebody else never equals it.
 */
import { createHmac } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import { secretsEqual } from './secret-compare.ts';

/** Methods that never need a token (DS-111). */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The CSRF token that belongs to a session cookie's value: 43 url-safe base64 characters. */
export function csrfToken(secret: Uint8Array, sessionToken: string): string {
  return createHmac('sha256', secret).update(sessionToken).digest('base64url');
}

/** Where a request says it comes from; null for an absent header. */
export interface RequestOrigin {
  readonly secFetchSite: string | null;
  readonly origin: string | null;
  /** Whether the origin is the server's own or of an allowed host. Never asked about `null`. */
  isOwnOrigin(origin: string): boolean;
}

/**
 * Throws `csrf-failed` when the browser says the request comes from another site. A request with neither header passes.
 * On its own for sign-in and sign-out without a session (DS-115) and for Basic (EV-13).
 */
export function checkOrigin(request: RequestOrigin): void {
  const { secFetchSite, origin } = request;
  const isForeign = origin !== null && (origin === 'null' || !request.isOwnOrigin(origin));
  if (secFetchSite?.trim().toLowerCase() === 'cross-site' || isForeign) {
    throw new AppError('csrf-failed', 'CSRF check failed: cross-site request');
  }
}

/** A request that carries a live session. */
export interface SessionRequest extends RequestOrigin {
  readonly method: string;
  /** Value of the session's cookie. */
  readonly sessionToken: string;
  /** Value of the cookie `svc_csrf`; null when absent. */
  readonly cookie: string | null;
  /** Value of `X-CSRF-Token`; null when absent. */
  readonly headerToken: string | null;
  /** The form field `csrf_token`; null when the body is no form or lacks it. Asked only without a header. */
  formToken(): Promise<string | null>;
}

/** Throws `csrf-failed` with the first text of DS-114 that applies; safe methods pass. */
export async function checkCsrf(secret: Uint8Array, request: SessionRequest): Promise<void> {
  if (SAFE_METHODS.has(request.method)) return;
  checkOrigin(request);
  if (!request.cookie) throw new AppError('csrf-failed', 'Missing CSRF cookie');
  const sent = request.headerToken || (await request.formToken());
  if (!sent) throw new AppError('csrf-failed', 'Missing CSRF token');
  const expected = csrfToken(secret, request.sessionToken);
  const isCookieRight = secretsEqual(request.cookie, expected);
  const isTokenRight = secretsEqual(sent, expected);
  if (!isCookieRight || !isTokenRight) {
    throw new AppError('csrf-failed', 'Invalid CSRF token');
  }
}
