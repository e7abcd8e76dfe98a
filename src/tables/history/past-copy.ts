/**
 * The typed copy of a table as it was, made in a child from the present copy and what was done since, the newest first.
 *
 * Columns keep their present types, or those that the history names; where a cell then does not fit, or a column of texts
 * changed, types are found anew among the cells of then.
 */
import { Database } from 'bun:sqlite';
import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { AppError } from '../../base/errors.ts';
import type { ChildJobs } from '../../processes/child-server.ts';
import { loadTable } from '../copy/load.ts';
import { initialiseMeta, readMeta, type TableHead, writeMeta } from '../copy/table-meta.ts';
import type { Cell, Column, StoredValue } from '../types.ts';
import { dateSortKey } from '../values/column-dates.ts';
import { type CellValues, decodeChanges, type RowChange } from './row-change.ts';
import type { TableMap } from './table-difference.ts';

export interface PastOrder {
  /** The present copy, which must still be of this version. */
  readonly base: string;
  readonly generation: string;
  readonly sequence: number;
  /** A file with what `steps` tells, one part after the other. */
  readonly parts: string;
  readonly steps: readonly {
    readonly id: number;
    /** Null: rows alone changed. */
    readonly mapBytes: number | null;
    readonly pieces: readonly number[];
  }[];
  readonly out: string;
  /** Of the new copy. */
  readonly name: string;
}

export function pastJobs(): ChildJobs {
  return {
    past: async (body) => {
      const order = body as PastOrder;
      const isMade = await makePast(order);
      if (isMade) {
        // Indexes are made while others read.
        const db = new Database(order.out, { readwrite: true, create: false });
        db.run('PRAGMA journal_mode = WAL');
        db.close();
      }
      return Response.json({ isMade });
    },
  };
}

const ROWS_AT_ONCE = 5_000;

/** False when the present copy is of another version. */
async function makePast(order: PastOrder): Promise<boolean> {
  const { base, out } = order;
  const source = new Database(base, { readwrite: true, create: false });
  try {
    source.run('PRAGMA busy_timeout = 5000');
    source.query('VACUUM INTO ?').run(out);
  } finally {
    source.close();
  }
  const db = new Database(out, { readwrite: true, create: false });
  const parts = openSync(order.parts, 'r');
  try {
    db.run('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    const head = readMeta(db, 'table');
    const state = readMeta(db, 'state');
    const isSame = head?.generation === order.generation && state?.sequence === order.sequence;
    if (!isSame || head === null || state === null) return false;
    const past = new PastRows(db, head);
    db.run('BEGIN');
    let at = 0;
    const read = (length: number): Uint8Array => {
      const bytes = Buffer.alloc(length);
      if (readSync(parts, bytes, 0, length, at) !== length) throw lost();
      at += length;
      return bytes;
    };
    for (const { id, mapBytes, pieces } of order.steps) {
      try {
        const map = mapBytes === null ? null : read(mapBytes);
        const rows = pieces.map(read);
        past.undo(map, rows);
      } catch (error) {
        throw damaged(id, error);
      }
    }
    db.run('COMMIT');
    if (past.needsTypes) await findTypes(db, past, head, order);
    else {
      const columns = [...past.columns];
      const [rowCount = 0, lastRowId = 0] = db
        .query('SELECT count(*), coalesce(max(_row_id), 0) FROM rows')
        .values()[0] as [number, number];
      const ofColumns = <T>(values: readonly T[], none: T): T[] =>
        columns.map(({ name }) => {
          const index = head.columns.findIndex((one) => one.name === name);
          return values[index] ?? none;
        });
      const generation = order.name;
      writeMeta(db, 'table', { ...head, generation, numbering: generation, columns });
      writeMeta(db, 'state', {
        ...state,
        sequence: 0,
        hash: null,
        rowCount,
        lastRowId,
        counts: columns.map(({ counts }, index) => ofColumns(state.counts, counts)[index]!),
        forms: columns.map(({ forms }, index) => ofColumns(state.forms, forms)[index]!),
      });
      writeMeta(db, 'journal', null);
    }
    return true;
  } finally {
    closeSync(parts);
    db.close();
  }
}

function lost(): AppError {
  return new AppError('unavailable', 'What was changed could not be read');
}

function damaged(id: number, cause: unknown): AppError {
  const text = `Change ${id} is damaged in the history, or written by a newer version of svc`;
  return new AppError('gone', text, { cause });
}

class PastRows {
  readonly #db: Database;
  readonly #blank: TableHead['blank'];
  readonly #hasInferred: boolean;
  readonly #touched = new Set<string>();
  columns: readonly Column[];

  constructor(db: Database, { columns, blank, companionSchema }: TableHead) {
    this.#db = db;
    this.#blank = blank;
    this.#hasInferred = companionSchema === null && columns.every(({ file }) => !file);
    this.columns = columns;
  }

  undo(map: Uint8Array | null, pieces: readonly Uint8Array[]): void {
    if (map === null) {
      for (const piece of pieces) this.#undoRows(decodeChanges(piece));
      return;
    }
    const text = Bun.zstdDecompressSync(map as Uint8Array<ArrayBuffer>);
    this.#undoTable(JSON.parse(Buffer.from(text).toString()) as TableMap, pieces);
  }

  #undoRows(changes: readonly RowChange[]): void {
    for (const { rowId, before, after } of changes) {
      if (before === null) this.#db.query('DELETE FROM rows WHERE _row_id = ?').run(rowId);
      else if (after === null) this.#insert('rows', rowId, before);
      else this.#update('rows', rowId, before);
    }
  }

  /** Rows of another numbering. */
  #undoTable(map: TableMap, pieces: readonly Uint8Array[]): void {
    if (this.#keepsIds(map)) {
      const remove = this.#db.query('DELETE FROM rows WHERE _row_id BETWEEN ? AND ?');
      for (const [first, last] of gapsIn(map)) remove.run(first, last);
      for (const piece of pieces) {
        const changes = decodeChanges(piece).filter(({ before }) => before !== null);
        this.#undoRows(changes.map((one) => ({ ...one, rowId: Math.abs(one.rowId) })));
      }
      return;
    }
    this.#rebuild(map, pieces);
  }

  /** Rows that stayed have the ids they had, so that the table need not be written anew. */
  #keepsIds({ columns, runs, pairs }: TableMap): boolean {
    const typesOf = (list: readonly Column[]): string =>
      JSON.stringify(list.map(({ name, type, position, dates }) => [name, type, position, dates]));
    return (
      typesOf(columns) === typesOf(this.columns) &&
      runs.every(([before, after]) => before === after) &&
      pairs.every(([before, after]) => before === after)
    );
  }

  #rebuild({ columns, runs, pairs }: TableMap, pieces: readonly Uint8Array[]): void {
    const db = this.#db;
    const present = new Map(this.columns.map((column) => [column.name, column]));
    const names = columns.flatMap(({ position, dates }) =>
      dates?.isKeyed ? [`c${position}`, `k${position}`] : [`c${position}`],
    );
    db.run(`CREATE TABLE past (_row_id INTEGER PRIMARY KEY${names.map((n) => `, ${n}`).join('')})`);
    const values = columns.flatMap((column) => {
      const sql = valueSql(column, present.get(column.name), this.#blank);
      return column.dates?.isKeyed ? [sql, 'NULL'] : [sql];
    });
    const into = `INSERT INTO past (${['_row_id', ...names].join(', ')})`;
    const shifted = db.query(
      `${into} SELECT ${['_row_id + ?', ...values].join(', ')} FROM rows WHERE _row_id BETWEEN ? AND ?`,
    );
    for (const [before, after, count] of runs)
      shifted.run(before - after, after, after + count - 1);
    const moved = db.query(
      `${into} SELECT ${['?', ...values].join(', ')} FROM rows WHERE _row_id = ?`,
    );
    for (const [before, after] of pairs) moved.run(before, after);
    const idsBefore = new Map(pairs.map(([before, after]) => [after, before]));
    this.columns = columns;
    for (const piece of pieces) {
      for (const { rowId, before, after } of decodeChanges(piece)) {
        if (before === null) continue;
        if (after === null) this.#insert('past', -rowId, before);
        else this.#update('past', idsBefore.get(rowId)!, before);
      }
    }
    for (const { position, dates } of columns.filter((one) => one.dates?.isKeyed)) {
      const name = `svc_key_${position}`;
      db.function(name, (value: StoredValue) => dateSortKey(value, dates!));
      db.run(`UPDATE past SET k${position} = ${name}(c${position})`);
    }
    db.run('DROP TABLE rows');
    db.run('ALTER TABLE past RENAME TO rows');
  }

  #insert(table: string, rowId: number, values: CellValues): void {
    const names = ['_row_id'];
    const bound: StoredValue[] = [rowId];
    for (const { name, position, dates } of this.columns) {
      const value = values.get(name) ?? null;
      this.#touched.add(name);
      names.push(`c${position}`);
      bound.push(value);
      if (dates?.isKeyed) {
        names.push(`k${position}`);
        bound.push(dateSortKey(value, dates));
      }
    }
    this.#db
      .query(
        `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      )
      .run(...bound);
  }

  #update(table: string, rowId: number, values: CellValues): void {
    const sets: string[] = [];
    const bound: StoredValue[] = [];
    for (const { name, position, dates } of this.columns) {
      const value = values.get(name);
      if (value === undefined) continue;
      this.#touched.add(name);
      sets.push(`c${position} = ?`);
      bound.push(value);
      if (dates?.isKeyed) {
        sets.push(`k${position} = ?`);
        bound.push(dateSortKey(value, dates));
      }
    }
    if (sets.length === 0) return;
    this.#db.query(`UPDATE ${table} SET ${sets.join(', ')} WHERE _row_id = ?`).run(...bound, rowId);
  }

  get needsTypes(): boolean {
    if (!this.#hasInferred) return false;
    return this.columns.some(({ name, type, dates, position }) => {
      if (dates) return false;
      if (type === 'string') return this.#touched.has(name);
      const has = (kind: string): boolean =>
        this.#db.query(`SELECT 1 FROM rows WHERE typeof(c${position}) = ? LIMIT 1`).get(kind) !==
        null;
      return has('text') || (type === 'number' && this.#touched.has(name) && !has('real'));
    });
  }
}

/** First and last ids after of rows that did not stay. */
function gapsIn({ runs, pairs }: TableMap): [first: number, last: number][] {
  const kept = [
    ...runs.map(([, after, count]) => [after, after + count - 1] as const),
    ...pairs.map(([, after]) => [after, after] as const),
  ].sort(([one], [other]) => one - other);
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [first, last] of kept) {
    if (first > next) gaps.push([next, first - 1]);
    next = last + 1;
  }
  return [...gaps, [next, Number.MAX_SAFE_INTEGER]];
}

/** A cell of the rows after, as the column before it held it. */
function valueSql(column: Column, present: Column | undefined, blank: TableHead['blank']): string {
  if (present === undefined) return 'NULL';
  const sql = `c${present.position}`;
  if (present.type === column.type || blank === 'null') return sql;
  if (column.type !== 'string') return `nullif(${sql}, '')`;
  const text = present.type === 'boolean' ? `iif(${sql}, 'true', 'false')` : `CAST(${sql} AS TEXT)`;
  return `CASE typeof(${sql}) WHEN 'null' THEN '' WHEN 'text' THEN ${sql} ELSE ${text} END`;
}

/** Types of the cells of then, in a copy that is made anew. */
async function findTypes(
  db: Database,
  { columns }: PastRows,
  head: TableHead,
  order: PastOrder,
): Promise<void> {
  const path = `${order.out}-typed`;
  const sorted = columns.toSorted((one, other) => one.position - other.position);
  const width = (sorted.at(-1)?.position ?? -1) + 1;
  const names = Array.from(
    { length: width },
    (_, position) =>
      sorted.find((one) => one.position === position)?.name ?? `column_${position + 1}`,
  );
  const cells = sorted.map(({ position }) => `c${position}`);
  const page = db
    .query(
      `SELECT ${['_row_id', ...cells].join(', ')} FROM rows WHERE _row_id > ? ORDER BY _row_id LIMIT ${ROWS_AT_ONCE}`,
    )
    .safeIntegers(true);
  function* rowsOf(): Generator<StoredValue[][]> {
    for (let last: StoredValue = 0; ;) {
      const rows = page.values(last as number) as StoredValue[][];
      if (rows.length > 0) yield rows;
      if (rows.length < ROWS_AT_ONCE) return;
      last = rows.at(-1)![0]!;
    }
  }
  const loaded = await loadTable({
    path,
    read: async (sink) => {
      sink.header(names, undefined, head.context.delimiter);
      for (const rows of rowsOf()) {
        const read = rows.map((row) => {
          const found: Cell[] = new Array(width).fill('');
          sorted.forEach(({ position, type }, at) => {
            found[position] = cellOf(row[at + 1]!, type);
          });
          return found;
        });
        sink.segment({ rows: rows.length, bytes: 0 }, read);
      }
      sink.layout({}, 0);
    },
    companion: null,
    ids: function* () {
      for (const rows of rowsOf()) for (const [id] of rows) yield Number(id);
    },
    blank: head.blank,
    spellings: head.context,
  });
  const made = new Database(path, { readwrite: true, create: false });
  try {
    const state = readMeta(db, 'state')!;
    made.transaction(() =>
      initialiseMeta(
        made,
        {
          ...head,
          generation: order.name,
          numbering: order.name,
          columns: loaded.columns,
          context: loaded.context,
        },
        {
          ...state,
          sequence: 0,
          hash: null,
          rowCount: loaded.rowCount,
          lastRowId: loaded.lastRowId,
          counts: loaded.columns.map(({ counts }) => counts),
          forms: loaded.columns.map(({ forms }) => forms),
        },
      ),
    )();
    rmSync(order.out);
    made.query('VACUUM INTO ?').run(order.out);
  } finally {
    made.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  }
}

function cellOf(value: StoredValue, type: Column['type']): Cell {
  if (value === null) return null;
  if (typeof value === 'string') return value;
  if (type === 'boolean') return Number(value) !== 0;
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
