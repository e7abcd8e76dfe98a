/** Its end is reported once, with the reason, and its socket removed then. Its output is logged up to a limit. */
import { setPriority } from 'node:os';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { Log } from '../base/log.ts';
import { isFailure, readFailure } from './child-error.ts';
import { BREAKAGE, PING, PING_IDLE, jobName } from './child-server.ts';

const READY_POLL_MS = 2;

const NICENESS = 10;

interface ChildProcessOptions {
  readonly role: string;
  readonly command: readonly string[];
  /** Any length on Linux; up to 103 bytes elsewhere. */
  readonly socketPath: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Requests wait for it: it keeps normal priority. */
  readonly isUrgent?: boolean;
}

/** `killedBecause` is null when it ended on its own, that is, crashed. */
interface ChildExit {
  readonly how: string;
  readonly killedBecause: string | null;
}

/** Started by the constructor, which throws when the program cannot be run. */
export class ChildProcess {
  readonly role: string;
  /** Never rejects. */
  readonly exited: Promise<ChildExit>;
  readonly #process: Bun.Subprocess<'pipe', 'pipe', 'pipe'>;
  readonly #socketPath: string;
  readonly #log: Log;
  #killedBecause: string | null = null;
  #hasExited = false;

  constructor(options: ChildProcessOptions) {
    this.role = options.role;
    this.#socketPath = options.socketPath;
    this.#log = options.log;
    this.#process = Bun.spawn([...options.command], {
      cwd: options.cwd,
      env: { ...options.environment },
      // Never written; its end tells the child that this process has ended.
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#process.unref();
    if (options.isUrgent !== true) giveWay(this.#process.pid);
    const drained = [this.#drain('stdout', 'info'), this.#drain('stderr', 'warning')];
    this.exited = this.#awaitExit(drained);
  }

  get pid(): number {
    return this.#process.pid;
  }

  get isAlive(): boolean {
    return !this.#hasExited && this.#killedBecause === null;
  }

  /** Rejects with the reason when it ends first or takes longer than `timeoutMs`. */
  async ready(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!existsSync(this.#socketPath) || !(await this.isIdle(timeoutMs))) {
      if (this.#hasExited) {
        throw new Error(`the ${this.role} child ended at its start: ${(await this.exited).how}`);
      }
      if (performance.now() > deadline) {
        throw new Error(`the ${this.role} child did not answer within ${timeoutMs} ms`);
      }
      await Bun.sleep(READY_POLL_MS);
    }
  }

  async isIdle(timeoutMs: number): Promise<boolean> {
    try {
      const response = await this.fetch(PING, { signal: AbortSignal.timeout(timeoutMs) });
      return (await response.text()) === PING_IDLE;
    } catch {
      // Not listening, busy or dead.
      return false;
    }
  }

  /** What broke the last streamed body; null when the child does not answer within `timeoutMs`. */
  async breakage(timeoutMs: number): Promise<Error | null> {
    try {
      const response = await this.fetch(BREAKAGE, { signal: AbortSignal.timeout(timeoutMs) });
      return isFailure(response) ? await readFailure(response) : null;
    } catch {
      // Dead or stuck, which is what broke the body.
      return null;
    }
  }

  /** Rejects when the connection breaks. Backpressure reaches the child. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://child/${jobName(path)}`, {
      ...init,
      unix: this.#socketPath,
      timeout: false,
      decompress: false,
      redirect: 'manual',
    });
  }

  /** Anonymous and shared memory, not mapped files; null if unknown (not Linux, or ended). Costs about 20 µs. */
  memoryBytes(): number | null {
    let status: string;
    try {
      status = readFileSync(`/proc/${this.pid}/status`, 'latin1');
    } catch {
      return null;
    }
    const kilobytes = (field: string): number =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
    return (kilobytes('RssAnon') + kilobytes('RssShmem')) * 1024;
  }

  /** Processor time so far; null if unknown. */
  processorMs(): number | null {
    try {
      const stat = readFileSync(`/proc/${this.pid}/stat`, 'latin1');
      // After the process name, which may contain anything, user and system time are fields 14 and 15, in hundredths
      // of seconds.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    } catch {
      return null;
    }
  }

  /** SIGKILL; the first reason given is the one reported. */
  kill(because: string): void {
    this.#killedBecause ??= because;
    if (!this.#hasExited) this.#process.kill('SIGKILL');
  }

  async #awaitExit(drained: Promise<void>[]): Promise<ChildExit> {
    await this.#process.exited;
    this.#hasExited = true;
    rmSync(this.#socketPath, { force: true });
    const { signalCode, exitCode } = this.#process;
    const how = signalCode === null ? `exit code ${exitCode}` : `signal ${signalCode}`;
    const exit: ChildExit = { how, killedBecause: this.#killedBecause };
    const fields = { role: this.role, pid: this.pid, how };
    if (exit.killedBecause === null) {
      // The last output explains the end; a grandchild may hold the pipe open for ever.
      await Promise.race([Promise.all(drained), Bun.sleep(100)]);
      this.#log.error('A child process ended unexpectedly', fields);
    } else {
      this.#log.debug('A child process was ended', { ...fields, because: exit.killedBecause });
    }
    return exit;
  }

  #drain(name: 'stdout' | 'stderr', level: 'info' | 'warning'): Promise<void> {
    return drainOutput(this.#process[name], {
      line: (text) => this.#log[level](text, { role: this.role, pid: this.pid, from: name }),
      flood: () => {
        this.#log.error('A child process printed too much', { role: this.role, pid: this.pid });
        this.kill('printed too much');
      },
    });
  }
}

/** Low priority: /health during four sorts is five times as quick as with equal priority. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, or lowering is not permitted: then priorities stay equal.
  }
}

const MAX_LINE_CHARS = 2_000;
/** Logged lines per window: 20 KB/s of disk at most. */
const MAX_LINES = 100;
const WINDOW_MS = 10_000;
/** Bytes per window after which a child counts as broken: draining costs about 1.4 ms of CPU per megabyte. */
const FLOOD_BYTES = 64 * 1024 * 1024;

interface OutputTarget {
  /** Without line end, cut to 2,000 characters. */
  line(text: string): void;
  /** More than 64 MiB in ten seconds. Called once. */
  flood(): void;
}

/**
 * Reads to the end, line by line, because the runtime buffers an unread pipe without limit; excess bytes are counted and
 * dropped. Memory stays below a few hundred KB. Never rejects.
 */
async function drainOutput(
  stream: ReadableStream<Uint8Array>,
  target: OutputTarget,
): Promise<void> {
  const cap = new OutputCap(target);
  const decoder = new TextDecoder();
  try {
    for await (const chunk of stream) {
      if (cap.admits(chunk.byteLength)) cap.write(decoder.decode(chunk, { stream: true }));
    }
  } catch {
    // The pipe broke with the child, whose end is reported elsewhere.
  }
  cap.end();
}

class OutputCap {
  readonly #target: OutputTarget;
  #windowStart = performance.now();
  #windowBytes = 0;
  #lines = 0;
  #droppedBytes = 0;
  #hasFlooded = false;
  #partial = '';

  constructor(target: OutputTarget) {
    this.#target = target;
  }

  admits(bytes: number): boolean {
    const now = performance.now();
    if (now - this.#windowStart >= WINDOW_MS) this.#startWindow(now);
    this.#windowBytes += bytes;
    if (this.#windowBytes > FLOOD_BYTES && !this.#hasFlooded) {
      this.#hasFlooded = true;
      this.#target.flood();
    }
    if (this.#lines < MAX_LINES) return true;
    this.#droppedBytes += bytes;
    this.#partial = '';
    return false;
  }

  write(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#emit(this.#partial + text.slice(start, Math.min(end, start + MAX_LINE_CHARS)));
      this.#partial = '';
      start = end + 1;
    }
    this.#partial = (this.#partial + text.slice(start, start + MAX_LINE_CHARS)).slice(
      0,
      MAX_LINE_CHARS,
    );
  }

  end(): void {
    if (this.#partial !== '') this.#emit(this.#partial);
    this.#reportDropped();
  }

  #emit(line: string): void {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (this.#lines >= MAX_LINES) this.#droppedBytes += text.length + 1;
    else if (text !== '') this.#target.line(text.slice(0, MAX_LINE_CHARS));
    this.#lines += 1;
  }

  #startWindow(now: number): void {
    this.#reportDropped();
    this.#windowStart = now;
    this.#windowBytes = 0;
    this.#lines = 0;
  }

  #reportDropped(): void {
    if (this.#droppedBytes === 0) return;
    this.#target.line(`[${this.#droppedBytes} bytes of output dropped]`);
    this.#droppedBytes = 0;
  }
}
