/** A background rebuild of the index, at most one at a time. What was read before a stop stays in the index. */
import type { Clock } from '../base/clock.ts';
import { timestamp } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { IndexCounts } from './indexer.ts';

export interface RebuildState {
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly done: number;
  readonly total: number;
  readonly isForced: boolean;
  readonly isStopped: boolean;
  readonly counts: IndexCounts | null;
  readonly problem: string | null;
}

interface RebuildsOptions {
  readonly rebuild: (
    isForced: boolean,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
  ) => Promise<IndexCounts>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export class Rebuilds {
  readonly #options: RebuildsOptions;
  #stop: AbortController | null = null;
  #state: RebuildState | null = null;

  constructor(options: RebuildsOptions) {
    this.#options = options;
  }

  /** The running one, else the last; null when there was none since the start. */
  get state(): RebuildState | null {
    return this.#state;
  }

  /** False while one runs. */
  start(isForced: boolean): boolean {
    if (this.#stop !== null) return false;
    this.#stop = new AbortController();
    const startedAt = timestamp(this.#options.clock.now());
    this.#state = {
      ...{ startedAt, endedAt: null, done: 0, total: 0, isForced },
      ...{ isStopped: false, counts: null, problem: null },
    };
    void this.#run(this.#stop.signal, isForced);
    return true;
  }

  /** After the resources being read; false when none runs. */
  stop(): boolean {
    this.#stop?.abort();
    return this.#stop !== null;
  }

  async #run(signal: AbortSignal, isForced: boolean): Promise<void> {
    const { rebuild, clock, log } = this.#options;
    const note = (change: Partial<RebuildState>): void => {
      this.#state = { ...this.#state!, ...change };
    };
    try {
      const counts = await rebuild(isForced, (done, total) => note({ done, total }), signal);
      note({ counts, isStopped: signal.aborted });
    } catch (error) {
      log.warning('the search index was not rebuilt', { error });
      note({ problem: error instanceof AppError ? error.message : 'It failed; see the log' });
    }
    note({ endedAt: timestamp(clock.now()) });
    this.#stop = null;
  }
}
