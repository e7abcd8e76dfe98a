/**
 * The contract of a sign-in method: what it finds in a request, and whether that proves a user.
 *
 * A method never accepts an inactive user and never throws for a bad credential: it returns a refusal, and
 * authenticate.ts decides what that means. To add one: a file in methods/ and a line in methods/index.ts.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { MaybePromise } from '../../base/scheduling/maybe-promise.ts';
import type { Database } from '../../store/database.ts';
import type { HandlerCalls } from './handler-calls.ts';
import type { LocalLogin } from './local-login.ts';
import type { Oidc } from '../oidc/oidc.ts';
import type { Credential, Scope } from '../rights/principal.ts';
import type { RefusalReason } from './refusal.ts';
import type { Session } from './sessions.ts';
import type { User } from './users.ts';

/** Absent and null mean the same. */
export interface RequestCredentials {
  readonly sessionToken?: string | null;
  readonly apiKeyHeader?: string | null;
  readonly authorization?: string | null;
  readonly clientAddress: string;
}

export interface AuthServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly localLogin: LocalLogin;
  readonly handlerCalls: HandlerCalls;
  /** Null while OIDC is off. */
  readonly oidc: Oidc | null;
}

type Carrier = 'cookie' | 'x-api-key' | 'authorization';

export interface Claim {
  readonly carrier: Carrier;
  readonly value: string;
  /** `WWW-Authenticate` if it turns out bad. */
  readonly challenge: string;
}

export interface Proof {
  readonly user: User;
  readonly session?: Session;
  readonly apiKeyId?: number;
  /** Absent or null: all rights of the user. */
  readonly scopes?: readonly Scope[] | null;
  /** The key may only create events. */
  readonly isCreateOnly?: boolean;
}

export interface AuthenticationMethod {
  readonly credential: Credential;
  claims(credentials: RequestCredentials): Claim[];
  /** May throw `throttled`, `unavailable` and, for a name that is taken, `permission-denied`. */
  prove(
    services: AuthServices,
    claim: Claim,
    clientAddress: string,
  ): MaybePromise<Proof | RefusalReason>;
}

export function splitAuthorization(
  value: string | null | undefined,
): { scheme: string; rest: string } | null {
  if (value === undefined || value === null) return null;
  // No pattern with two open ends: a header may be 256 KiB of spaces.
  const text = value.trim();
  if (text === '') return null;
  const space = text.search(/\s/);
  if (space < 0) return { scheme: text.toLowerCase(), rest: '' };
  return { scheme: text.slice(0, space).toLowerCase(), rest: text.slice(space).trim() };
}

/** Work that must not hold up or fail a read (a full disk, another process writing). A failure is logged. */
export function inBackground(services: AuthServices, what: string, work: Promise<void>): void {
  work.catch((error: unknown) => services.log.warning(`${what} failed`, { error }));
}
