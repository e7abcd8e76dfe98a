/**
 * The ways to the rows of a list.
 *
 * *Walk* reads rows in the order wanted, by row id or an index, and stops when the page is full; *gather* finds the
 * matching rows any way and sorts them. The number of matches decides when the plan is run. A typed copy has no
 * statistics, so SQLite never chooses: conditions a walk must not use an index for are opaque to it, and the order of
 * a gather is no column.
 */
import type { Condition, Lookup } from '../filter/conditions.ts';
import type { Cursor } from './cursor-token.ts';
import { afterCursor, type OrderTerm, orderSql, rangesAfterCursor } from './rows-after-cursor.ts';
import type { QueryTable } from './query-table.ts';
import { joinParts, opaque, type SqlPart } from './sql-part.ts';
import { isIndexed, orderIndexName } from '../copy/table-index.ts';

export interface Scan {
  readonly where: SqlPart;
  readonly order: string;
  /** The reverse order, for a page near the end. */
  readonly reversed: string;
}

interface Walk {
  /** Read one after another; more than one only after a cursor. */
  readonly scans: readonly Scan[];
  /** Visits matching rows only. */
  readonly isExact: boolean;
  /** Every row costs a look-up in an index; else rows are read in table order. */
  readonly isByIndex: boolean;
}

interface Gather {
  readonly scan: Scan;
  /** An index finds the matches; else every row is visited. */
  readonly isIndexed: boolean;
}

/** At least one of `walk` and `gather` is set. */
export interface Access {
  readonly walk: Walk | null;
  readonly gather: Gather | null;
  /** Null: all rows match, and nothing has to be counted. */
  readonly count: SqlPart | null;
  /** One index or the row ids give the count. */
  readonly isCountIndexed: boolean;
  /** Upper limit from the filter alone. */
  readonly maxMatches: number;
  /** Matching rows to skip; 0 with a cursor, and where the scan itself starts later. */
  readonly offset: number;
  /** The scans start after a cursor. */
  readonly isContinued: boolean;
}

/** A cursor excludes an offset. */
interface Start {
  readonly cursor: Cursor | null;
  readonly offset: number;
}

/** In the order of the terms, from the start. */
export function accessTo(
  table: QueryTable,
  conditions: readonly Condition[],
  terms: readonly OrderTerm[],
  start: Start,
): Access {
  const parts = conditions.map(({ part }) => part);
  const common = {
    count: parts.length === 0 ? null : joinParts(parts, 'AND', '1'),
    isCountIndexed: isCountIndexed(table, conditions),
    maxMatches: maxMatches(table, conditions),
    isContinued: start.cursor !== null,
  };
  const skipping = skippingWalk(table, conditions, terms, start);
  if (skipping) return { ...common, walk: skipping, gather: null, offset: 0 };
  const walk = isRowOrder(terms)
    ? walkInRowOrder(table, conditions, terms, start.cursor)
    : walkByIndex(table, conditions, terms, start.cursor);
  const gather = isGatherUseful(table, conditions, terms, walk)
    ? {
        scan: scanOf([...continued(terms, start.cursor), ...parts], terms, true),
        isIndexed: conditions.some(({ lookup }) => isServed(table, lookup)),
      }
    : null;
  return { ...common, walk, gather, offset: start.offset };
}

/** Without conditions and missing ids, the row id gives the start of a page. */
function skippingWalk(
  { rowCount, lastRowId }: QueryTable,
  conditions: readonly Condition[],
  terms: readonly OrderTerm[],
  { cursor, offset }: Start,
): Walk | null {
  const isDense = rowCount === lastRowId && conditions.length === 0 && isRowOrder(terms);
  if (!isDense || cursor || offset === 0) return null;
  const where = terms[0]?.descending
    ? { sql: 'rows._row_id <= ?', params: [rowCount - offset] }
    : { sql: 'rows._row_id > ?', params: [offset] };
  return { scans: [scanOf([where], terms)], isExact: true, isByIndex: false };
}

function walkInRowOrder(
  table: QueryTable,
  conditions: readonly Condition[],
  terms: readonly OrderTerm[],
  cursor: Cursor | null,
): Walk {
  // In its index, the rows of one value are in row order.
  const isDriver = ({ lookup }: Condition) =>
    isRowId(lookup) || (lookup?.kind === 'value' && isServed(table, lookup));
  const { driving, rest } = split(conditions, isDriver);
  return {
    scans: [scanOf([...continued(terms, cursor), ...driving, ...rest], terms)],
    isExact: rest.length === 0,
    isByIndex: conditions.some((condition) => isDriver(condition) && !isRowId(condition.lookup)),
  };
}

function walkByIndex(
  table: QueryTable,
  conditions: readonly Condition[],
  terms: readonly OrderTerm[],
  cursor: Cursor | null,
): Walk | null {
  const [term] = terms;
  if (!term || terms.length > 1 || !isOrdered(table, term)) return null;
  const { driving, rest } = split(
    conditions,
    ({ lookup }) => lookup?.column.position === term.column.position && lookup?.kind !== 'several',
  );
  // A driving comparison never matches NULL, and finding that out would visit every NULL.
  const starts = cursor ? rangesAfterCursor(term, cursor, driving.length === 0) : [null];
  const scans = starts.map((start) =>
    scanOf([...(start ? [start] : []), ...driving, ...rest], terms),
  );
  return { scans, isExact: rest.length === 0, isByIndex: true };
}

function isGatherUseful(
  table: QueryTable,
  conditions: readonly Condition[],
  terms: readonly OrderTerm[],
  walk: Walk | null,
): boolean {
  if (!walk) return true;
  if (walk.isExact) return false;
  if (!isRowOrder(terms)) return true;
  return !walk.isByIndex && conditions.some(({ lookup }) => isServed(table, lookup));
}

function continued(terms: readonly OrderTerm[], cursor: Cursor | null): SqlPart[] {
  return cursor ? [afterCursor(terms, cursor)] : [];
}

function scanOf(parts: readonly SqlPart[], terms: readonly OrderTerm[], isGather = false): Scan {
  return { where: joinParts(parts, 'AND', '1'), ...orderSql(terms, isGather) };
}

/** The conditions that lead the walk, and the others made opaque. */
function split(
  conditions: readonly Condition[],
  isDriver: (condition: Condition) => boolean,
): { driving: SqlPart[]; rest: SqlPart[] } {
  const rest = conditions.filter((condition) => !isDriver(condition)).map(({ part }) => part);
  return {
    driving: conditions.filter(isDriver).map(({ part }) => part),
    rest: rest.length === 0 ? [] : [opaque(joinParts(rest, 'AND', '1'))],
  };
}

function isCountIndexed(table: QueryTable, conditions: readonly Condition[]): boolean {
  const column = conditions[0]?.lookup?.column;
  return conditions.every(({ lookup }) => isServed(table, lookup) && lookup?.column === column);
}

function maxMatches({ rowCount }: QueryTable, conditions: readonly Condition[]): number {
  return conditions.reduce(
    (least, { lookup }) => (isRowId(lookup) ? Math.min(least, lookup?.values ?? least) : least),
    rowCount,
  );
}

function isServed({ indexes }: QueryTable, lookup: Lookup | null): boolean {
  if (!lookup) return false;
  return isRowId(lookup) || isIndexed(indexes, lookup.column);
}

/** An index of the other direction has ties in reverse, and those may be half the table. */
function isOrdered({ indexes }: QueryTable, term: OrderTerm): boolean {
  return indexes.has(orderIndexName(term)!);
}

function isRowId(lookup: Lookup | null): boolean {
  return lookup !== null && lookup.column.position === null;
}

function isRowOrder(terms: readonly OrderTerm[]): boolean {
  return terms.length === 0 || terms[0]!.column.position === null;
}
