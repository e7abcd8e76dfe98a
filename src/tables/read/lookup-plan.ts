/**
 * Plans of lists that compare one column with one number: plans for other numbers differ only in it.
 *
 * Programs mostly look up rows by a key, and planning took longer than reading the row. Only for number columns, and
 * only when the number is the only bound value: a wide number is bound as a key made from it.
 */
import { type CursorScope, cursorDigest } from './cursor-token.ts';
import type { QueryPlan } from './query-plan.ts';
import type { SqlPart } from './sql-part.ts';
import type { FilterColumn } from '../filter/filter-operand.ts';

interface Lookup {
  /** The filter's text without the number. */
  readonly frame: string;
  readonly name: string;
  readonly number: number;
}

export interface LookupPattern {
  readonly plan: QueryPlan & { readonly count: SqlPart };
  /** Of cursors; its filter is that of the first number. */
  readonly scope: CursorScope;
}

/** Whole numbers that a double holds and JSON writes in one way. */
const LOOKUP = /^(\{"([^"\\]*)": ?)(0|[1-9][0-9]{0,14})\}$/;
/** Numbers bound as the nearest double. */
const RANGE =
  /^(\{"([^"\\]*)": ?\{"\$(?:gte?|lte?)": ?)((?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?)\}\}$/;

/** Null unless the filter asks for one number or a range from one. */
export function lookupOf(filter: string): Lookup | null {
  const parts = LOOKUP.exec(filter) ?? RANGE.exec(filter);
  return parts && { frame: parts[1]!, name: parts[2]!, number: Number(parts[3]) };
}

/** Null when the plan holds more than the number. `scope`: of its cursors. */
export function lookupPattern(
  plan: QueryPlan,
  scope: CursorScope,
  { name, number }: Lookup,
  columns: readonly FilterColumn[],
): LookupPattern | null {
  const type = columns.find((column) => column.name === name)?.type;
  // A boolean column takes only 0 and 1.
  if (type !== 'integer' && type !== 'number') return null;
  const { count, walk, gather, range, isContinued } = plan;
  if (count === null || isContinued || (range !== null && range.value !== number)) return null;
  const scans = [...(walk?.scans ?? []), ...(gather ? [gather.scan] : [])];
  const parts = [count, ...scans.map(({ where }) => where)];
  const isAll = parts.every(({ params }) => params.length === 1 && params[0] === number);
  return isAll ? { plan: { ...plan, count }, scope } : null;
}

/** For the number in this filter. */
export function lookupPlan(
  { plan, scope }: LookupPattern,
  number: number,
  filter: string,
): QueryPlan {
  const { count, walk, gather, range, digest } = plan;
  const params = [number];
  return {
    ...plan,
    count: { sql: count.sql, params },
    countKey: JSON.stringify([count.sql, params]),
    range: range && { ...range, value: number },
    digest: digest === '' ? '' : cursorDigest({ ...scope, filter }),
    walk: walk && {
      ...walk,
      scans: walk.scans.map((scan) => ({ ...scan, where: { sql: scan.where.sql, params } })),
    },
    gather: gather && {
      ...gather,
      scan: { ...gather.scan, where: { sql: gather.scan.where.sql, params } },
    },
  };
}
