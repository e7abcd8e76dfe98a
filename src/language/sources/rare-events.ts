/**
 * Newest first by index reads single rows here and there: 0.44 µs each, against 0.2 for a scan of the table. So
 * events that few conditions meet are found by a scan, and only those found are sorted.
 */
import type { Database } from 'bun:sqlite';
import { STRATEGY } from '../limits.ts';
import { type SqlCondition, whereSql } from './sql-source.ts';

/**
 * A list of ids when few events meet all conditions and no index leads to them; else null. `indexed`: the conditions
 * an index decides; null when there are no others, or when rows are named already.
 */
export function rareIds(
  db: Database,
  conditions: readonly SqlCondition[],
  indexed: readonly SqlCondition[] | null,
): SqlCondition | null {
  const narrow = conditions.filter(({ isNarrow }) => isNarrow).length;
  if (indexed === null || (narrow > 0 && narrow < conditions.length)) return null;
  const { first, last } = db
    .query<{ first: number | null; last: number | null }, []>(
      'SELECT (SELECT min(id) FROM events) AS first, (SELECT max(id) FROM events) AS last',
    )
    .get()!;
  if (first === null || last === null || last - first < STRATEGY.rareFromEvents) return null;
  const newest = { sql: 'id > ?', params: [last - STRATEGY.rareProbedEvents] };
  const many = STRATEGY.rareProbedHits;
  if (idsOf(db, [...conditions, newest], many).length >= many) return null;
  const enough = Math.ceil((last - first) * STRATEGY.rareShare);
  if (indexed.length > 0 && countedUpTo(db, indexed, enough) < enough) return null;
  const ids = idsOf(db, conditions, STRATEGY.rareMostIds + 1);
  if (ids.length > STRATEGY.rareMostIds) return null;
  return { sql: 'id IN (SELECT value FROM json_each(?))', params: [JSON.stringify(ids)] };
}

/** Without an index. */
function idsOf(db: Database, conditions: readonly SqlCondition[], most: number): number[] {
  const { sql, params } = whereSql(conditions);
  using statement = db.prepare<{ id: number }, typeof params>(
    `SELECT id FROM events NOT INDEXED${sql} LIMIT ${most}`,
  );
  return statement.all(...params).map(({ id }) => id);
}

/** `most` stands for more. */
function countedUpTo(db: Database, conditions: readonly SqlCondition[], most: number): number {
  const { sql, params } = whereSql(conditions);
  using statement = db.prepare<{ n: number }, typeof params>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM events${sql} LIMIT ${most})`,
  );
  return statement.get(...params)!.n;
}
