/**
 * Reasons to refuse a state directory, each with the file and the remedy.
 *
 * A server that starts with an empty user base instead of a damaged one is open to anybody, so nothing here repairs,
 * replaces or starts afresh. The texts are for the operator and may name the directory.
 */
import { SQLiteError } from 'bun:sqlite';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError, errnoOf } from '../base/errors.ts';
import { isDamage } from '../base/sqlite-damage.ts';
import type { Database } from './database.ts';
import { schemaVersion } from './migrate.ts';
import { APPLICATION_ID, DATABASE_FILE, RESTORE_MARKER, SECRET_FILE } from './state-files.ts';

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const PAGE_SIZE_OFFSET = 16;
const PAGE_COUNT_OFFSET = 28;
const APPLICATION_ID_OFFSET = 68;
const RESTORE = 'restore the state directory from a backup';
const START_AFRESH = `or move ${DATABASE_FILE} and ${SECRET_FILE} away to start without accounts`;
const NOT_WRITABLE =
  'check the owner and the permissions of the file and its directory, and that the file system is not read-only; --state-dir keeps the state elsewhere';

/** Whether `svc.db` exists; throws `state-unusable` when the directory is neither new nor ours. */
export function findDatabase(dir: string): boolean {
  if (existsSync(join(dir, RESTORE_MARKER))) {
    throw new AppError(
      'state-unusable',
      `${dir} is half restored (${RESTORE_MARKER} is there): wait for the restore that is under way, or, if it was killed, run svc ` +
        'restore again; it puts back what was there and then begins anew',
    );
  }
  const path = join(dir, DATABASE_FILE);
  if (!existsSync(path)) {
    for (const trace of [SECRET_FILE, `${DATABASE_FILE}-wal`]) {
      if (existsSync(join(dir, trace))) {
        throw unusable(
          dir,
          `is missing although ${trace} is there`,
          `${RESTORE}, or delete ${trace} to start without accounts`,
        );
      }
    }
    return false;
  }
  checkHeader(dir, path);
  return true;
}

function checkHeader(dir: string, path: string): void {
  const stat = statSync(path);
  if (!stat.isFile()) throw unusable(dir, 'is no file', RESTORE);
  // We never leave an empty one (see state-files.ts), so it was truncated or put there.
  if (stat.size === 0) throw unusable(dir, 'is empty (0 bytes)', `${RESTORE}, ${START_AFRESH}`);
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw unusable(dir, 'is not a database', `${RESTORE}, ${START_AFRESH}`);
  }
  if (stat.size < HEADER_BYTES) throw damaged(dir, `cut to ${stat.size} bytes`);
  if (header.readUInt32BE(APPLICATION_ID_OFFSET) !== APPLICATION_ID) {
    throw unusable(dir, 'is a database of another program', 'choose another state directory');
  }
  checkSize(dir, stat.size, header);
}

/** SQLite reads the missing end of a last page as zeros, which its own check does not notice. */
function checkSize(dir: string, size: number, header: Buffer): void {
  const log = statSync(join(dir, `${DATABASE_FILE}-wal`), { throwIfNoEntry: false });
  // A checkpoint may be under way, so the file may have any size.
  if (log !== undefined && log.size > 0) return;
  const pageSize = header.readUInt16BE(PAGE_SIZE_OFFSET);
  const whole = header.readUInt32BE(PAGE_COUNT_OFFSET) * (pageSize === 1 ? 65_536 : pageSize);
  if (size < whole) throw damaged(dir, `cut to ${size} of ${whole} bytes`);
}

/**
 * Reads the whole database (about a second per gigabyte). Throws `state-unusable` when it is damaged, cannot be
 * written, or has a schema newer than `newestVersion`.
 */
export async function checkDatabase(
  dir: string,
  db: Database,
  newestVersion: number,
): Promise<void> {
  const findings = await db.all<{ quick_check: string }>('PRAGMA quick_check(1)');
  const finding = findings[0]?.quick_check;
  if (finding !== 'ok') throw damaged(dir, finding ?? 'no answer');
  const version = await schemaVersion(db);
  if (version > newestVersion) {
    throw unusable(
      dir,
      `was written by a newer svc (schema ${version}, this one knows ${newestVersion})`,
      'use that version, or restore the backup made before the upgrade',
    );
  }
  accessSync(dir, constants.W_OK);
  // Takes and releases the write lock, so that a read-only file fails here, not at the first login.
  await db.transaction(async () => {});
}

/** A remounted disk mostly gives the same identity. */
export function identityOfDatabase(dir: string): string | null {
  const found = statSync(join(dir, DATABASE_FILE), { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}.${found.ino}`;
}

/** Null while the database is in place. */
export function displacement(dir: string, opened: string | null): AppError | null {
  const present = identityOfDatabase(dir);
  if (present === opened) return null;
  return present === null
    ? unusable(
        dir,
        'is gone while the server has it open',
        'bring its disk or its folder back as it was; without, restart the server after a restore',
      )
    : unusable(dir, 'is another file than the one the server has open', 'restart the server');
}

export function explain(dir: string, error: unknown): unknown {
  const errno = errnoOf(error) ?? '';
  if (['EACCES', 'EPERM', 'EROFS'].includes(errno)) {
    return unusable(dir, 'or its directory cannot be written', NOT_WRITABLE, error);
  }
  if (['ENOTDIR', 'EEXIST'].includes(errno)) {
    return new AppError('state-unusable', `${dir} is no directory`, { cause: error });
  }
  if (errno !== '' && !existsSync(dir)) {
    return new AppError(
      'state-unusable',
      `${dir} cannot be made (${errno}): choose another state directory, or make this one`,
      { cause: error },
    );
  }
  if (errno === 'ENOSPC' || (error instanceof AppError && error.code === 'no-space')) {
    return unusable(dir, 'cannot be opened: the disk is full', 'free some space', error);
  }
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code ?? '';
  if (/^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code)) {
    return unusable(dir, 'or its directory cannot be written', NOT_WRITABLE, error);
  }
  if (isDamage(error)) return damaged(dir, error.message, error);
  return unusable(dir, `cannot be opened (${error.message})`, RESTORE, error);
}

function damaged(dir: string, finding: string, cause?: unknown): AppError {
  const line = finding.replaceAll(/\s+/g, ' ').trim();
  return unusable(dir, `is damaged (${line})`, `${RESTORE}, ${START_AFRESH}`, cause);
}

function unusable(dir: string, problem: string, remedy: string, cause?: unknown): AppError {
  return new AppError('state-unusable', `${DATABASE_FILE} in ${dir} ${problem}: ${remedy}`, {
    cause,
  });
}
