/**
 * A filter as SQL over a typed copy.
 *
 * Numbers sort before text, so `c < ''` keeps text out of a numeric range while an index still serves it; text
 * compares by UTF-8 bytes, which is code point order. A part may be NULL instead of false; only `not` would turn that
 * into true, so it uses IS NOT TRUE.
 */
import type { Comparison, Filter, RangeOperator } from './filter.ts';
import { joinParts, type PlanValue, type SqlPart } from '../read/sql-part.ts';
import { type Blank, comparedSql, type TableColumn, textFormSql } from '../read/query-table.ts';
import { sortableText } from '../values/date-style.ts';
import { AFTER_MOMENTS, type ColumnDates } from '../values/column-dates.ts';
import type { FilterValue } from './filter-operand.ts';

const INT64_LIMIT = 2n ** 63n;
const SQL_OPERATORS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** False or NULL for rows that do not match. */
export function filterSql(filter: Filter, columns: readonly TableColumn[], blank: Blank): SqlPart {
  switch (filter.op) {
    case 'all':
    case 'any': {
      const parts = filter.filters.map((part) => filterSql(part, columns, blank));
      return filter.op === 'all' ? joinParts(parts, 'AND', '1') : joinParts(parts, 'OR', '0');
    }
    case 'not': {
      const { sql, params } = filterSql(filter.filter, columns, blank);
      return { sql: `((${sql}) IS NOT TRUE)`, params };
    }
    default:
      return comparisonSql(filter, columns[filter.column]!, blank);
  }
}

function comparisonSql(test: Comparison, column: TableColumn, blank: Blank): SqlPart {
  switch (test.op) {
    case 'absent':
      return absentSql(column, true, true);
    case 'in': {
      const parts = [
        ...equalSql(column, test.values),
        ...(test.blank ? [absentSql(column, blank === 'empty', true)] : []),
        ...(test.null && blank === 'null' ? [absentSql(column, true, false)] : []),
      ];
      return joinParts(parts, 'OR', '0');
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return rangeSql(column, test.op, test.value);
    default:
      return textSql(test.op, test.text, column, blank);
  }
}

function absentSql({ sql, position }: TableColumn, isNull: boolean, isEmpty: boolean): SqlPart {
  if (position === null) return { sql: '0', params: [] };
  const tests = [...(isNull ? [`${sql} IS NULL`] : []), ...(isEmpty ? [`${sql} = ''`] : [])];
  return { sql: tests.length === 1 ? tests[0]! : `(${tests.join(' OR ')})`, params: [] };
}

function equalSql(column: TableColumn, values: readonly FilterValue[]): SqlPart[] {
  const params = values
    .map((value) => (column.dates ? equalDate(value, column.dates) : equalValue(value)))
    .filter((value) => value !== undefined);
  if (params.length === 0) return [];
  const marks = params.length === 1 ? '= ?' : `IN (${params.map(() => '?').join(', ')})`;
  return [{ sql: `${operandSql(column)} ${marks}`, params }];
}

function operandSql({ sql, type, dates, compared }: TableColumn): string {
  if (dates) return comparedSql(sql, compared);
  return type === 'date-time' ? `svc_instant(${sql})` : sql;
}

/** Undefined for a moment that no text of a sortable column can spell. */
function equalDate(key: FilterValue, { isKeyed, style }: ColumnDates): PlanValue | undefined {
  if (isKeyed || style === null) return String(key);
  const found = sortableText(String(key), style);
  return found === null || found.isFiner ? undefined : found.text;
}

/** Undefined for a number no cell can equal. */
function equalValue(value: FilterValue): PlanValue | undefined {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'bigint') return value;
  if (isInt64(value)) return { int: String(value) };
  const double = Number(value);
  return Number.isFinite(double) && BigInt(double) === value ? double : undefined;
}

function rangeSql(column: TableColumn, op: RangeOperator, value: FilterValue): SqlPart {
  const sql = operandSql(column);
  if (column.dates) return dateRangeSql(sql, op, String(value), column.dates);
  if (typeof value === 'string') {
    const test = { sql: `${sql} ${SQL_OPERATORS[op]} ?`, params: [value] };
    // Ranges exclude blank cells; only a range upwards of '' does so by itself.
    return op === 'gt' ? test : { sql: `(${test.sql} AND ${sql} > '')`, params: test.params };
  }
  const [operator, bound] = numericBound(op, value);
  const test = { sql: `${sql} ${SQL_OPERATORS[operator]} ?`, params: [bound] };
  const isOpenUpwards = op === 'gt' || op === 'gte';
  if (!isOpenUpwards || column.position === null) return test;
  return { sql: `(${test.sql} AND ${sql} < '')`, params: test.params };
}

function dateRangeSql(
  sql: string,
  op: RangeOperator,
  key: string,
  { isKeyed, style }: ColumnDates,
): SqlPart {
  if (isKeyed || style === null) {
    const isOpenUpwards = op === 'gt' || op === 'gte';
    const end = isOpenUpwards ? ` AND ${sql} < '${AFTER_MOMENTS}'` : '';
    return { sql: `(${sql} ${SQL_OPERATORS[op]} ?${end})`, params: [key] };
  }
  const found = sortableText(key, style);
  // A moment in the year 10000, or before the year 1, lies beyond every text.
  if (found === null) return { sql: op === 'lt' || op === 'lte' ? `${sql} > ''` : '0', params: [] };
  // Between two texts: those up to the one before are earlier.
  const before = op === 'gt' || op === 'gte' ? 'gt' : 'lte';
  const used = found.isFiner ? before : op;
  return { sql: `${sql} ${SQL_OPERATORS[used]} ?`, params: [found.text] };
}

/** No double or 64-bit integer lies between it and the value. */
function numericBound(op: RangeOperator, value: FilterValue): [RangeOperator, PlanValue] {
  if (typeof value !== 'bigint') return [op, Number(value)];
  if (isInt64(value)) return [op, { int: String(value) }];
  const nearest = Math.min(Math.max(Number(value), -Number.MAX_VALUE), Number.MAX_VALUE);
  const exact = BigInt(nearest);
  if (exact === value) return [op, nearest];
  const isUpwards = op === 'gt' || op === 'gte';
  if (exact < value) return [isUpwards ? 'gt' : 'lte', nearest];
  return [isUpwards ? 'gte' : 'lt', nearest];
}

function isInt64(value: bigint): boolean {
  return value >= -INT64_LIMIT && value < INT64_LIMIT;
}

function textSql(op: string, text: string, column: TableColumn, blank: Blank): SqlPart {
  const form = textFormSql(column, blank);
  switch (op) {
    case 'contains':
      return { sql: `instr(${form}, ?) > 0`, params: [text] };
    case 'icontains':
      return { sql: `svc_icontains(${form}, ?)`, params: [text] };
    case 'startswith':
      if (column.type === 'string' && text !== '') return prefixSql(column.sql, text);
      return { sql: `instr(${form}, ?) = 1`, params: [text] };
    case 'endswith':
      if (text === '') return { sql: `${form} IS NOT NULL`, params: [] };
      // As bytes: substr() of text stops at a NUL character.
      return {
        sql: `substr(CAST(${form} AS BLOB), ?) = CAST(? AS BLOB)`,
        params: [-Buffer.byteLength(text), text],
      };
    default:
      return { sql: `svc_regex(${form}, ?)`, params: [text] };
  }
}

/** A range, so that an index serves it. */
export function prefixSql(sql: string, prefix: string): SqlPart {
  const end = afterPrefix(prefix);
  if (end === null) return { sql: `${sql} >= ?`, params: [prefix] };
  return { sql: `(${sql} >= ? AND ${sql} < ?)`, params: [prefix, end] };
}

/** The first text in code point order after all that begin with the prefix; null when there is none. */
function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // Surrogates are no code points of a text.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}
