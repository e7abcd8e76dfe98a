/** Rebuilds of the index: in the background, and for `svc reindex`. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

export type RebuildProgress = (done: number, total: number) => void;

export type Rebuild = (
  isForced: boolean,
  onProgress: RebuildProgress,
  signal?: AbortSignal,
) => Promise<IndexCounts>;

interface RebuildsOptions {
  readonly rebuild: Rebuild;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** In the background, at most one at a time. What was read before a stop stays in the index. */
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

const REQUEST = 'reindex-request.json';
const POLL_MS = 250;
/** A server that has not taken the request by then does not listen. */
const PATIENCE_MS = 10_000;

interface Request {
  readonly id: string;
  readonly isForced: boolean;
}

type Progress = Pick<RebuildState, 'done' | 'total' | 'counts' | 'problem'>;

interface RebuildRequestsOptions {
  readonly folder: string;
  readonly rebuild: Rebuild;
  readonly log: Log;
}

/**
 * How `svc reindex` asks a running server to rebuild, since the index has one writer: a file in the index's folder,
 * answered by another one that the server keeps replacing.
 */
export class RebuildRequests {
  readonly #options: RebuildRequestsOptions;
  #timer: Timer | null = null;
  #isBusy = false;

  constructor(options: RebuildRequestsOptions) {
    this.#options = options;
  }

  listen(): void {
    this.#timer = setInterval(() => {
      this.#look().catch((error: unknown) => {
        this.#options.log.warning('a request to rebuild the search index failed', { error });
      });
    }, POLL_MS);
    this.#timer.unref();
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const path = join(this.#options.folder, REQUEST);
    if (this.#isBusy || !existsSync(path)) return;
    this.#isBusy = true;
    try {
      const request = JSON.parse(readFileSync(path, 'utf8')) as Request;
      rmSync(path, { force: true });
      if (/^[0-9a-f-]{36}$/.test(request.id)) await this.#run(request);
    } finally {
      this.#isBusy = false;
    }
  }

  async #run({ id, isForced }: Request): Promise<void> {
    const path = progressPath(this.#options.folder, id);
    let toldAt = 0;
    replace(path, { done: 0, total: 0, counts: null, problem: null });
    try {
      const counts = await this.#options.rebuild(isForced, (done, total) => {
        if (performance.now() - toldAt < POLL_MS) return;
        toldAt = performance.now();
        replace(path, { done, total, counts: null, problem: null });
      });
      replace(path, { done: 1, total: 1, counts, problem: null });
    } catch (error) {
      const problem = error instanceof AppError ? error.message : 'The rebuild failed; see the log';
      replace(path, { done: 0, total: 0, counts: null, problem });
      throw error;
    }
  }
}

/** Throws `unavailable` when no server takes the request in time. */
export async function requestRebuild(
  stateDir: string,
  isForced: boolean,
  onProgress: RebuildProgress,
): Promise<IndexCounts> {
  const folder = join(stateDir, 'search');
  const id = randomUUID();
  const path = progressPath(folder, id);
  replace(join(folder, REQUEST), { id, isForced } satisfies Request);
  const startedAt = performance.now();
  try {
    for (;;) {
      await Bun.sleep(POLL_MS);
      if (!existsSync(path)) {
        if (performance.now() - startedAt < PATIENCE_MS) continue;
        throw new AppError('unavailable', 'The running server does not take the request');
      }
      const progress = JSON.parse(readFileSync(path, 'utf8')) as Progress;
      if (progress.problem !== null) throw new AppError('unavailable', progress.problem);
      if (progress.counts !== null) return progress.counts;
      onProgress(progress.done, progress.total);
    }
  } finally {
    rmSync(path, { force: true });
    rmSync(join(folder, REQUEST), { force: true });
  }
}

function progressPath(folder: string, id: string): string {
  return join(folder, `reindex-${id}.json`);
}

function replace(path: string, value: Progress | Request): void {
  writeFileSync(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
