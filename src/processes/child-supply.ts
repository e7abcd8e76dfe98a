/**
 * The processes of a pool: started on demand, ended when idle too long, too large or surplus, and restarted with a
 * delay when they keep crashing.
 */
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { Backoff } from './backoff.ts';
import { childEnvironment } from './child-environment.ts';
import { ChildProcess } from './child-process.ts';
import { newSocketPath, prepareSockets } from './child-sockets.ts';

/** Children have low priority, so on a busy machine they start slowly; a later first ping is never answered. */
const START_LIMIT_MS = 30_000;
/** Crashes in a row without a delay: one poisonous request, retried, must not shut out the others. */
const FREE_CRASHES = 3;
/** Shortest interval between memory checks of idle children. */
const MEMORY_CHECK_MS = 250;

export interface ChildSupplyOptions {
  readonly role: string;
  /** Must call `serveChild` with this socket path. */
  readonly command: (socketPath: string) => readonly string[];
  /** Created with mode 0700 when missing. */
  readonly socketDir: string;
  readonly log: Log;
  /** A child with more memory after a job is ended. */
  readonly recycleRssBytes: number;
  /** Added to PATH, HOME, LANG and TZ; BUN_*, NODE_OPTIONS and LD_* are dropped even here. */
  readonly env?: Readonly<Record<string, string>>;
  readonly maxIdle: number;
  /** Default 60,000. */
  readonly idleMs?: number;
  readonly isUrgent?: boolean;
}

/** Starts nothing until {@link take}. */
export class ChildSupply {
  readonly #options: ChildSupplyOptions;
  readonly #children = new Set<ChildProcess>();
  /** With their retirement timers; last used last, so that the first ones grow old. */
  readonly #idle = new Map<ChildProcess, Timer>();
  readonly #memoryChecks = new WeakMap<ChildProcess, number>();
  readonly #backoff = new Backoff(FREE_CRASHES);
  #crashes = 0;
  #isStopped = false;

  constructor(options: ChildSupplyOptions) {
    this.#options = options;
    prepareSockets(options.socketDir, options.role);
  }

  get running(): number {
    return this.#children.size;
  }

  get crashes(): number {
    return this.#crashes;
  }

  /**
   * To be given back with {@link park} or {@link recordCrash}. Errors: `unavailable` when none can be started, or not
   * before `deadline` (on `performance.now()`); the signal's reason.
   */
  async take(deadline: number, signal: AbortSignal | undefined): Promise<ChildProcess> {
    for (const child of [...this.#idle.keys()].reverse()) {
      this.#forgetIdle(child);
      if (child.isAlive) return child;
    }
    const starting = this.#start();
    const limit = AbortSignal.timeout(Math.max(1, deadline - performance.now()));
    const signals = signal === undefined ? [limit] : [limit, signal];
    try {
      return await Promise.race([starting, rejection(AbortSignal.any(signals))]);
    } catch (error) {
      // A late child is healthy and serves the next job; a failed one has been reported.
      starting.then((child) => this.park(child)).catch(() => {});
      if (limit.aborted && error === limit.reason) throw couldNotStart(0, error);
      throw error;
    }
  }

  /** Ends a series of crashes, for a child that its user does not give back. */
  recordSuccess(): void {
    this.#backoff.succeeded();
  }

  /** Takes back a child after its job succeeded, or failed without harm to it. */
  park(child: ChildProcess): void {
    this.recordSuccess();
    if (!child.isAlive) return;
    if (this.#isStopped || this.#idle.size >= this.#options.maxIdle) {
      child.kill('one child too many');
      return;
    }
    if (this.#isFat(child)) {
      child.kill('it kept too much memory after a job');
      return;
    }
    const retirement = setTimeout(() => this.#retire(child), this.#options.idleMs ?? 60_000);
    retirement.unref();
    this.#idle.set(child, retirement);
  }

  recordCrash(): void {
    this.#crashes += 1;
    this.#backoff.failed(performance.now());
  }

  /** Kills all children and starts no more; resolves when they have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const children = [...this.#children];
    for (const child of children) child.kill('the pool was stopped');
    await Promise.all(children.map((child) => child.exited));
  }

  async #start(): Promise<ChildProcess> {
    if (this.#isStopped) throw stopping();
    const pauseMs = this.#backoff.remainingMs(performance.now());
    if (pauseMs > 0) throw couldNotStart(pauseMs);
    let child: ChildProcess | undefined;
    try {
      child = this.#spawn();
      await child.ready(START_LIMIT_MS);
      return child;
    } catch (error) {
      child?.kill('it did not start');
      if (this.#isStopped) throw stopping();
      this.recordCrash();
      const { log, role } = this.#options;
      log.error('A child process could not be started', { role, error });
      throw couldNotStart(this.#backoff.remainingMs(performance.now()), error);
    }
  }

  #spawn(): ChildProcess {
    const { role, command, socketDir, env, log, isUrgent } = this.#options;
    const socketPath = newSocketPath(socketDir, role);
    const environment = childEnvironment(process.env, env);
    const child = new ChildProcess({
      role,
      command: command(socketPath),
      socketPath,
      cwd: socketDir,
      environment,
      log,
      isUrgent,
    });
    this.#children.add(child);
    void child.exited.then((exit) => {
      this.#children.delete(child);
      if (this.#forgetIdle(child) && exit.killedBecause === null) this.recordCrash();
    });
    return child;
  }

  #isFat(child: ChildProcess): boolean {
    const now = performance.now();
    if (now - (this.#memoryChecks.get(child) ?? 0) < MEMORY_CHECK_MS) return false;
    this.#memoryChecks.set(child, now);
    return (child.memoryBytes() ?? 0) > this.#options.recycleRssBytes;
  }

  #retire(child: ChildProcess): void {
    this.#forgetIdle(child);
    child.kill('nothing to do');
  }

  #forgetIdle(child: ChildProcess): boolean {
    clearTimeout(this.#idle.get(child));
    return this.#idle.delete(child);
  }
}

class Stopping extends AppError {
  constructor() {
    super('unavailable', 'The server is stopping', { headers: { 'Retry-After': '5' } });
  }
}

export function stopping(): AppError {
  return new Stopping();
}

/** Work that ended because its pool was stopped is no failure to report. */
export function isStopping(error: unknown): boolean {
  return error instanceof Stopping;
}

function couldNotStart(pauseMs: number, cause?: unknown): AppError {
  return new AppError('unavailable', 'A part of the server is restarting; try again later', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(pauseMs / 1000))) },
    cause,
  });
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
