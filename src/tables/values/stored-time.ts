/** Moments as the state database stores them: `2026-11-20T23:29:00.715Z`, so that an index serves a range of time. */
import type { Comparison, Filter } from '../filter/filter.ts';
import type { FilterColumn, FilterValue } from '../filter/filter-operand.ts';

/** Length up to the milliseconds; operands have nine digits of a second. */
const TO_MILLISECONDS = 23;

/** Converts operands of date-time columns to stored texts, which compare as strings. */
export function asStoredTimes(filter: Filter, columns: readonly FilterColumn[]): Filter {
  switch (filter.op) {
    case 'all':
    case 'any':
      return { op: filter.op, filters: filter.filters.map((part) => asStoredTimes(part, columns)) };
    case 'not':
      return { op: 'not', filter: asStoredTimes(filter.filter, columns) };
    default:
      return columns[filter.column]!.type === 'date-time' ? comparison(filter) : filter;
  }
}

function comparison(test: Comparison): Comparison {
  switch (test.op) {
    case 'in': {
      const values = test.values.filter((value) => !isBetween(value)).map(stored);
      return { ...test, values };
    }
    case 'gt':
    case 'gte':
      // Nothing is stored between two milliseconds, so such an operand means "after the one before".
      return { ...test, op: isBetween(test.value) ? 'gt' : test.op, value: stored(test.value) };
    case 'lt':
    case 'lte':
      return { ...test, op: isBetween(test.value) ? 'lte' : test.op, value: stored(test.value) };
    default:
      return test;
  }
}

function isBetween(moment: FilterValue): boolean {
  return !/^0*$/.test(String(moment).slice(TO_MILLISECONDS));
}

function stored(moment: FilterValue): string {
  return `${String(moment).slice(0, TO_MILLISECONDS)}Z`;
}
