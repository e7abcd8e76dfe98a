/**
 * Plans of lists that ask for one whole number in one column: the plan of another number differs in nothing but that.
 *
 * Looking rows up by their id or a key is what programs do most, each time with another one, and planning took longer
 * than reading the row. Only for columns of numbers, which take every number, and only when the number is all that was
 * bound anywhere in the plan: that of a wide number is a key made from it.
 */
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
export type LookupPattern = QueryPlan & { readonly count: SqlPart };

/** Whole numbers that every double holds and JSON has one text for. */
const LOOKUP = /^(\{"([^"\\]*)": ?)(0|[1-9][0-9]{0,14})\}$/;

/** The parts of a filter that asks for one whole number; null for every other filter. */
export function lookupOf(filter: string): Lookup | null {
  const parts = LOOKUP.exec(filter);
  return parts && { frame: parts[1]!, name: parts[2]!, number: Number(parts[3]) };
}

/** The plan as a pattern for other numbers; null when there is more to it. */
export function lookupPattern(
  plan: QueryPlan,
  { name, number }: Lookup,
  columns: readonly FilterColumn[],
): LookupPattern | null {
  const type = columns.find((column) => column.name === name)?.type;
  // A column of booleans takes 0 and 1, and no other number.
  if (type !== 'integer' && type !== 'number') return null;
  const { count, walk, gather, digest, range, isContinued } = plan;
  if (count === null || digest !== '' || range !== null || isContinued) return null;
  const scans = [...(walk?.scans ?? []), ...(gather ? [gather.scan] : [])];
  const parts = [count, ...scans.map(({ where }) => where)];
  const isAll = parts.every(({ params }) => params.length === 1 && params[0] === number);
  return isAll ? { ...plan, count } : null;
}

/** The plan for that number. */
export function lookupPlan(pattern: LookupPattern, number: number): QueryPlan {
  const { count, walk, gather } = pattern;
  const params = [number];
  return {
    ...pattern,
    count: { sql: count.sql, params },
    countKey: JSON.stringify([count.sql, params]),
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
