/**
 * A read-only connection to the event store, with the functions and the substring index that queries use.
 *
 * For worker processes: statements are synchronous and may run long. A snapshot contains everything committed before
 * it began, so every acknowledged event.
 */
import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_FILE } from './schema.ts';
import { STRATEGY } from '../limits.ts';
import { type Keyed, type MergeOrder, ORDER_KEYS, SealedTier } from '../parts/sealed-tier.ts';
import type { Selection } from '../../columns/column.ts';
import type { GroupRows, PartHint } from '../parts/group-rows.ts';
import type { SqlCondition } from '../read/term.ts';
import { allOf, anyMemberHas, dataHas, registerTermFunctions } from '../read/term.ts';
import type { IndexState } from '../read/text-index.ts';
import { candidates, INDEX_FILE, readIndexState } from '../read/text-index.ts';
import { holdOff } from './write-ahead-log.ts';

/** Which events of both tiers. */
export interface Wanted {
  readonly where: (isSealed: boolean) => SqlCondition;
  readonly hint: PartHint;
  /** The hint chooses the same sealed events. */
  readonly isHinted?: boolean;
}

interface Ends {
  readonly low: number;
  readonly high: number;
}

/** Of the rows of both tiers together. */
export interface Cut {
  readonly offset: number;
  readonly limit: number;
}

/** `data`, or any member. */
type TermScope = 'data' | 'any';

/** `usesIndex`: the substring index narrows it. */
interface TermCondition extends SqlCondition {
  readonly usesIndex: boolean;
  /** Few events are examined. */
  readonly isNarrow: boolean;
}

const BUSY_WAIT_MS = 5_000;

export class EventReader {
  /** Table `events` of `schema.ts`. */
  readonly db: Database;
  /** The events that are not in the table. */
  readonly sealed: SealedTier;
  readonly #paths: readonly string[];
  #hasIndex: boolean;
  #index: IndexState | null = null;

  /** The store must exist. Throws SQLite's error when it cannot be read. */
  constructor(stateDir: string) {
    const [store, index] = [EVENTS_FILE, INDEX_FILE].map((name) => join(stateDir, name));
    this.#paths = [store!, index!];
    this.db = new Database(store!, { readonly: true });
    this.db.run(`PRAGMA busy_timeout = ${BUSY_WAIT_MS}`);
    this.db.run('PRAGMA trusted_schema = OFF');
    registerTermFunctions(this.db);
    this.sealed = new SealedTier(this.db, stateDir);
    this.#hasIndex = attachIndex(this.db, index!);
  }

  /** One snapshot of store and index; term conditions are valid only inside it. */
  snapshot<Result>(work: () => Result): Result {
    this.begin();
    try {
      return work();
    } finally {
      this.end();
    }
  }

  /** As `snapshot`, for streams; call `end` afterwards. May wait as `holdOff` does. */
  begin(): void {
    for (const path of this.#paths) holdOff(path);
    this.db.run('BEGIN');
    this.sealed.forget();
    this.#index = this.#readIndex();
  }

  end(): void {
    this.#index = null;
    if (this.db.inTransaction) this.db.run('ROLLBACK');
  }

  /** Rows of both tiers; `list` is what is selected. `from`: the table, with the index to use or none. */
  rows<Row extends object>(
    list: string,
    order: MergeOrder,
    { where, hint, isHinted }: Wanted,
    {
      from = 'events',
      cut,
      sealed,
    }: {
      readonly from?: string;
      readonly cut?: Cut;
      /** What `list` gives of sealed events, by columns: a fifth of the time. */
      readonly sealed?: (rows: GroupRows) => (place: number) => Row;
    } = {},
  ): Iterable<Row> {
    const hot = where(false);
    const ofHot = `FROM ${from} WHERE ${hot.sql} ORDER BY ${order}`;
    if (this.sealed.isEmpty || this.sealed.partsFor(hint).length === 0) {
      if (cut === undefined) return selected(this.db, `${list} ${ofHot}`, hot);
      const params = [...hot.params, cut.limit, cut.offset];
      return selected(this.db, `${list} ${ofHot} LIMIT ? OFFSET ?`, { params });
    }
    const keyed = `${list}, ${ORDER_KEYS[order]}`;
    if (isHinted === true && sealed !== undefined) {
      const own = selected<Row & Keyed>(this.db, `${keyed} ${ofHot}`, hot);
      const take = (rows: GroupRows, selection: Selection) => ({
        selection,
        rowAt: sealed(rows),
      });
      const rows = this.sealed.mergedGroups(order, hint, own, take);
      return cut === undefined ? rows : cutRows(rows, cut);
    }
    const cold = where(true);
    const sql = `${keyed} FROM events WHERE ${cold.sql} ORDER BY ${order}`;
    const rows = this.sealed.merged(
      order,
      { hint, sql },
      selected<Row & Keyed>(this.db, `${keyed} ${ofHot}`, hot),
      (db) => selected<Row & Keyed>(db, sql, cold),
    );
    return cut === undefined ? rows : cutRows(rows, cut);
  }

  /** Times of the first and the last event; null where there is none. */
  ends(wanted: Wanted): Ends | null {
    const list = 'min(time) AS low, max(time) AS high';
    let [low, high] = [Infinity, -Infinity];
    for (const ends of this.figures<{ low: number | null; high: number | null }>(list, wanted)) {
      low = Math.min(low, ends.low ?? Infinity);
      high = Math.max(high, ends.high ?? -Infinity);
    }
    if (wanted.isHinted === true)
      for (const group of this.sealed.totals(wanted.hint)) {
        low = Math.min(low, group.minTime);
        high = Math.max(high, group.maxTime);
      }
    return low > high ? null : { low, high };
  }

  count(wanted: Wanted): number {
    let count = 0;
    for (const { n } of this.figures<{ n: number }>('count(*) AS n', wanted)) count += n;
    if (wanted.isHinted === true)
      for (const { rows } of this.sealed.totals(wanted.hint)) count += rows;
    return count;
  }

  /** A row of them for each table: with sealed events loaded into some unless the hint chooses them. */
  *figures<Row>(list: string, { where, hint, isHinted }: Wanted): Generator<Row> {
    const hot = where(false);
    yield* selected<Row>(this.db, `${list} FROM events WHERE ${hot.sql}`, hot);
    if (isHinted === true || this.sealed.isEmpty) return;
    const cold = where(true);
    const sql = `${list} FROM events WHERE ${cold.sql}`;
    for (const db of this.sealed.tables(hint, sql)) yield* selected<Row>(db, sql, cold);
  }

  /** The newest id that is stored. */
  newestId(): number {
    const hot = this.db.query<{ id: number | null }, []>('SELECT max(id) AS id FROM events').get();
    return Math.max(hot?.id ?? 0, this.sealed.highestId());
  }

  /** Highest indexed id within the snapshot; 0 without a usable index. */
  get indexedTo(): number {
    return this.#index?.indexedTo ?? 0;
  }

  /**
   * Case folded. The result is the same with and without the index. With few events in `readable` indexes each of them
   * is searched. The time does not reveal how often the term occurs in other indexes; null: all may be read.
   */
  term(text: string, scope: TermScope, readable: readonly string[] | null = null): TermCondition {
    const exact = scope === 'data' ? dataHas(text) : anyMemberHas(text);
    const own = readable === null ? null : this.#fewOf(readable);
    if (own !== null) return { ...allOf([own, exact]), usesIndex: false, isNarrow: true };
    const narrowed =
      this.#index === null ? null : candidates(this.db, this.#index, text, scope, readable);
    if (narrowed === null) return { ...exact, usesIndex: false, isNarrow: false };
    return { ...allOf([narrowed, exact]), usesIndex: true, isNarrow: true };
  }

  /** As `term`, for a table of sealed events. */
  sealedTerm(text: string, scope: TermScope): SqlCondition {
    return scope === 'data' ? dataHas(text) : anyMemberHas(text);
  }

  /** Null when there are more than STRATEGY.ownEvents. */
  #fewOf(indexes: readonly string[]): SqlCondition | null {
    const names = JSON.stringify(indexes);
    const { events } = this.db
      .query<{ events: number }, [string]>(
        'SELECT total(events) AS events FROM main.indexes WHERE name IN (SELECT value FROM json_each(?))',
      )
      .get(names)!;
    if (events > STRATEGY.ownEvents) return null;
    return {
      sql: `id IN (SELECT id FROM main.events INDEXED BY events_by_index WHERE "index" IN (SELECT value FROM json_each(?)))`,
      params: [names],
    };
  }

  /** Not filtered by rights. */
  indexNames(): string[] {
    return this.db
      .query<{ name: string }, []>('SELECT name FROM indexes ORDER BY name')
      .all()
      .map(({ name }) => name);
  }

  close(): void {
    this.sealed.close();
    this.db.close();
  }

  #readIndex(): IndexState | null {
    if (!this.#hasIndex) return null;
    try {
      return readIndexState(this.db);
    } catch {
      // Damaged or incomplete: the index is derived data, so results are the same without it.
      this.#hasIndex = false;
      return null;
    }
  }
}

function* cutRows<Row>(rows: Iterable<Row>, { offset, limit }: Cut): Generator<Row> {
  if (limit <= 0) return;
  // As SQL takes them.
  const from = Math.max(0, offset);
  let at = 0;
  for (const row of rows) {
    if (at >= from) yield row;
    if (++at >= from + limit) return;
  }
}

function* selected<Row>(
  db: Database,
  sql: string,
  { params }: Pick<SqlCondition, 'params'>,
): Generator<Row> {
  using statement = db.prepare<Row, (string | number)[]>(`SELECT ${sql}`);
  yield* statement.iterate(...params);
}

function attachIndex(db: Database, path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    db.run('ATTACH ? AS ix', [path]);
    return true;
  } catch {
    // As in #readIndex.
    return false;
  }
}
