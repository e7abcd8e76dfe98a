/**
 * The processes of a benchmark: servers that are started, asked and ended, and commands that run to their end.
 */
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../test/support/program.ts';

const READY_LIMIT_MS = 60_000;
const URL_LINE = /(https?:\/\/(?:127\.0\.0\.1|localhost):\d+)/;

/** The folder of package.json. */
export const projectFolder = join(import.meta.dir, '..');

/** Where benchmarks put what they need while they run; emptied before and after. */
export const workFolder = join(import.meta.dir, 'data', 'work');

/** The Bun that runs this; references written in TypeScript run on it too. */
export const bun = process.execPath;

/** A program and its arguments that runs a script of bench/peers. */
export function peer(script: string, ...args: readonly string[]): string[] {
  return [bun, join(import.meta.dir, 'peers', script), ...args];
}

interface ServerOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  /** Takes what it prints on stderr, as a service manager would. */
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
  /** For a server that does not print its address. */
  readonly url?: string;
}

/** A running server; disposing ends it. */
export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  readonly #process: Bun.Subprocess;

  private constructor(process: Bun.Subprocess, url: string) {
    this.#process = process;
    this.url = url;
  }

  /** Resolves when the server prints its address, or answers at the given one. Throws when it ends before. */
  static async start(options: ServerOptions): Promise<ServerProcess> {
    const child = Bun.spawn([...options.command], {
      cwd: options.cwd,
      env: environment(options.env),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: openSync(options.logFile, 'a'),
    });
    const output = addressIn(child.stdout);
    const ready = options.url === undefined ? output : answers(options.url);
    const url = await Promise.race([
      ready,
      child.exited.then(() => null),
      Bun.sleep(READY_LIMIT_MS).then(() => null),
    ]);
    if (url !== null) return new ServerProcess(child, url);
    child.kill('SIGKILL');
    throw new Error(`${options.command.join(' ')} did not get ready; see ${options.logFile}`);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Ends it in order and waits for its end. */
  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    const isGone = await Promise.race([
      this.#process.exited.then(() => true),
      Bun.sleep(15_000).then(() => false),
    ]);
    if (!isGone) this.#process.kill('SIGKILL');
    await this.#process.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Reads on to the end, so that the server never waits for a reader; resolves with the first address printed. */
async function addressIn(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  void (async () => {
    let text = '';
    for await (const chunk of stream) {
      text = (text + new TextDecoder().decode(chunk)).slice(-4096);
      const url = URL_LINE.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    }
  })();
  return promise;
}

/** Null when nothing answers in time. */
async function answers(url: string): Promise<string | null> {
  const until = performance.now() + READY_LIMIT_MS;
  while (performance.now() < until) {
    try {
      await (await fetch(url)).arrayBuffer();
      return url;
    } catch {
      // Not listening yet.
      await Bun.sleep(50);
    }
  }
  return null;
}

/** Runs a command to its end and resolves with what it printed. Throws with its diagnostics when it fails. */
export async function output(
  command: readonly string[],
  options: { readonly cwd?: string; readonly timeoutMs?: number } = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: options.cwd ?? projectFolder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    ...(options.timeoutMs !== undefined && { timeout: options.timeoutMs, killSignal: 'SIGKILL' }),
  });
  const [code, out, err] = await Promise.all([
    child.exited,
    child.stdout.text(),
    child.stderr.text(),
  ]);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${err.slice(-2000)}`);
  return out;
}

/** A port that nobody listens on at the moment. */
export function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(null) });
  const { port } = server;
  void server.stop(true);
  if (port === undefined) throw new Error('no free port');
  return port;
}
