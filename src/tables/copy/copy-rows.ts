/** What full-text search sees of a typed copy: the text JSON shows of each cell. */
import type { Database } from 'bun:sqlite';
import { openReader, registerFunctions } from '../read/connection.ts';
import { type TableColumn, tableColumns, textFormSql } from '../read/query-table.ts';
import { readMeta, type TableHead } from './table-meta.ts';

/** Blank cells are null or `''`. */
export type RowTexts = readonly [rowId: number, ...cells: (string | null)[]];

const NON_ASCII = /[^\x00-\x7f]/;
/** Of one statement. */
const ROWS_AT_ONCE = 500;
const MAX_EXACT = Number.MAX_SAFE_INTEGER;

export class CopyRows {
  readonly path: string;
  readonly head: TableHead;
  readonly #db: Database;
  readonly #columns: readonly TableColumn[];
  readonly #cells: string;
  /** Indexes in a row of what may be a number; it becomes text here, because SQL takes twice as long. */
  readonly #mixed: readonly number[];

  /** Throws when no copy is at the path: a newer one has replaced it. */
  constructor(path: string) {
    this.path = path;
    this.#db = openReader(path, 2_000);
    try {
      this.#db.run('PRAGMA cache_size = -16000');
      registerFunctions(this.#db);
      const head = readMeta(this.#db, 'table');
      if (head === null) throw new Error('a typed copy without a head');
      this.head = head;
      this.#columns = tableColumns(head.columns).slice(1);
      const cells = this.#columns.map(({ sql, wide }) =>
        wide ? `svc_wide(${sql}, ${wide.digits}, ${wide.scale})` : sql,
      );
      this.#mixed = this.#columns.flatMap(({ type, wide }, at) =>
        !wide && ['integer', 'number', 'boolean'].includes(type) ? [at + 1] : [],
      );
      this.#cells = ['rows._row_id', ...cells].join(', ');
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  get names(): string[] {
    return this.head.columns.map(({ name }) => name);
  }

  /** In file order. */
  after(rowId: number, count: number): RowTexts[] {
    return this.#texts(
      `SELECT ${this.#cells} FROM rows WHERE _row_id > ? ORDER BY _row_id LIMIT ?`,
      rowId,
      count,
    );
  }

  /** In no order; skips ids that do not exist. */
  *named(rowIds: readonly number[]): Generator<RowTexts> {
    const sql = `SELECT ${this.#cells} FROM rows WHERE _row_id IN (SELECT value FROM json_each(?))`;
    for (let start = 0; start < rowIds.length; start += ROWS_AT_ONCE) {
      const ids = JSON.stringify(rowIds.slice(start, start + ROWS_AT_ONCE));
      yield* this.#texts(sql, ids);
    }
  }

  /** Rows from `first` to `last` that may have a word with this beginning, in file order. */
  *mayHave(beginning: string, first: number, last: number): Generator<RowTexts> {
    const condition = this.#mayHaveSql(beginning);
    const sql = `SELECT ${this.#cells} FROM rows WHERE _row_id BETWEEN ?2 AND ?3 AND (${condition}) ORDER BY _row_id LIMIT ${ROWS_AT_ONCE}`;
    for (let from = first; ;) {
      const rows = this.#texts(sql, beginning, from, last);
      yield* rows;
      if (rows.length < ROWS_AT_ONCE) return;
      from = rows.at(-1)![0] + 1;
    }
  }

  /** SQLite decides for ASCII only. Names of columns stand in the text of each row. */
  #mayHaveSql(beginning: string): string {
    const isNamed = this.names.some(
      (name) => NON_ASCII.test(name) || name.toLowerCase().includes(beginning),
    );
    if (isNamed) return '?1 IS NOT NULL';
    // Words of numbers begin with a digit; their texts take longer to make than to look at.
    const isNumeric = /^\d/.test(beginning) || 'infinity'.startsWith(beginning);
    const conditions = this.#columns.map((column) => {
      const text = textFormSql(column, this.head.blank);
      const found = `instr(lower(${text}), ?1) OR length(${text}) <> octet_length(${text})`;
      const isNumber = column.type === 'integer' || column.type === 'number';
      return isNumber && !isNumeric ? `(typeof(${column.sql}) = 'text' AND (${found}))` : found;
    });
    return conditions.join(' OR ') || '?1 IS NULL';
  }

  #texts(sql: string, ...values: (string | number)[]): RowTexts[] {
    const rows = this.#db.query(sql).values(...values) as (string | number | null)[][];
    for (const at of this.#mixed) {
      const isBoolean = this.#columns[at - 1]!.type === 'boolean';
      for (const row of rows) {
        const cell = row[at]!;
        if (typeof cell !== 'number') continue;
        if (isBoolean) row[at] = cell === 0 ? 'false' : 'true';
        else if (cell <= MAX_EXACT && cell >= -MAX_EXACT) row[at] = String(cell);
        else row[at] = this.#longNumber(row[0] as number, at - 1);
      }
    }
    return rows as unknown as RowTexts[];
  }

  /** A real, or an integer with more digits than a JS number. */
  #longNumber(rowId: number, at: number): string {
    const text = textFormSql(this.#columns[at]!, this.head.blank);
    const [row] = this.#db.query(`SELECT ${text} FROM rows WHERE _row_id = ?`).values(rowId);
    return String(row![0]);
  }

  close(): void {
    this.#db.close();
  }
}
