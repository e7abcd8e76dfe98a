/** Diagnoses an event store that is not open for writing; `svc check` reads all of it. */
import { Database } from 'bun:sqlite';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readParts } from '../parts/manifest.ts';
import { PartDamage, PartReader } from '../parts/part-reader.ts';
import { problemOf } from '../parts/sealed-tier.ts';
import { EVENTS_APPLICATION_ID, EVENTS_FILE, EVENTS_SCHEMA_VERSION } from './schema.ts';

export function storeProblem(why: string): string {
  // SQLite prefixes its message with the name of the database.
  const found = why.trim().split('\n').at(-1);
  return `${EVENTS_FILE} cannot be used (${found}): restore it from a backup, or move it away and a new, empty one is made`;
}

/** From the header; null when it is one of ours. */
export function headerProblem(db: Database): string | null {
  const one = (pragma: string): number =>
    Object.values(db.query(`PRAGMA ${pragma}`).get() as Record<string, number>)[0]!;
  if (one('application_id') !== EVENTS_APPLICATION_ID) return 'it is no event store';
  const version = one('user_version');
  return version > EVENTS_SCHEMA_VERSION ? `its schema ${version} is of a newer version` : null;
}

/** The service never leaves an empty file behind, so it was truncated or put there. */
export const EMPTY = 'it is empty (0 bytes)';

/** For a store of 0 bytes; else null. */
export function emptyProblem(stateDir: string): string | null {
  return statSync(join(stateDir, EVENTS_FILE)).size === 0 ? storeProblem(EMPTY) : null;
}

export function hasStore(stateDir: string): boolean {
  return existsSync(join(stateDir, EVENTS_FILE));
}

/** Takes about a second per gigabyte; null when sound or missing. */
export function findStoreProblem(stateDir: string): string | null {
  if (!hasStore(stateDir)) return null;
  const empty = emptyProblem(stateDir);
  if (empty !== null) return empty;
  try {
    using db = new Database(join(stateDir, EVENTS_FILE), { readonly: true });
    db.run('PRAGMA busy_timeout = 5000');
    const found = headerProblem(db) ?? db.query('PRAGMA quick_check(1)').values()[0]?.[0];
    return found === undefined || found === 'ok' ? null : storeProblem(String(found));
  } catch (error) {
    return storeProblem(error instanceof Error ? error.message : String(error));
  }
}

/** Of sealed events, all of which are read: each file that is not as it was written. */
export function findPartProblems(stateDir: string): string[] {
  if (!hasStore(stateDir) || emptyProblem(stateDir) !== null) return [];
  using db = new Database(join(stateDir, EVENTS_FILE), { readonly: true });
  db.run('PRAGMA busy_timeout = 5000');
  const problems: string[] = [];
  for (const part of readParts(db)) {
    try {
      const reader = new PartReader(stateDir, part);
      try {
        reader.requireHash(part);
      } finally {
        reader.close();
      }
    } catch (error) {
      if (!(error instanceof PartDamage)) throw error;
      const { events, from, to } = problemOf(part, error.message);
      problems.push(
        `events/${part.file} with ${events} event(s) from ${from} to ${to} is damaged (${error.message}): restore it from a backup`,
      );
    }
  }
  return problems;
}
