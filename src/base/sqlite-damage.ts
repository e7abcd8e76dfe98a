/**
 * Telling a damaged database from one that cannot be used just now (sqlite.org/rescode.html).
 */
import { SQLiteError } from 'bun:sqlite';

/** Whether SQLite said that the file is no database, or that its pages are not sound. */
export function isDamage(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code ?? '');
}
