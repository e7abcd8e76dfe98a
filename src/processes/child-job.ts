/**
 * One job on one child, killed when it passes a limit.
 *
 * Limits are checked every 50 ms: time to the head of the answer, time without progress while there is room for more,
 * and memory. What the reader does not take fast enough goes to a spool, so that the child is free once it has
 * produced everything.
 */
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { isFailure, readFailure } from './child-error.ts';
import type { ChildProcess } from './child-process.ts';
import { isStopping } from './child-supply.ts';
import { Spool, type SpoolRoom } from './spool.ts';

const WATCH_MS = 50;
/** Longest answer sent in one piece. */
const SHORT_BYTES = 1024 * 1024;
/** Not at all when others wait for the child. */
const DISK_AFTER_MS = 2_000;
/** When the disk is full and others wait, a slower reader loses its answer. */
const LEAST_BYTES_PER_SECOND = 64 * 1024;
/** Time an abandoned job gets to finish by itself; a new child costs about as much. */
const ABANDON_GRACE_MS = 100;
const BREAKAGE_WAIT_MS = 1_000;
// They describe the connection between child and parent, not the answer.
const HOP_HEADERS = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];

interface ChildJobOptions {
  readonly path: string;
  readonly bodyJson: string;
  /** To the head of the answer, from `startedAt`; afterwards longest wait for more of the body. */
  readonly timeoutMs: number;
  /** On `performance.now()`. */
  readonly startedAt: number;
  /** Longest processor time of the child, in ms. */
  readonly processorMs: number;
  readonly maxMemoryBytes: number;
  readonly memoryError: () => AppError;
  readonly signal: AbortSignal | undefined;
  readonly log: Log;
  /** Null: spool in memory only. */
  readonly spoolRoom: SpoolRoom | null;
  readonly person: string | null;
  readonly isWanted: () => boolean;
  /** Period over which the reader's rate is measured. */
  readonly readerPatienceMs: number;
}

/** State of the child afterwards; `killed` for passing a limit. */
export type JobOutcome = 'done' | 'killed' | 'crashed';

/** The part in which the stream reader types of runtime and platform agree. */
interface ByteReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: unknown }>;
}

export class ChildJob {
  /** When the child is free or dead; for a streamed answer after the answer. Never rejects. */
  readonly finished: Promise<JobOutcome>;
  readonly #child: ChildProcess;
  readonly #options: ChildJobOptions;
  readonly #connection = new AbortController();
  readonly #finish: (outcome: JobOutcome) => void;
  #watch: Timer | undefined;
  /** Deadline of the current wait; null while nothing is awaited. */
  #dueAt: number | null;
  #spool: Spool | null = null;
  /** Since when the reader blocks the child, and bytes it had read then. */
  #heldUp: { readonly since: number; readonly taken: number } | null = null;
  readonly #bornAt = performance.now();
  /** Processor time of the child at the start; null if unknown. */
  readonly #processorStart: number | null;
  #hasLeft = false;
  #failure: unknown;
  readonly #onAbort = (): void => this.#abandon(this.#options.signal?.reason);

  constructor(child: ChildProcess, options: ChildJobOptions) {
    this.#child = child;
    this.#options = options;
    this.#dueAt = options.startedAt + options.timeoutMs;
    const isCounted = options.processorMs < Number.POSITIVE_INFINITY;
    this.#processorStart = isCounted ? child.processorMs() : null;
    const { promise, resolve } = Promise.withResolvers<JobOutcome>();
    this.finished = promise;
    this.#finish = resolve;
  }

  get ageMs(): number {
    return performance.now() - this.#bornAt;
  }

  /** Errors: what the job threw, `timed-out`, the memory error, `unavailable` after a crash. */
  async run(): Promise<Response> {
    const { path, bodyJson, signal } = this.#options;
    if (signal?.aborted === true) {
      this.#leave('done');
      throw signal.reason;
    }
    this.#watch = setInterval(() => this.#checkLimits(), WATCH_MS);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    try {
      const response = await this.#child.fetch(path, {
        method: 'POST',
        body: bodyJson,
        signal: this.#connection.signal,
      });
      if (isFailure(response)) throw await this.#readFailure(response);
      return await this.#answer(response);
    } catch (error) {
      throw await this.#explain(error);
    }
  }

  /** Kills the job; its reader gets `error`. */
  end(error: AppError, because: string): void {
    const { log, path } = this.#options;
    log[isStopping(error) ? 'info' : 'warning']('A job in a child process was stopped', {
      role: this.#child.role,
      pid: this.#child.pid,
      job: path,
      because,
    });
    this.#child.kill(because);
    this.#fail(error);
    this.#leave('killed');
  }

  async #readFailure(response: Response): Promise<Error> {
    const error = await readFailure(response);
    this.#failure = error;
    this.#leave('done');
    return error;
  }

  async #answer(response: Response): Promise<Response> {
    const headers = new Headers(response.headers);
    const length = Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY);
    for (const name of HOP_HEADERS) headers.delete(name);
    const init = { status: response.status, headers };
    if (response.body === null || length <= SHORT_BYTES) {
      const bytes = await response.arrayBuffer();
      this.#leave('done');
      return new Response(response.body === null ? null : bytes, init);
    }
    this.#dueAt = null;
    const { spoolRoom, person } = this.#options;
    const spool = new Spool(spoolRoom, person, (reason) => this.#abandon(reason));
    this.#spool = spool;
    void this.#fill(spool, response.body.getReader());
    return new Response(spool.body, init);
  }

  /** Reads the child's output as fast as there is room. */
  async #fill(spool: Spool, reader: ByteReader): Promise<void> {
    try {
      for (;;) {
        this.#dueAt = performance.now() + this.#options.timeoutMs;
        const { done, value } = await reader.read();
        this.#dueAt = null;
        if (done) break;
        if (!(await spool.add(value))) return;
      }
      this.#leave('done');
      spool.complete();
    } catch (error) {
      this.#dueAt = null;
      spool.fail(await this.#explain(error));
    }
  }

  #checkLimits(): void {
    if (this.#dueAt !== null && performance.now() > this.#dueAt) {
      const seconds = this.#options.timeoutMs / 1000;
      const message = `The work took longer than ${seconds} s and was stopped`;
      this.end(new AppError('timed-out', message), 'time limit');
      return;
    }
    const { processorMs } = this.#options;
    if (processorMs < Number.POSITIVE_INFINITY && this.#computedMs() > processorMs) {
      this.end(new TooMuchWork(processorMs / 1000), 'processor time');
      return;
    }
    const bytes = this.#child.memoryBytes();
    if (bytes !== null && bytes > this.#options.maxMemoryBytes) {
      this.end(this.#options.memoryError(), `memory limit, ${Math.round(bytes / 1e6)} MB`);
      return;
    }
    this.#checkReader();
  }

  #checkReader(): void {
    const spool = this.#spool;
    const isWanted = this.#options.isWanted();
    if (spool === null || !spool.isFull) {
      this.#heldUp = null;
      return;
    }
    const now = performance.now();
    this.#heldUp ??= { since: now, taken: spool.taken };
    const ms = now - this.#heldUp.since;
    if (isWanted || ms > DISK_AFTER_MS) spool.useDisk();
    if (ms < this.#options.readerPatienceMs || !isWanted) return;
    const rate = ((spool.taken - this.#heldUp.taken) / ms) * 1000;
    this.#heldUp = null;
    if (rate >= LEAST_BYTES_PER_SECOND) return;
    const error = new AppError('timed-out', 'The answer was not read in time');
    this.end(error, `its reader took ${Math.round(rate)} bytes a second while others waited`);
  }

  #computedMs(): number {
    const now = this.#child.processorMs();
    return now === null || this.#processorStart === null ? this.ageMs : now - this.#processorStart;
  }

  /** Closes the connection, and kills the child unless it is free in a moment. */
  #abandon(reason: unknown): void {
    // After its last byte was read ahead the child may already work for others.
    if (this.#hasLeft || this.#failure !== undefined) return;
    this.#fail(reason ?? new Error('The caller went away'));
    this.#stopWatching();
    void this.#child.isIdle(ABANDON_GRACE_MS).then((isIdle) => {
      if (!isIdle) this.#child.kill('its caller went away');
      this.#leave(isIdle ? 'done' : 'killed');
    });
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#connection.abort(error);
    this.#spool?.fail(error);
  }

  /** Turns a broken connection into the caller's error. */
  async #explain(error: unknown): Promise<unknown> {
    if (this.#failure !== undefined) return this.#failure;
    const told = await this.#child.breakage(BREAKAGE_WAIT_MS);
    if (this.#failure !== undefined) return this.#failure;
    const { log, path } = this.#options;
    const fields = { role: this.#child.role, pid: this.#child.pid, job: path };
    if (told !== null) {
      // Logged here: nobody else sees an error after the head of an answer.
      if (!(told instanceof AppError)) log.error('An answer broke off', { ...fields, error: told });
      this.#failure = told;
      this.#leave('done');
      return told;
    }
    // The child's exit reports a crash, with its exit code, unless it is called a kill first.
    await Promise.race([this.#child.exited, Bun.sleep(BREAKAGE_WAIT_MS)]);
    this.#child.kill('its connection broke');
    log.error('A child process broke off its job', { ...fields, error });
    this.#failure = new AppError('unavailable', 'The work broke off; try again later', {
      headers: { 'Retry-After': '1' },
      cause: error,
    });
    this.#leave('crashed');
    return this.#failure;
  }

  #leave(outcome: JobOutcome): void {
    this.#stopWatching();
    this.#hasLeft = true;
    this.#finish(outcome);
  }

  #stopWatching(): void {
    clearInterval(this.#watch);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** The work needs more processor time than allowed, whatever the load of the machine. */
export class TooMuchWork extends AppError {
  constructor(seconds: number) {
    super('timed-out', `The work takes more than ${seconds} s of processor time and was stopped`);
  }
}
