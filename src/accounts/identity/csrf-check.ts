/** The CSRF check of unsafe requests with a session. The token is derived from the session, not stored, so a planted token never matches. */
import { createHmac } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { secretsEqual } from './secret-compare.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** 43 characters. */
export function csrfToken(secret: Uint8Array, sessionToken: string): string {
  return createHmac('sha256', secret).update(sessionToken).digest('base64url');
}

export interface RequestOrigin {
  readonly secFetchSite: string | null;
  readonly origin: string | null;
  /** Never called for `null`. */
  isOwnOrigin(origin: string): boolean;
}

/**
 * Throws `csrf-failed` when the browser reports another site. A request with neither header passes. The only check
 * for sign-in and sign-out without a session and for Basic.
 */
export function checkOrigin(request: RequestOrigin): void {
  const { secFetchSite, origin } = request;
  const site = secFetchSite?.trim().toLowerCase();
  const isForeign =
    origin === null ? site === 'same-site' : origin === 'null' || !request.isOwnOrigin(origin);
  if (site === 'cross-site' || isForeign) {
    throw new AppError('csrf-failed', 'CSRF check failed: cross-site request');
  }
}

export interface SessionRequest extends RequestOrigin {
  readonly method: string;
  readonly sessionToken: string;
  /** Cookie `svc_csrf`. */
  readonly cookie: string | null;
  /** Header `X-CSRF-Token`. */
  readonly headerToken: string | null;
  /** Called only without a header. */
  formToken(): Promise<string | null>;
}

/** Throws `csrf-failed`; safe methods pass. */
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
