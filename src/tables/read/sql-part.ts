/**
 * Pieces of SQL with their values, as plain JSON.
 *
 * No text of a caller or file is ever in `sql`: it goes into `params`, and columns are `c<position>`.
 */

/** Integers that a double cannot hold travel as digits. */
export type PlanValue = string | number | null | { readonly int: string };

/** `params` follow the placeholders. */
export interface SqlPart {
  readonly sql: string;
  readonly params: readonly PlanValue[];
}

export function boundValue(value: PlanValue): string | number | bigint | null {
  return value !== null && typeof value === 'object' ? BigInt(value.int) : value;
}

/** `empty` without parts. Nested in pairs, because SQLite refuses expressions deeper than 1,000. */
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

/** The planner chooses no index for it. */
export function opaque(part: SqlPart): SqlPart {
  return { sql: `((${part.sql}) IS TRUE)`, params: part.params };
}
