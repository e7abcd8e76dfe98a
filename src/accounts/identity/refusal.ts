import { AppError } from '../../base/errors.ts';
import type { Credential } from '../rights/principal.ts';

/** Sent to the client only where a contract says so. `empty`, `spaces` and `encoding` are faults of form. */
export type RefusalReason =
  | 'empty'
  | 'spaces'
  | 'encoding'
  | 'unknown'
  | 'inactive-user'
  | 'revoked'
  | 'switched-off'
  | 'unknown-scheme';

export interface Refusal {
  readonly credential: Credential | null;
  readonly reason: RefusalReason;
}

/** No credential was sent. */
export const ANY_CHALLENGE = 'Bearer realm="svc"';
export const BEARER_CHALLENGE = 'Bearer realm="svc", error="invalid_token"';
export const BASIC_CHALLENGE = 'Basic realm="svc", charset="UTF-8"';

export const TOKEN_CHALLENGE = 'Token realm="svc"';

/** `refusal` says what was wrong with the credential. */
export function notAuthenticated(challenge: string = ANY_CHALLENGE, refusal?: Refusal): AppError {
  const headers = { 'WWW-Authenticate': challenge };
  return new AppError('not-authenticated', 'Not authenticated', { headers, cause: refusal });
}

export function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof AppError) || error.code !== 'not-authenticated') return null;
  const { cause } = error;
  return typeof cause === 'object' && cause !== null && 'reason' in cause
    ? (cause as Refusal)
    : null;
}
