import { STRATEGY } from '../limits.ts';
import type { Filter } from './filter.ts';
import { filterSql } from './filter-sql.ts';
import { type Blank, type TableColumn, textFormSql } from '../read/query-table.ts';
import { opaque, type SqlPart } from '../read/sql-part.ts';

export interface Condition {
  readonly part: SqlPart;
  /** Set when it compares one column in a way an index serves. */
  readonly lookup: Lookup | null;
}

/** A comparison as the column's index sees it. */
export interface Lookup {
  readonly column: TableColumn;
  /** The matches are one value's rows, one range, or several places in the index. */
  readonly kind: 'value' | 'range' | 'several';
  /** At most so many values match; null: no limit. */
  readonly values: number | null;
}

/** A row must match the filter and hold every word. */
interface Restriction {
  readonly filter: Filter | null;
  readonly words: readonly string[];
  readonly columns: readonly TableColumn[];
  readonly blank: Blank;
}

/** Empty: every row. */
export function conditionsOf({ filter, words, columns, blank }: Restriction): Condition[] {
  const conditions: Condition[] = [];
  if (filter && comparisonsIn(filter) > STRATEGY.plannedComparisons) {
    conditions.push({ part: opaque(filterSql(filter, columns, blank)), lookup: null });
  } else if (filter) {
    for (const part of conjuncts(filter)) {
      conditions.push({ part: filterSql(part, columns, blank), lookup: lookupOf(part, columns) });
    }
  }
  if (words.length > 0) {
    conditions.push({ part: wordsSql(words, columns.slice(1), blank), lookup: null });
  }
  return conditions;
}

/** Cells of a row that the filter may look at. */
export function comparisonsIn(filter: Filter): number {
  if (filter.op === 'not') return comparisonsIn(filter.filter);
  if (filter.op !== 'all' && filter.op !== 'any') return 1;
  return filter.filters.reduce((sum, part) => sum + comparisonsIn(part), 0);
}

function conjuncts(filter: Filter): readonly Filter[] {
  return filter.op === 'all' ? filter.filters.flatMap(conjuncts) : [filter];
}

function lookupOf(part: Filter, columns: readonly TableColumn[]): Lookup | null {
  if ('filters' in part || part.op === 'not') return null;
  const column = columns[part.column]!;
  if ((column.type === 'date-time' && !column.dates) || column.type === 'nested') return null;
  switch (part.op) {
    case 'in': {
      const isOne = part.values.length === 1 && !part.blank && !part.null;
      const values = part.blank || part.null ? null : part.values.length;
      return { column, kind: isOne ? 'value' : 'several', values };
    }
    case 'absent':
      return { column, kind: 'several', values: null };
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { column, kind: 'range', values: null };
    case 'startswith':
      return column.type === 'string' && part.text !== ''
        ? { column, kind: 'range', values: null }
        : null;
    default:
      return null;
  }
}

function wordsSql(
  words: readonly string[],
  columns: readonly TableColumn[],
  blank: Blank,
): SqlPart {
  const texts = columns.map((column) => textFormSql(column, blank));
  return { sql: `svc_words(${joinedSql(texts)}, ?)`, params: [words.join(' ')] };
}

function joinedSql(texts: readonly string[]): string {
  if (texts.length === 0) return "''";
  if (texts.length <= STRATEGY.functionArguments) return `concat_ws(char(10), ${texts.join(', ')})`;
  const first = joinedSql(texts.slice(0, STRATEGY.functionArguments));
  return `concat_ws(char(10), ${first}, ${joinedSql(texts.slice(STRATEGY.functionArguments))})`;
}
