/**
 * `svc` as a benchmark uses it: the executable with its default settings on a folder of its own, its log in a file, and
 * a user with rights on what is published and an API key.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Accounts } from '../test/support/accounts.ts';
import type { Bench } from './benchmark.ts';
import { ServerProcess } from './processes.ts';

const USER = 'bench';

/** A running `svc`; disposing ends it, its files stay until the benchmark ends. */
export class BenchService implements AsyncDisposable {
  readonly docroot: string;
  readonly stateDir: string;
  readonly #bench: Bench;
  readonly accounts: Accounts;
  #server: ServerProcess | null = null;
  #key = '';

  private constructor(bench: Bench) {
    this.#bench = bench;
    this.docroot = join(bench.folder, 'docroot');
    this.stateDir = join(this.docroot, '.svc');
    this.accounts = new Accounts(this.stateDir);
    mkdirSync(this.docroot, { recursive: true });
  }

  /** Publishes copies of the files under the names given, which the user may read and write, as other resources. */
  static async start(
    bench: Bench,
    files: Readonly<Record<string, string>> = {},
    resources: readonly string[] = ['*'],
  ): Promise<BenchService> {
    const service = new BenchService(bench);
    for (const [name, path] of Object.entries(files)) service.publish(name, path);
    await service.run();
    for (const name of resources) await service.accounts.grant(USER, name, 'read', 'write');
    service.#key = await service.accounts.apiKey(USER);
    return service;
  }

  get url(): string {
    return this.#running.url;
  }

  get pid(): number {
    return this.#running.pid;
  }

  /** What proves the user. */
  get headers(): Record<string, string> {
    return { 'X-API-Key': this.#key };
  }

  /** Starts it again after `stop`. */
  async run(port = 0): Promise<void> {
    this.#server = await ServerProcess.start({
      command: [this.#bench.executable, 'serve', this.docroot, '--port', String(port)],
      cwd: this.#bench.folder,
      logFile: join(this.#bench.folder, 'svc.log'),
    });
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = null;
  }

  /** Puts a copy of the file into the document root. */
  publish(name: string, path: string): void {
    copyFileSync(path, join(this.docroot, name));
  }

  /** The answer to a GET as the user. Throws when it is no 200. */
  async get(path: string): Promise<Response> {
    const response = await fetch(this.url + path, { headers: this.headers });
    if (response.status === 200) return response;
    throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.accounts.close();
  }

  get #running(): ServerProcess {
    if (this.#server === null) throw new Error('The service is not running');
    return this.#server;
  }
}
