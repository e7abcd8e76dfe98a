/**
 * One supervised child process: started, awaited, asked, measured, killed (architecture 4.4, DS-169).
 *
 * The child's end is reported once, with the reason, and its socket is removed then, whoever ended it. What a child
 * prints goes to the log within a cap.
 */
import { setPriority } from 'node:os';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { Log } from '../base/log.ts';
import { drainOutput } from './child-output.ts';
import { isFailure, readFailure } from './child-error.ts';
import { BREAKAGE, PING, PING_IDLE, jobName } from './child-server.ts';

const READY_POLL_MS = 2;

const NICENESS = 10;

/** How a child is started. */
interface ChildProcessOptions {
  /** For the log: what the child is for. */
  readonly role: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Where the child will listen. A path of any length on Linux; up to 103 bytes elsewhere. */
  readonly socketPath: string;
  /** Working directory of the child. */
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Requests wait for it: it does not give way to the server. */
  readonly isUrgent?: boolean;
}

/** How a child ended. `killedBecause` is null when it ended on its own, which no child does unless it crashes. */
interface ChildExit {
  readonly how: string;
  readonly killedBecause: string | null;
}

/** A child process, started by its construction. Throws when the program cannot be run at all. */
export class ChildProcess {
  readonly role: string;
  /** Resolves when the process is gone. Never rejects. */
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
      // Held open and never written: its end tells the child that this process is gone.
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

  /** Resolves when the child answers. Rejects with the reason when it ends first or takes longer than `timeoutMs`. */
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

  /** Whether the child answers within `timeoutMs` that it has nothing to do. */
  async isIdle(timeoutMs: number): Promise<boolean> {
    try {
      const response = await this.fetch(PING, { signal: AbortSignal.timeout(timeoutMs) });
      return (await response.text()) === PING_IDLE;
    } catch {
      // Not listening, busy or gone: not idle in each case.
      return false;
    }
  }

  /** What broke the body that was being streamed, or null when the child does not tell within `timeoutMs`. */
  async breakage(timeoutMs: number): Promise<Error | null> {
    try {
      const response = await this.fetch(BREAKAGE, { signal: AbortSignal.timeout(timeoutMs) });
      return isFailure(response) ? await readFailure(response) : null;
    } catch {
      // Gone, or stuck: then the body broke with it.
      return null;
    }
  }

  /** One HTTP exchange with the child; rejects when the connection breaks. Backpressure reaches the child. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://child/${jobName(path)}`, {
      ...init,
      unix: this.#socketPath,
      timeout: false,
      decompress: false,
      redirect: 'manual',
    });
  }

  /**
   * Bytes of memory that only this process uses (anonymous and shared memory, not mapped files), or null when the
   * system does not tell (not Linux, or the process is gone). Costs about 20 microseconds.
   */
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

  /** Kills the process at once (SIGKILL); the first reason given is the one reported. */
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
      // The last words explain the end, so they come first; a grandchild may hold the pipe open for ever.
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

/** Heavy work gets what the server leaves over: /health under four sorts is five times as quick as among equals. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, or the system does not allow it; then all share alike.
  }
}
