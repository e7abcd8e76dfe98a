/**
 * Folds the write-ahead log of a database written by worker processes, which are killed at a stop without closing it.
 */
import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import type { Log } from '../base/log.ts';

/** Leaves one file that can be copied alone, unless another process has the database open. Blocks while it writes. */
export function foldLog(path: string, log: Log): void {
  if (!existsSync(path) || !existsSync(`${path}-wal`)) return;
  try {
    const db = new Database(path, { readwrite: true, create: false });
    try {
      db.run('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      db.close();
    }
  } catch (error) {
    log.warning('the log of a database was not folded', { error });
  }
}
