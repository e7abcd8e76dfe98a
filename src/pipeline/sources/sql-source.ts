/**
 * A source that is a table of an SQLite database: which columns, in which orders, under which restriction.
 *
 * SQL is put together from the source's own texts; whatever a query says reaches it as bound values (SL-150).
 */
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { Schema, type Column, type ColumnType } from '../schema.ts';
import { timeFromMicros } from '../micros.ts';
import { valueOfJson, type Row, type Value } from '../value.ts';
import type { CountedKey, CountKey, RowCondition, Source, SourceOrder } from './source.ts';

/** What SQL gives for a cell, and what it means. */
export type CellForm =
  /** As it is; integers past 2^53 keep their digits. */
  | 'plain'
  /** Microseconds since 1970. */
  | 'micros'
  /** JSON text. */
  | 'json'
  | 'boolean';

/** A column of such a table. */
export interface SqlColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly sql: string;
  readonly form: CellForm;
  readonly isHidden?: boolean;
  /** In place of NULL. */
  readonly blank?: Value;
  /** Makes the JSON text of a stored one. */
  readonly toJson?: (stored: string) => string;
}

/** A piece of SQL and its values. */
export interface SqlCondition {
  readonly sql: string;
  readonly params: readonly SQLQueryBindings[];
}

/** Where rows are. */
export interface SqlTable {
  readonly name: string;
  readonly db: Database;
  /** After FROM. */
  readonly from: string;
  readonly columns: readonly SqlColumn[];
  readonly orders: Readonly<Record<SourceOrder, string>>;
  /** Rows the caller may read; null for all. */
  readonly restriction: SqlCondition | null;
  readonly readableIndexes: readonly string[] | null;
  /** SQL that holds for every row that meets the condition, perhaps for others too; null for none. */
  readonly condition?: (condition: RowCondition) => SqlCondition | null;
  /** SQL for what rows are counted by; null for none. Needs conditions that are exact. */
  readonly countKey?: (key: CountKey) => { readonly sql: string; readonly form: CellForm } | null;
  /** Whether SQLite's integers may be past 2^53. */
  readonly hasWideIntegers: boolean;
}

const BATCH_ROWS = 256;

/** The table as a source of queries. Reads inside a transaction its owner began. */
export class SqlSource implements Source {
  readonly name: string;
  readonly schema: Schema;
  readonly readableIndexes: readonly string[] | null;
  readonly table: SqlTable;
  readonly #used = new Set<number>();

  constructor(table: SqlTable) {
    this.table = table;
    this.name = table.name;
    this.readableIndexes = table.readableIndexes;
    this.schema = new Schema(
      table.columns.map(({ name, type, isHidden }, index): Column => ({
        name,
        type,
        ...(isHidden && { isHidden }),
        use: () => this.#used.add(index),
      })),
    );
  }

  *read(order: SourceOrder, conditions: readonly RowCondition[] = []): Generator<Row[]> {
    const { db, from, orders, columns, hasWideIntegers } = this.table;
    const wanted = columns.flatMap((column, index) =>
      this.#used.has(index) ? [{ column, index }] : [],
    );
    const list = wanted.map(({ column }) => column.sql).join(', ') || '1';
    const where = this.where(conditions);
    const sql = `SELECT ${list} FROM ${from}${where.sql} ORDER BY ${orders[order]}`;
    const statement = db.prepare(sql).safeIntegers(hasWideIntegers);
    try {
      const decoders = wanted.map(({ column }) => decoderOf(column));
      let batch: Row[] = [];
      for (const cells of statement.iterate(...where.params) as Iterable<Record<string, unknown>>) {
        const row: Row = new Array(columns.length).fill(null);
        let at = 0;
        for (const name in cells) {
          const target = wanted[at];
          if (target) row[target.index] = decoders[at]!(cells[name]);
          at++;
        }
        batch.push(row);
        if (batch.length < BATCH_ROWS) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    } finally {
      statement.finalize();
    }
  }

  countBy(
    conditions: readonly RowCondition[],
    keys: readonly CountKey[],
  ): Iterable<CountedKey> | null {
    const { db, from, condition, countKey } = this.table;
    if (!countKey || !conditions.every((one) => condition?.(one))) return null;
    const parts = keys.map((key) => countKey(key));
    const known = parts.filter((part) => part !== null);
    if (known.length < parts.length) return null;
    const where = this.where(conditions);
    const list = known.map(({ sql }, index) => `${sql} AS k${index}`);
    const groups =
      known.length === 0 ? '' : ` GROUP BY ${known.map((_, index) => `k${index}`).join(', ')}`;
    const sql = `SELECT ${[...list, 'count(*) AS n'].join(', ')} FROM ${from}${where.sql}${groups}`;
    const decoders = known.map(({ form }) => decoderOf({ form }));
    return (function* () {
      const statement = db.prepare(sql);
      try {
        for (const cells of statement.iterate(...where.params) as Iterable<
          Record<string, unknown>
        >) {
          yield {
            values: decoders.map((decode, index) => decode(cells[`k${index}`] ?? null)),
            count: Number(cells['n']),
          };
        }
      } finally {
        statement.finalize();
      }
    })();
  }

  /** ` WHERE …` for the caller's restriction and what the conditions allow to tell. */
  where(conditions: readonly RowCondition[]): {
    readonly sql: string;
    readonly params: SQLQueryBindings[];
  } {
    const { restriction, condition } = this.table;
    const parts = conditions.map((one) => condition?.(one) ?? null);
    const all = [restriction, ...parts].filter((part) => part !== null);
    if (all.length === 0) return { sql: '', params: [] };
    return {
      sql: ` WHERE ${all.map(({ sql }) => `(${sql})`).join(' AND ')}`,
      params: all.flatMap(({ params }) => [...params]),
    };
  }
}

/** How a cell of SQL becomes a value. */
export function decoderOf({
  form,
  blank = null,
  toJson,
}: Omit<SqlColumn, 'sql' | 'name' | 'type'>): (stored: unknown) => Value {
  switch (form) {
    case 'micros':
      return (stored) => (stored === null ? null : timeFromMicros(Number(stored)));
    case 'json':
      return (stored) => {
        if (typeof stored !== 'string') return plain(stored, blank);
        const value = valueOfJson(toJson ? toJson(stored) : stored);
        return value === undefined ? stored : value;
      };
    case 'boolean':
      return (stored) =>
        typeof stored === 'number' || typeof stored === 'bigint'
          ? Number(stored) === 1
          : plain(stored, blank);
    default:
      return (stored) => plain(stored, blank);
  }
}

function plain(stored: unknown, blank: Value): Value {
  if (stored === null || stored === undefined) return blank;
  if (typeof stored === 'bigint') {
    const number = Number(stored);
    return Number.isSafeInteger(number) ? number : stored;
  }
  return typeof stored === 'number' || typeof stored === 'string' ? stored : null;
}
