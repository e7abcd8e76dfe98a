/**
 * Who is asking: the credentials of a request become one principal, or a 401 (DS-93 to DS-97).
 *
 * Every header credential that was sent is checked, whatever else proved the caller: one that is present and wrong is
 * never silently ignored. Nothing is remembered between requests, so a revocation counts from the next one.
 */
import { BEARER_CHALLENGE, notAuthenticated } from './challenges.ts';
import type {
  AuthServices,
  AuthenticationMethod,
  Carrier,
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

interface Proven extends Proof {
  readonly method: AuthenticationMethod;
}

/**
 * The caller of a request. Throws `not-authenticated` with `WWW-Authenticate` when a header credential is bad
 * (`refusalOf` tells why), `throttled` (DS-102) and `unavailable`. No credential at all is no error here.
 */
export async function authenticate(
  services: AuthServices,
  credentials: RequestCredentials,
  methods: readonly AuthenticationMethod[] = allMethods,
): Promise<Authentication> {
  const proven: Proven[] = [];
  const claimed = new Set<Carrier>();
  for (const method of methods) {
    for (const claim of method.claims(credentials)) {
      claimed.add(claim.carrier);
      const proof = await method.prove(services, claim, credentials.clientAddress);
      if (typeof proof !== 'string') proven.push({ ...proof, method });
      else if (claim.carrier !== 'cookie') {
        throw notAuthenticated(claim.challenge, { credential: method.credential, reason: proof });
      }
    }
  }
  if (typeof credentials.authorization === 'string' && !claimed.has('authorization')) {
    throw notAuthenticated(BEARER_CHALLENGE, { credential: null, reason: 'unknown-scheme' });
  }
  return authenticationOf(services, credentials, proven);
}

function authenticationOf(
  services: AuthServices,
  credentials: RequestCredentials,
  proven: readonly Proven[],
): Authentication {
  const session = proven.find((proof) => proof.session !== undefined)?.session ?? null;
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

function principalOf(proof: Proven, sessionId: number | null): Principal {
  const { user } = proof;
  return {
    userId: user.id,
    username: user.username,
    isSuperuser: user.isSuperuser,
    credential: proof.method.credential,
    sessionId,
    apiKeyId: proof.apiKeyId ?? null,
    scopes: proof.scopes ?? null,
    ...(proof.isCreateOnly === true && { isCreateOnly: true }),
  };
}
