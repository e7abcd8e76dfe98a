/**
 * A pool of child processes that each do one job at a time (architecture 4.4): `parse`, `query`.
 *
 * A job is synchronous work on bytes or queries shaped by others, so the only way to stop it is to kill its process
 * (reliability M4, M5); the pool starts another when one is needed. Jobs that are known to stream for long are
 * `dedicated` and have places of their own; a job that turns out to stream while others wait is moved there.
 */
import { AppError } from '../base/errors.ts';
import { ChildJob } from './child-job.ts';
import type { JobOutcome } from './child-job.ts';
import type { ChildProcess } from './child-process.ts';
import { ChildSupply, stopping } from './child-supply.ts';
import type { ChildSupplyOptions } from './child-supply.ts';
import { Lane } from './lane.ts';
import type { Place } from './lane.ts';

/** The workers of one role. */
export interface ChildPoolOptions extends Omit<ChildSupplyOptions, 'maxIdle' | 'recycleRssBytes'> {
  /** Most jobs at once, dedicated ones not counted, and most children kept although idle. */
  readonly size: number;
  /** Most memory of one child in bytes; a job that passes it is killed. Watched on Linux only. */
  readonly maxRssBytes: number;
  /** An idle child that keeps more after a job is replaced; default half of `maxRssBytes`. */
  readonly recycleRssBytes?: number;
  /** Jobs that may wait, per lane; the next one is refused. Default 64. */
  readonly maxQueue?: number;
  /** Most dedicated jobs at once; default 4. */
  readonly maxDedicated?: number;
  /**
   * A reader that has wanted nothing for so long loses its stream, but only while others wait and no place is left to
   * move the stream to; default 30,000.
   */
  readonly readerPatienceMs?: number;
}

/** The limits of one request. */
interface ChildRequestOptions {
  /** Milliseconds from the call to the head of the answer; in a streamed body, longest wait for more of it. */
  readonly timeoutMs: number;
  /** The time limit is one on the work alone: waiting for a place and a child may take as long again. */
  readonly isOfWork?: boolean;
  /** Aborted when nobody wants the answer any more. */
  readonly signal?: AbortSignal;
  /** The answer is long, such as an export: it gets a place of its own. */
  readonly dedicated?: boolean;
  /** What the caller is told when the job passes the memory limit; default a `too-large`. */
  readonly memoryError?: () => AppError;
}

/** What the pool is doing now and has done since it was made. */
interface ChildPoolStats {
  /** Processes that exist, starting ones included. */
  readonly running: number;
  /** Jobs in a child. */
  readonly busy: number;
  /** Jobs waiting for a place. */
  readonly queued: number;
  /** Crashes and failed starts. */
  readonly restarts: number;
  /** Jobs ended by force: time, memory, a caller that went away. */
  readonly killed: number;
}

interface Running {
  readonly job: ChildJob;
  readonly place: Place;
}

/** A pool; starts nothing until the first request. */
export class ChildPool {
  readonly #options: ChildPoolOptions;
  readonly #supply: ChildSupply;
  readonly #shared: Lane;
  readonly #dedicated: Lane;
  readonly #running = new Set<Running>();
  /** Set while jobs wait for a reader to lose its patience. */
  #nextLook: Timer | undefined;
  #killed = 0;
  #isStopped = false;

  constructor(options: ChildPoolOptions) {
    this.#options = options;
    const { size, maxRssBytes, maxQueue = 64, maxDedicated = 4 } = options;
    this.#supply = new ChildSupply({
      ...options,
      maxIdle: size,
      recycleRssBytes: options.recycleRssBytes ?? maxRssBytes / 2,
    });
    this.#shared = new Lane(size, maxQueue);
    this.#dedicated = new Lane(maxDedicated, maxQueue);
  }

  /**
   * Runs the job named `path` with the JSON value `body` and resolves with its answer when the head of it is there.
   * The body must be read or cancelled; it fails with an AppError when the child is stopped half-way. Errors: whatever
   * the job threw; `unavailable` (queue full, no place in time, child crashed, cannot be started); `timed-out`;
   * the memory error; the signal's reason. A warm child adds about 0.1 ms.
   */
  async request(path: string, body: unknown, options: ChildRequestOptions): Promise<Response> {
    const startedAt = performance.now();
    const { timeoutMs, signal } = options;
    const bodyJson = JSON.stringify(body);
    const place = await this.#enter(options);
    const child = await this.#take(place, startedAt + timeoutMs, signal);
    const job = new ChildJob(child, {
      path,
      bodyJson,
      timeoutMs,
      startedAt: options.isOfWork === true ? performance.now() : startedAt,
      maxMemoryBytes: this.#options.maxRssBytes,
      memoryError: options.memoryError ?? tooMuchMemory,
      signal,
      log: this.#options.log,
    });
    const running: Running = { job, place };
    this.#running.add(running);
    void job.finished.then((outcome) => this.#release(running, child, outcome));
    const response = await job.run();
    if (job.isStreaming) this.#makeRoom();
    return response;
  }

  /** Starts the children that are kept although idle. Never rejects: a failure shows at the first request. */
  warm(): Promise<void> {
    return this.#supply.warm();
  }

  stats(): ChildPoolStats {
    return {
      running: this.#supply.running,
      busy: this.#running.size,
      queued: this.#queued,
      restarts: this.#supply.crashes,
      killed: this.#killed,
    };
  }

  /** Kills every child, fails every job and refuses new ones; resolves when all processes are gone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#nextLook);
    const stopped = this.#supply.stop();
    this.#shared.close(stopping());
    this.#dedicated.close(stopping());
    for (const { job } of this.#running) job.end(stopping(), 'the pool was stopped');
    await stopped;
  }

  get #queued(): number {
    return this.#shared.queued + this.#dedicated.queued;
  }

  async #enter(options: ChildRequestOptions): Promise<Place> {
    const lane = options.dedicated === true ? this.#dedicated : this.#shared;
    const entered = lane.enter(options.timeoutMs, options.signal);
    this.#makeRoom();
    return await entered;
  }

  async #take(
    place: Place,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<ChildProcess> {
    try {
      const child = await this.#supply.take(deadline, signal);
      // Stopped in between: the child is dead, and this job was not yet among those that are told.
      if (this.#isStopped) throw stopping();
      return child;
    } catch (error) {
      Lane.leave(place);
      throw error;
    }
  }

  #release(running: Running, child: ChildProcess, outcome: JobOutcome): void {
    this.#running.delete(running);
    if (outcome === 'crashed') this.#supply.recordCrash();
    else if (outcome === 'killed') this.#killed += 1;
    else this.#supply.park(child);
    // After parking, so that the next job finds the warm child.
    Lane.leave(running.place);
    this.#makeRoom();
  }

  /** When jobs wait: streams move to the dedicated places, and when those are full, the most idle reader loses its. */
  #makeRoom(): void {
    for (const { job, place } of this.#running) {
      if (this.#shared.queued === 0 || !this.#dedicated.hasRoom) break;
      if (job.isStreaming && place.lane === this.#shared) this.#dedicated.adopt(place);
    }
    clearTimeout(this.#nextLook);
    if (this.#queued === 0 || this.#dedicated.hasRoom) return;
    const streams = [...this.#running].filter(({ job }) => job.isStreaming);
    const slowest = streams.sort((a, b) => b.job.readerIdleMs - a.job.readerIdleMs)[0]?.job;
    if (slowest === undefined) return;
    const patienceLeftMs = (this.#options.readerPatienceMs ?? 30_000) - slowest.readerIdleMs;
    if (patienceLeftMs >= 0) {
      // Readers that stand still cause no event that would bring us here again.
      this.#nextLook = setTimeout(() => this.#makeRoom(), patienceLeftMs + 1);
      this.#nextLook.unref();
      return;
    }
    const error = new AppError('timed-out', 'The answer was not read in time');
    slowest.end(error, 'its reader stood still while others waited');
  }
}

function tooMuchMemory(): AppError {
  return new AppError('too-large', 'The work needed more memory than allowed and was stopped');
}
