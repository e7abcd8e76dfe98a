/**
 * What is wrong with an event store that nobody has opened for writing: `svc check` reads all of it (EV-51).
 */
import { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_APPLICATION_ID, EVENTS_FILE, EVENTS_SCHEMA_VERSION } from './schema.ts';

/** What an operator is told: why the store cannot be used, and what can be done. */
export function storeProblem(why: string): string {
  // SQLite heads what it found with the name of the database.
  const found = why.trim().split('\n').at(-1);
  return `${EVENTS_FILE} cannot be used (${found}): restore it from a backup, or move it away and a new, empty one is made`;
}

/** What is wrong with an open store, from its header; null: it is one of ours. */
export function headerProblem(db: Database): string | null {
  const one = (pragma: string): number =>
    Object.values(db.query(`PRAGMA ${pragma}`).get() as Record<string, number>)[0]!;
  if (one('application_id') !== EVENTS_APPLICATION_ID) return 'it is no event store';
  const version = one('user_version');
  return version > EVENTS_SCHEMA_VERSION ? `its schema ${version} is of a newer version` : null;
}

/** Whether there is a store: a file without a byte has not become one yet. */
export function hasStore(stateDir: string): boolean {
  return (statSync(join(stateDir, EVENTS_FILE), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Reads the store of a state directory, about a second a gigabyte; null when it is sound, or there is none. */
export function findStoreProblem(stateDir: string): string | null {
  if (!hasStore(stateDir)) return null;
  try {
    using db = new Database(join(stateDir, EVENTS_FILE), { readonly: true });
    db.run('PRAGMA busy_timeout = 5000');
    const found = headerProblem(db) ?? db.query('PRAGMA quick_check(1)').values()[0]?.[0];
    return found === undefined || found === 'ok' ? null : storeProblem(String(found));
  } catch (error) {
    return storeProblem(error instanceof Error ? error.message : String(error));
  }
}
