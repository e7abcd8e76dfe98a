/**
 * A pool of child processes that each run one job at a time: `parse`, `query`.
 *
 * A job is synchronous work on untrusted bytes or queries, so only killing its process can stop it. Jobs known to
 * stream for long are `dedicated` and have separate places; a job that proves long while others wait is moved there.
 * Background work has one place of its own and one for long work, and never takes those of users.
 */
import { currentPerson } from '../base/scheduling/current-person.ts';
import { AppError } from '../base/errors.ts';
import { ChildJob } from './child-job.ts';
import type { JobOutcome } from './child-job.ts';
import type { ChildProcess } from './child-process.ts';
import { ChildSupply, stopping } from './child-supply.ts';
import type { ChildSupplyOptions } from './child-supply.ts';
import { Holdings, Lane } from './lane.ts';
import type { Place } from './lane.ts';
import type { SpoolRoom } from './spool.ts';
import type { Turn } from './turn.ts';

export interface ChildPoolOptions extends Omit<ChildSupplyOptions, 'maxIdle' | 'recycleRssBytes'> {
  /** Most jobs at once, without dedicated ones, and most idle children kept. */
  readonly size: number;
  /** Memory limit of a child in bytes; a job that passes it is killed. Linux only. */
  readonly maxRssBytes: number;
  /** After a job, a child with more memory is replaced; default half of `maxRssBytes`. */
  readonly recycleRssBytes?: number;
  /** Most waiting jobs of one user per lane; more are refused. Default 64. */
  readonly maxQueue?: number;
  /** Most dedicated jobs at once; default 4. */
  readonly maxDedicated?: number;
  /** And separately of dedicated ones; the last place is then for users without a job. Default unlimited. */
  readonly perPerson?: number;
  /**
   * A longer job gives up its place while others wait: a user's job takes a dedicated one, which counts for
   * `perPerson`; background work the place for long work. If none is free it is stopped and starts again there, a
   * user's job only after five times as long and for another user. Default never.
   */
  readonly longMs?: number;
  /** Spool of answers; default memory only. */
  readonly spoolRoom?: SpoolRoom;
  /** How long a reader may be too slow when the spool is full and others wait; default 10,000. */
  readonly readerPatienceMs?: number;
}

export interface ChildRequestOptions {
  /** To the head of the answer; in a streamed body, longest wait for more of it. */
  readonly timeoutMs: number;
  /** `timeoutMs` covers only the work: waiting for a place and a child may take as long again. */
  readonly isOfWork?: boolean;
  /** Aborted when nobody wants the answer any more. */
  readonly signal?: AbortSignal;
  /** Limit of processor time in ms; default none. Outside Linux, of elapsed time. */
  readonly processorMs?: number;
  /** For long answers such as exports: uses a separate place, and `timeoutMs` covers only the work. */
  readonly dedicated?: boolean;
  /** Whose job it is; default nobody's, as urgent as a user's. */
  readonly turn?: Turn;
  /** Error when the job passes the memory limit; default a `too-large`. */
  readonly memoryError?: () => AppError;
}

/** Counters are since the pool was made. */
interface ChildPoolStats {
  readonly running: number;
  readonly busy: number;
  readonly queued: number;
  readonly restarts: number;
  /** By time, memory, or because the caller went away. */
  readonly killed: number;
}

interface Running {
  readonly job: ChildJob;
  readonly place: Place;
  readonly turn: Turn | undefined;
  /** To be started again among the long jobs. */
  isPutOff: boolean;
  /** Its answer has begun, so it cannot be started again. */
  isAnswered: boolean;
}

const LOOK_MS = 250;
/** When no dedicated place is free: stopping a user's job loses its work. */
const LONG_ENOUGH = 5;

/** Starts nothing until the first request. */
export class ChildPool {
  readonly #options: ChildPoolOptions;
  readonly #supply: ChildSupply;
  readonly #shared: Lane;
  readonly #dedicated: Lane;
  readonly #background: Lane;
  readonly #longBackground: Lane;
  readonly #running = new Set<Running>();
  /** Set while jobs wait, or one runs in the background. */
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
    const { perPerson = Number.POSITIVE_INFINITY } = options;
    const holdings = new Holdings(() => perPerson);
    const isShared = options.longMs !== undefined;
    this.#shared = new Lane(size, maxQueue, holdings);
    this.#dedicated = new Lane(
      maxDedicated,
      maxQueue,
      isShared ? holdings : new Holdings(() => perPerson),
    );
    this.#background = new Lane(1, Number.POSITIVE_INFINITY);
    this.#longBackground = new Lane(1, Number.POSITIVE_INFINITY);
  }

  /**
   * Resolves with the head of the answer. The body must be read or cancelled; it fails with an AppError when the
   * child is stopped. Errors: what the job threw; `unavailable` (queue full, no place in time, child crashed or not
   * startable); `timed-out`; the memory error; the signal's reason. A warm child adds about 0.1 ms.
   */
  async request(path: string, body: unknown, options: ChildRequestOptions): Promise<Response> {
    const startedAt = performance.now();
    const { timeoutMs, signal } = options;
    const bodyJson = JSON.stringify(body);
    for (let isPutOff = false; ;) {
      const place = await this.#enter(options, isPutOff);
      const isOfWork = options.isOfWork === true || options.dedicated === true;
      const beganAt = isOfWork ? performance.now() : startedAt;
      const child = await this.#take(place, beganAt + timeoutMs, signal);
      const job = new ChildJob(child, {
        path,
        bodyJson,
        timeoutMs,
        startedAt: beganAt,
        processorMs: options.processorMs ?? Number.POSITIVE_INFINITY,
        maxMemoryBytes: this.#options.maxRssBytes,
        memoryError: options.memoryError ?? tooMuchMemory,
        signal,
        log: this.#options.log,
        spoolRoom: this.#options.spoolRoom ?? null,
        person: place.person,
        isWanted: () => place.lane.queued > 0,
        readerPatienceMs: this.#options.readerPatienceMs ?? 10_000,
      });
      const running: Running = {
        job,
        place,
        turn: options.turn,
        isPutOff: false,
        isAnswered: false,
      };
      this.#running.add(running);
      if (place.lane === this.#background) this.#lookSoon();
      void job.finished.then((outcome) => this.#release(running, child, outcome));
      try {
        const answer = await job.run();
        running.isAnswered = true;
        return answer;
      } catch (error) {
        if (!running.isPutOff) throw error;
        isPutOff = true;
      }
    }
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

  /** Kills all children, fails all jobs and refuses new ones; resolves when all processes have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#nextLook);
    const stopped = this.#supply.stop();
    for (const lane of this.#lanes) lane.close(stopping());
    for (const { job } of this.#running) job.end(stopping(), 'the pool was stopped');
    await stopped;
  }

  get #lanes(): readonly Lane[] {
    return [this.#shared, this.#dedicated, this.#background, this.#longBackground];
  }

  get #queued(): number {
    return this.#lanes.reduce((sum, { queued }) => sum + queued, 0);
  }

  async #enter(options: ChildRequestOptions, isPutOff: boolean): Promise<Place> {
    const { turn, timeoutMs, signal } = options;
    if (turn?.isBackground === true) {
      const lane = isPutOff ? this.#longBackground : this.#background;
      const signals = signal === undefined ? [turn.raised] : [turn.raised, signal];
      const entered = lane.enter(MAX_TIMER_MS, AbortSignal.any(signals), null);
      this.#makeRoom();
      try {
        return await entered;
      } catch (error) {
        // A user waits for it now.
        if (!turn.raised.aborted || this.#isStopped) throw error;
      }
    }
    const lane = options.dedicated === true || isPutOff ? this.#dedicated : this.#shared;
    const person = turn === undefined ? currentPerson() : turn.person;
    const entered = lane.enter(timeoutMs, signal, person);
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
      // The pool was stopped meanwhile, before this job was registered.
      if (this.#isStopped) throw stopping();
      return child;
    } catch (error) {
      this.#leave(place);
      throw error;
    }
  }

  #release(running: Running, child: ChildProcess, outcome: JobOutcome): void {
    this.#running.delete(running);
    if (outcome === 'crashed') this.#supply.recordCrash();
    else if (outcome === 'killed') this.#killed += 1;
    else this.#supply.park(child);
    // After parking, so that the next job finds the warm child.
    this.#leave(running.place);
    this.#makeRoom();
  }

  #leave(place: Place): void {
    Lane.leave(place);
    // The same user may wait in another lane.
    for (const lane of this.#lanes) lane.admitNext();
  }

  /** When jobs wait: moves long jobs to the dedicated places. */
  #makeRoom(): void {
    const longMs = this.#options.longMs ?? Number.POSITIVE_INFINITY;
    for (const { job, place } of this.#running) {
      if (this.#shared.queued === 0 || !this.#dedicated.hasRoom) break;
      if (job.ageMs > longMs && place.lane === this.#shared) this.#dedicated.adopt(place);
    }
    for (const running of this.#running) {
      const { job, place } = running;
      if (job.ageMs <= longMs * LONG_ENOUGH || place.lane !== this.#shared) continue;
      if (running.isAnswered || running.isPutOff || !this.#shared.isWantedBesides(place.person))
        continue;
      this.#putOff(running);
      // The others, should this one's place not be enough, at the next look.
      break;
    }
    const inBackground = [...this.#running].find(({ place }) => place.lane === this.#background);
    if (inBackground && inBackground.job.ageMs > longMs) {
      if (this.#longBackground.hasRoom) {
        this.#longBackground.adopt(inBackground.place);
        inBackground.turn?.becomeLong();
      } else if (this.#background.queued > 0) this.#putOff(inBackground);
    }
    clearTimeout(this.#nextLook);
    if (this.#queued > 0 || inBackground) this.#lookSoon();
  }

  /** A job's running time causes no event, so it is polled. */
  #lookSoon(): void {
    if (this.#options.longMs === undefined) return;
    clearTimeout(this.#nextLook);
    this.#nextLook = setTimeout(() => this.#makeRoom(), LOOK_MS);
    this.#nextLook.unref();
  }

  #putOff(running: Running): void {
    running.isPutOff = true;
    running.turn?.becomeLong();
    const error = new AppError('unavailable', 'The work was put off');
    running.job.end(error, 'it takes long; it begins again when no other long work is under way');
  }
}

/** Limit of a timer's delay; background work waits without one. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function tooMuchMemory(): AppError {
  return new AppError('too-large', 'The work needed more memory than allowed and was stopped');
}
