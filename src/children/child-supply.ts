/**
 * The processes of a pool: started when one is needed, kept warm while idle, ended when old, fat or one too many, not
 * started again at once when they keep crashing.
 */
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { Backoff } from './backoff.ts';
import { childEnvironment } from './child-environment.ts';
import { ChildProcess } from './child-process.ts';
import { newSocketPath, prepareSockets } from './child-sockets.ts';

/** A child that takes longer than this to answer its first ping will not answer at all. */
/** Children give way, so on a machine with much else to do their start takes long. */
const START_LIMIT_MS = 30_000;
/** Crashes in a row that cost nothing: one poisonous request, retried, must not shut out the others. */
const FREE_CRASHES = 3;
/** Memory of an idle child is looked at no more often than this. */
const MEMORY_CHECK_MS = 250;

/** How many children are kept and when they are let go. */
export interface ChildSupplyOptions {
  /** One word for the log and for socket names, such as `query`. */
  readonly role: string;
  /** The program and arguments of a child that calls `serveChild` with this socket path. */
  readonly command: (socketPath: string) => readonly string[];
  /** Folder of the sockets; made with mode 0700 when it does not exist. */
  readonly socketDir: string;
  readonly log: Log;
  /** An idle child that keeps more memory than this after a job is ended. */
  readonly recycleRssBytes: number;
  /** Added to PATH, HOME, LANG and TZ; BUN_*, NODE_OPTIONS and LD_* are left out even here. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory of the children; default `socketDir`. */
  readonly cwd?: string;
  /** Most children kept although idle. */
  readonly maxIdle: number;
  /** Children kept although idle for long; default 0. */
  readonly minIdle?: number;
  /** How long an idle child is kept; default 60,000. */
  readonly idleMs?: number;
  /** See `ChildProcessOptions`. */
  readonly isUrgent?: boolean;
}

/** The processes; starts nothing until one is taken or {@link warm} is called. */
export class ChildSupply {
  readonly #options: ChildSupplyOptions;
  readonly #children = new Set<ChildProcess>();
  /** With the timers of their retirement; last used last, so that the first ones grow old. */
  readonly #idle = new Map<ChildProcess, Timer>();
  readonly #memoryChecks = new WeakMap<ChildProcess, number>();
  readonly #backoff = new Backoff(FREE_CRASHES);
  #crashes = 0;
  #isStopped = false;

  constructor(options: ChildSupplyOptions) {
    this.#options = options;
    prepareSockets(options.socketDir, options.role);
  }

  /** Processes that exist, starting ones included. */
  get running(): number {
    return this.#children.size;
  }

  /** Crashes and failed starts so far. */
  get crashes(): number {
    return this.#crashes;
  }

  /**
   * A child with nothing to do, to be given back with {@link park} or {@link recordCrash}. Errors: `unavailable` when
   * none can be started, or not before `deadline` (on `performance.now()`); the signal's reason when it is aborted.
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
      // A child that is late is healthy and serves the next job; one that failed has been reported.
      starting.then((child) => this.park(child)).catch(() => {});
      if (limit.aborted && error === limit.reason) throw couldNotStart(0, error);
      throw error;
    }
  }

  /** Counts work of a child that is kept by who took it: crashes so far were none in a row. */
  recordSuccess(): void {
    this.#backoff.succeeded();
  }

  /** Takes back a child whose job succeeded or failed in an orderly way. */
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

  /** Counts a child that ended without being killed. */
  recordCrash(): void {
    this.#crashes += 1;
    this.#backoff.failed(performance.now());
  }

  /** Starts the children that are kept although idle. Never rejects: a failure shows at the first job. */
  async warm(): Promise<void> {
    const missing = (this.#options.minIdle ?? 0) - this.#children.size;
    const starts = Array.from({ length: Math.max(0, missing) }, () => this.#start());
    for (const start of await Promise.allSettled(starts)) {
      if (start.status === 'fulfilled') this.park(start.value);
    }
  }

  /** Kills all children and starts no more; resolves when the processes are gone. */
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
    const { role, command, socketDir, cwd, env, log, isUrgent } = this.#options;
    const socketPath = newSocketPath(socketDir, role);
    const environment = childEnvironment(process.env, env);
    const child = new ChildProcess({
      role,
      command: command(socketPath),
      socketPath,
      cwd: cwd ?? socketDir,
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
    if (this.#idle.size <= (this.#options.minIdle ?? 0)) return;
    this.#forgetIdle(child);
    child.kill('nothing to do');
  }

  /** Takes the child out of the idle ones; false when it was not among them. */
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

/** What everybody is told once the pool is stopped. */
export function stopping(): AppError {
  return new Stopping();
}

/** Whether work ended because its pool was stopped on purpose: nobody waits for it, and it is no failure to report. */
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
