/**
 * The texts of `WWW-Authenticate` (DS-95) and the 401 that carries them.
 */
import { AppError } from '../base/errors.ts';
import type { Refusal } from './method.ts';

/** No credential was sent. */
export const ANY_CHALLENGE = 'Bearer realm="svc"';
/** A credential was sent and is bad. */
export const BEARER_CHALLENGE = 'Bearer realm="svc", error="invalid_token"';
/** A Basic header was sent and is bad. */
export const BASIC_CHALLENGE = 'Basic realm="svc", charset="UTF-8"';

/** A Token header was sent and is bad. */
export const TOKEN_CHALLENGE = 'Token realm="svc"';

/** The 401 of DS-94 and DS-96; `refusal` says what was wrong with the credential that was sent. */
export function notAuthenticated(challenge: string = ANY_CHALLENGE, refusal?: Refusal): AppError {
  const headers = { 'WWW-Authenticate': challenge };
  return new AppError('not-authenticated', 'Not authenticated', { headers, cause: refusal });
}

/** What was wrong with the credential, for contracts that tell; null for any other error. */
export function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof AppError) || error.code !== 'not-authenticated') return null;
  const { cause } = error;
  return typeof cause === 'object' && cause !== null && 'reason' in cause
    ? (cause as Refusal)
    : null;
}
