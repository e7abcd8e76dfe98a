/**
 * A typed copy as queries see it: its figures, and its columns with `_row_id` before those of the file (DS-47, DS-50).
 */
import { filterTypeOf, wideNumber } from './file-type.ts';
import type { FilterColumn } from './filter.ts';
import type { Column } from './types.ts';

/** How a table presents a blank cell; see `TableHead.blank`. */
export type Blank = 'empty' | 'null';

/** A column a query may name. */
export interface TableColumn extends FilterColumn {
  /** Always qualified, so that no alias of a select list can be meant. */
  readonly sql: string;
  /** Null for `_row_id`. */
  readonly position: number | null;
}

/** What a plan must know of a table; all of one version. */
export interface QueryTable {
  /** Tells lists apart, so that a cursor of one is none of another's: rel and sheet. */
  readonly list: string;
  readonly columns: readonly Column[];
  readonly rowCount: number;
  /** Highest row id ever assigned; equal to `rowCount` when no id is missing. */
  readonly lastRowId: number;
  readonly blank: Blank;
  /** Names of the indexes there are, see `indexName`. */
  readonly indexes: ReadonlySet<string>;
  /** Size of the file, for estimates. */
  readonly bytes: number;
}

const known = new WeakMap<readonly Column[], readonly TableColumn[]>();

/** Index 0 is `_row_id`; index `i + 1` is `columns[i]`. Remembered with the list, which does not change. */
export function tableColumns(columns: readonly Column[]): readonly TableColumn[] {
  let all = known.get(columns);
  if (!all) {
    all = [
      { name: '_row_id', type: 'integer', sql: 'rows._row_id', position: null },
      ...columns.map(({ name, type, position, file }) => ({
        name,
        type: file ? filterTypeOf(file.type) : type,
        wide: wideNumber(file?.type),
        sql: `rows.c${position}`,
        position,
      })),
    ];
    known.set(columns, all);
  }
  return all;
}

/**
 * SQL for the text form of a cell (DS-54), equal to what JSON shows. Blank cells are `''` in tables that present them
 * so and NULL otherwise.
 */
export function textFormSql({ sql, type, wide }: TableColumn, blank: Blank): string {
  if (wide) return `svc_wide(${sql}, ${wide.digits}, ${wide.scale})`;
  const absent = blank === 'empty' ? `WHEN 'null' THEN '' ` : '';
  switch (type) {
    case 'boolean':
      return `(CASE typeof(${sql}) WHEN 'integer' THEN iif(${sql}, 'true', 'false') ${absent}ELSE ${sql} END)`;
    case 'integer':
    case 'number':
      // Integers may have more digits than a JS number; SQLite writes reals its own way.
      return `(CASE typeof(${sql}) WHEN 'integer' THEN CAST(${sql} AS TEXT) WHEN 'real' THEN svc_text(${sql}) ${absent}ELSE ${sql} END)`;
    default:
      return blank === 'empty' ? `ifnull(${sql}, '')` : sql;
  }
}
