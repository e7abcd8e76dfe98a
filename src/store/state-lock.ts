/**
 * The exclusive lock of the state directory (DS-92): one `serve` per directory.
 *
 * The kernel keeps the lock and drops it with the process, however that ends, so there is no stale lock to clean up.
 * The pid in the file is only for the message; it decides nothing.
 */
import { dlopen } from 'bun:ffi';
import { Database as Sqlite } from 'bun:sqlite';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../base/errors.ts';

/** Names of the C library: glibc, musl (x86-64 and arm64), macOS. */
const LIBC_NAMES = [
  'libc.so.6',
  'libc.musl-x86_64.so.1',
  'libc.musl-aarch64.so.1',
  'libSystem.B.dylib',
];
/** Name of the lock in the state directory. */
export const LOCK_FILE = 'lock';
const LOCK_EXCLUSIVE = 2;
const LOCK_NO_WAIT = 4;
/** The holder writes its pid right after it got the lock; this long a reader waits for it. */
const PID_WAIT_MS = 200;

/** A held lock of a state directory. */
export interface StateLock {
  /** Gives the directory free; calling it again does nothing. */
  release(): void;
}

/**
 * Locks `dir` for this process. Throws `state-unusable` (`State directory is in use by process <pid>`) when another
 * process, or another part of this one, holds it; file system errors come as they are.
 */
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

/** Takes the lock without waiting and answers how to undo it (the file is closed afterwards); null: somebody has it. */
type TryLock = (file: number, path: string) => (() => void) | null;

function tryKernelLock(file: number, path: string): (() => void) | null {
  const flock = findFlock();
  return flock === null ? trySqliteLock(file, path) : tryFlock(flock, file);
}

function tryFlock(flock: Flock, file: number): (() => void) | null {
  // Closing the file gives the lock back.
  return flock(file, LOCK_EXCLUSIVE | LOCK_NO_WAIT) === 0 ? () => {} : null;
}

/**
 * The same without the C library: a transaction on a database of its own, which SQLite guards by a record lock. Not
 * the first choice because other tools (`flock`) cannot see it.
 */
export function trySqliteLock(_file: number, path: string): (() => void) | null {
  const database = new Sqlite(`${path}.sqlite`, { create: true, readwrite: true });
  try {
    database.run('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch {
    // Whatever the reason, the lock was not obtained; an unusable file reads as "in use", never as free.
    database.close();
    return null;
  }
}

type Flock = (file: number, operation: number) => number;

function findFlock(): Flock | null {
  for (const name of LIBC_NAMES) {
    try {
      const library = dlopen(name, { flock: { args: ['i32', 'i32'], returns: 'i32' } });
      return library.symbols.flock;
    } catch {
      // Not the C library of this platform: the next name.
    }
  }
  return null;
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
