/** Tells a damaged database from one that is unusable just now (sqlite.org/rescode.html). */
import { SQLiteError } from 'bun:sqlite';

/** Not a database, or its pages are not sound. */
export function isDamage(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code ?? '');
}
