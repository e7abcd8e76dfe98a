/**
 * An OpenID provider that says whatever a test wants it to say: for the answers no honest one gives.
 */
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK, JWTHeaderParameters } from 'jose';

/** Overrides one address; null or absent: the honest answer. */
type Answers = Record<string, ((request: Request) => Response | Promise<Response>) | undefined>;

/** Key id of the key the provider signs with from the start. */
export const FIRST_KEY = 'first';

/** Serves metadata, keys and tokens on loopback. */
export class StandInProvider implements AsyncDisposable {
  /** By path. */
  answers: Answers = {};
  /** Added to or replacing members of the metadata; undefined removes one. */
  metadata: Record<string, unknown> = {};
  /** The answer of the token endpoint. */
  tokens: unknown = {};
  readonly keys = new Map<string, { readonly private: CryptoKey; readonly public: JWK }>();
  /** Requests so far, by path. */
  readonly counts = new Map<string, number>();
  /** The last body and Authorization header that reached the token endpoint. */
  exchange: { readonly body: URLSearchParams; readonly authorization: string | null } | null = null;
  readonly issuer: string;
  readonly #server: Bun.Server<undefined>;

  private constructor(tls?: { readonly cert: string; readonly key: string }) {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls,
      fetch: (request) => this.#answer(request),
    });
    this.issuer = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#server.port}`;
  }

  /** With a certificate it speaks https. */
  static async start(tls?: {
    readonly cert: string;
    readonly key: string;
  }): Promise<StandInProvider> {
    const provider = new StandInProvider(tls);
    await provider.addKey(FIRST_KEY, 'RS256');
    return provider;
  }

  async addKey(kid: string, alg: string): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
    this.keys.set(kid, { private: privateKey, public: jwk });
  }

  count(path: string): number {
    return this.counts.get(path) ?? 0;
  }

  /** A signed token; `claims` and `header` replace the usual ones, undefined removes one. */
  async token(
    claims: Record<string, unknown> = {},
    header: Partial<JWTHeaderParameters> = {},
    key: CryptoKey | Uint8Array = this.keys.get(FIRST_KEY)!.private,
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const payload = JSON.parse(
      JSON.stringify({ iss: this.issuer, sub: 'sub-1', iat: now, exp: now + 300, ...claims }),
    );
    const protectedHeader = JSON.parse(JSON.stringify({ alg: 'RS256', kid: FIRST_KEY, ...header }));
    return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(key);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    this.counts.set(pathname, this.count(pathname) + 1);
    const special = this.answers[pathname];
    if (special !== undefined) return special(request);
    if (pathname === '/.well-known/openid-configuration') return Response.json(this.#metadata());
    if (pathname === '/keys') {
      return Response.json({ keys: [...this.keys.values()].map((pair) => pair.public) });
    }
    if (pathname !== '/token') return new Response('nothing here', { status: 404 });
    this.exchange = {
      body: new URLSearchParams(await request.text()),
      authorization: request.headers.get('authorization'),
    };
    return Response.json(this.tokens);
  }

  #metadata(): Record<string, unknown> {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/keys`,
      end_session_endpoint: `${this.issuer}/end`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      ...this.metadata,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}
