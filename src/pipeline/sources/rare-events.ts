/**
 * Newest first is an order an index gives, one row here and one there: 0.44 µs each, against 0.2 when the table is walked
 * from end to end. So what few events meet is looked for that way, and only those found are put in order.
 */
import type { Database, SQLQueryBindings } from 'bun:sqlite';

/** Newest events that are looked at to tell whether few meet a condition. */
const PROBED = 2_000;
/** Hits among them from which on walking from the newest finds enough soon. */
const MANY = 3;
/** Smaller stores are walked in no time. */
const LEAST = 20_000;
/** More would cost more than they save. */
const MOST_IDS = 20_000;
/** Of all events; with fewer left by an index, that index is quicker. */
const WORTHWHILE_SHARE = 0.45;

interface Sql {
  readonly sql: string;
  readonly params: readonly SQLQueryBindings[];
}

/**
 * The events as a list of ids when few meet `where` and no index leads to them; else null. `indexed`: the conditions an
 * index decides; null when there are no others, or when rows are named already.
 */
export function rareIds(db: Database, where: Sql, indexed: readonly Sql[] | null): Sql | null {
  // A plus stands before what is no reason for an index: something else names the rows.
  if (indexed === null || where.sql.includes('+(')) return null;
  const { first, last } = db
    .query<{ first: number | null; last: number | null }, []>(
      'SELECT (SELECT min(id) FROM events) AS first, (SELECT max(id) FROM events) AS last',
    )
    .get()!;
  if (first === null || last === null || last - first < LEAST) return null;
  if (idsOf(db, `${where.sql} AND id > ?`, [...where.params, last - PROBED], MANY).length >= MANY)
    return null;
  const enough = Math.ceil((last - first) * WORTHWHILE_SHARE);
  if (indexed.length > 0 && countedUpTo(db, indexed, enough) < enough) return null;
  const ids = idsOf(db, where.sql, where.params, MOST_IDS + 1);
  if (ids.length > MOST_IDS) return null;
  return { sql: 'id IN (SELECT value FROM json_each(?))', params: [JSON.stringify(ids)] };
}

/** The first ids that meet the condition, without the help of an index. */
function idsOf(db: Database, where: string, params: readonly SQLQueryBindings[], most: number) {
  const statement = db.prepare<{ id: number }, SQLQueryBindings[]>(
    `SELECT id FROM events NOT INDEXED${where} LIMIT ${most}`,
  );
  try {
    return statement.all(...params).map(({ id }) => id);
  } finally {
    statement.finalize();
  }
}

/** How many events meet all conditions; `most` for more. */
function countedUpTo(db: Database, conditions: readonly Sql[], most: number): number {
  const where = conditions.map(({ sql }) => `(${sql})`).join(' AND ');
  const statement = db.prepare<{ n: number }, SQLQueryBindings[]>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM events WHERE ${where} LIMIT ${most})`,
  );
  try {
    return statement.get(...conditions.flatMap(({ params }) => [...params]))!.n;
  } finally {
    statement.finalize();
  }
}
