/**
 * Queries on their way to a worker: turns per user, budgets, and what comes back (EV-98).
 */
import { AppError } from '../base/errors.ts';
import type { ChildPool } from '../children/child-pool.ts';
import { Lane, type Place } from '../children/lane.ts';
import { memoryProblem, timeProblem } from './budget.ts';
import type { Names } from './looked-up.ts';
import type { ToldProblem } from './problem.ts';
import { isTyped } from './result-file.ts';
import { OUTCOME_HEADER, type SearchOrder, WHOLE_HEADER } from './search-jobs.ts';
import { FIGURES_HEADER, readFigures, type RunFigures, withoutTrailer } from './run-figures.ts';
import type { Validation } from './validate.ts';

/** An answer of a worker. */
export type SearchAnswer =
  | {
      readonly kind: 'rows';
      /** In one piece, or as it is read. */
      readonly body: Uint8Array | ReadableStream<Uint8Array>;
      /** What the run cost; null until the last row of a stream has passed. */
      readonly figures: () => RunFigures | null;
    }
  | { readonly kind: 'problem'; readonly problem: ToldProblem }
  | LookAgain;

/** Nothing was run yet. */
export type LookAgain =
  /** A dataset changed between looking it up and reading it. */
  | { readonly kind: 'stale' }
  /** These are to be looked up first. */
  | { readonly kind: 'names'; readonly names: Names };

/** What running queries needs. */
interface SearchesOptions {
  readonly pool: ChildPool;
  /** Queries of one user at once. */
  readonly perUser: () => number;
}

const MAX_WAITING = 20;
const MAX_WAIT_MS = 10_000;
/** The worker keeps its budget by itself; only one that hangs in a statement is stopped from outside. */
const GRACE_MS = 500;
/** A piece of a typed file is many rows at once, which has nothing to do with the time of the query. */
const MIN_PIECE_MS = 10_000;

/** Runs queries; one for the process. */
export class Searches {
  readonly #options: SearchesOptions;
  readonly #lanes = new Map<number, { lane: Lane; limit: number; users: number }>();

  /** Queries run since the start, by `rows` or the code of what was wrong. */
  readonly outcomes = new Map<string, number>();
  /** Seconds until they answered, and how many did. */
  readonly times = { sum: 0, count: 0 };

  constructor(options: SearchesOptions) {
    this.#options = options;
  }

  /**
   * A turn for one query of a user, to be given back. Throws `throttled` (`Too many searches running.`) when too many wait
   * or none came free in ten seconds.
   */
  async enter(userId: number, signal?: AbortSignal): Promise<() => void> {
    const limit = this.#options.perUser();
    let entry = this.#lanes.get(userId);
    if (!entry || (entry.limit !== limit && entry.users === 0)) {
      entry = { lane: new Lane(limit, MAX_WAITING), limit, users: 0 };
      this.#lanes.set(userId, entry);
    }
    const own = entry;
    own.users++;
    const leave = (): void => {
      own.users--;
      if (own.users === 0 && this.#lanes.get(userId) === own) this.#lanes.delete(userId);
    };
    let place: Place;
    try {
      place = await own.lane.enter(MAX_WAIT_MS, signal);
    } catch (error) {
      leave();
      if (!(error instanceof AppError)) throw error;
      throw new AppError('throttled', 'Too many searches running.', {
        headers: { 'Retry-After': '1' },
      });
    }
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      Lane.leave(place);
      leave();
    };
  }

  /** Runs a query in a worker. Throws `unavailable` when no worker is free in time. */
  async run(order: SearchOrder, signal?: AbortSignal): Promise<SearchAnswer> {
    const startedAt = performance.now();
    const answer = await this.#run(order, signal);
    if (answer.kind === 'stale' || answer.kind === 'names') return answer;
    const outcome = answer.kind === 'rows' ? 'rows' : answer.problem.code;
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    this.times.sum += (performance.now() - startedAt) / 1000;
    this.times.count += 1;
    return answer;
  }

  async #run(order: SearchOrder, signal?: AbortSignal): Promise<SearchAnswer> {
    try {
      const response = await this.#options.pool.request('pipeline', order, {
        timeoutMs: Math.max(order.timeoutMs + GRACE_MS, isTyped(order.format) ? MIN_PIECE_MS : 0),
        ...(signal && { signal }),
        dedicated: order.format !== 'json',
        memoryError: () => new AppError('too-large', memoryProblem(order.memoryBytes).text),
      });
      const outcome = response.headers.get(OUTCOME_HEADER);
      if (outcome === 'problem')
        return { kind: 'problem', problem: (await response.json()) as ToldProblem };
      return outcome === null ? await rowsOf(response) : await lookAgain(response);
    } catch (error) {
      return { kind: 'problem', problem: stoppedProblem(error, order) };
    }
  }

  /** Checks a query in a worker (EV-102). */
  async check(
    order: SearchOrder,
    signal?: AbortSignal,
  ): Promise<{ readonly kind: 'checked'; readonly validation: Validation } | LookAgain> {
    const response = await this.#options.pool.request('pipeline-check', order, {
      timeoutMs: order.timeoutMs + GRACE_MS,
      ...(signal && { signal }),
    });
    if (response.headers.get(OUTCOME_HEADER) !== null) return lookAgain(response);
    return { kind: 'checked', validation: (await response.json()) as Validation };
  }
}

async function lookAgain(response: Response): Promise<LookAgain> {
  if (response.headers.get(OUTCOME_HEADER) === 'names')
    return { kind: 'names', names: (await response.json()) as Names };
  await response.body?.cancel();
  return { kind: 'stale' };
}

async function rowsOf(response: Response): Promise<SearchAnswer> {
  const known = readFigures(response.headers.get(FIGURES_HEADER));
  if (response.headers.has(WHOLE_HEADER) || response.body === null) {
    const body = new Uint8Array(await response.arrayBuffer());
    return { kind: 'rows', body, figures: () => known };
  }
  const { body } = response;
  if (known !== null) return { kind: 'rows', body, figures: () => known };
  let figures: RunFigures | null = null;
  const rows = withoutTrailer(body, (told) => {
    figures = told;
  });
  return { kind: 'rows', body: rows, figures: () => figures };
}

/** A worker that was stopped from outside cannot say in which stage it was. */
function stoppedProblem(error: unknown, order: SearchOrder): ToldProblem {
  if (!(error instanceof AppError)) throw error;
  const word = { at: 0, length: Math.max(1, /^\s*\S*/.exec(order.query)![0].length) };
  const command = order.query.trim().split(/\s/, 1)[0] ?? '';
  if (error.code === 'timed-out')
    return timeProblem(order.timeoutMs).in(1, command, word).told(order.query);
  if (error.code === 'too-large')
    return memoryProblem(order.memoryBytes).in(1, command, word).told(order.query);
  throw error;
}
