/**
 * Plans how a list is read from a typed copy. Plain JSON from figures and parameters alone, so plans are tested as
 * data and travel to the process that runs them (`query-run.ts`).
 */
import { usefulIndexes } from '../copy/table-index.ts';
import type { RowShape } from '../encode/encode.ts';
import type { NativeColumn } from '../encode/native-value.ts';
import { comparisonsIn, type Condition, conditionsOf } from '../filter/conditions.ts';
import { parseFilter } from '../filter/filter.ts';
import { queryWords } from '../filter/words.ts';
import { hasLongIntegers } from '../infer/file-type.ts';
import { STRATEGY } from '../limits.ts';
import { cursorDigest, cursorOf, type CursorScope } from './cursor-token.ts';
import type { OrderTerm } from './rows-after-cursor.ts';
import type { ListParameters } from './list-parameters.ts';
import { parseColumns, parseSort, type SortTerm } from './name-list.ts';
import { comparedSql, type QueryTable, type TableColumn, tableColumns } from './query-table.ts';
import { type OpenRange, openRangeOf } from './range-count.ts';
import { type Access, accessTo } from './scan.ts';
import type { Column, StoredValue } from '../types.ts';

/** JSON throughout. */
export interface QueryPlan extends Access {
  /** The rows hold `_row_id`, then the columns of the shape. */
  readonly shape: RowShape;
  readonly select: string;
  /** Null: all rows. */
  readonly limit: number | null;
  readonly rowCount: number;
  /** Equal for lists with the same matches; their number is remembered by it within one version. */
  readonly countKey: string;
  /** Set when the list is one range of an indexed column: its count follows from another's. */
  readonly range: OpenRange | null;
  /** For the next cursor: digest, and select list of the sort values. */
  readonly digest: string;
  readonly keys: string;
  /** Integers may be past ±(2^53−1) (Parquet): every integer of a row is then a bigint. */
  readonly hasWideIntegers: boolean;
  /** The connection needs `registerFunctions`. */
  readonly usesFunctions: boolean;
  /** Missing indexes that would have helped; empty for small tables. */
  readonly usefulIndexes: readonly string[];
  /** Takes about 20 ms at most, alone or with its count: may run in the server process. */
  readonly isPageCheap: boolean;
  readonly isCheap: boolean;
}

/** Throws `invalid-query` for a wrong filter, sort, column list or cursor, in this order. */
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
  const cursor = cursorOf(parameters, digest, terms.length);
  const conditions = conditionsOf({ filter, words, columns, blank: table.blank });
  const access = accessTo(table, conditions, terms, { cursor, offset });
  return {
    ...planned(table, { access, conditions, terms }),
    shape,
    select,
    limit,
    range: access.isCountIndexed && words.length === 0 ? openRangeOf(filter, columns) : null,
    digest,
    hasWideIntegers: hasWideIntegers(shape),
    ...estimate(table, access, {
      limit,
      offset,
      comparisons: filter ? comparisonsIn(filter) : 0,
      shape,
    }),
  };
}

/** The stored values a column may have. */
export interface EqualColumn {
  readonly column: string;
  readonly values: readonly StoredValue[];
}

/** By id. */
export function planEqual(
  table: QueryTable,
  equal: readonly EqualColumn[],
  limit: number,
): QueryPlan {
  const columns = tableColumns(table.columns);
  const conditions = equal.map(({ column: name, values }): Condition => {
    const column = columns.find((one) => one.name === name)!;
    const params = values.map((value) =>
      typeof value === 'bigint' ? { int: String(value) } : value,
    );
    const marks = params.length === 1 ? '= ?' : `IN (${params.map(() => '?').join(', ')})`;
    return {
      part: { sql: `${column.sql} ${marks}`, params },
      lookup: {
        column,
        kind: params.length === 1 ? 'value' : 'several',
        values: params.length,
      },
    };
  });
  const access = accessTo(table, conditions, [], { cursor: null, offset: 0 });
  const { shape, select } = projectionTo([0], table);
  return {
    ...planned(table, { access, conditions, terms: [] }),
    shape,
    select,
    limit,
    range: null,
    digest: '',
    hasWideIntegers: false,
    ...estimate(table, access, { limit, offset: 0, comparisons: 2 * equal.length, shape }),
  };
}

function planned(
  table: QueryTable,
  {
    access,
    conditions,
    terms,
  }: {
    readonly access: Access;
    readonly conditions: readonly Condition[];
    readonly terms: readonly OrderTerm[];
  },
): Access & Pick<QueryPlan, 'rowCount' | 'countKey' | 'keys' | 'usesFunctions' | 'usefulIndexes'> {
  return {
    ...access,
    rowCount: table.rowCount,
    countKey: access.count ? JSON.stringify([access.count.sql, access.count.params]) : '',
    keys: terms.map(({ column }) => column.sql).join(', '),
    usesFunctions: access.count?.sql.includes('svc_') ?? false,
    usefulIndexes: usefulIndexes(table, conditions, terms),
  };
}

/** Throws as `planQuery`. */
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

/** Only Parquet has integers that no double holds. */
function hasWideIntegers({ blank, columns }: RowShape): boolean {
  return (
    blank === 'null' &&
    columns.some(({ type, file }) =>
      file ? hasLongIntegers(file.type) : type === 'integer' || type === 'number',
    )
  );
}

/** Drops terms after `_row_id`, which is unique, and an ascending `_row_id` at the end. */
function orderTerms(sort: readonly SortTerm[], columns: readonly TableColumn[]): OrderTerm[] {
  const end = sort.findIndex(({ column }) => column === 0);
  const used = end < 0 ? sort : sort.slice(0, sort[end]!.descending ? end + 1 : end);
  return used.map(({ column: index, descending }) => {
    const column = columns[index]!;
    if (column.compared === undefined) return { column, descending };
    return { column: { ...column, sql: comparedSql(column.sql, column.compared) }, descending };
  });
}

interface Projection {
  readonly shape: RowShape;
  readonly select: string;
}

const whole = new WeakMap<readonly Column[], Projection>();

/** The rows hold all columns of the table in file order. */
export function isWhole({ shape }: QueryPlan, columns: readonly Column[]): boolean {
  return whole.get(columns)?.shape === shape;
}

/** The projection to all columns is remembered with them. */
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
      columns: shown.map((column) => ({
        name: column.name,
        type: column.type,
        ...nativeOf(column),
        ...(mayMisfit(column) && { misfitAt: column.position }),
      })),
      rowIdAt: rowIdAt < 0 ? null : rowIdAt,
      blank,
    },
    select: ['rows._row_id AS id', ...aliases].join(', '),
  };
}

export function nativeOf({ file, format, dates }: Column): NativeColumn {
  return { ...(file && { file }), ...(dates && { format, dates }) };
}

const MICROSECOND_DIGITS = 6;

/** Whether a cell may be one that a file of the column's type cannot hold. */
function mayMisfit({ type, file, dates, declared }: Column): boolean {
  // Without keys all texts are spelled alike.
  if (dates) return dates.isKeyed || (dates.style?.parts.fraction ?? 0) > MICROSECOND_DIGITS;
  if (file) return file.type.kind === 'timestamp' && file.type.unit === 'ns';
  return declared && type !== 'string';
}

const CHEAP_MICROSECONDS = 25_000;
/** Preparing grows with the square of the conditions: 0.2 s at 3,000. */
const MAX_CHEAP_COMPARISONS = 500;

const SCAN_ROW = 0.06;
const SCAN_COLUMN = 0.008;
const SCAN_COMPARISON = 0.08;
const SCAN_BYTE = 0.0005;
const INDEX_ENTRY = 0.035;
const INDEX_LOOKUP = 1;
const NEW_INDEX_ENTRY = 0.8;
const NEW_INDEX_BYTE = 0.007;
const SORT_ROW = 0.15;
const SORT_WHOLE_ROW = 1;
const READ_ROW = 0.6;
const READ_CELL = 0.07;
const READ_BYTE = 0.004;

interface Work {
  readonly limit: number | null;
  readonly offset: number;
  readonly comparisons: number;
  readonly shape: RowShape;
}

/** Regular expressions and words are never cheap: their cost depends on the text. */
function estimate(
  table: QueryTable,
  access: Access,
  work: Work,
): { isPageCheap: boolean; isCheap: boolean } {
  const sql = access.count?.sql ?? '';
  const isHeavy = /svc_(?:regex|words)/.test(sql) || work.comparisons > MAX_CHEAP_COMPARISONS;
  const page = pageCost(table, access, work);
  return {
    isPageCheap: !isHeavy && page <= CHEAP_MICROSECONDS,
    isCheap: !isHeavy && page + countCost(table, access, work) <= CHEAP_MICROSECONDS,
  };
}

/** `entries` of an index. */
export function isCountCheap(entries: number): boolean {
  return entries * INDEX_ENTRY <= CHEAP_MICROSECONDS;
}

/** `rows` and `copyBytes` of the table's typed copy. */
export function isIndexingCheap(indexes: number, rows: number, copyBytes: number): boolean {
  return indexes * rows * NEW_INDEX_ENTRY + copyBytes * NEW_INDEX_BYTE <= CHEAP_MICROSECONDS;
}

function countCost(table: QueryTable, access: Access, work: Work): number {
  if (!access.count) return 0;
  return access.isCountIndexed ? access.maxMatches * INDEX_ENTRY : scanCost(table, work);
}

function pageCost(table: QueryTable, access: Access, work: Work): number {
  const { walk, maxMatches, offset } = access;
  const rows = Math.min(work.limit ?? maxMatches, maxMatches);
  const bytesPerRow = table.bytes / Math.max(1, table.rowCount);
  const read = rows * (READ_ROW + READ_CELL * work.shape.columns.length + READ_BYTE * bytesPerRow);
  if (walk?.isExact) {
    const isNearest = work.limit !== null && work.limit <= STRATEGY.rowsById;
    const skipped = isNearest ? Math.min(offset, Math.max(0, maxMatches - offset)) : offset;
    return read + skipped * INDEX_ENTRY + (walk.isByIndex ? rows * INDEX_LOOKUP : 0);
  }
  const isWhole = rows + offset > table.rowCount / 10;
  const sort = walk && !walk.isByIndex ? 0 : table.rowCount * (isWhole ? SORT_WHOLE_ROW : SORT_ROW);
  return read + scanCost(table, work) + sort;
}

function scanCost({ rowCount, columns, bytes }: QueryTable, { comparisons }: Work): number {
  return (
    rowCount * (SCAN_ROW + SCAN_COLUMN * columns.length + SCAN_COMPARISON * comparisons) +
    bytes * SCAN_BYTE
  );
}
