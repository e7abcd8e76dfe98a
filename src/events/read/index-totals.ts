import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { readParts } from '../parts/manifest.ts';
import { EVENTS_FILE } from '../store/schema.ts';
import { AppError } from '../../base/errors.ts';
import { emptyProblem, hasStore } from '../store/store-problem.ts';

export interface IndexTotals {
  readonly index: string;
  readonly events: number;
  readonly bytes: number;
  /** Times of events, in microseconds; null when the index is empty. */
  readonly oldest: number | null;
  readonly newest: number | null;
  /** `created` of the event stored first. */
  readonly oldestStored: number | null;
}

export function indexTotals(db: Database): IndexTotals[] {
  const sealed = readParts(db);
  const rows = db
    .query<IndexTotals, []>(
      `SELECT name AS "index", events, bytes,
         (SELECT created FROM events NOT INDEXED WHERE id >= first_id AND "index" = name ORDER BY id LIMIT 1) AS oldestStored,
         (SELECT min(time) FROM events WHERE "index" = name) AS oldest,
         (SELECT max(time) FROM events WHERE "index" = name) AS newest
       FROM indexes ORDER BY name`,
    )
    .all();
  if (sealed.length === 0) return rows;
  return rows.map((row) => {
    const own = sealed.filter((part) => part.index === row.index);
    const least = (values: readonly (number | null)[]): number | null =>
      values.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
    const newest = [row.newest, ...own.map(({ maxTime }) => maxTime)].filter((at) => at !== null);
    return {
      ...row,
      oldest: least([row.oldest, ...own.map(({ minTime }) => minTime)]),
      newest: newest.length === 0 ? null : newest.reduce((a, b) => Math.max(a, b)),
      oldestStored: least([row.oldestStored, ...own.map(({ minCreated }) => minCreated)]),
    };
  });
}

/** Empty before the event service first ran there. */
export function readIndexTotals(stateDir: string): IndexTotals[] {
  if (!hasStore(stateDir)) return [];
  const problem = emptyProblem(stateDir);
  if (problem !== null) throw new AppError('state-unusable', problem);
  const db = new Database(join(stateDir, EVENTS_FILE), { readonly: true });
  try {
    db.run('PRAGMA busy_timeout = 5000');
    return indexTotals(db);
  } finally {
    db.close();
  }
}
