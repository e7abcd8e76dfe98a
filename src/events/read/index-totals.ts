import { Database } from 'bun:sqlite';
import { join } from 'node:path';
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
  return db
    .query<IndexTotals, []>(
      `SELECT name AS "index", events, bytes,
         (SELECT created FROM events NOT INDEXED WHERE id >= first_id AND "index" = name ORDER BY id LIMIT 1) AS oldestStored,
         (SELECT min(time) FROM events WHERE "index" = name) AS oldest,
         (SELECT max(time) FROM events WHERE "index" = name) AS newest
       FROM indexes ORDER BY name`,
    )
    .all();
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
