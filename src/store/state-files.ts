/**
 * The files of a state directory.
 *
 * Every file is made under another name and renamed when complete, so a half-made one is never found and the first of
 * several processes wins. `svc.db` comes before `secret.key`: the secret proves that there was a database.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError, errnoOf } from '../base/errors.ts';
import { shortId } from '../base/ids.ts';
import type { Migration } from './migrate.ts';
import { migrate } from './migrate.ts';
import { openSqliteDatabase } from './sqlite-database.ts';

export const DATABASE_FILE = 'svc.db';
export const SECRET_FILE = 'secret.key';
/** Exists while a restore moves files; only another restore may continue from there. */
export const RESTORE_MARKER = 'restore-under-way.json';
/** Marks a database as ours in SQLite's header ("svc1"). */
export const APPLICATION_ID = 0x73766331;
const SECRET_BYTES = 32;
/** Errors of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** 0700, with its parents. An existing directory keeps its mode. */
export function ensureDirectory(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (!statSync(dir).isDirectory()) throw new AppError('state-unusable', `${dir} is no directory`);
}

export function stateFolder(stateDir: string, name: string): string {
  const path = join(stateDir, name);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

export async function createDatabase(dir: string, migrations: readonly Migration[]): Promise<void> {
  const draft = join(dir, `${DATABASE_FILE}.new-${shortId()}`);
  const target = join(dir, DATABASE_FILE);
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    const db = openSqliteDatabase(draft);
    try {
      await db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
      await migrate(db, migrations);
    } finally {
      await db.close();
    }
    publish(draft, target);
    syncDirectory(dir);
  } catch (error) {
    // A concurrent process made the file and removed our draft: its file counts.
    if (!existsSync(target)) throw error;
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
  }
}

/** Throws `state-unusable` for a file of another length. */
export function readSecret(dir: string): { secret: Uint8Array; isNew: boolean } {
  const path = join(dir, SECRET_FILE);
  const isNew = !existsSync(path);
  if (isNew) createSecret(dir, path);
  const secret = new Uint8Array(readFileSync(path));
  if (secret.length !== SECRET_BYTES) {
    throw new AppError(
      'state-unusable',
      `${SECRET_FILE} in ${dir} is damaged (${secret.length} bytes instead of ${SECRET_BYTES}): restore it from a ` +
        'backup, or delete it; a new one is made at the next start',
    );
  }
  return { secret, isNew };
}

function createSecret(dir: string, path: string): void {
  const draft = `${path}.new-${shortId()}`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(file, crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    publish(draft, path);
    syncDirectory(dir);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Keeps a file that already has the final name. */
function publish(draft: string, target: string): void {
  try {
    linkSync(draft, target);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'EEXIST') return;
    if (!NO_LINKS.has(errno)) throw error;
    if (!existsSync(target)) renameSync(draft, target);
  }
}

function syncDirectory(dir: string): void {
  const handle = openSync(dir, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
