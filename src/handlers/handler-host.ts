/**
 * The supervisor of one language's host process, which runs all handlers of the language.
 *
 * A process that ends is restarted after a growing pause. One that hangs is replaced at once, and killed when its
 * calls have ended. A file that ends or blocks the process while it is loaded is left out until it changes.
 */
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { Backoff } from '../processes/backoff.ts';
import { ChildProcess } from '../processes/child-process.ts';
import { newSocketPath, prepareSockets } from '../processes/child-sockets.ts';
import { Holdings, Lane } from '../processes/lane.ts';
import type { HandlerRequest } from './handler-call.ts';
import { HandlerProcess } from './handler-process.ts';
import type { LoadResult, RouterSchema } from './host-protocol.ts';
import type { HostCommand, Language } from './language.ts';

/** Importing FastAPI takes Python a second, on a busy machine several. */
const START_LIMIT_MS = 30_000;
const PING_EVERY_MS = 1_000;
const PING_LIMIT_MS = 5_000;
/** After a call that timed out a hang is likely, so a shorter wait proves it. */
const PING_LIMIT_AFTER_TIMEOUT_MS = 1_000;
/** A thread that goes on after its request was given up can only be stopped with its process. */
const ABANDONED_LIMIT_MS = 5_000;
const MEMORY_EVERY_MS = 100;
/** After a run of this length the next pause is short again. */
const HEALTHY_MS = 60_000;
const EXIT_LIMIT_MS = 300;
const STREAM_GRACE_MS = 60_000;
/** Replaced processes that still burn a core each. */
const MAX_RETIRED = 2;
/** Ends of the process during a load, while others are busy, before the file is blamed. */
const MAX_STRIKES = 2;

/** Concurrent calls of one user: a Python process has 40 threads for all of them. */
const MAX_CALLS = 16;
const MAX_WAITING = 64;

export interface HandlerHostOptions {
  readonly language: Language;
  /** Null when the language cannot run here. */
  readonly command: () => Promise<HostCommand | null>;
  /** What is said when it cannot. */
  readonly absence: string;
  readonly docroot: string;
  /** Created with mode 0700. */
  readonly socketDir: string;
  /** Complete: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: () => { readonly timeoutMs: number; readonly memoryBytes: number };
  readonly onLoaded: (rel: string, result: LoadResult) => void;
  readonly log: Log;
}

interface WantedFile {
  problem: string | null;
  /** Times the process ended while it was loaded. */
  strikes: number;
  wasTriedAnew: boolean;
}

/** Starts no process until a file is wanted. */
export class HandlerHost {
  readonly #options: HandlerHostOptions;
  readonly #role: string;
  readonly #files = new Map<string, WantedFile>();
  readonly #backoff = new Backoff(1);
  readonly #retired = new Set<HandlerProcess>();
  /** Until their answers begin. */
  readonly #calls = new Lane(Number.POSITIVE_INFINITY, MAX_WAITING, new Holdings(() => MAX_CALLS));
  #current: HandlerProcess | null = null;
  #starting: Promise<void> | null = null;
  #startingChild: ChildProcess | undefined;
  #restartTimer: Timer | undefined;
  #memoryTimer: Timer | undefined;
  #isUnavailable = false;
  #isStopped = false;
  #restarts = 0;

  constructor(options: HandlerHostOptions) {
    this.#options = options;
    this.#role = `handler-${options.language}`;
  }

  /** Includes replacements and stops for passing a limit. */
  get restarts(): number {
    return this.#restarts;
  }

  get running(): number {
    return this.#retired.size + (this.#current === null ? 0 : 1);
  }

  want(rel: string): void {
    if (this.#isStopped) return;
    this.#files.set(rel, { problem: null, strikes: 0, wasTriedAnew: false });
    if (this.#current !== null) void this.#load(this.#current, rel);
    else this.#startWhenAllowed();
  }

  async forget(rel: string): Promise<void> {
    this.#files.delete(rel);
    const process = this.#current;
    if (process === null) return;
    if (this.#files.size === 0) return this.#retire(process);
    try {
      await process.unload(rel);
    } catch {
      // A process that does not answer is replaced; the next one never loads the file.
    }
  }

  /**
   * Errors as `callRouter`, and `unavailable` while there is no process or when the file could not be loaded; the
   * cause is then an Error with the reason.
   */
  async call(request: HandlerRequest): Promise<Response> {
    const { timeoutMs } = this.#options.limits();
    const process = await this.#ready(timeoutMs);
    const result = await this.#inTime(process.loaded(request.rel), timeoutMs);
    if (result === null) throw unavailable(1);
    if (result.problem !== null) throw broken(result.problem);
    return this.#calls.run(timeoutMs, () => process.call(request, timeoutMs));
  }

  async schema(rel: string): Promise<RouterSchema | null> {
    const process = this.#current;
    const result = await process?.loaded(rel);
    if (!process || !result || result.problem !== null) return null;
    return process.schema(rel);
  }

  /** For good. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restartTimer);
    clearInterval(this.#memoryTimer);
    this.#startingChild?.kill('the server stops');
    await this.#starting?.catch(() => {});
    const processes = [...this.#retired, ...(this.#current === null ? [] : [this.#current])];
    this.#current = null;
    for (const { child } of processes) child.kill('the server stops');
    await Promise.all(processes.map(({ child }) => child.exited));
  }

  async #ready(timeoutMs: number): Promise<HandlerProcess> {
    if (this.#current !== null) return this.#current;
    if (this.#isUnavailable) throw broken(this.#options.absence);
    if (this.#starting !== null) await this.#inTime(this.#starting, timeoutMs);
    if (this.#current !== null) return this.#current;
    const pauseMs = this.#backoff.remainingMs(performance.now());
    throw unavailable(Math.max(1, Math.ceil(pauseMs / 1000)));
  }

  /** Throws `timed-out` as a call would; `unavailable` when `work` fails. */
  async #inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const late = new AppError('timed-out', 'Handler timed out');
    const timer = setTimeout(() => reject(late), timeoutMs);
    try {
      return await Promise.race([work, promise]);
    } catch (error) {
      throw error === late ? late : unavailable(1);
    } finally {
      clearTimeout(timer);
    }
  }

  #startWhenAllowed(): void {
    if (this.#isStopped || this.#starting !== null || this.#current !== null) return;
    if (this.#files.size === 0) return;
    clearTimeout(this.#restartTimer);
    const pauseMs = this.#backoff.remainingMs(performance.now());
    if (pauseMs > 0) {
      this.#restartTimer = setTimeout(() => this.#startWhenAllowed(), pauseMs);
      this.#restartTimer.unref();
      return;
    }
    this.#starting = this.#start().finally(() => {
      this.#starting = null;
      if (this.#current === null && !this.#isUnavailable) this.#startWhenAllowed();
    });
    this.#starting.catch(() => {});
  }

  async #start(): Promise<void> {
    const { command, log } = this.#options;
    const hostCommand = await command();
    this.#isUnavailable = hostCommand === null;
    if (hostCommand === null) {
      for (const rel of this.#files.keys()) this.#tell(rel, this.#options.absence);
      return;
    }
    let child: ChildProcess;
    try {
      if (this.#isStopped) return;
      child = this.#startingChild = this.#spawn(hostCommand);
      await child.ready(START_LIMIT_MS);
    } catch (error) {
      this.#startingChild?.kill('it did not start');
      if (this.#isStopped) return;
      log.error('A host of handlers could not be started', { role: this.#role, error });
      this.#backoff.failed(performance.now());
      this.#restarts += 1;
      throw error;
    }
    if (this.#isStopped || this.#files.size === 0) return child.kill('nothing to do');
    this.#adopt(child);
  }

  #spawn(command: HostCommand): ChildProcess {
    const { socketDir, docroot, environment, log } = this.#options;
    prepareSockets(socketDir, this.#role);
    const socketPath = newSocketPath(socketDir, this.#role);
    return new ChildProcess({
      role: this.#role,
      command: command(socketPath),
      socketPath,
      cwd: docroot,
      environment,
      log,
    });
  }

  #adopt(child: ChildProcess): void {
    const process: HandlerProcess = new HandlerProcess(child, {
      onTimeout: () => void this.#check(process, PING_LIMIT_AFTER_TIMEOUT_MS),
      onProgress: () => this.#endRetired(process),
    });
    this.#current = process;
    void child.exited.then(({ killedBecause }) => this.#ended(process, killedBecause));
    for (const rel of this.#files.keys()) void this.#load(process, rel);
    void this.#watch(process);
    clearInterval(this.#memoryTimer);
    this.#memoryTimer = setInterval(() => this.#checkMemory(), MEMORY_EVERY_MS);
    this.#memoryTimer.unref();
  }

  async #load(process: HandlerProcess, rel: string): Promise<void> {
    const { problem } = this.#files.get(rel) ?? { problem: null };
    if (problem !== null) {
      process.refuse(rel, problem);
      return this.#tell(rel, problem);
    }
    try {
      const result = await process.load(rel);
      if (process !== this.#current || !this.#files.has(rel)) return;
      const file = this.#files.get(rel);
      if (result.isStale !== true || !file || file.wasTriedAnew) {
        return this.#options.onLoaded(rel, result);
      }
      file.wasTriedAnew = true;
      this.#retire(process);
      this.#startWhenAllowed();
    } catch (error) {
      // The next process loads it again; pings detect a blocked one.
      this.#options.log.debug('a handler was not loaded', { file: rel, error });
      if (!process.child.isAlive) return;
      await this.#check(process, PING_LIMIT_AFTER_TIMEOUT_MS);
      if (process === this.#current && process.isResponsive) process.forgive();
    }
  }

  #tell(rel: string, problem: string): void {
    this.#options.onLoaded(rel, { problem, modules: [rel] });
  }

  async #watch(process: HandlerProcess): Promise<void> {
    while (process.child.isAlive && !this.#isStopped) {
      await Bun.sleep(PING_EVERY_MS);
      await this.#check(process, PING_LIMIT_MS);
      this.#endRetired(process);
    }
  }

  async #check(process: HandlerProcess, limitMs: number): Promise<void> {
    const { child } = process;
    if (!child.isAlive) return;
    process.isResponsive = await child.isIdle(limitMs);
    // Tell an ended process from a hanging one.
    if (!process.isResponsive) await Promise.race([child.exited, Bun.sleep(EXIT_LIMIT_MS)]);
    if (!child.isAlive || process !== this.#current) return;
    if (!process.isResponsive) {
      return this.#replace(process, `it did not answer for ${limitMs} ms`);
    }
    if (this.#options.language !== 'python') return;
    try {
      if ((await process.abandonedMs()) > ABANDONED_LIMIT_MS) {
        this.#replace(process, 'it works on a request that was given up');
      }
    } catch {
      // It ended, or hangs since; the next ping tells.
    }
  }

  #checkMemory(): void {
    const { memoryBytes: limit } = this.#options.limits();
    for (const process of [this.#current, ...this.#retired]) {
      const bytes = process?.child.memoryBytes() ?? 0;
      if (process && bytes > limit)
        process.child.kill(`memory limit, ${Math.round(bytes / 1e6)} MB`);
    }
  }

  /** The old process ends after its calls. */
  #replace(process: HandlerProcess, because: string): void {
    if (process !== this.#current || this.#isStopped) return;
    this.#restarts += 1;
    this.#report(process, because);
    this.#blame(process, because);
    this.#retire(process);
    this.#startWhenAllowed();
  }

  #retire(process: HandlerProcess): void {
    if (this.#current === process) this.#current = null;
    process.retiredAt = performance.now();
    this.#retired.add(process);
    const [oldest] = this.#retired;
    if (this.#retired.size > MAX_RETIRED) oldest?.child.kill('too many processes were replaced');
    this.#endRetired(process);
  }

  #endRetired(process: HandlerProcess): void {
    const { retiredAt, waiting, streams, isResponsive } = process;
    if (retiredAt === null || waiting > 0) return;
    const isOver = performance.now() - retiredAt > STREAM_GRACE_MS;
    if (streams === 0 || !isResponsive || isOver) process.child.kill('it was replaced');
  }

  #ended(process: HandlerProcess, killedBecause: string | null): void {
    if (this.#retired.delete(process) || process !== this.#current || this.#isStopped) return;
    const because = killedBecause ?? 'it ended by itself';
    this.#current = null;
    this.#restarts += 1;
    this.#report(process, because);
    this.#blame(process, 'the process ended while it was loaded');
    const now = performance.now();
    if (now - process.startedAt > HEALTHY_MS) this.#backoff.succeeded();
    this.#backoff.failed(now);
    this.#startWhenAllowed();
  }

  #report(process: HandlerProcess, because: string): void {
    const { child, busyWith, loadingNow } = process;
    const fields = { role: this.#role, pid: child.pid, because, loading: loadingNow ?? undefined };
    this.#options.log.error('A host of handlers is started again', { ...fields, busyWith });
  }

  #blame(process: HandlerProcess, problem: string): void {
    const rel = process.loadingNow;
    const file = rel === null ? undefined : this.#files.get(rel);
    if (rel === null || file === undefined) return;
    file.strikes += 1;
    if (process.busyWith.length > 0 && file.strikes < MAX_STRIKES) return;
    file.problem = `loading it failed: ${problem}`;
  }
}

function broken(problem: string): AppError {
  return new AppError('unavailable', 'Handler unavailable', { cause: new Error(problem) });
}

function unavailable(seconds: number): AppError {
  const headers = { 'Retry-After': String(seconds) };
  return new AppError('unavailable', 'Handler unavailable', { headers });
}
