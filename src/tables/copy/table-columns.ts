/**
 * Columns of a large typed copy as files beside it, for questions about all rows. Made in the query worker when a
 * column is first asked for; they belong to one state of the copy, so the next edit makes them useless.
 *
 * `<copy>-columns/<state>.<column>`, moved into place when complete. Whatever happens to them, the rows are still
 * there: null means to read those.
 */
import type { Database } from 'bun:sqlite';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { shortId } from '../../base/ids.ts';
import { type Column, columnOf, type Entry } from '../../columns/column.ts';
import { ColumnReader, ColumnWriter, DamagedColumn } from '../../columns/column-file.ts';
import { STRATEGY } from '../limits.ts';
import { readMeta, type TableState } from './table-meta.ts';
import { COLUMNS_SUFFIX } from './copy-seal.ts';

export interface ColumnBatch {
  readonly rows: number;
  /** In the order asked for. */
  readonly columns: readonly Column[];
}

/** In place of a column: the next who asks does not try again. */
const REFUSED = 'too large';
/** Nobody works on a draft for so long without writing to it. */
const DRAFT_MS = 600_000;

export class TableColumns {
  readonly #db: Database;
  readonly #folder: string;
  /** The sequence, and what else tells the copy from one of the same name that was put in its place. */
  readonly #state: string;
  readonly #lastRowId: number;
  readonly #mostBytes: number;

  private constructor(db: Database, path: string, state: TableState) {
    this.#db = db;
    this.#folder = path + COLUMNS_SUFFIX;
    const { sequence, stamp, rowCount, lastRowId, counts } = state;
    const told = Bun.hash(JSON.stringify([stamp.size, stamp.mtimeNs, rowCount, lastRowId, counts]));
    this.#state = `${sequence}-${told.toString(36)}`;
    this.#lastRowId = lastRowId;
    this.#mostBytes = statSync(path).size * STRATEGY.columnShare;
  }

  /** Null for a table so small that its rows are read as quickly. The caller holds a transaction of this copy. */
  static of(db: Database, path: string): TableColumns | null {
    const state = readMeta(db, 'state');
    if (state === null || state.rowCount < STRATEGY.columnsFromRows) return null;
    return new TableColumns(db, path, state);
  }

  /**
   * All rows in the order of their ids; columns by their names in the copy. `tick` is called for every batch and may
   * throw. Null when a column cannot be had, or is not there and `isMade` is false. Throws DamagedColumn, also between
   * batches: the next reading makes it anew.
   */
  read(names: readonly string[], tick: () => void, isMade = true): Iterable<ColumnBatch> | null {
    const readers: ColumnReader[] = [];
    const close = (): void => {
      for (const reader of readers.splice(0)) reader.close();
    };
    try {
      for (const name of names) {
        const reader =
          this.#open(name) ?? (isMade && this.#make(name, tick) ? this.#open(name) : null);
        if (reader === null) {
          close();
          return null;
        }
        readers.push(reader);
      }
    } catch (error) {
      close();
      throw error;
    }
    return this.#batches(names, readers, tick, close);
  }

  *#batches(
    names: readonly string[],
    readers: readonly ColumnReader[],
    tick: () => void,
    close: () => void,
  ): Generator<ColumnBatch> {
    try {
      const [first] = readers;
      for (let chunk = 0; chunk < (first?.chunks ?? 0); chunk++) {
        tick();
        const rows = first!.rowsOf(chunk);
        const columns = readers.map((reader, at) => {
          try {
            return reader.read(chunk, rows);
          } catch (error) {
            rmSync(this.#pathOf(names[at]!), { force: true });
            throw error;
          }
        });
        yield { rows, columns };
      }
    } finally {
      close();
    }
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${this.#state}.${name}`);
  }

  #open(name: string): ColumnReader | null {
    const path = this.#pathOf(name);
    try {
      return new ColumnReader(path);
    } catch (error) {
      if (error instanceof DamagedColumn && !isRefused(path)) rmSync(path, { force: true });
      else if (!(error instanceof DamagedColumn) && !isFileError(error)) throw error;
      return null;
    }
  }

  /** False when there is no room for it, the disk is read-only, or the copy was replaced and its folder deleted. */
  #make(name: string, tick: () => void): boolean {
    const path = this.#pathOf(name);
    const draft = `${path}.${shortId()}.draft`;
    let writer: ColumnWriter | null = null;
    try {
      if (isRefused(path)) return false;
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const used = this.#removeOutdated();
      writer = new ColumnWriter(draft);
      for (const column of this.#columnsOf(name)) {
        writer.add(column);
        if (used + writer.bytes > this.#mostBytes) {
          writeFileSync(path, REFUSED, { mode: 0o600 });
          return false;
        }
        tick();
      }
      writer.finish();
      renameSync(draft, path);
      return true;
    } catch (error) {
      if (isFileError(error)) return false;
      throw error;
    } finally {
      writer?.close();
      if (writer !== null) rmSync(draft, { force: true });
    }
  }

  /** Bytes of the files that are left. */
  #removeOutdated(): number {
    let bytes = 0;
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name);
      const file = statSync(path, { throwIfNoEntry: false });
      if (file === undefined) continue;
      const isLeftover = name.endsWith('.draft') && Date.now() - file.mtimeMs > DRAFT_MS;
      // A reader of the state before may still make one, of a state that is gone.
      const isOther = !name.startsWith(`${this.#state}.`);
      if (isLeftover || isOther) rmSync(path, { force: true });
      else bytes += file.size;
    }
    return bytes;
  }

  /** In runs of ids, the same for all columns. */
  *#columnsOf(name: string): Generator<Column> {
    using wide = this.#db.prepare(
      `SELECT 1 FROM rows WHERE typeof(${name}) = 'integer' AND ${name} NOT BETWEEN -9007199254740991 AND 9007199254740991 LIMIT 1`,
    );
    using statement = this.#db
      .prepare<unknown, [number, number]>(
        `SELECT ${name} FROM rows WHERE _row_id > ? AND _row_id <= ? ORDER BY _row_id`,
      )
      .safeIntegers(wide.get() !== null);
    const step = STRATEGY.columnBatchRows;
    for (let from = 0; from < this.#lastRowId; from += step) {
      const rows = statement.values(from, from + step) as [Entry][];
      if (rows.length > 0) yield columnOf(rows.map(([cell]) => safeInteger(cell)));
    }
  }
}

function isRefused(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  return size === REFUSED.length && readFileSync(path, 'latin1') === REFUSED;
}

function isFileError(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^E[A-Z]/.test(code);
}

function safeInteger(cell: Entry): Entry {
  if (typeof cell !== 'bigint') return cell;
  const number = Number(cell);
  return Number.isSafeInteger(number) ? number : cell;
}
