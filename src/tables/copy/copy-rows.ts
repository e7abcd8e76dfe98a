/** Rows of a typed copy as texts for full-text search: what JSON shows of each cell. */
import type { Database } from 'bun:sqlite';
import { openReader, registerFunctions } from '../read/connection.ts';
import { tableColumns, textFormSql } from '../read/query-table.ts';
import { readMeta, type TableHead } from './table-meta.ts';

export type RowTexts = readonly [rowId: number, ...cells: (string | null)[]];

export class CopyRows {
  readonly path: string;
  readonly head: TableHead;
  readonly #db: Database;
  readonly #cells: string;

  /** Throws when no copy is at the path: a newer one has replaced it. */
  constructor(path: string) {
    this.path = path;
    this.#db = openReader(path, 2_000);
    try {
      registerFunctions(this.#db);
      const head = readMeta(this.#db, 'table');
      if (head === null) throw new Error('a typed copy without a head');
      this.head = head;
      const cells = tableColumns(head.columns)
        .slice(1)
        .map((column) => textFormSql(column, head.blank));
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
    return this.#db
      .query(`SELECT ${this.#cells} FROM rows WHERE _row_id > ? ORDER BY _row_id LIMIT ?`)
      .values(rowId, count) as unknown as RowTexts[];
  }

  /** Skips ids that do not exist. */
  *named(rowIds: readonly number[]): Generator<RowTexts> {
    const query = this.#db.query(`SELECT ${this.#cells} FROM rows WHERE _row_id = ?`);
    for (const rowId of rowIds) {
      const row = query.values(rowId)[0];
      if (row !== undefined) yield row as unknown as RowTexts;
    }
  }

  close(): void {
    this.#db.close();
  }
}
