/**
 * Folding the write-ahead log of a database that worker processes wrote: they are killed at a stop, so nobody else closes it
 * as SQLite wants it closed.
 */
import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import type { Log } from '../base/log.ts';

/**
 * Leaves one file that can be copied alone, unless somebody else has the database open. Blocks while it writes what the log
 * holds. A database that cannot be opened stays as it is; who needs it says what is wrong with it.
 */
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
