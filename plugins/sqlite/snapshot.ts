/**
 * A database of another program as of one moment: the bytes of the file and of its log or journal are copied, and
 * only the copy is opened. So no lock is taken, nothing is created beside the file, and no writer waits.
 *
 * The copy is whole when nothing but the end of the log changed meanwhile: changes of the file are noticed by the
 * caller, a log that was begun anew by its header. An unfinished transaction is undone in the copy, as after a crash.
 */
import { Database, SQLiteError } from 'bun:sqlite';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, unreadable } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { KindContext } from '../../src/docroot/kind.ts';

const MAGIC = 'SQLite format 3\0';
const CHUNK_BYTES = 1024 * 1024;
const LOG_HEADER_BYTES = 32;
/** A log is begun anew after some thousand pages, a journal with each transaction. */
const MAX_ATTEMPTS = 5;

export async function isDatabase(source: FileSource): Promise<boolean> {
  return (await readBytes(source, 0, MAGIC.length)).toString('latin1') === MAGIC;
}

/** `work` may block and must not keep the database. Throws `unreadable-file` for damage. */
export async function withSnapshot<T>(
  source: FileSource,
  context: KindContext,
  work: (db: Database) => T | Promise<T>,
): Promise<T> {
  if (!(await isDatabase(source))) throw unreadable('it is no SQLite database');
  const path = join(context.scratch, `snapshot-${process.pid}-${crypto.randomUUID()}`);
  let db: Database | null = null;
  try {
    await copyAll(source, context, path);
    db = openCopy(path);
    // Open files live on: a process that is killed leaves nothing.
    await removeAll(path);
    return await work(db);
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
    throw unreadable(`the database says: ${error.message}`, error);
  } finally {
    db?.close();
    await removeAll(path);
  }
}

async function removeAll(path: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(path + suffix, { force: true });
}

/** What views, triggers and definitions of the file contain is not trusted. */
function openCopy(path: string): Database {
  const db = new Database(path, { readwrite: true, create: false, safeIntegers: true });
  try {
    for (const pragma of [
      'locking_mode = EXCLUSIVE',
      'trusted_schema = OFF',
      'cell_size_check = ON',
      'mmap_size = 0',
    ]) {
      db.run(`PRAGMA ${pragma}`);
    }
    // Opens the log or undoes the journal.
    db.query('SELECT count(*) FROM sqlite_schema').get();
    db.run('PRAGMA query_only = ON');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

async function copyAll(source: FileSource, context: KindContext, path: string): Promise<void> {
  await copyTo(path, source, context);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const isWhole =
      (await copyBeside('-wal', context, path)) && (await copyBeside('-journal', context, path));
    if (isWhole) return;
  }
  throw new AppError('unavailable', 'The database is written faster than it is read', {
    headers: { 'retry-after': '1' },
  });
}

/** False when the file beside was begun anew meanwhile. */
async function copyBeside(suffix: string, context: KindContext, path: string): Promise<boolean> {
  const file = await context.beside(suffix);
  if (file === null) {
    await rm(path + suffix, { force: true });
    return true;
  }
  try {
    const before = await readBytes(file, 0, LOG_HEADER_BYTES);
    await copyTo(path + suffix, file, context);
    const after = await readBytes(file, 0, LOG_HEADER_BYTES);
    return before.equals(after);
  } finally {
    await file.close();
  }
}

async function copyTo(path: string, source: FileSource, { maxBytes }: KindContext): Promise<void> {
  if (source.size > maxBytes) throw unreadable('it is larger than limits.max_workbook_bytes');
  const target = await open(path, 'w', 0o600);
  try {
    for (let at = 0; at < source.size; at += CHUNK_BYTES) {
      // A log may have been cut since it was opened.
      const bytes = await source.read(at, Math.min(CHUNK_BYTES, source.size - at));
      await target.write(bytes, 0, bytes.length, at);
      if (bytes.length === 0) break;
    }
  } finally {
    await target.close();
  }
}
