/**
 * The product as a black box: a temporary docroot, the compiled executable serving it, and a client.
 *
 *     await using svc = await startService({ files: { 'a.csv': 'x\n1\n' } });
 *     const answer = await (await svc.as('anna')).fetch('/api/a');
 *
 * `SVC_BINARY` names another executable, or a `.ts` file to run from source. Nothing of the environment of the tests
 * reaches the service but PATH, HOME and TMPDIR.
 */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { Accounts } from './accounts.ts';
import { patienceFor } from './patience.ts';
import { PASSWORD } from './password.ts';
import { environment } from './program.ts';

const READY_LIMIT_MS = 15_000;
const READY_LINE = /^svc \S+ serving .+ at (https?:\/\/\S+)$/m;

interface ServiceOptions {
  /** An existing folder to serve; it stays when the service is disposed. A new one unless given. */
  readonly docroot?: string;
  /** Content of the docroot by path; folders are made as needed. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Written as the YAML configuration file, outside of the docroot. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments of `svc serve`. */
  readonly args?: readonly string[];
  /** A command line the server is started under, such as `prlimit --nofile=64`. */
  readonly under?: readonly string[];
}

/** Sends requests to the service; redirects are not followed. */
export interface Client {
  /** `path` starts with `/`; headers given in `init` win over the client's own. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the service; resolves when its ready line is there. Throws with its diagnostics when it ends before. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const service = new Service(options);
  try {
    await service.start();
    return service;
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

/** A service under test; disposing it kills the process and removes its files. */
export class Service implements Client, AsyncDisposable {
  readonly docroot: string;
  readonly stateDir: string;
  readonly accounts: Accounts;
  readonly #folder: string;
  readonly #options: ServiceOptions;
  #process: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | null = null;
  #url = '';
  #stdout = '';
  #stderr = '';

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-test-')));
    this.docroot = options.docroot ?? join(this.#folder, 'docroot');
    this.stateDir = join(this.docroot, '.svc');
    this.accounts = new Accounts(this.stateDir);
    mkdirSync(this.docroot, { recursive: true });
    for (const [path, content] of Object.entries(options.files ?? {})) this.write(path, content);
    if (options.config !== undefined) {
      writeFileSync(this.#configFile, stringify(options.config));
    }
  }

  /** Base address without a final slash. The port stays the same across restarts. */
  get url(): string {
    return this.#url;
  }

  get pid(): number {
    if (this.#process === null) throw new Error('The service is not running');
    return this.#process.pid;
  }

  /** All that was printed so far, by every process since the first start. */
  stdout(): string {
    return this.#stdout;
  }

  stderr(): string {
    return this.#stderr;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.#url + path, { redirect: 'manual', ...init });
  }

  /** A client with an API key of the user, who is made when absent (see `accounts` for rights). */
  async as(username: string): Promise<Client> {
    return this.withHeaders({ 'X-API-Key': await this.accounts.apiKey(username) });
  }

  /** A client with a browser session of the user and its CSRF token. */
  async inBrowserAs(username: string): Promise<Client> {
    const { cookie, csrfToken } = await this.accounts.session(username);
    return this.withHeaders({ Cookie: cookie, 'X-CSRF-Token': csrfToken });
  }

  /** A client that sends these headers with each request. */
  withHeaders(own: Readonly<Record<string, string>>): Client {
    return {
      fetch: (path, init = {}) => {
        const headers = new Headers(own);
        new Headers(init.headers).forEach((value, name) => headers.set(name, value));
        return this.fetch(path, { ...init, headers });
      },
    };
  }

  /** Makes a superuser through the command line, while the service runs. */
  async createSuperuser(username: string, password = PASSWORD): Promise<void> {
    const args = ['addsuperuser', this.docroot, '--username', username, '--password-stdin'];
    const { exitCode, stderr } = await this.command(args, `${password}\n`);
    if (exitCode !== 0) throw new Error(`addsuperuser exited with ${exitCode}: ${stderr}`);
  }

  /** Runs the same executable with other arguments to its end. */
  async command(args: readonly string[], input = ''): Promise<CommandResult> {
    const child = Bun.spawn([...program(), ...args], {
      cwd: this.#folder,
      env: environment(this.#options.env),
      stdin: new Blob([input]),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [exitCode, stdout, stderr] = await Promise.all([
      child.exited,
      child.stdout.text(),
      child.stderr.text(),
    ]);
    return { exitCode, stdout, stderr };
  }

  /** Puts a file into the docroot as an editor would: in place, while the service runs or not. */
  write(path: string, content: string | Uint8Array): void {
    const file = join(this.docroot, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  /**
   * Starts the process. For a service that {@link kill} ended; a new one is started already. A command line in
   * `under` must become the server (`prlimit`, `strace -D`), not stay its parent.
   */
  async start(under: readonly string[] = this.#options.under ?? []): Promise<void> {
    const port = this.#url === '' ? '0' : new URL(this.#url).port;
    const config = this.#options.config === undefined ? [] : ['--config', this.#configFile];
    const { args = [], env } = this.#options;
    const child = Bun.spawn(
      [...under, ...program(), 'serve', this.docroot, '--port', port, ...config, ...args],
      {
        cwd: this.#folder,
        env: environment(env),
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      },
    );
    this.#process = child;
    const seen = this.#stdout.length;
    const ready = Promise.withResolvers<string | null>();
    void this.#collect(child.stderr, (text) => (this.#stderr += text));
    void this.#collect(child.stdout, (text) => {
      this.#stdout += text;
      const url = READY_LINE.exec(this.#stdout.slice(seen))?.[1];
      if (url !== undefined) ready.resolve(url.replace(/\/$/, ''));
    }).then(() => ready.resolve(null));
    // Cleared, or a program that starts a service outlives it by as long.
    const limit = setTimeout(() => ready.resolve(null), patienceFor(READY_LIMIT_MS));
    const url = await ready.promise;
    clearTimeout(limit);
    if (url === null) {
      throw new Error(`The service did not get ready.\n${this.#stdout}\n${this.#stderr}`);
    }
    this.#url = url;
  }

  /** Sends the signal, waits for the end and resolves with the exit code (128 + n after signal n). */
  async kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    const child = this.#process;
    if (child === null) throw new Error('The service is not running');
    child.kill(signal);
    const exitCode = await child.exited;
    this.#process = null;
    return exitCode;
  }

  /** Ends the process in order and starts it again on the same docroot and port. */
  async restart(): Promise<void> {
    await this.kill('SIGTERM');
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tellOfEarlyEnd();
    if (this.#process !== null) await this.kill('SIGKILL');
    await this.accounts.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A test whose server has gone fails at its next request, which does not say why it went. */
  #tellOfEarlyEnd(): void {
    const child = this.#process;
    if (child === null || (child.exitCode === null && child.signalCode === null)) return;
    const last = this.#stderr.trimEnd().split('\n').slice(-10).join('\n');
    console.error(`The service ended by itself: ${child.signalCode ?? child.exitCode}\n${last}`);
  }

  get #configFile(): string {
    return join(this.#folder, 'svc.yaml');
  }

  async #collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
  }
}

/** The command line that starts the executable under test. */
export function program(): string[] {
  const root = resolve(import.meta.dir, '../..');
  const path = resolve(root, process.env['SVC_BINARY'] ?? 'build/out/svc');
  if (!existsSync(path)) {
    throw new Error(`${path} does not exist: run \`bun run build\`, or set SVC_BINARY=src/main.ts`);
  }
  return path.endsWith('.ts') ? [process.execPath, path] : [path];
}
