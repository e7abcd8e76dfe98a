/**
 * The credentials of a request become one principal, or a 401.
 *
 * Every header credential is checked, even when another one already proved the caller: a wrong one is never silently
 * ignored. Cached results are dropped when anyone writes to the state (store/remembered.ts), so a revocation counts
 * from the next request.
 */
import { type MaybePromise, whenResolved } from '../../base/scheduling/maybe-promise.ts';
import { BEARER_CHALLENGE, notAuthenticated } from './refusal.ts';
import type {
  AuthServices,
  AuthenticationMethod,
  Claim,
  Proof,
  RequestCredentials,
} from './method.ts';
import { inBackground } from './method.ts';
import { methods } from './methods/index.ts';
import type { Caller, Principal } from '../rights/principal.ts';
import { dueAfterUse, noteSessionUse, type Strength } from './sessions.ts';

export interface LiveSession {
  readonly id: number;
  readonly token: string;
  readonly userId: number;
  readonly strength: Strength;
}

export interface Authentication {
  readonly principal: Caller;
  /** The live session of the request, even when another credential won; CSRF checks apply. */
  readonly session: LiveSession | null;
  /** The cookie should be cleared. */
  readonly expiredSessionCookie: boolean;
  /** The cookie should be sent again. */
  readonly renewedSession: boolean;
}

interface Claimed {
  readonly method: AuthenticationMethod;
  readonly claim: Claim;
}

interface Proven {
  readonly method: AuthenticationMethod;
  readonly proof: Proof;
}

/**
 * Synchronous when the caller is cached. Throws `not-authenticated` for a bad header credential (`refusalOf` tells
 * why), `throttled` and `unavailable`. A request without credentials is anonymous.
 */
export function authenticate(
  services: AuthServices,
  credentials: RequestCredentials,
): MaybePromise<Authentication> {
  const claims: Claimed[] = [];
  for (const method of methods) {
    for (const claim of method.claims(credentials)) claims.push({ method, claim });
  }
  return whenResolved(provenOf(services, credentials, claims, 0, []), (proven) => {
    const isRead = claims.some(({ claim }) => claim.carrier === 'authorization');
    if (typeof credentials.authorization === 'string' && !isRead) {
      throw notAuthenticated(BEARER_CHALLENGE, { credential: null, reason: 'unknown-scheme' });
    }
    return authenticationOf(services, credentials, proven);
  });
}

/** A bad claim ends it without trying the rest. */
function provenOf(
  services: AuthServices,
  credentials: RequestCredentials,
  claims: readonly Claimed[],
  index: number,
  proven: Proven[],
): MaybePromise<readonly Proven[]> {
  if (index === claims.length) return proven;
  const { method, claim } = claims[index]!;
  const proved = method.prove(services, claim, credentials.clientAddress);
  return whenResolved(proved, (proof) => {
    if (typeof proof !== 'string') proven.push({ method, proof });
    else if (claim.carrier !== 'cookie') {
      throw notAuthenticated(claim.challenge, { credential: method.credential, reason: proof });
    }
    return provenOf(services, credentials, claims, index + 1, proven);
  });
}

function authenticationOf(
  services: AuthServices,
  credentials: RequestCredentials,
  proven: readonly Proven[],
): Authentication {
  const session = proven.find(({ proof }) => proof.session !== undefined)?.proof.session ?? null;
  const token = credentials.sessionToken ?? null;
  const first = proven[0];
  const base = { principal: first === undefined ? null : principalOf(first, session?.id ?? null) };
  if (session === null || token === null) {
    return { ...base, session: null, expiredSessionCookie: token !== null, renewedSession: false };
  }
  const now = services.clock.now();
  const due = dueAfterUse(session, now);
  if (due.note) {
    const noted = noteSessionUse(services.db, session, now, due.renew);
    inBackground(services, 'noting a session use', noted);
  }
  return {
    ...base,
    session: { id: session.id, token, userId: session.userId, strength: session.strength },
    expiredSessionCookie: false,
    renewedSession: due.renew,
  };
}

function principalOf({ method, proof }: Proven, sessionId: number | null): Principal {
  const { user } = proof;
  const isNarrowed = (proof.scopes ?? null) !== null || proof.isCreateOnly === true;
  const principal: Principal = {
    userId: user.id,
    username: user.username,
    isSuperuser: user.isSuperuser && !isNarrowed,
    ...(user.isSuperuser && isNarrowed && { isNarrowedSuperuser: true }),
    credential: method.credential,
    sessionId,
    apiKeyId: proof.apiKeyId ?? null,
    scopes: proof.scopes ?? null,
  };
  return proof.isCreateOnly === true ? { ...principal, isCreateOnly: true } : principal;
}
