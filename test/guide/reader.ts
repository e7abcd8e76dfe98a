/**
 * Somebody who reads a chapter and does what it says: a folder of his own, a shell that remembers variables, the executable
 * on the PATH. Every chapter has its own ports in place of those that are written in it.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { eventually } from '../http/eventually.ts';
import { program } from '../support/program.ts';
import { patienceFor } from '../support/patience.ts';

const ROOT = resolve(import.meta.dir, '../..');
const LIMIT_MS = 30_000;
/** Starts the program of an installed package in place of fetching it. */
const NPX = `[ "$1" = -y ] && shift
package=${ROOT}/node_modules/$1; shift
bin=$(bun -p "const { bin } = require('$package/package.json'); typeof bin === 'string' ? bin : Object.values(bin)[0]")
exec bun "$package/$bin" "$@"`;

/** How commands ended. */
export interface Done {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The reader of one chapter; disposing it ends what he started. */
export class Reader implements AsyncDisposable {
  readonly #home: string;
  readonly #folder: string;
  readonly #bin: string;
  readonly #ports: ReadonlyMap<string, number>;
  #number = 0;

  private constructor(home: string, ports: ReadonlyMap<string, number>) {
    this.#home = home;
    this.#folder = join(home, 'work');
    this.#bin = join(home, 'bin');
    this.#ports = ports;
    mkdirSync(this.#folder);
    mkdirSync(this.#bin);
    writeFileSync(this.#file('env'), `cd ${this.#folder}\n`);
    // Notes the process of each server, so that it can be ended; `exec` keeps the number.
    this.#command(
      'svc',
      `[ "$1" = serve ] && echo $$ >> ${this.#file('servers')}\nexec ${program.join(' ')} "$@"`,
    );
    // A request that is refused is a mistake of the document, unless it says so.
    mkdirSync(this.#file('strict'));
    writeFileSync(this.#file('strict/.curlrc'), 'fail-with-body\n');
    // What a reader would fetch is among the packages of the tests.
    this.#command('npx', NPX);
    symlinkSync(process.execPath, join(this.#bin, 'bun'));
    symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  }

  /** A reader in an empty folder. `written` are the ports that stand in the documents; he gets free ones. */
  static async create(written: readonly number[]): Promise<Reader> {
    const free = await freePorts(written.length);
    const ports = new Map(written.map((port, index) => [String(port), free[index]!]));
    return new Reader(mkdtempSync(join(tmpdir(), 'svc-guide-')), ports);
  }

  /** Another one, who goes on with a copy of what this one has; nothing may run in it. */
  async copy(): Promise<Reader> {
    const other = await Reader.create([...this.#ports.keys()].map(Number));
    rmSync(other.#folder, { recursive: true });
    cpSync(this.#folder, other.#folder, { recursive: true });
    const env = readFileSync(this.#file('env'), 'utf8').replaceAll(this.#home, other.#home);
    writeFileSync(other.#file('env'), other.own(this.shown(env)));
    return other;
  }

  /** The folder he works in. */
  get folder(): string {
    return this.#folder;
  }

  /** Address of the server the documents call http://127.0.0.1:8000. */
  get url(): string {
    return this.own('http://127.0.0.1:8000');
  }

  /** A text of a document with this reader's ports. */
  own(text: string): string {
    let own = text.replaceAll('https://svc.example', 'http://127.0.0.1:8000');
    for (const [port, free] of this.#ports) {
      own = own.replace(new RegExp(`(?<=[:" =])${port}\\b`, 'g'), String(free));
    }
    return own;
  }

  /** The other way round: what was printed as the documents show it. */
  shown(text: string): string {
    let shown = text.replaceAll(this.#folder, '…');
    for (const [port, free] of this.#ports) shown = shown.replaceAll(String(free), port);
    return shown;
  }

  /** Puts a file beside his others. */
  write(path: string, text: string): void {
    const file = join(this.#folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, this.own(text));
  }

  /** Runs a block of commands to its end and waits for a server it started. */
  async run(text: string, { mayBeRefused = false } = {}): Promise<Done> {
    this.#number += 1;
    const curl = mayBeRefused ? 'unset CURL_HOME' : `CURL_HOME=${this.#file('strict')}`;
    const [block, out, err] = ['sh', 'out', 'err'].map((kind) =>
      this.#file(`${this.#number}.${kind}`),
    );
    writeFileSync(
      block!,
      `source ${this.#file('env')}\nset -eo pipefail\nset -a\n${curl}\n${this.own(text)}\n` +
        `set +a\n{ export -p; echo "cd $(printf %q "$PWD")"; } > ${this.#file('env')}\n`,
    );
    const child = Bun.spawn(['bash', block!], {
      cwd: this.#folder,
      env: this.environment(),
      stdin: 'ignore',
      stdout: Bun.file(out!),
      stderr: Bun.file(err!),
      timeout: patienceFor(LIMIT_MS),
    });
    const code = await child.exited;
    if (/\bsvc serve .*&$/m.test(text)) await this.#serverReady();
    return {
      code,
      out: this.shown(readFileSync(out!, 'utf8')),
      err: this.shown(readFileSync(err!, 'utf8')),
    };
  }

  /** A variable the commands left. */
  variable(name: string): string {
    const line = readFileSync(this.#file('env'), 'utf8')
      .split('\n')
      .find((one) => one.startsWith(`declare -x ${name}=`));
    return line?.slice(line.indexOf('"') + 1, -1) ?? '';
  }

  /** What a program he starts gets to see. */
  environment(): Record<string, string> {
    return {
      PATH: `${this.#bin}:${process.env['PATH'] ?? ''}`,
      HOME: this.#home,
      SVC_PORT: String(this.#ports.get('8000')),
      // The disks of test machines are often nearly full.
      SVC_EVENTS_MIN_FREE_BYTES: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      LANG: 'C.UTF-8',
    };
  }

  /** Ends the servers in order, as Ctrl-C does. */
  async stopServers(): Promise<void> {
    for (const server of this.#servers()) end(server, 'SIGTERM');
    await eventually(() => {
      const running = this.#servers().filter(isRunning);
      if (running.length > 0) throw new Error('a server is still running');
    });
    rmSync(this.#file('servers'), { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers()) end(server, 'SIGKILL');
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 3 });
  }

  async #serverReady(): Promise<void> {
    await eventually(async () => {
      const response = await fetch(`${this.url}/health`);
      if (!response.ok) throw new Error('not ready');
    }, LIMIT_MS);
  }

  #servers(): number[] {
    const file = this.#file('servers');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
  }

  #file(name: string): string {
    return join(this.#home, name);
  }

  #command(name: string, script: string): void {
    writeFileSync(join(this.#bin, name), `#!/usr/bin/env bash\n${script}\n`);
    chmodSync(join(this.#bin, name), 0o755);
  }
}

function end(server: number, signal: NodeJS.Signals): void {
  try {
    process.kill(server, signal);
  } catch {
    // It ended by itself, as the chapter wanted.
  }
}

/** A process nobody waited for any more is not running either. */
function isRunning(server: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${server}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      const { promise, resolve: listening } = Promise.withResolvers<void>();
      server.listen(0, '127.0.0.1', () => listening());
      await promise;
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return ports;
}
