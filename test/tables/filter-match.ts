/**
 * Whether a row in memory matches a filter: the reference for `filter-sql.ts`.
 *
 * Values are as presented: blank is `''`, null is null, booleans are booleans, a date-time is its displayed text.
 */
import { compareBytes } from '../../src/base/paths.ts';
import type { Comparison, Filter } from '../../src/tables/filter/filter.ts';
import { instantOf } from '../../src/tables/values/instant.ts';
import { compileRegex } from '../../src/tables/filter/regex.ts';
import { foldCase } from '../../src/tables/filter/words.ts';
import type { FilterColumn, FilterValue } from '../../src/tables/filter/filter-operand.ts';

export type PresentedValue = string | number | bigint | boolean | null;

/** `values` follow the columns the filter was parsed with. */
export function matchesFilter(
  filter: Filter,
  columns: readonly FilterColumn[],
  values: readonly PresentedValue[],
): boolean {
  switch (filter.op) {
    case 'all':
      return filter.filters.every((part) => matchesFilter(part, columns, values));
    case 'any':
      return filter.filters.some((part) => matchesFilter(part, columns, values));
    case 'not':
      return !matchesFilter(filter.filter, columns, values);
    default:
      return matchesCell(filter, columns[filter.column]!, values[filter.column] ?? null);
  }
}

function matchesCell(test: Comparison, { type }: FilterColumn, cell: PresentedValue): boolean {
  switch (test.op) {
    case 'absent':
      return cell === null || cell === '';
    case 'in': {
      if (cell === null) return test.null;
      if (cell === '') return test.blank;
      const own = comparableCell(cell, type);
      return own !== null && test.values.some((value) => compareValues(own, value) === 0);
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const own = cell === null || cell === '' ? null : comparableCell(cell, type);
      if (own === null) return false;
      const order = compareValues(own, test.value);
      return test.op.startsWith('g')
        ? order > 0 || (order === 0 && test.op === 'gte')
        : order < 0 || (order === 0 && test.op === 'lte');
    }
    default:
      return cell !== null && matchesText(test.op, test.text, textForm(cell));
  }
}

function matchesText(op: string, operand: string, text: string): boolean {
  switch (op) {
    case 'contains':
      return text.includes(operand);
    case 'icontains':
      return foldCase(text).includes(operand);
    case 'startswith':
      return text.startsWith(operand);
    case 'endswith':
      return text.endsWith(operand);
    default:
      return compileRegex(operand)?.(text) ?? false;
  }
}

/** What JSON shows, without the quotes of a string. */
function textForm(cell: Exclude<PresentedValue, null>): string {
  return String(cell);
}

/** In the type of its column; null when it does not fit, and then compares with nothing. */
function comparableCell(
  cell: Exclude<PresentedValue, null>,
  type: FilterColumn['type'],
): FilterValue | null {
  switch (type) {
    case 'integer':
    case 'number':
      return typeof cell === 'number' || typeof cell === 'bigint' ? cell : null;
    case 'boolean':
      return typeof cell === 'boolean' ? cell : null;
    case 'date-time':
      return typeof cell === 'string' ? instantOf(cell) : null;
    default:
      return typeof cell === 'string' ? cell : null;
  }
}

/**
 * Both values are of one type. Numbers compare exactly, also number with bigint; text by code points; false before
 * true.
 */
export function compareValues(a: FilterValue, b: FilterValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareBytes(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}
