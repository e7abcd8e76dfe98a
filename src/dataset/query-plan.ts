/**
 * How a list of rows is read from a typed copy, as plain data: which statements, in which order, at what cost.
 *
 * Pure: looks at nothing but the table's figures and the parameters, so plans are tested as data and travel as JSON to
 * the process that runs them (`query-run.ts`).
 */
import { type Access, accessTo } from './scan.ts';
import { comparisonsIn, conditionsOf } from './conditions.ts';
import { cursorDigest, type CursorScope, decodeCursor, invalidCursor } from './cursor.ts';
import type { RowShape } from './encode.ts';
import { hasLongIntegers } from './file-type.ts';
import { parseFilter } from './filter.ts';
import type { OrderTerm } from './keyset.ts';
import type { ListParameters } from './list-parameters.ts';
import { parseColumns } from './projection.ts';
import { estimate } from './query-cost.ts';
import { type QueryTable, type TableColumn, tableColumns } from './query-table.ts';
import { type OpenRange, openRangeOf } from './range-count.ts';
import { parseSort, type SortTerm } from './sort.ts';
import { usefulIndexes } from './table-index.ts';
import type { Column } from './types.ts';
import { queryWords } from './words.ts';

/** A list as it will be read; JSON throughout. */
export interface QueryPlan extends Access {
  /** What the rows hold: `_row_id`, then the columns of the shape. */
  readonly shape: RowShape;
  /** The select list that makes such rows. */
  readonly select: string;
  /** Null: all rows. */
  readonly limit: number | null;
  /** Rows of the table. */
  readonly rowCount: number;
  /** Equal for lists with the same matches: a key for remembering their number within one version. */
  readonly countKey: string;
  /** The list is one range of an indexed column: its count follows from that of another one. */
  readonly range: OpenRange | null;
  /** For the cursor to the next page: its digest and the select list of its sort values. */
  readonly digest: string;
  readonly keys: string;
  /** Integers may be past ±(2^53−1) (Parquet): every integer of a row is then a bigint. */
  readonly hasWideIntegers: boolean;
  /** The connection needs `registerFunctions`. */
  readonly usesFunctions: boolean;
  /** Indexes that would have helped and do not exist; empty for small tables. */
  readonly usefulIndexes: readonly string[];
  /** The page, and the page together with its count, take about 20 ms at most and may run in the server process. */
  readonly isPageCheap: boolean;
  readonly isCheap: boolean;
}

/**
 * The plan of a list. Throws `invalid-query` for a filter, sort, column list or cursor that does not fit the table, in
 * this order.
 */
export function planQuery(table: QueryTable, parameters: ListParameters): QueryPlan {
  const { limit, offset } = parameters;
  const columns = tableColumns(table.columns);
  const filter = parseFilter(parameters.filter, columns);
  const words = queryWords(parameters.q);
  const sort = parseSort(parameters.sort, parameters.order, columns);
  const { shape, select } = projectionOf(parseColumns(parameters.columns, columns), table);
  const terms = orderTerms(sort, columns);
  const isPaged = limit !== null || parameters.cursor !== null;
  const digest = isPaged ? cursorDigest(scopeOf(table, parameters, words, sort)) : '';
  if (parameters.cursor !== null && offset > 0) throw invalidCursor();
  const cursor =
    parameters.cursor === null ? null : decodeCursor(parameters.cursor, digest, terms.length);
  const conditions = conditionsOf({ filter, words, columns, blank: table.blank });
  const access = accessTo(table, conditions, terms, { cursor, offset });
  const comparisons = filter ? comparisonsIn(filter) : 0;
  return {
    ...access,
    shape,
    select,
    limit,
    rowCount: table.rowCount,
    countKey: access.count ? JSON.stringify([access.count.sql, access.count.params]) : '',
    range: access.isCountIndexed && words.length === 0 ? openRangeOf(filter, columns) : null,
    digest,
    keys: terms.map(({ column }) => column.sql).join(', '),
    hasWideIntegers: hasWideIntegers(shape),
    usesFunctions: access.count?.sql.includes('svc_') ?? false,
    usefulIndexes: usefulIndexes(table, conditions, terms),
    ...estimate(table, access, { limit, offset, comparisons, shape }),
  };
}

/** What the cursors of a list are for. Throws as `planQuery`. */
export function cursorScope(table: QueryTable, parameters: ListParameters): CursorScope {
  const sort = parseSort(parameters.sort, parameters.order, tableColumns(table.columns));
  return scopeOf(table, parameters, queryWords(parameters.q), sort);
}

function scopeOf(
  { list, columns }: QueryTable,
  { filter, order }: ListParameters,
  words: readonly string[],
  sort: readonly SortTerm[],
): CursorScope {
  const names = tableColumns(columns);
  return {
    list,
    filter,
    q: words,
    sort: sort.map(({ column, descending }) => ({ name: names[column]!.name, descending })),
    order,
  };
}

/** Only Parquet has integers that no double holds; CSV and workbooks cannot (DS-59). */
function hasWideIntegers({ blank, columns }: RowShape): boolean {
  return (
    blank === 'null' &&
    columns.some(({ type, file }) =>
      file ? hasLongIntegers(file.type) : type === 'integer' || type === 'number',
    )
  );
}

/** The terms that still order rows: nothing after `_row_id`, which is unique, nor `_row_id` upwards at the end. */
function orderTerms(sort: readonly SortTerm[], columns: readonly TableColumn[]): OrderTerm[] {
  const end = sort.findIndex(({ column }) => column === 0);
  const used = end < 0 ? sort : sort.slice(0, sort[end]!.descending ? end + 1 : end);
  return used.map(({ column, descending }) => ({ column: columns[column]!, descending }));
}

interface Projection {
  readonly shape: RowShape;
  readonly select: string;
}

const whole = new WeakMap<readonly Column[], Projection>();

/** Whether the rows of a plan hold all columns of the table it was made for, in the order of the file. */
export function isWhole({ shape }: QueryPlan, columns: readonly Column[]): boolean {
  return whole.get(columns)?.shape === shape;
}

/** The projection to all columns is remembered with them, which do not change. */
function projectionOf(indexes: readonly number[] | null, table: QueryTable): Projection {
  if (indexes) return projectionTo(indexes, table);
  let known = whole.get(table.columns);
  if (!known) {
    known = projectionTo(
      table.columns.map((_, index) => index + 1),
      table,
    );
    whole.set(table.columns, known);
  }
  return known;
}

function projectionTo(chosen: readonly number[], { blank, columns }: QueryTable): Projection {
  const shown = chosen.filter((index) => index > 0).map((index) => columns[index - 1]!);
  const rowIdAt = chosen.indexOf(0);
  const aliases = shown.map(({ position }, index) => `rows.c${position} AS v${index}`);
  return {
    shape: {
      columns: shown.map(({ name, type, file }) => (file ? { name, type, file } : { name, type })),
      rowIdAt: rowIdAt < 0 ? null : rowIdAt,
      blank,
    },
    select: ['rows._row_id AS id', ...aliases].join(', '),
  };
}
