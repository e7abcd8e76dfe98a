/**
 * One job on one child: asked, watched, and ended by force when it passes a limit.
 *
 * The child works for nobody else meanwhile, so killing it hurts only this job. The limits are looked at every 50 ms:
 * time to the head of the answer, time without progress while more of the body is wanted, and memory. A reader that is
 * slow costs nothing but the child it occupies; how long it has been idle is told to the pool.
 */
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { isFailure, readFailure } from './child-error.ts';
import type { ChildProcess } from './child-process.ts';
import { isStopping } from './child-supply.ts';

const WATCH_MS = 50;
/** Bytes of a body that are fetched ahead of the reader, so that an ordinary page frees its child at once. */
const READ_AHEAD_BYTES = 1024 * 1024;
/** How long a job whose caller went away may take to finish by itself; a new child costs about as much. */
const ABANDON_GRACE_MS = 100;
const BREAKAGE_WAIT_MS = 1_000;
// They describe the hop between child and parent, not the answer.
const HOP_HEADERS = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];

/** One job and the limits it runs under. */
interface ChildJobOptions {
  readonly path: string;
  readonly bodyJson: string;
  /** Milliseconds to the head of the answer, counted from `startedAt`; afterwards, longest wait for more of the body. */
  readonly timeoutMs: number;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly maxMemoryBytes: number;
  readonly memoryError: () => AppError;
  readonly signal: AbortSignal | undefined;
  readonly log: Log;
}

/** How a job left its child: usable, killed for passing a limit, or crashed. */
export type JobOutcome = 'done' | 'killed' | 'crashed';

/** The part of a stream reader that is used; the runtime's and the platform's types of it differ. */
interface ByteReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: unknown }>;
}

/** A job, run once by {@link run}. */
export class ChildJob {
  /** Resolves when the child is free or gone, which for a streamed answer is later than the answer. Never rejects. */
  readonly finished: Promise<JobOutcome>;
  readonly #child: ChildProcess;
  readonly #options: ChildJobOptions;
  readonly #connection = new AbortController();
  readonly #finish: (outcome: JobOutcome) => void;
  #watch: Timer | undefined;
  /** When the thing waited for is overdue; null while nothing is waited for. */
  #dueAt: number | null;
  /** Since when the reader of a streamed answer has wanted nothing; null while it does, or before the answer. */
  #readerIdleSince: number | null = null;
  #isStreaming = false;
  #hasLeft = false;
  #failure: unknown;
  readonly #onAbort = (): void => this.#abandon(this.#options.signal?.reason);

  constructor(child: ChildProcess, options: ChildJobOptions) {
    this.#child = child;
    this.#options = options;
    this.#dueAt = options.startedAt + options.timeoutMs;
    const { promise, resolve } = Promise.withResolvers<JobOutcome>();
    this.finished = promise;
    this.#finish = resolve;
  }

  /** Whether the answer has begun and its reader has not taken all of it yet. */
  get isStreaming(): boolean {
    return this.#isStreaming;
  }

  /** Milliseconds for which the reader of a streamed answer has wanted nothing. */
  get readerIdleMs(): number {
    return this.#readerIdleSince === null ? 0 : performance.now() - this.#readerIdleSince;
  }

  /** The child's answer. Errors: what the job threw, `timed-out`, the memory error, `unavailable` after a crash. */
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

  /** Ends the job by force; its reader gets `error`. */
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
    if (response.body === null || length <= READ_AHEAD_BYTES) {
      const bytes = await response.arrayBuffer();
      this.#leave('done');
      return new Response(response.body === null ? null : bytes, init);
    }
    this.#isStreaming = true;
    this.#dueAt = null;
    return new Response(this.#stream(response.body), init);
  }

  #stream(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) => this.#pull(reader, controller),
        cancel: (reason: unknown) => this.#abandon(reason),
      },
      { highWaterMark: READ_AHEAD_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  async #pull(
    reader: ByteReader,
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Promise<void> {
    this.#dueAt = performance.now() + this.#options.timeoutMs;
    this.#readerIdleSince = null;
    try {
      const { done, value } = await reader.read();
      if (done) {
        this.#leave('done');
        controller.close();
      } else {
        controller.enqueue(value);
      }
    } catch (error) {
      throw await this.#explain(error);
    } finally {
      this.#dueAt = null;
      this.#readerIdleSince = performance.now();
    }
  }

  #checkLimits(): void {
    if (this.#dueAt !== null && performance.now() > this.#dueAt) {
      const seconds = this.#options.timeoutMs / 1000;
      const message = `The work took longer than ${seconds} s and was stopped`;
      this.end(new AppError('timed-out', message), 'time limit');
      return;
    }
    const bytes = this.#child.memoryBytes();
    if (bytes !== null && bytes > this.#options.maxMemoryBytes) {
      this.end(this.#options.memoryError(), `memory limit, ${Math.round(bytes / 1e6)} MB`);
    }
  }

  /** The caller went away: the connection is closed, and the child killed unless it is free again in a moment. */
  #abandon(reason: unknown): void {
    // A stream may be cancelled after its last byte was read ahead: the child may be working for others by then.
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
  }

  /** What went wrong, in the caller's terms, when the connection to the child broke. */
  async #explain(error: unknown): Promise<unknown> {
    if (this.#failure !== undefined) return this.#failure;
    const told = await this.#child.breakage(BREAKAGE_WAIT_MS);
    if (this.#failure !== undefined) return this.#failure;
    const { log, path } = this.#options;
    const fields = { role: this.#child.role, pid: this.#child.pid, job: path };
    if (told !== null) {
      // Here and not at the door: nobody else sees an error that comes after the head of an answer.
      if (!(told instanceof AppError)) log.error('An answer broke off', { ...fields, error: told });
      this.#failure = told;
      this.#leave('done');
      return told;
    }
    // A crash is reported by the child's end, with its exit code, unless it is called a killing before.
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
    this.#isStreaming = false;
    this.#hasLeft = true;
    this.#finish(outcome);
  }

  #stopWatching(): void {
    clearInterval(this.#watch);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }
}
