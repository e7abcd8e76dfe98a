/**
 * What can be checked without a key is checked first, so foreign tokens never cause a request to the provider. Keys
 * come from the configured issuer only: `jku`, `x5u`, `jwk` and `x5c` of a token are ignored.
 */
import type { JWTPayload, JWTVerifyOptions } from 'jose';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { sha256Hex } from '../../base/ids.ts';
import { Lru } from '../../base/lru.ts';
import { secretsEqual } from '../identity/secret-compare.ts';
import type { Provider } from './provider.ts';
import { LEEWAY_SECONDS } from './provider.ts';

const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
];
/** A token with a few hundred groups has some 20 KB. */
const MAX_TOKEN_LENGTH = 64 * 1024;
/** No issuer needs more for a bearer token; one valid for ten years is a key that cannot be revoked. */
const MAX_LIFETIME_SECONDS = 24 * 60 * 60;
const REMEMBER_MS = 60_000;
const MAX_REMEMBERED = 1_000;
/** `typ` of the header of access tokens, lower case; absent in most. */
const ACCESS_TYPES: ReadonlySet<unknown> = new Set([
  undefined,
  'jwt',
  'at+jwt',
  'application/at+jwt',
]);
/** `typ` of the payload by which Keycloak marks its other tokens. */
const OTHER_TOKENS: ReadonlySet<unknown> = new Set(['ID', 'Refresh', 'Offline', 'Logout']);

interface TokenVerifierOptions {
  readonly provider: Provider;
  readonly clientId: string;
  /** The audience a bearer token must name; `''` accepts none. */
  readonly audience: string;
  readonly clock: Clock;
}

/** All methods return null for a bad token and throw `unavailable`. */
export class TokenVerifier {
  readonly #options: TokenVerifierOptions;
  readonly #remembered = new Lru<string, { claims: JWTPayload; until: number }>(MAX_REMEMBERED);

  constructor(options: TokenVerifierOptions) {
    this.#options = options;
  }

  /** Cached for a minute, never beyond its expiry. */
  async accessToken(token: string): Promise<JWTPayload | null> {
    const { audience, clock } = this.#options;
    if (audience === '') return null;
    const key = sha256Hex(token);
    const known = this.#remembered.get(key);
    if (known !== undefined && clock.now() < known.until) return known.claims;
    const claims = await this.#verify(token, { audience });
    if (claims === null || !isAccessToken(claims) || !isShortLived(claims, clock)) return null;
    const until = Math.min(clock.now() + REMEMBER_MS, claims.exp! * 1000);
    this.#remembered.set(key, { claims, until });
    return claims;
  }

  /** Straight from the token endpoint, so its audience does not matter; also null for one that is no JWT. */
  async grantedToken(token: string): Promise<JWTPayload | null> {
    return this.#verify(token, {});
  }

  async idToken(token: string, nonce: string): Promise<JWTPayload | null> {
    const { clientId } = this.#options;
    const claims = await this.#verify(token, {
      audience: clientId,
      requiredClaims: ['iat', 'sub'],
    });
    if (claims === null) return null;
    const { azp, aud } = claims;
    const isOthers = Array.isArray(aud) && aud.length > 1 && azp === undefined;
    if (isOthers || (azp !== undefined && azp !== clientId)) return null;
    return typeof claims['nonce'] === 'string' && secretsEqual(claims['nonce'], nonce)
      ? claims
      : null;
  }

  async #verify(token: string, wanted: JWTVerifyOptions): Promise<JWTPayload | null> {
    const { provider, clock } = this.#options;
    if (token.length > MAX_TOKEN_LENGTH) return null;
    const { jwtVerify, decodeJwt, decodeProtectedHeader } = await import('jose');
    try {
      const { alg, typ, kid } = decodeProtectedHeader(token);
      if (typeof alg !== 'string' || !ALGORITHMS.includes(alg)) return null;
      if (!ACCESS_TYPES.has(typeof typ === 'string' ? typ.toLowerCase() : typ)) return null;
      if (kid !== undefined && typeof kid !== 'string') return null;
      if (decodeJwt(token).iss !== provider.issuer) return null;
      const { payload } = await jwtVerify(token, provider.key, {
        algorithms: ALGORITHMS,
        issuer: provider.issuer,
        clockTolerance: LEEWAY_SECONDS,
        currentDate: new Date(clock.now()),
        ...wanted,
        requiredClaims: ['exp', ...(wanted.requiredClaims ?? [])],
      });
      return isFromTheFuture(payload, clock) ? null : payload;
    } catch (error) {
      if (error instanceof AppError) throw error;
      return null;
    }
  }
}

function isFromTheFuture({ iat }: JWTPayload, clock: Clock): boolean {
  return iat !== undefined && iat > clock.now() / 1000 + LEEWAY_SECONDS;
}

/** An ID token proves a sign-in to its client; it is no credential for an API. */
function isAccessToken(claims: JWTPayload): boolean {
  const isIdToken = claims['nonce'] !== undefined || claims['at_hash'] !== undefined;
  return !isIdToken && !OTHER_TOKENS.has(claims['typ']);
}

function isShortLived({ exp = 0, iat }: JWTPayload, clock: Clock): boolean {
  return exp - (iat ?? clock.now() / 1000) <= MAX_LIFETIME_SECONDS + LEEWAY_SECONDS;
}
