/**
 * What another program did to the rows of a table, found by comparing the typed copies of both versions, in a child.
 *
 * Rows are matched by their content, wherever they stand; the others, between the same matched rows, are taken for
 * changed when half of their cells are the same, else for removed and added. The map and the removed cells are enough to
 * make the rows before of the rows after.
 */
import { type Database, SQLiteError } from 'bun:sqlite';
import { writeFileSync } from 'node:fs';
import { AppError } from '../../base/errors.ts';
import type { ChildJobs } from '../../processes/child-server.ts';
import { readMeta, type TableHead } from '../copy/table-meta.ts';
import { openReader } from '../read/connection.ts';
import type { Column, StoredValue } from '../types.ts';
import { encodeChanges, type RowChange, rowDigest } from './row-change.ts';

export interface DifferenceOrder {
  /** Paths of typed copies. */
  readonly before: string;
  readonly after: string;
  /** Gets the pieces one after the other. */
  readonly out: string;
  readonly maxBytes: number;
}

/** From the rows after a change to those before it. */
export interface TableMap {
  readonly columns: readonly Column[];
  /** Rows that stayed: first id before, first id after, how many. */
  readonly runs: readonly (readonly [before: number, after: number, count: number])[];
  /** Rows that changed. */
  readonly pairs: readonly (readonly [before: number, after: number])[];
}

export interface DifferencePiece {
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
}

export interface TableDifference {
  /** Changed, added and removed rows. */
  readonly rowCount: number;
  /** Null: more than `maxBytes`, so nothing of it is kept. */
  readonly kept: {
    /** Zstandard of the JSON of a `TableMap`; the first bytes of `out`. */
    readonly mapBytes: number;
    readonly pieces: readonly DifferencePiece[];
  } | null;
}

export function differenceJobs(): ChildJobs {
  return {
    compare: async (body) => Response.json(compareCopies(body as DifferenceOrder)),
  };
}

const ROWS_AT_ONCE = 5_000;
const ROWS_PER_PIECE = 1_000;
/** What takes more than so many times its room will not fit compressed. */
const MAX_RATIO = 6;
/** Values of added rows are only for showing them; of a growing log they would be the log once more. */
const MAX_ADDED_VALUES = 10_000;

function compareCopies(order: DifferenceOrder): TableDifference {
  const before = openReader(order.before);
  try {
    const after = openReader(order.after);
    try {
      return new Comparison(before, after, order).run();
    } finally {
      after.close();
    }
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
    throw new AppError('unavailable', 'A typed copy could not be read', { cause: error });
  } finally {
    before.close();
  }
}

class Side {
  readonly head: TableHead;
  readonly #one: ReturnType<Database['query']>;
  readonly #page: ReturnType<Database['query']>;
  ids = new Float64Array(1_024);
  hashes = new BigUint64Array(1_024);
  count = 0;

  constructor(db: Database, names: readonly string[]) {
    const head = readMeta(db, 'table');
    if (head === null) throw new AppError('unavailable', 'A typed copy without a head');
    this.head = head;
    const cells = names.map((name) => {
      const column = head.columns.find((one) => one.name === name);
      return column === undefined ? 'NULL' : `c${column.position}`;
    });
    const list = ['_row_id', ...cells].join(', ');
    this.#one = db.query(`SELECT ${list} FROM rows WHERE _row_id = ?`).safeIntegers(true);
    this.#page = db
      .query(`SELECT ${list} FROM rows WHERE _row_id > ? ORDER BY _row_id LIMIT ${ROWS_AT_ONCE}`)
      .safeIntegers(true);
  }

  read(): void {
    const blank = this.head.blank === 'null' ? '\u0001' : '';
    for (let last = 0; ;) {
      const rows = this.#page.values(last) as (string | number | bigint | null)[][];
      for (const row of rows) {
        let text = '';
        for (let at = 1; at < row.length; at++) text += `${row[at] ?? blank}\0`;
        this.#push(Number(row[0]), BigInt(Bun.hash(text)));
      }
      if (rows.length < ROWS_AT_ONCE) return;
      last = this.ids[this.count - 1]!;
    }
  }

  #push(id: number, hash: bigint): void {
    if (this.count === this.ids.length) {
      const [ids, hashes] = [new Float64Array(this.count * 2), new BigUint64Array(this.count * 2)];
      ids.set(this.ids);
      hashes.set(this.hashes);
      [this.ids, this.hashes] = [ids, hashes];
    }
    this.ids[this.count] = id;
    this.hashes[this.count++] = hash;
  }

  /** By index, in the order of the names. */
  values(index: number): StoredValue[] {
    const [row] = this.#one.values(this.ids[index]!) as StoredValue[][];
    return row!.slice(1).map((value) => {
      if (typeof value !== 'bigint') return value;
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    });
  }
}

class Comparison {
  readonly #before: Side;
  readonly #after: Side;
  readonly #names: readonly string[];
  readonly #order: DifferenceOrder;
  /** By index before: index after, or -1. */
  readonly #places: Int32Array;
  readonly #isTaken: Uint8Array;

  constructor(before: Database, after: Database, order: DifferenceOrder) {
    this.#order = order;
    const names = (readMeta(before, 'table')?.columns ?? []).map(({ name }) => name);
    const others = (readMeta(after, 'table')?.columns ?? []).map(({ name }) => name);
    const isSame = names.length === others.length && names.every((name) => others.includes(name));
    this.#names = names;
    this.#before = new Side(before, names);
    this.#after = new Side(after, isSame ? names : others);
    this.#before.read();
    this.#after.read();
    this.#places = new Int32Array(this.#before.count).fill(-1);
    this.#isTaken = new Uint8Array(this.#after.count);
    // Rows with other columns are other rows.
    if (isSame) this.#match();
    else this.#afterNames = others;
  }

  #afterNames: readonly string[] | null = null;

  #match(): void {
    const [old, now] = [this.#before, this.#after];
    const least = Math.min(old.count, now.count);
    let start = 0;
    while (start < least && old.hashes[start] === now.hashes[start]) this.#join(start, start++);
    let end = 0;
    while (
      end < least - start &&
      old.hashes[old.count - 1 - end] === now.hashes[now.count - 1 - end]
    ) {
      this.#join(old.count - 1 - end, now.count - 1 - end++);
    }
    const found = new Map<bigint, number[]>();
    for (let at = now.count - end - 1; at >= start; at--) {
      const hash = now.hashes[at]!;
      const list = found.get(hash);
      if (list === undefined) found.set(hash, [at]);
      else list.push(at);
    }
    for (let at = start; at < old.count - end; at++) {
      const place = found.get(old.hashes[at]!)?.pop();
      if (place !== undefined) this.#join(at, place);
    }
  }

  #join(before: number, after: number): void {
    this.#places[before] = after;
    this.#isTaken[after] = 1;
  }

  run(): TableDifference {
    const changes: RowChange[] = [];
    const pairs: [number, number][] = [];
    const left = this.#leftAfter();
    let previous = -1;
    let size = 0;
    for (let at = 0; at < this.#before.count; at++) {
      if (this.#places[at]! >= 0) {
        previous = this.#places[at]!;
        continue;
      }
      const values = this.#before.values(at);
      for (const value of values) size += typeof value === 'string' ? value.length + 16 : 16;
      if (size > this.#order.maxBytes * MAX_RATIO) {
        return { rowCount: this.#rowCount(), kept: null };
      }
      const partner = left.get(previous)?.[0];
      const change = partner === undefined ? null : this.#changed(values, partner);
      if (change === null) {
        changes.push({ rowId: -this.#before.ids[at]!, before: this.#cells(values), after: null });
        continue;
      }
      left.get(previous)!.shift();
      pairs.push([this.#before.ids[at]!, change.rowId]);
      changes.push(change);
    }
    const added = [...left.values()].flat();
    for (const at of added.slice(0, MAX_ADDED_VALUES)) changes.push(this.#added(at));
    return this.#write(
      changes,
      pairs,
      changes.length + Math.max(0, added.length - MAX_ADDED_VALUES),
    );
  }

  #rowCount(): number {
    const count = (list: ArrayLike<number>, isOne: (value: number) => boolean): number => {
      let sum = 0;
      for (let at = 0; at < list.length; at++) if (isOne(list[at]!)) sum++;
      return sum;
    };
    return count(this.#places, (place) => place < 0) + count(this.#isTaken, (is) => is === 0);
  }

  /** Unmatched rows after, by the index of the matched row before them. */
  #leftAfter(): Map<number, number[]> {
    const left = new Map<number, number[]>();
    let previous = -1;
    for (let at = 0; at < this.#after.count; at++) {
      if (this.#isTaken[at] === 1) previous = at;
      else {
        const list = left.get(previous);
        if (list === undefined) left.set(previous, [at]);
        else list.push(at);
      }
    }
    return left;
  }

  #changed(values: readonly StoredValue[], partner: number): RowChange | null {
    if (this.#afterNames !== null) return null;
    const now = this.#after.values(partner);
    const differing = this.#names.filter((_, at) => !isSameText(values[at]!, now[at]!));
    if (differing.length * 2 > this.#names.length) return null;
    const cells = (from: readonly StoredValue[]): Map<string, StoredValue> =>
      new Map(
        this.#names.flatMap((name, at) => (differing.includes(name) ? [[name, from[at]!]] : [])),
      );
    return {
      rowId: this.#after.ids[partner]!,
      before: cells(values),
      after: cells(now),
      digest: this.#digest(this.#names, now),
    };
  }

  #added(at: number): RowChange {
    const values = this.#after.values(at);
    const names = this.#afterNames ?? this.#names;
    return {
      rowId: this.#after.ids[at]!,
      before: null,
      after: new Map(names.map((name, index) => [name, values[index]!])),
      digest: this.#digest(names, values),
    };
  }

  /** Columns in the order of the table, as edits digest rows. */
  #digest(names: readonly string[], values: readonly StoredValue[]): string {
    const byName = new Map(names.map((name, at) => [name, values[at]!]));
    const { columns } = this.#after.head;
    return rowDigest(
      columns,
      columns.map(({ name }) => byName.get(name) ?? null),
    );
  }

  #cells(values: readonly StoredValue[]): Map<string, StoredValue> {
    return new Map(this.#names.map((name, at) => [name, values[at]!]));
  }

  #write(
    changes: readonly RowChange[],
    pairs: TableMap['pairs'],
    rowCount: number,
  ): TableDifference {
    const map: TableMap = { columns: this.#before.head.columns, runs: this.#runs(), pairs };
    const parts: Uint8Array[] = [Bun.zstdCompressSync(JSON.stringify(map))];
    const pieces: DifferencePiece[] = [];
    const sorted = changes.toSorted((one, other) => one.rowId - other.rowId);
    let bytes = parts[0]!.length;
    for (let from = 0; from < sorted.length; from += ROWS_PER_PIECE) {
      const rows = sorted.slice(from, from + ROWS_PER_PIECE);
      const encoded = encodeChanges(rows);
      bytes += encoded.length;
      if (bytes > this.#order.maxBytes) return { rowCount, kept: null };
      parts.push(encoded);
      pieces.push({ first: rows[0]!.rowId, last: rows.at(-1)!.rowId, bytes: encoded.length });
    }
    if (bytes > this.#order.maxBytes) return { rowCount, kept: null };
    writeFileSync(this.#order.out, Buffer.concat(parts), { mode: 0o600 });
    return { rowCount, kept: { mapBytes: parts[0]!.length, pieces } };
  }

  #runs(): [number, number, number][] {
    const runs: [number, number, number][] = [];
    const [old, now] = [this.#before.ids, this.#after.ids];
    for (let at = 0; at < this.#before.count; at++) {
      const place = this.#places[at]!;
      if (place < 0) continue;
      const run = runs.at(-1);
      const isNext =
        run !== undefined && old[at] === run[0] + run[2] && now[place] === run[1] + run[2];
      if (isNext) run[2]++;
      else runs.push([old[at]!, now[place]!, 1]);
    }
    return runs;
  }
}

function isSameText(one: StoredValue, other: StoredValue): boolean {
  return one === other || String(one ?? '') === String(other ?? '');
}
