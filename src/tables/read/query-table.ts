import { filterTypeOf, wideNumber } from '../infer/file-type.ts';
import type { Column } from '../types.ts';
import type { FilterColumn } from '../filter/filter-operand.ts';

/** See `TableHead.blank`. */
export type Blank = 'empty' | 'null';

export interface TableColumn extends FilterColumn {
  /** Always qualified, so that no alias of a select list can be meant. */
  readonly sql: string;
  /** What rows are compared by where that is not the value itself. */
  readonly compared?: ComparedBy;
  /** Null for `_row_id`. */
  readonly position: number | null;
}

/**
 * `utc`: only for order, because `Z` would come after a fraction of the same second; `key`: see `ColumnDates.isKeyed`.
 */
export type ComparedBy = 'utc' | 'key';

/** `column` is qualified or not. */
export function comparedSql(column: string, by: ComparedBy | undefined): string {
  if (by === undefined) return column;
  return by === 'key' ? column.replace(/c(\d+)$/, 'k$1') : `rtrim(${column}, 'Z')`;
}

/** All of one version. */
export interface QueryTable {
  /** File and sheet: keeps cursors of one list from another. */
  readonly list: string;
  readonly columns: readonly Column[];
  readonly rowCount: number;
  /** Highest ever assigned; equal to `rowCount` when no id is missing. */
  readonly lastRowId: number;
  readonly blank: Blank;
  /** See `indexName`. */
  readonly indexes: ReadonlySet<string>;
  /** Size of the file, for estimates. */
  readonly bytes: number;
}

const known = new WeakMap<readonly Column[], readonly TableColumn[]>();

/** Index 0 is `_row_id`; index `i + 1` is `columns[i]`. Remembered with the list. */
export function tableColumns(columns: readonly Column[]): readonly TableColumn[] {
  let all = known.get(columns);
  if (!all) {
    all = [
      { name: '_row_id', type: 'integer', sql: 'rows._row_id', position: null },
      ...columns.map((column) => {
        const { name, type, position, file, dates, numbers } = column;
        const compared = comparedBy(column);
        return {
          name,
          type: dates ? ('date-time' as const) : file ? filterTypeOf(file.type) : type,
          wide: wideNumber(file?.type),
          sql: `rows.c${position}`,
          ...(dates && { dates }),
          ...(numbers && { numbers }),
          ...(compared && { compared }),
          position,
        };
      }),
    ];
    known.set(columns, all);
  }
  return all;
}

function comparedBy({ file, dates }: Column): ComparedBy | undefined {
  if (dates?.isKeyed) return 'key';
  return file?.type.kind === 'timestamp' && file.type.isUtc ? 'utc' : undefined;
}

/** What JSON shows. Blank cells are `''` or NULL, as the table presents them. */
export function textFormSql({ sql, type, wide }: TableColumn, blank: Blank): string {
  if (wide) return `svc_wide(${sql}, ${wide.digits}, ${wide.scale})`;
  const absent = blank === 'empty' ? `WHEN 'null' THEN '' ` : '';
  switch (type) {
    case 'boolean':
      return `(CASE typeof(${sql}) WHEN 'integer' THEN iif(${sql}, 'true', 'false') ${absent}ELSE ${sql} END)`;
    case 'integer':
    case 'number':
      // Integers may have more digits than a JS number; SQLite writes reals differently.
      return `(CASE typeof(${sql}) WHEN 'integer' THEN CAST(${sql} AS TEXT) WHEN 'real' THEN svc_text(${sql}) ${absent}ELSE ${sql} END)`;
    default:
      return blank === 'empty' ? `ifnull(${sql}, '')` : sql;
  }
}
