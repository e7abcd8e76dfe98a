/**
 * The authorization code flow with PKCE. State, verifier and nonce are in browser cookies, so a code issued to
 * somebody else is useless in this browser. Each state is accepted once, before the provider would notice a replay.
 */
import type { JWTPayload } from 'jose';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Lru } from '../../base/lru.ts';
import { Lane } from '../../processes/lane.ts';
import { sha256Hex } from '../../base/ids.ts';
import type { Config } from '../../config/settings.ts';
import { ANY_CHALLENGE } from '../identity/refusal.ts';
import { secretsEqual } from '../identity/secret-compare.ts';
import type { Provider } from './provider.ts';
import { reasonOf } from './provider.ts';
import type { TokenVerifier } from './tokens.ts';

const CALLBACK_PATH = '/auth/oidc/callback';
const LOGIN_PATH = '/auth/login';
const MAX_SHOWN_ERROR = 200;
/** States that came back; the cookies of older ones have expired. */
const MAX_USED = 10_000;

interface FlowOptions {
  readonly settings: Config['oidc'];
  readonly provider: Provider;
  readonly verifier: TokenVerifier;
  readonly log: Log;
}

/** Anybody may come back with a made-up code, and each causes a request to the provider: so only a few at once. */
const MAX_EXCHANGES = 8;
const MAX_WAITING = 64;
const MAX_WAIT_MS = 30_000;

export interface StartedFlow {
  readonly location: string;
  readonly state: string;
  readonly verifier: string;
  readonly nonce: string;
}

export interface ReturnedFlow {
  readonly query: URLSearchParams;
  readonly state: string | null;
  readonly verifier: string | null;
  readonly nonce: string | null;
}

export interface CompletedFlow {
  readonly claims: JWTPayload;
  /** Null when it is not for this server to read. */
  readonly accessClaims: JWTPayload | null;
  readonly idToken: string;
}

interface CheckedReturn {
  readonly query: URLSearchParams;
  readonly state: string;
  readonly verifier: string;
  readonly nonce: string;
}

interface GrantedTokens {
  readonly accessToken: string;
  readonly idToken: string;
}

export class SignInFlow {
  readonly #options: FlowOptions;
  readonly #used = new Lru<string, true>(MAX_USED);
  readonly #exchanges = new Lane(MAX_EXCHANGES, MAX_WAITING);

  constructor(options: FlowOptions) {
    this.#options = options;
  }

  /** Throws `unavailable` without a public address and `bad-gateway` when the provider cannot be asked. */
  async start(): Promise<StartedFlow> {
    const { settings, provider } = this.#options;
    const redirectUri = this.#redirectUri();
    const configuration = await provider.configuration();
    const client = await import('openid-client');
    const [state, verifier, nonce] = [
      client.randomState(),
      client.randomPKCECodeVerifier(),
      client.randomNonce(),
    ];
    const location = client.buildAuthorizationUrl(configuration, {
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: settings.scopes,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { location: location.href, state, verifier, nonce };
  }

  /** Checks in a fixed order; each failure has its own text. */
  async finish(returned: ReturnedFlow): Promise<CompletedFlow> {
    const { provider, verifier } = this.#options;
    const parameters = checkReturn(returned, provider.issuer);
    const tokens = await this.#exchange(parameters);
    const claims = await verifier.idToken(tokens.idToken, parameters.nonce);
    if (claims === null) throw unauthenticated('Invalid OIDC ID token');
    const accessClaims = await verifier.grantedToken(tokens.accessToken);
    // An access token of another person would lend that person's roles.
    const isOwn = accessClaims !== null && accessClaims.sub === claims.sub;
    return { claims, accessClaims: isOwn ? accessClaims : null, idToken: tokens.idToken };
  }

  async signOutAddress(idToken: string): Promise<string | null> {
    const { settings, provider } = this.#options;
    try {
      const configuration = await provider.configuration();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      const { buildEndSessionUrl } = await import('openid-client');
      const parameters = {
        id_token_hint: idToken,
        post_logout_redirect_uri: settings.public_url + LOGIN_PATH,
      };
      return buildEndSessionUrl(configuration, parameters).href;
    } catch {
      return null;
    }
  }

  async #exchange({ query, state, verifier, nonce }: CheckedReturn): Promise<GrantedTokens> {
    const { provider, log } = this.#options;
    const client = await import('openid-client');
    // The answer decides which error text applies; the library distinguishes the cases in another order.
    let answer: Promise<unknown> = Promise.resolve(null);
    const configuration = await provider.configuration((response) => {
      answer = response.ok ? response.json().catch(() => null) : Promise.resolve(null);
    });
    // RFC 9207: a provider that names itself in its answers always does; one without the name is another's.
    const namesItself =
      configuration.serverMetadata().authorization_response_iss_parameter_supported;
    if (namesItself === true && !query.has('iss')) throw invalidState();
    this.#useUp(state);
    const address = new URL(this.#redirectUri());
    for (const name of ['code', 'state', 'iss']) {
      const value = query.get(name);
      if (value !== null) address.searchParams.set(name, value);
    }
    try {
      const granted = await this.#exchanges.run(MAX_WAIT_MS, () =>
        client.authorizationCodeGrant(configuration, address, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        }),
      );
      return { accessToken: granted.access_token, idToken: granted.id_token! };
    } catch (error) {
      if (error instanceof AppError) throw error;
      log.warning('the identity provider gave no usable tokens', { reason: reasonOf(error) });
      throw unauthenticated(problemOf(await answer));
    }
  }

  #useUp(state: string): void {
    const key = sha256Hex(state);
    if (this.#used.get(key) !== undefined) throw invalidState();
    this.#used.set(key, true);
  }

  #redirectUri(): string {
    const { public_url: publicUrl } = this.#options.settings;
    if (publicUrl !== '') return publicUrl + CALLBACK_PATH;
    throw new AppError('unavailable', 'OIDC public_url is not configured');
  }
}

function checkReturn(returned: ReturnedFlow, issuer: string): CheckedReturn {
  const { query, state, verifier, nonce } = returned;
  const error = query.get('error');
  if (error !== null) throw unauthenticated(shownError(error));
  const given = query.get('state');
  const isMissing = !query.get('code') || !given || !state || !verifier || !nonce;
  if (isMissing) throw new AppError('bad-request', 'Missing OIDC callback parameters');
  if (!secretsEqual(given, state)) throw invalidState();
  const from = query.get('iss');
  if (from !== null && from !== issuer) throw invalidState();
  return { query, state, verifier, nonce };
}

/** One line, shortened, for display. */
function shownError(error: string): string {
  const shown = error
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  return [...shown].slice(0, MAX_SHOWN_ERROR).join('') || 'OIDC sign-in failed';
}

function problemOf(answer: unknown): string {
  if (answer === null || typeof answer !== 'object') return 'OIDC token exchange failed';
  const { access_token: access, id_token: id } = answer as Record<string, unknown>;
  if (typeof access !== 'string' || access === '') {
    return 'OIDC token response missing access_token';
  }
  if (typeof id !== 'string' || id === '') return 'OIDC token response missing id_token';
  return 'Invalid OIDC ID token';
}

function invalidState(): AppError {
  return new AppError('bad-request', 'Invalid OIDC state');
}

function unauthenticated(message: string): AppError {
  const headers = { 'WWW-Authenticate': ANY_CHALLENGE };
  return new AppError('invalid-credentials', message, { headers });
}
