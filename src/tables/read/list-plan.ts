/**
 * Plans an admin list over the state database, as for datasets. Plain data, so that plans travel to the worker that
 * runs them (`list-run.ts`). Every caller's value is bound as a parameter.
 */
import { AppError, invalidRequest } from '../../base/errors.ts';
import type { ListColumn, ListSource } from '../../store/list-source.ts';
import { conditionsOf } from '../filter/conditions.ts';
import { type Cursor, cursorDigest, cursorOf } from './cursor-token.ts';
import { type Filter, parseFilter } from '../filter/filter.ts';
import { afterCursor, orderSql, type OrderTerm } from './rows-after-cursor.ts';
import { type ListParameters, parseListParameters } from './list-parameters.ts';
import type { TableColumn } from './query-table.ts';
import { parseSort } from './name-list.ts';
import { asStoredTimes } from '../values/stored-time.ts';
import { joinParts, type PlanValue, type SqlPart } from './sql-part.ts';

/** Maximum and default per page. */
export const MAX_LIST_ITEMS = 1_000;

/** Skipping costs about 70 ns a row. */
const MAX_CHEAP_OFFSET = 10_000;

/** By member name; undefined does not restrict. */
export type ExactValues = Readonly<Record<string, string | number | boolean | undefined>>;

/** JSON throughout. */
export interface ListPlan {
  readonly count: SqlPart;
  readonly page: SqlPart;
  readonly limit: number;
  /** At most about 20 ms with a million entries: may run in the server process. */
  readonly isCheap: boolean;
  readonly columns: readonly Pick<ListColumn, 'name' | 'type' | 'isOptional'>[];
  /** Positions of the sort values in a row of `page`, and the digest of the list. */
  readonly keys: readonly number[];
  readonly digest: string;
}

/**
 * Throws `invalid-request` for `limit`, `offset`, `order` and `sort`, `invalid-query` for `filter` and `cursor`.
 * Ignores unknown parameters.
 */
export function planList(
  source: ListSource,
  query: URLSearchParams,
  exact: ExactValues = {},
): ListPlan {
  const parameters = parametersOf(source, query);
  const columns = columnsOf(source);
  const terms = orderTerms(source, parameters, columns);
  const asked = parseFilter(parameters.filter, columns);
  const filters = [
    ...exactFilters(exact, columns),
    ...(asked === null ? [] : [asStoredTimes(asked, columns)]),
  ];
  const compared = columns.map((column) =>
    column.type === 'date-time' ? ({ ...column, type: 'string' } as const) : column,
  );
  const digest = cursorDigest({
    list: JSON.stringify([source.name, exact]),
    filter: parameters.filter,
    q: [],
    sort: terms.map(({ column, descending }) => ({ name: column.name, descending })),
    order: parameters.order,
  });
  const cursor = cursorOf(parameters, digest, terms.length);
  const conditions = filters.flatMap((filter) =>
    conditionsOf({ filter, words: [], columns: compared, blank: 'null' }),
  );
  const matching = joinParts(
    conditions.map(({ part }) => part),
    'AND',
    '1',
  );
  const limit = parameters.limit ?? MAX_LIST_ITEMS;
  return {
    count: statement(source, 'SELECT count(*)', matching),
    page: pageOf(source, matching, terms, { cursor, limit, offset: parameters.offset }),
    limit,
    isCheap: asked === null && parameters.offset <= MAX_CHEAP_OFFSET,
    columns: source.columns.map(({ name, type, isOptional }) => ({ name, type, isOptional })),
    // `_row_id` is first.
    keys: terms.map(({ column }) => (column.position === null ? 0 : column.position + 1)),
    digest,
  };
}

function parametersOf(source: ListSource, query: URLSearchParams): ListParameters {
  // Parameters of row lists only are unknown here.
  const known = new URLSearchParams(
    [...query].filter(([name]) => !['format', 'q', 'columns'].includes(name)),
  );
  return parseListParameters(known, {
    maxLimit: MAX_LIST_ITEMS,
    defaultLimit: MAX_LIST_ITEMS,
    defaultOrder: source.order,
  });
}

function columnsOf({ columns }: ListSource): TableColumn[] {
  return columns.map(({ name, type }, position) => ({
    name,
    type,
    sql: `rows.c${position}`,
    position,
  }));
}

function orderTerms(
  source: ListSource,
  { sort, order }: ListParameters,
  columns: readonly TableColumn[],
): OrderTerm[] {
  const terms = sortTerms(source, sort, order, columns);
  const id = { name: '', type: 'integer', sql: 'rows._row_id', position: null } as const;
  return source.order === 'desc' && order === 'desc'
    ? [...terms, { column: id, descending: true }]
    : terms;
}

function sortTerms(
  { sortable }: ListSource,
  sort: string,
  order: 'asc' | 'desc',
  columns: readonly TableColumn[],
): OrderTerm[] {
  const allowed = columns.filter(({ name }) => sortable.includes(name));
  try {
    return parseSort(sort, order, allowed).map(({ column, descending }) => ({
      column: allowed[column]!,
      descending,
    }));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const pattern = `^(${sortable.join('|')})$`;
    throw invalidRequest({
      type: 'string_pattern_mismatch',
      loc: ['query', 'sort'],
      msg: `This list is sorted by ${sortable.join(', ')}`,
      input: sort,
      ctx: { pattern },
    });
  }
}

function exactFilters(exact: ExactValues, columns: readonly TableColumn[]): Filter[] {
  return Object.entries(exact).flatMap(([name, value]): Filter[] => {
    if (value === undefined) return [];
    const column = columns.findIndex((candidate) => candidate.name === name);
    return [{ column, op: 'in', values: [value], blank: false, null: false }];
  });
}

function pageOf(
  source: ListSource,
  matching: SqlPart,
  terms: readonly OrderTerm[],
  place: { readonly cursor: Cursor | null; readonly limit: number; readonly offset: number },
): SqlPart {
  const { cursor, limit, offset } = place;
  const after = cursor === null ? [] : [afterCursor(terms, cursor)];
  const names = source.columns.map((_, position) => `, rows.c${position}`).join('');
  const { sql, params } = statement(
    source,
    `SELECT rows._row_id${names}`,
    joinParts([matching, ...after], 'AND', '1'),
  );
  return {
    sql: `${sql} ORDER BY ${orderSql(terms).order} LIMIT ? OFFSET ?`,
    // One more than the page tells whether there is a next one.
    params: [...params, limit + 1, offset],
  };
}

function statement(source: ListSource, select: string, where: SqlPart): SqlPart {
  const members = source.columns.map(({ sql }, position) => `, ${sql} AS c${position}`).join('');
  // Materialised, the whole list would be read for each page.
  const rows = `WITH rows AS NOT MATERIALIZED (SELECT ${source.id} AS _row_id${members} FROM ${source.from})`;
  return {
    sql: `${rows} ${select} FROM rows WHERE ${where.sql}`,
    params: [...((source.params ?? []) as readonly PlanValue[]), ...where.params],
  };
}
