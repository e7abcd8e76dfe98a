/**
 * Either the state is whole and usable or nothing opens (`state-unusable` with the file and the remedy);
 * state-check.ts says why.
 */
import { chmodSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../base/log.ts';
import { MountList } from '../base/files/mounts.ts';
import type { Database } from './database.ts';
import type { Migration } from './migrate.ts';
import { migrate, newestVersion } from './migrate.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { openSqliteDatabase } from './sqlite-database.ts';
import {
  checkDatabase,
  displacement,
  explain,
  findDatabase,
  identityOfDatabase,
} from './state-check.ts';
import {
  DATABASE_FILE,
  SECRET_FILE,
  createDatabase,
  ensureDirectory,
  readSecret,
} from './state-files.ts';
import type { StateLock } from './state-lock.ts';
import { lockStateDirectory } from './state-lock.ts';

export interface State {
  readonly dir: string;
  readonly db: Database;
  /** The same after a restart. */
  readonly serverSecret: Uint8Array;
  /** So that a copy of svc.db alone holds the accounts, as far as concurrent users allow. */
  foldLog(): Promise<void>;
  /**
   * Throws `state-unusable` when svc.db is no longer where it was opened: later writes would be lost. Costs one
   * `stat`.
   */
  requireInPlace(): void;
  /** Waits for the running writer. */
  close(): Promise<void>;
}

interface StateOptions {
  readonly stateDir: string;
  readonly migrations: readonly Migration[];
  readonly log: Log;
  /** True for `serve`: one process at a time. Account commands run beside it and pass false. */
  readonly exclusive: boolean;
}

/**
 * Creates and migrates it as needed. Blocks the event loop while it checks the database (about a second per
 * gigabyte). Throws `state-unusable`.
 */
export async function openState(options: StateOptions): Promise<State> {
  const { stateDir: dir, exclusive } = options;
  let lock: StateLock | null = null;
  try {
    ensureDirectory(dir);
    lock = exclusive ? lockStateDirectory(dir) : null;
    if (exclusive) removeDrafts(dir);
    if (exclusive) warnOfSharedDisk(dir, options.log);
    if (!findDatabase(dir)) await createDatabase(dir, options.migrations);
    closeToOthers(dir, options.log);
    const db = openSqliteDatabase(join(dir, DATABASE_FILE));
    try {
      return await openedState(options, db, lock);
    } catch (error) {
      await db.close();
      throw error;
    }
  } catch (error) {
    lock?.release();
    throw explain(dir, error);
  }
}

async function openedState(
  options: StateOptions,
  db: SqliteDatabase,
  lock: StateLock | null,
): Promise<State> {
  const { stateDir: dir, migrations, log } = options;
  await checkDatabase(dir, db, newestVersion(migrations));
  for (const name of await migrate(db, migrations)) log.info('schema changed', { migration: name });
  const { secret, isNew } = readSecret(dir);
  if (isNew) log.info('server secret made', { file: SECRET_FILE });
  const foldLog = async (): Promise<void> => {
    await db.run('PRAGMA wal_checkpoint(PASSIVE)');
  };
  const opened = identityOfDatabase(dir);
  // Left by an earlier run that was killed.
  if (lock !== null) await foldLog();
  return {
    dir,
    db,
    serverSecret: secret,
    foldLog,
    requireInPlace() {
      const refusal = displacement(dir, opened);
      if (refusal !== null) throw refusal;
    },
    async close() {
      await db.close();
      lock?.release();
    },
  };
}

/** SQLite's log needs shared memory and locks that hold: https://sqlite.org/wal.html#noshm */
function warnOfSharedDisk(dir: string, log: Log): void {
  if (!new MountList().of(realpathSync(dir)).liesOnShared) return;
  log.warning('the state folder lies on a file system other machines may share', {
    remedy: 'name a folder of a local disk with --state-dir',
  });
}

/** Of a process that was killed while it made a file. A live one that loses its draft finds our file. */
function removeDrafts(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (/^(?:svc\.db|secret\.key)\.new-[0-9a-f]+(?:-wal|-shm)?$/.test(name))
      rmSync(join(dir, name), { force: true });
  }
}

/** A restored copy is often readable for everybody. */
function closeToOthers(dir: string, log: Log): void {
  for (const name of [DATABASE_FILE, SECRET_FILE]) {
    const path = join(dir, name);
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o077) === 0) continue;
    chmodSync(path, 0o600);
    log.warning('file was open to other users; its mode is 0600 now', { file: name });
  }
}
