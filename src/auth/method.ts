/**
 * The contract of a sign-in method: what it finds in a request, and whether that proves a user (DS-93).
 *
 * A method never says yes for an inactive user and never throws for a bad credential: it answers a refusal, and
 * authenticate.ts decides what that means. To add one: a file in methods/ and a line in methods/index.ts.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Soon } from '../base/soon.ts';
import type { Database } from '../store/database.ts';
import type { LocalLogin } from './local-login.ts';
import type { Oidc } from './oidc/oidc.ts';
import type { Credential, Scope } from './principal.ts';
import type { Session } from './sessions.ts';
import type { User } from './users.ts';

/** What a request brought, as it came; absent and null mean the same. */
export interface RequestCredentials {
  /** Value of the cookie `svc_session`. */
  readonly sessionToken?: string | null;
  /** Value of `X-API-Key`. */
  readonly apiKeyHeader?: string | null;
  /** Value of `Authorization`. */
  readonly authorization?: string | null;
  /** Client address (DS-204). */
  readonly clientAddress: string;
}

/** What the methods work with. */
export interface AuthServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly localLogin: LocalLogin;
  /** Null while OIDC is off (DS-119). */
  readonly oidc: Oidc | null;
}

/** Where in the request a credential stood. */
type Carrier = 'cookie' | 'x-api-key' | 'authorization';

/** A credential of a method's kind, not yet checked. */
export interface Claim {
  readonly carrier: Carrier;
  readonly value: string;
  /** `WWW-Authenticate` if it turns out bad (DS-95). */
  readonly challenge: string;
}

/**
 * Why a credential was refused; the client is told only where a contract says so (EV-3, EV-65). `empty`, `spaces` and
 * `encoding` are faults of form.
 */
export type RefusalReason =
  | 'empty'
  | 'spaces'
  | 'encoding'
  | 'unknown'
  | 'inactive-user'
  | 'revoked'
  | 'switched-off'
  | 'unknown-scheme';

/** A credential that proves nothing. */
export interface Refusal {
  readonly credential: Credential | null;
  readonly reason: RefusalReason;
}

/** A credential that proves an active user. */
export interface Proof {
  readonly user: User;
  readonly session?: Session;
  readonly apiKeyId?: number;
  /** Absent or null: all rights of the user. */
  readonly scopes?: readonly Scope[] | null;
  /** The key can do nothing but create events. */
  readonly isCreateOnly?: boolean;
}

/** One way to sign in; see the file header for what it promises. */
export interface AuthenticationMethod {
  readonly credential: Credential;
  /** The credentials of this kind in the request; most often none or one. */
  claims(credentials: RequestCredentials): Claim[];
  /** May throw `throttled`, `unavailable` and, for a name that is taken, `permission-denied`. */
  prove(services: AuthServices, claim: Claim, clientAddress: string): Soon<Proof | RefusalReason>;
}

/** Splits an `Authorization` value; the scheme comes in lower case, null when there is none. */
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

/**
 * Lets work of a request go on behind its answer: failing or being slow must not hold up a read (a full disk, another
 * process writing). A failure is logged.
 */
export function inBackground(services: AuthServices, what: string, work: Promise<void>): void {
  work.catch((error: unknown) => services.log.warning(`${what} failed`, { error }));
}
