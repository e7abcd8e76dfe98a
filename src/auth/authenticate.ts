/**
 * Who is asking: the credentials of a request become one principal, or a 401 (DS-93 to DS-97).
 *
 * Every header credential that was sent is checked, whatever else proved the caller: one that is present and wrong is
 * never silently ignored. What is remembered of them holds only until somebody writes to the state
 * (store/remembered.ts), so a revocation counts from the next request.
 */
import { type Soon, whenThere } from '../base/soon.ts';
import { BEARER_CHALLENGE, notAuthenticated } from './challenges.ts';
import type {
  AuthServices,
  AuthenticationMethod,
  Claim,
  Proof,
  RequestCredentials,
} from './method.ts';
import { inBackground } from './method.ts';
import { methods as allMethods } from './methods/index.ts';
import type { Caller, Principal } from './principal.ts';
import { dueAfterUse, noteSessionUse } from './sessions.ts';

/** What a request's credentials came to. */
export interface Authentication {
  /** Null: anonymous. */
  readonly principal: Caller;
  /** The live session that came with the request, whichever credential won; CSRF applies (DS-111). */
  readonly session: { readonly id: number; readonly token: string; readonly userId: number } | null;
  /** A session cookie came that is good for nothing: clear it on the response (DS-94). */
  readonly expiredSessionCookie: boolean;
  /** The session was prolonged: send its cookie again (DS-104). */
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
 * The caller of a request, at once when everything about him is remembered. Throws `not-authenticated` with
 * `WWW-Authenticate` when a header credential is bad (`refusalOf` tells why), `throttled` (DS-102) and `unavailable`. No
 * credential at all is no error here.
 */
export function authenticate(
  services: AuthServices,
  credentials: RequestCredentials,
  methods: readonly AuthenticationMethod[] = allMethods,
): Soon<Authentication> {
  const claims: Claimed[] = [];
  for (const method of methods) {
    for (const claim of method.claims(credentials)) claims.push({ method, claim });
  }
  return whenThere(provenOf(services, credentials, claims, 0, []), (proven) => {
    const isRead = claims.some(({ claim }) => claim.carrier === 'authorization');
    if (typeof credentials.authorization === 'string' && !isRead) {
      throw notAuthenticated(BEARER_CHALLENGE, { credential: null, reason: 'unknown-scheme' });
    }
    return authenticationOf(services, credentials, proven);
  });
}

/** Proves the claims from `index` on, one after the other: a bad one ends it, and those behind it are not tried. */
function provenOf(
  services: AuthServices,
  credentials: RequestCredentials,
  claims: readonly Claimed[],
  index: number,
  proven: Proven[],
): Soon<readonly Proven[]> {
  if (index === claims.length) return proven;
  const { method, claim } = claims[index]!;
  const proved = method.prove(services, claim, credentials.clientAddress);
  return whenThere(proved, (proof) => {
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
    session: { id: session.id, token, userId: session.userId },
    expiredSessionCookie: false,
    renewedSession: due.renew,
  };
}

function principalOf({ method, proof }: Proven, sessionId: number | null): Principal {
  const { user } = proof;
  const principal: Principal = {
    userId: user.id,
    username: user.username,
    isSuperuser: user.isSuperuser,
    credential: method.credential,
    sessionId,
    apiKeyId: proof.apiKeyId ?? null,
    scopes: proof.scopes ?? null,
  };
  return proof.isCreateOnly === true ? { ...principal, isCreateOnly: true } : principal;
}
