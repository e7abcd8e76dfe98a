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
import type { TableHead, TableState } from '../copy/table-meta.ts';
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
/** Rows that changed where they stand; of more the texts are compared. */
const MAX_IN_PLACE = 20_000;
const ROWS_PER_PIECE = 1_000;
/** What takes more than so many times its room will not fit compressed. */
const MAX_RATIO = 6;
/** Values of added rows are only for showing them; of a growing log they would be the log once more. */
const MAX_ADDED_VALUES = 10_000;

function compareCopies(order: DifferenceOrder): TableDifference {
  const db = openReader(order.before);
  try {
    db.query('ATTACH ? AS after').run(order.after);
    return new Comparison(db, order).run();
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
    throw new AppError('unavailable', 'A typed copy could not be read', { cause: error });
  } finally {
    db.close();
  }
}

/** One of both versions; rows by their index in file order. */
class Side {
  readonly head: TableHead;
  readonly count: number;
  /** Rows are numbered 1…n. */
  readonly isPlain: boolean;
  readonly #ids: Float64Array | null;
  readonly #one: ReturnType<Database['query']>;
  readonly #page: ReturnType<Database['query']>;

  constructor(db: Database, schema: 'main' | 'after', names: readonly string[] | null) {
    const value = (key: string): unknown =>
      JSON.parse(
        (db.query(`SELECT value FROM ${schema}.meta WHERE key = ?`).values(key)[0] as [string])[0],
      );
    this.head = value('table') as TableHead;
    const { rowCount, lastRowId } = value('state') as TableState;
    const { columns, blank } = this.head;
    const cells = (names ?? columns.map(({ name }) => name)).map(
      (name) => `c${columns.find((one) => one.name === name)!.position}`,
    );
    this.count = rowCount;
    this.isPlain = rowCount === lastRowId;
    this.#ids = this.isPlain
      ? null
      : Float64Array.from(
          db.query(`SELECT _row_id FROM ${schema}.rows ORDER BY _row_id`).values() as [number][],
          ([id]) => id,
        );
    this.#one = db
      .query(`SELECT ${cells.join(', ') || 'NULL'} FROM ${schema}.rows WHERE _row_id = ?`)
      .safeIntegers(true);
    const none = blank === 'null' ? 'char(1)' : `''`;
    const text = cells.map((cell) => `ifnull(${cell}, ${none})`).join(' || char(0) || ');
    this.#page = db.query(
      `SELECT ${text || `''`} FROM ${schema}.rows WHERE _row_id >= ? ORDER BY _row_id LIMIT ?`,
    );
  }

  idAt(index: number): number {
    return this.#ids === null ? index + 1 : this.#ids[index]!;
  }

  /** Of rows of equal texts, by index. */
  hashes(indexes: readonly number[]): bigint[] {
    const found: bigint[] = [];
    for (let from = 0; from < indexes.length;) {
      let to = from + 1;
      // A run of neighbours is read at once.
      while (
        to < indexes.length &&
        indexes[to] === indexes[to - 1]! + 1 &&
        to - from < ROWS_AT_ONCE
      ) {
        to++;
      }
      const rows = this.#page.values(this.idAt(indexes[from]!), to - from) as [string][];
      for (const [text] of rows) found.push(BigInt(Bun.hash(text)));
      from = to;
    }
    return found;
  }

  /** By index, in the order of the names. */
  values(index: number): StoredValue[] {
    const [row] = this.#one.values(this.idAt(index)) as StoredValue[][];
    return row!.map((value) => {
      if (typeof value !== 'bigint') return value;
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    });
  }
}

class Comparison {
  readonly #db: Database;
  readonly #before: Side;
  readonly #after: Side;
  readonly #names: readonly string[];
  /** Null: those before. */
  readonly #afterNames: readonly string[] | null;
  readonly #order: DifferenceOrder;
  /** By index before: index after, or -1. */
  readonly #places: Int32Array;
  readonly #isTaken: Uint8Array;

  constructor(db: Database, order: DifferenceOrder) {
    this.#db = db;
    this.#order = order;
    this.#before = new Side(db, 'main', null);
    const names = this.#before.head.columns.map(({ name }) => name);
    const others = new Side(db, 'after', null).head.columns.map(({ name }) => name);
    const isSame = names.length === others.length && names.every((name) => others.includes(name));
    this.#names = names;
    this.#after = new Side(db, 'after', isSame ? names : others);
    this.#places = new Int32Array(this.#before.count).fill(-1);
    this.#isTaken = new Uint8Array(this.#after.count);
    this.#afterNames = isSame ? null : others;
    // Rows with other columns are other rows.
    if (isSame) this.#match();
  }

  #match(): void {
    const [old, now] = [this.#before, this.#after];
    const [leftBefore, leftAfter] =
      old.isPlain && now.isPlain
        ? this.#matchInPlace()
        : [range(0, old.count), range(0, now.count)];
    const found = new Map<bigint, number[]>();
    const hashesAfter = now.hashes(leftAfter);
    for (let at = leftAfter.length - 1; at >= 0; at--) {
      const list = found.get(hashesAfter[at]!);
      if (list === undefined) found.set(hashesAfter[at]!, [leftAfter[at]!]);
      else list.push(leftAfter[at]!);
    }
    const hashesBefore = old.hashes(leftBefore);
    leftBefore.forEach((index, at) => {
      const place = found.get(hashesBefore[at]!)?.pop();
      if (place !== undefined) this.#join(index, place);
    });
  }

  /**
   * Joins rows that stand where they stood, seen from the beginning or the end, and returns the others. In SQL, ten times
   * as fast as comparing texts.
   */
  #matchInPlace(): [before: number[], after: number[]] {
    const [{ count: old }, { count: now }] = [this.#before, this.#after];
    const shift = now - old;
    const least = Math.min(old, now);
    const changed = this.#differing(0, 1, least, `ASC LIMIT ${MAX_IN_PLACE + 1}`);
    if (shift === 0 && changed.length <= MAX_IN_PLACE) {
      const isChanged = new Set(changed);
      for (let at = 0; at < old; at++) if (!isChanged.has(at + 1)) this.#join(at, at);
      const left = changed.map((id) => id - 1);
      return [left, left];
    }
    const start = (changed[0] ?? least + 1) - 1;
    // In the rows before; all behind it are as many rows further.
    const first = Math.max(start, start - shift) + 1;
    const [last = first - 1] = this.#differing(shift, first, old, 'DESC LIMIT 1');
    for (let at = 0; at < start; at++) this.#join(at, at);
    for (let at = last; at < old; at++) this.#join(at, at + shift);
    return [range(start, last), range(start, last + shift)];
  }

  /** Ids before, between `first` and `last`, whose row is another one `shift` ids further after. */
  #differing(shift: number, first: number, last: number, order: string): number[] {
    const { columns } = this.#after.head;
    const cells = this.#before.head.columns.map(({ name, position }) => {
      const other = columns.find((one) => one.name === name)!;
      return `o.c${position} IS NOT n.c${other.position}`;
    });
    if (cells.length === 0) return [];
    const sql = `SELECT o._row_id FROM main.rows AS o CROSS JOIN after.rows AS n ON n._row_id = o._row_id + ?
      WHERE o._row_id BETWEEN ? AND ? AND (${cells.join(' OR ')}) ORDER BY o._row_id ${order}`;
    return (this.#db.query(sql).values(shift, first, last) as [number][]).map(([id]) => id);
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
        changes.push({ rowId: -this.#before.idAt(at), before: this.#cells(values), after: null });
        continue;
      }
      left.get(previous)!.shift();
      pairs.push([this.#before.idAt(at), change.rowId]);
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
      rowId: this.#after.idAt(partner),
      before: cells(values),
      after: cells(now),
      digest: this.#digest(this.#names, now),
    };
  }

  #added(at: number): RowChange {
    const values = this.#after.values(at);
    const names = this.#afterNames ?? this.#names;
    return {
      rowId: this.#after.idAt(at),
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
    const [old, now] = [this.#before, this.#after];
    for (let at = 0; at < this.#before.count; at++) {
      const place = this.#places[at]!;
      if (place < 0) continue;
      const run = runs.at(-1);
      const isNext =
        run !== undefined &&
        old.idAt(at) === run[0] + run[2] &&
        now.idAt(place) === run[1] + run[2];
      if (isNext) run[2]++;
      else runs.push([old.idAt(at), now.idAt(place), 1]);
    }
    return runs;
  }
}

function isSameText(one: StoredValue, other: StoredValue): boolean {
  return one === other || String(one ?? '') === String(other ?? '');
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
}
