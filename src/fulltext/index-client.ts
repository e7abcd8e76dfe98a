/** The index worker as functions; jobs run in the order of the calls. */
import type { ChildPool } from '../processes/child-pool.ts';
import type {
  BeginOrder,
  DocumentOrder,
  EditOrder,
  FinishOrder,
  RowsAnswer,
  RowsOrder,
} from './index-jobs.ts';
import type { IndexedResource } from './index-writer.ts';

/** Far longer than any job; past it the worker is considered hung and replaced. */
const JOB_MS = 120_000;

type Unplaced<Order> = Omit<Order, 'path'>;

export class IndexClient {
  readonly #pool: ChildPool;
  readonly #path: string;

  constructor(pool: ChildPool, path: string) {
    this.#pool = pool;
    this.#path = path;
  }

  live(): Promise<IndexedResource[]> {
    return this.#ask('live', {});
  }

  reset(): Promise<null> {
    return this.#ask('reset', {});
  }

  begin(order: Unplaced<BeginOrder>): Promise<number> {
    return this.#ask('begin', order);
  }

  rows(order: Unplaced<RowsOrder>): Promise<RowsAnswer> {
    return this.#ask('rows', order);
  }

  finish(order: Unplaced<FinishOrder>): Promise<null> {
    return this.#ask('finish', order);
  }

  document(order: Unplaced<DocumentOrder>): Promise<{ no: number; documents: number }> {
    return this.#ask('document', order);
  }

  /** By how many entries the range grew. */
  edit(order: Unplaced<EditOrder>): Promise<number> {
    return this.#ask('edit', order);
  }

  version(no: number, version: string): Promise<null> {
    return this.#ask('version', { no, version });
  }

  abandon(nos: readonly number[]): Promise<null> {
    return this.#ask('abandon', { nos });
  }

  /** False when none are left. */
  clear(): Promise<boolean> {
    return this.#ask('clear', {});
  }

  tidy(snapshot: string): Promise<null> {
    return this.#ask('tidy', { snapshot });
  }

  async #ask<Answer>(job: string, order: object): Promise<Answer> {
    const body = { ...order, path: this.#path };
    const response = await this.#pool.request(job, body, { timeoutMs: JOB_MS });
    return (await response.json()) as Answer;
  }
}
