/**
 * Pieces of SQL with their values, as plain JSON, so that a plan can travel to another process.
 *
 * No text of a caller or of a file ever stands in `sql`; it goes into `params`, and columns are `c<position>`.
 */

/** A value to bind; integers that a double cannot hold travel as digits. */
export type PlanValue = string | number | null | { readonly int: string };

/** An expression or clause; `params` in the order of its placeholders. */
export interface SqlPart {
  readonly sql: string;
  readonly params: readonly PlanValue[];
}

/** The value as SQLite must be given it. */
export function boundValue(value: PlanValue): string | number | bigint | null {
  return value !== null && typeof value === 'object' ? BigInt(value.int) : value;
}

/**
 * The parts joined by AND or OR; `empty` when there are none. Nested in pairs, because SQLite refuses expressions
 * deeper than 1,000 and a plain chain is as deep as it is long.
 */
export function joinParts(
  parts: readonly SqlPart[],
  operator: 'AND' | 'OR',
  empty: string,
): SqlPart {
  if (parts.length === 0) return { sql: empty, params: [] };
  if (parts.length === 1) return parts[0]!;
  const middle = parts.length >> 1;
  const left = joinParts(parts.slice(0, middle), operator, empty);
  const right = joinParts(parts.slice(middle), operator, empty);
  return {
    sql: `(${left.sql} ${operator} ${right.sql})`,
    params: [...left.params, ...right.params],
  };
}

/** The same truth, opaque to SQLite's planner: no index is chosen for it and its terms are not taken apart. */
export function opaque(part: SqlPart): SqlPart {
  return { sql: `((${part.sql}) IS TRUE)`, params: part.params };
}
