/**
 * The identity provider's metadata and keys, fetched when needed and cached.
 *
 * Concurrent callers share one request, a failure is cached for some seconds, and unknown key ids cause at most one
 * refresh a minute: requests of strangers must not become requests to the provider.
 */
import type { FlattenedJWSInput, JWSHeaderParameters, JWTVerifyGetKey, RemoteJWKSet } from 'jose';
import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/settings.ts';
import { checkedAddress, createFetch, RefusedAddress } from './outgoing.ts';

const REQUEST_TIMEOUT_MS = 10_000;
const HOUR_MS = 60 * 60 * 1000;
const KEY_REFRESH_MS = 60_000;
/** Pause after a failure; short, because people wait at the sign-in page. */
const RETRY_MS = 10_000;
/** Allowed clock difference. */
export const LEEWAY_SECONDS = 30;

interface ProviderOptions {
  /** Of one request including its body; default 10 s. */
  readonly timeoutMs?: number;
  readonly settings: Config['oidc'];
  readonly clock: Clock;
  readonly log: Log;
}

export class Provider {
  readonly issuer: string;
  readonly #options: ProviderOptions;
  readonly #issuerUrl: URL;
  readonly #timeoutMs: number;
  readonly #fetch: ReturnType<typeof createFetch>;
  #metadata: { readonly value: ServerMetadata; readonly until: number } | null = null;
  #discovering: Promise<ServerMetadata> | null = null;
  #keys: { readonly address: string; readonly set: RemoteJWKSet } | null = null;
  readonly #failedAt = new Map<string, number>();

  constructor(options: ProviderOptions) {
    this.issuer = options.settings.issuer;
    this.#options = options;
    this.#issuerUrl = new URL(options.settings.issuer);
    this.#timeoutMs = options.timeoutMs ?? REQUEST_TIMEOUT_MS;
    this.#fetch = createFetch(this.#issuerUrl, this.#timeoutMs);
  }

  /** Throws `bad-gateway`; the log says why. */
  async metadata(): Promise<ServerMetadata> {
    const now = this.#options.clock.monotonic();
    if (this.#metadata !== null && now < this.#metadata.until) return this.#metadata.value;
    try {
      return await (this.#discovering ??= this.#discover().finally(() => {
        this.#discovering = null;
      }));
    } catch (error) {
      throw new AppError('bad-gateway', 'OIDC discovery failed', { cause: error });
    }
  }

  /** `watch` sees each answer, whose body it may read. */
  async configuration(watch?: (response: Response) => void): Promise<Configuration> {
    const metadata = await this.metadata();
    const client = await import('openid-client');
    const { client_id: clientId, client_secret: secret } = this.#options.settings;
    // The client id is in the body whether or not there is a secret.
    const authentication: ClientAuth = (as, about, body, headers) => {
      client.None()(as, about, body, headers);
      if (secret !== '') client.ClientSecretBasic(secret)(as, about, body, headers);
    };
    const about = { [client.clockTolerance]: LEEWAY_SECONDS };
    const configuration = new client.Configuration(metadata, clientId, about, authentication);
    configuration.timeout = this.#timeoutMs / 1000;
    configuration[client.customFetch] = async (url, init) => {
      const response = await this.#fetch(url, init as RequestInit);
      watch?.(response.clone() as Response);
      return response;
    };
    if (this.#issuerUrl.protocol === 'http:') client.allowInsecureRequests(configuration);
    return configuration;
  }

  /** Rejects with an error of jose when there is no such key, with `unavailable` when the provider cannot be asked. */
  readonly key: JWTVerifyGetKey = async (header, token) => {
    const set = await this.#keySet();
    try {
      if (header.kid === undefined) await this.#requireSingleKey(set, header, token);
      return await set(header, token);
    } catch (error) {
      if (isAboutToken(error)) throw error;
      throw unreachable(error);
    }
  };

  async #keySet(): Promise<RemoteJWKSet> {
    let address: string;
    try {
      address = (await this.metadata()).jwks_uri!;
    } catch (error) {
      throw unreachable(error);
    }
    if (this.#keys?.address === address) return this.#keys.set;
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const set = createRemoteJWKSet(new URL(address), {
      cacheMaxAge: HOUR_MS,
      cooldownDuration: KEY_REFRESH_MS,
      timeoutDuration: this.#timeoutMs,
      [customFetch]: (url: string, init: RequestInit) =>
        this.#unlessJustFailed('the key set', () => this.#fetch(url, init)),
    });
    this.#keys = { address, set };
    return set;
  }

  /** Without a key id the set must have exactly one key. */
  async #requireSingleKey(
    set: RemoteJWKSet,
    header: JWSHeaderParameters,
    token: FlattenedJWSInput,
  ): Promise<void> {
    if (set.jwks() === undefined) await set(header, token);
    if (set.jwks()?.keys.length === 1) return;
    const { errors } = await import('jose');
    throw new errors.JWKSMultipleMatchingKeys();
  }

  async #discover(): Promise<ServerMetadata> {
    const address = `${this.issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
    return this.#unlessJustFailed('the metadata', async () => {
      const response = await this.#fetch(address, { headers: { Accept: 'application/json' } });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      const value = checkMetadata(await response.json(), this.issuer, this.#issuerUrl);
      this.#metadata = { value, until: this.#options.clock.monotonic() + HOUR_MS };
      return value;
    });
  }

  /** A failure is logged once. */
  async #unlessJustFailed<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#options;
    const failedAt = this.#failedAt.get(what);
    if (failedAt !== undefined && clock.monotonic() - failedAt < RETRY_MS) {
      throw new Error(`${what} could not be had a moment ago`);
    }
    try {
      const value = await work();
      this.#failedAt.delete(what);
      return value;
    } catch (error) {
      this.#failedAt.set(what, clock.monotonic());
      const reason = reasonOf(error);
      log.warning(`${what} of the identity provider cannot be had`, { reason });
      throw error;
    }
  }
}

/** For the log: never a token, a body or an address with a query. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { name, message } = error;
  const code = (error as { code?: unknown }).code;
  const told = (error as { error?: unknown }).error;
  const parts = [typeof code === 'string' ? code : name, message];
  if (typeof told === 'string') parts.push(told);
  return parts.join(': ').slice(0, 300);
}

function checkMetadata(found: unknown, issuer: string, issuerUrl: URL): ServerMetadata {
  if (found === null || typeof found !== 'object' || Array.isArray(found)) {
    throw new Error('the metadata is no object');
  }
  const metadata = found as ServerMetadata;
  if (metadata.issuer !== issuer) throw new RefusedAddress('issuer is not the configured one');
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    checkedAddress(metadata[name], name, issuerUrl);
  }
  if (metadata.end_session_endpoint !== undefined) {
    checkedAddress(metadata.end_session_endpoint, 'end_session_endpoint', issuerUrl);
  }
  return metadata;
}

/** Errors of jose about the token; the others are about the provider. */
function isAboutToken(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return (
    code === 'ERR_JWKS_NO_MATCHING_KEY' ||
    code === 'ERR_JWKS_MULTIPLE_MATCHING_KEYS' ||
    code === 'ERR_JOSE_NOT_SUPPORTED' ||
    code === 'ERR_JOSE_ALG_NOT_ALLOWED'
  );
}

function unreachable(cause: unknown): AppError {
  const headers = { 'Retry-After': String(RETRY_MS / 1000) };
  return new AppError('unavailable', 'The identity provider cannot be reached', { headers, cause });
}
