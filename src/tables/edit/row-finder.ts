import { ChangedDuringWrite } from '../../base/files/atomic-file.ts';
import { mismatch } from '../../base/errors.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import type { Table } from '../copy/table.ts';
import { parseListParameters } from '../read/list-parameters.ts';
import { type TableReader, StaleRead } from '../read/table-reader.ts';
import type { PreparedRead } from '../copy/table-cache.ts';
import type { RowValues } from './mutation.ts';
import { storedCell } from '../infer/infer.ts';
import type { Column, StoredValue } from '../types.ts';

/** Ids kept of one search; a change may not take more by far. */
const MAX_FOUND = 200_000;
/** Values looked for at once; SQLite takes 32,766 parameters. */
const VALUES_PER_SEARCH = 1_000;

export interface RowFinder {
  /** How many rows a filter lets through, and which: the first ones, where there are very many. */
  matching(filter: string): Promise<{ readonly total: number; readonly rowIds: readonly number[] }>;
  /** Null where none has them. Throws `schema-mismatch` when several rows have the same values, also among `rows`. */
  withKeys(
    columns: readonly Column[],
    rows: readonly RowValues[],
  ): Promise<readonly (number | null)[]>;
}

export class TableRowFinder implements RowFinder {
  readonly #table: Table;
  readonly #reading: TableReader;

  constructor(table: Table, reading: TableReader) {
    this.#table = table;
    this.#reading = reading;
  }

  async matching(filter: string): Promise<{ total: number; rowIds: number[] }> {
    const parameters = {
      ...parseListParameters(''),
      filter,
      columns: ['_row_id'],
      limit: MAX_FOUND,
    };
    return this.#ids(this.#reading.prepare(this.#table, parameters, 'json'));
  }

  async withKeys(
    columns: readonly Column[],
    rows: readonly RowValues[],
  ): Promise<(number | null)[]> {
    const wanted = await this.#keysOf(columns, rows);
    const found = new Map<string, number>();
    for (let from = 0; from < wanted.length; from += VALUES_PER_SEARCH) {
      const part = wanted.slice(from, from + VALUES_PER_SEARCH);
      await this.#find(columns, part, found);
    }
    return wanted.map(({ key }) => found.get(key) ?? null);
  }

  async #keysOf(columns: readonly Column[], rows: readonly RowValues[]): Promise<Wanted[]> {
    const slice = new TimeSlice();
    const first = new Map<string, number>();
    const wanted: Wanted[] = [];
    for (const [index, row] of rows.entries()) {
      if (slice.isOver) await slice.rest();
      const values = columns.map((column) =>
        storedCell(row.get(column.position), column, this.#table.head.blank),
      );
      const blank = columns.find((_, place) => values[place] === null || values[place] === '');
      if (blank !== undefined) throw mismatch(`key column '${blank.name}' may not be blank`);
      const key = keyOf(values);
      const other = first.get(key);
      if (other !== undefined) {
        throw mismatch(`data[${other}] and data[${index}] have the same key ${shown(values)}`);
      }
      first.set(key, index);
      wanted.push({ key, values });
    }
    return wanted;
  }

  async #find(
    columns: readonly Column[],
    wanted: readonly Wanted[],
    found: Map<string, number>,
  ): Promise<void> {
    const keys = new Set(wanted.map(({ key }) => key));
    const equal = columns.map((column, index) => ({
      column: column.name,
      values: [...new Set(wanted.map(({ values }) => values[index]!))],
    }));
    const { total, rowIds } = await this.#ids(
      this.#reading.prepareEqual(this.#table, equal, MAX_FOUND),
    );
    if (total > MAX_FOUND) throw mismatch(`the key columns have these values in ${total} rows`);
    const names = this.#table.columns.map(({ name }) => name);
    const places = columns.map(({ name }) => names.indexOf(name));
    const slice = new TimeSlice();
    for (const rowId of rowIds) {
      if (slice.isOver) await slice.rest();
      if (this.#table.isClosed) throw new ChangedDuringWrite(this.#table.head.rel);
      const row = this.#table.row(rowId);
      if (row === null) continue;
      const values = places.map((place) => row[place]!);
      const key = keyOf(values);
      if (!keys.has(key)) continue;
      if (found.has(key)) {
        throw mismatch(`rows ${found.get(key)} and ${rowId} have the same key ${shown(values)}`);
      }
      found.set(key, rowId);
    }
  }

  async #ids(prepared: PreparedRead): Promise<{ total: number; rowIds: number[] }> {
    try {
      const page = await this.#reading.run(this.#table, prepared, {});
      const rows = (await new Response(page.body).json()) as { _row_id: number }[];
      return { total: page.total, rowIds: rows.map((row) => row._row_id) };
    } catch (error) {
      const isOvertaken = error instanceof StaleRead || this.#table.isClosed;
      throw isOvertaken ? new ChangedDuringWrite(this.#table.head.rel) : error;
    }
  }
}

interface Wanted {
  readonly key: string;
  readonly values: readonly StoredValue[];
}

/** Equal for equal values only. */
function keyOf(values: readonly StoredValue[]): string {
  return JSON.stringify(values.map((value) => [typeof value, String(value)]));
}

function shown(values: readonly StoredValue[]): string {
  const text = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  return text.join(', ').slice(0, 200);
}
