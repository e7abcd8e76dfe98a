/**
 * Plans of lists that compare one column with one number, whole or in a range open on one side: the plan of another number
 * differs in nothing but that.
 *
 * Looking rows up by their id or a key, and lists from a bound on, are what programs do most, each time with another
 * number, and planning took longer than reading the row. Only for columns of numbers, which take every number, and only
 * when the number is all that was bound anywhere in the plan: that of a wide number is a key made from it.
 */
import { type CursorScope, cursorDigest } from './cursor.ts';
import type { FilterColumn } from './filter.ts';
import type { QueryPlan } from './query-plan.ts';
import type { SqlPart } from './sql-part.ts';

/** A filter taken apart. */
export interface Lookup {
  /** The filter's text with the number left out. */
  readonly frame: string;
  /** Of the column. */
  readonly name: string;
  readonly number: number;
}

/** What a plan can be made from for another number. */
export interface LookupPattern {
  readonly plan: QueryPlan & { readonly count: SqlPart };
  /** Of cursors; its filter is that of the first number. */
  readonly scope: CursorScope;
}

/** Whole numbers that every double holds and JSON has one text for. */
const LOOKUP = /^(\{"([^"\\]*)": ?)(0|[1-9][0-9]{0,14})\}$/;
/** Numbers that are bound as the double nearest to them. */
const RANGE =
  /^(\{"([^"\\]*)": ?\{"\$(?:gte?|lte?)": ?)((?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?)\}\}$/;

/** The parts of a filter that asks for one number or a range from one on; null for every other filter. */
export function lookupOf(filter: string): Lookup | null {
  const parts = LOOKUP.exec(filter) ?? RANGE.exec(filter);
  return parts && { frame: parts[1]!, name: parts[2]!, number: Number(parts[3]) };
}

/** The plan as a pattern for other numbers; null when there is more to it. `scope`: that of its cursors. */
export function lookupPattern(
  plan: QueryPlan,
  scope: CursorScope,
  { name, number }: Lookup,
  columns: readonly FilterColumn[],
): LookupPattern | null {
  const type = columns.find((column) => column.name === name)?.type;
  // A column of booleans takes 0 and 1, and no other number.
  if (type !== 'integer' && type !== 'number') return null;
  const { count, walk, gather, range, isContinued } = plan;
  if (count === null || isContinued || (range !== null && range.value !== number)) return null;
  const scans = [...(walk?.scans ?? []), ...(gather ? [gather.scan] : [])];
  const parts = [count, ...scans.map(({ where }) => where)];
  const isAll = parts.every(({ params }) => params.length === 1 && params[0] === number);
  return isAll ? { plan: { ...plan, count }, scope } : null;
}

/** The plan for that number, which the filter names. */
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
