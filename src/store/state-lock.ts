/**
 * One `serve` per directory. The kernel drops the lock with the process, so there is no stale lock to clean up; the
 * pid in the file is only for the message.
 */
import { Database as Sqlite } from 'bun:sqlite';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../base/errors.ts';
import { openLibc } from '../base/files/libc.ts';

export const LOCK_FILE = 'lock';
const LOCK_EXCLUSIVE = 2;
const LOCK_NO_WAIT = 4;
/** The holder writes its pid right after it got the lock; a reader waits so long for it. */
const PID_WAIT_MS = 200;

export interface StateLock {
  release(): void;
}

/** Throws `state-unusable` when another process, or another part of this one, holds it. */
export function lockStateDirectory(dir: string, tryLock: TryLock = tryKernelLock): StateLock {
  const path = join(dir, LOCK_FILE);
  const file = openSync(path, 'a+', 0o600);
  let unlock: (() => void) | null = null;
  try {
    unlock = tryLock(file, path);
    if (unlock === null) {
      throw new AppError(
        'state-unusable',
        `State directory is in use by process ${holderOf(path)}`,
      );
    }
    ftruncateSync(file);
    writeSync(file, `${process.pid}\n`);
  } catch (error) {
    unlock?.();
    closeSync(file);
    throw error;
  }
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      unlock();
      closeSync(file);
    },
  };
}

/** Returns how to release; null: held by another. */
type TryLock = (file: number, path: string) => (() => void) | null;

function tryKernelLock(file: number, path: string): (() => void) | null {
  const libc = openLibc({ flock: { args: ['i32', 'i32'], returns: 'i32' } });
  if (libc === null) return trySqliteLock(file, path);
  // Closing the file releases the lock.
  return libc.symbols.flock(file, LOCK_EXCLUSIVE | LOCK_NO_WAIT) === 0 ? () => {} : null;
}

/**
 * Without the C library: a transaction on a database of its own. Not the first choice because other tools (`flock`)
 * cannot see SQLite's record lock.
 */
export function trySqliteLock(_file: number, path: string): (() => void) | null {
  const database = new Sqlite(`${path}.sqlite`, { create: true, readwrite: true });
  try {
    database.run('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch {
    // Any failure means "in use": an unusable file must never read as free.
    database.close();
    return null;
  }
}

function holderOf(path: string): string {
  const giveUpAt = performance.now() + PID_WAIT_MS;
  for (;;) {
    const pid = readFileSync(path, 'utf8').trim();
    if (pid !== '') return pid;
    if (performance.now() > giveUpAt) return 'unknown';
    Bun.sleepSync(10);
  }
}
