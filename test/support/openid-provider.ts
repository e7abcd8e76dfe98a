/**
 * A real OpenID provider (oidc-provider) for the service under test, in a process of its own.
 */
import { join } from 'node:path';
import { environment } from './program.ts';

/** What the provider knows about its one client. */
export interface ProviderSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Address of the service. */
  readonly publicUrl: string;
}

const PROGRAM = join(import.meta.dir, 'openid-provider-process.ts');

/** A running provider; disposing it ends it. */
export class OpenIdProvider implements AsyncDisposable {
  readonly issuer: string;
  readonly #child: Bun.Subprocess;

  private constructor(issuer: string, child: Bun.Subprocess) {
    this.issuer = issuer;
    this.#child = child;
  }

  /** Resolves when it answers. */
  static async start(settings: ProviderSettings): Promise<OpenIdProvider> {
    const child = Bun.spawn([process.execPath, PROGRAM, JSON.stringify(settings)], {
      env: environment(),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const decoder = new TextDecoder();
    let printed = '';
    for await (const chunk of child.stdout as ReadableStream<Uint8Array>) {
      printed += decoder.decode(chunk, { stream: true });
      const issuer = /^(http:\S+)\n/m.exec(printed)?.[1];
      if (issuer !== undefined) return new OpenIdProvider(issuer, child);
    }
    throw new Error(`The provider did not start: ${await new Response(child.stderr).text()}`);
  }

  /** What tokens say about the person from now on, besides `sub`. */
  async setClaims(login: string, claims: Readonly<Record<string, unknown>>): Promise<void> {
    const address = `${this.issuer}/test/claims/${encodeURIComponent(login)}`;
    await fetch(address, { method: 'PUT', body: JSON.stringify(claims) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
  }
}

/** A port nobody listens on right now, for addresses that must be known before the server starts. */
export function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const port = server.port!;
  void server.stop(true);
  return port;
}
