import { AppError } from '../../base/errors.ts';
import type { ChildPool } from '../../processes/child-pool.ts';
import { Holdings, Lane, type Place } from '../../processes/lane.ts';
import { memoryProblem, timeProblem } from './budget.ts';
import type { Names } from '../sources/looked-up.ts';
import { SQL, type ToldProblem } from '../syntax/problem.ts';
import { RecentAnswers } from './recent-answers.ts';
import { isTyped } from './result-file.ts';
import { OUTCOME_HEADER, type SearchOrder, WHOLE_HEADER } from './search-jobs.ts';
import { FIGURES_HEADER, readFigures, type RunFigures, withoutTrailer } from './run-figures.ts';
import type { Validation } from '../syntax/validate.ts';

export type SearchAnswer =
  | {
      readonly kind: 'rows';
      readonly body: Uint8Array | ReadableStream<Uint8Array>;
      /** Null until the last row of a stream has passed. */
      readonly figures: () => RunFigures | null;
    }
  | { readonly kind: 'problem'; readonly problem: ToldProblem }
  | LookAgain;

export type LookAgain =
  { readonly kind: 'stale' } | { readonly kind: 'names'; readonly names: Names };

interface SearchesOptions {
  readonly pool: ChildPool;
  readonly perUser: () => number;
}

const MAX_WAITING = 20;
const MAX_WAIT_MS = 10_000;
/** The worker keeps its budget by itself; only one that hangs in a statement is stopped from outside. */
const GRACE_MS = 500;
/** A piece of a typed file holds many rows, which does not depend on the query's time. */
const MIN_PIECE_MS = 10_000;

export class Searches {
  readonly #options: SearchesOptions;
  readonly #lane: Lane;
  readonly recent = new RecentAnswers();

  /** By `rows` or the code of the problem, since the start. */
  readonly outcomes = new Map<string, number>();
  /** Seconds. */
  readonly times = { sum: 0, count: 0 };

  constructor(options: SearchesOptions) {
    this.#options = options;
    const perUser = new Holdings(options.perUser);
    this.#lane = new Lane(Number.POSITIVE_INFINITY, MAX_WAITING, perUser);
  }

  /** Throws `throttled` when too many wait or none came free in ten seconds. */
  async enter(userId: number, signal?: AbortSignal): Promise<() => void> {
    let place: Place;
    try {
      place = await this.#lane.enter(MAX_WAIT_MS, signal, `user:${userId}`);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError('throttled', 'Too many searches running.', {
        headers: { 'Retry-After': '1' },
      });
    }
    let isOpen = true;
    return () => {
      if (isOpen) Lane.leave(place);
      isOpen = false;
    };
  }

  /** Throws `unavailable` when no worker is free in time. */
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

  /** Those that an order whose names are all known reads events of; null: any. Throws as `check`. */
  async indexes(order: SearchOrder): Promise<readonly string[] | null> {
    const response = await this.#options.pool.request('pipeline-indexes', order, {
      timeoutMs: order.timeoutMs + GRACE_MS,
    });
    return (await response.json()) as readonly string[] | null;
  }

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

/** A worker stopped from outside cannot say in which stage it was. */
function stoppedProblem(error: unknown, order: SearchOrder): ToldProblem {
  if (!(error instanceof AppError)) throw error;
  const word = { at: 0, length: Math.max(1, /^\s*\S*/.exec(order.query)![0].length) };
  const command = order.sql ? SQL : (order.query.trim().split(/\s/, 1)[0] ?? '');
  if (error.code === 'timed-out')
    return timeProblem(order.timeoutMs).in(1, command, word).told(order.query);
  if (error.code === 'too-large')
    return memoryProblem(order.memoryBytes).in(1, command, word).told(order.query);
  throw error;
}
