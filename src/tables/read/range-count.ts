/**
 * Counts of one-sided ranges from neighbours: rows above 50 follow from rows above 49 and the few between.
 *
 * Every list states its exact total, and counting 100,000 index entries takes ten times as long as reading a page.
 * Relies on the order of stored values (`filter-sql.ts`).
 */
import { STRATEGY } from '../limits.ts';
import { Lru } from '../../base/lru.ts';
import { compareBytes } from '../../base/paths.ts';
import type { Filter, RangeOperator } from '../filter/filter.ts';
import type { TableColumn } from './query-table.ts';
import type { SqlPart } from './sql-part.ts';

/** A filter that is one range of a column, open on one side. */
export interface OpenRange {
  readonly sql: string;
  /** The rows above the cut match; else those below it. */
  readonly isAbove: boolean;
  /** Numbers that a double holds, or text. */
  readonly value: number | string;
  /** The cut comes after the rows equal to the value. */
  readonly isAfterEqual: boolean;
}

interface RangeStep {
  /** Condition of the rows by which the two differ. */
  readonly between: SqlPart;
  readonly known: number;
  /** Whether each such row adds or subtracts. */
  readonly sign: 1 | -1;
  /** Most rows that differ. */
  readonly atMost: number;
}

interface KnownRange extends OpenRange {
  readonly matches: number;
}

/** Two directions of a few columns. */
const MAX_COLUMNS = 16;
/** Between a range and itself. */
const NOTHING: SqlPart = { sql: '0', params: [] };

/** Null for other filters and for integers past ±(2^53−1). */
export function openRangeOf(
  filter: Filter | null,
  columns: readonly TableColumn[],
): OpenRange | null {
  if (filter === null || !isRange(filter)) return null;
  const { sql, type } = columns[filter.column]!;
  const value = typeof filter.value === 'boolean' ? Number(filter.value) : filter.value;
  if (typeof value === 'bigint' || type === 'date-time' || type === 'nested') return null;
  const isAbove = filter.op === 'gt' || filter.op === 'gte';
  return { sql, isAbove, value, isAfterEqual: filter.op === 'gt' || filter.op === 'lte' };
}

function isRange(filter: Filter): filter is Filter & { readonly op: RangeOperator } {
  return ['gt', 'gte', 'lt', 'lte'].includes(filter.op);
}

/** Of one version of a table. */
export class RangeCounts {
  /** By column, direction and type; cuts ascend. */
  readonly #known = new Lru<string, KnownRange[]>(MAX_COLUMNS);

  note(range: OpenRange, matches: number): void {
    const key = keyOf(range);
    let cuts = this.#known.get(key);
    if (cuts === undefined) this.#known.set(key, (cuts = []));
    const at = firstFrom(cuts, range);
    const present = cuts[at];
    if (present !== undefined && compareCuts(present, range) === 0) return;
    cuts.splice(at, 0, { ...range, matches });
    // Every second one, so that the rest is spread as widely.
    if (cuts.length > STRATEGY.rangeCuts) {
      this.#known.set(
        key,
        cuts.filter((_, index) => index % 2 === 0),
      );
    }
  }

  /** From the nearest known range; null when none is known. `rowCount`: of the table. */
  stepTo(range: OpenRange, rowCount: number): RangeStep | null {
    const cuts = this.#known.get(keyOf(range));
    if (cuts === undefined) return null;
    const at = firstFrom(cuts, range);
    const [before, after] = [cuts[at - 1], cuts[at]];
    if (after !== undefined && compareCuts(after, range) === 0) {
      return { between: NOTHING, known: after.matches, sign: 1, atMost: 0 };
    }
    // Before all cuts, an upward range holds all rows that can match and a downward one none; after all cuts the
    // reverse.
    const rest = range.isAbove ? [rowCount, 0] : [0, rowCount];
    const [low, high] = [before?.matches ?? rest[0]!, after?.matches ?? rest[1]!];
    const nearest = nearestOf(range, before, after);
    if (nearest === undefined) return null;
    const isFromAfter = nearest === after;
    return {
      between: isFromAfter ? betweenSql(range, nearest) : betweenSql(nearest, range),
      known: nearest.matches,
      sign: isFromAfter === range.isAbove ? 1 : -1,
      atMost: Math.abs(low - high),
    };
  }

  clear(): void {
    this.#known.clear();
  }
}

function keyOf({ sql, isAbove, value }: OpenRange): string {
  return `${sql} ${isAbove} ${typeof value}`;
}

function nearestOf(
  { value }: OpenRange,
  before: KnownRange | undefined,
  after: KnownRange | undefined,
): KnownRange | undefined {
  if (before === undefined || after === undefined) return before ?? after;
  const isBeforeNearer =
    typeof value === 'number' && value - Number(before.value) < Number(after.value) - value;
  return isBeforeNearer ? before : after;
}

function firstFrom(cuts: readonly OpenRange[], range: OpenRange): number {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareCuts(cuts[middle]!, range) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compareCuts(a: OpenRange, b: OpenRange): number {
  const order =
    typeof a.value === 'number'
      ? a.value - Number(b.value)
      : compareBytes(a.value, String(b.value));
  return order === 0 ? Number(a.isAfterEqual) - Number(b.isAfterEqual) : order;
}

function betweenSql(low: OpenRange, high: OpenRange): SqlPart {
  const { sql } = low;
  const from = `${sql} ${low.isAfterEqual ? '>' : '>='} ?`;
  const to = `${sql} ${high.isAfterEqual ? '<=' : '<'} ?`;
  // Blank text is in no range.
  const isText = typeof low.value === 'string' ? ` AND ${sql} > ''` : '';
  return { sql: `${from} AND ${to}${isText}`, params: [low.value, high.value] };
}
