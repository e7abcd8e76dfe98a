/**
 * Typed copies that travel with their files, as in a backup. Stamps differ on every disk, so a copy is bound to the
 * content before the journey and to the new stamp after it. Row ids survive.
 */
import { Database } from 'bun:sqlite';
import type { FileHandle } from 'node:fs/promises';
import { sourceOf } from '../base/files/file-source.ts';
import { hashFile, unlessGone, sameContent, stampOf, statFile } from '../base/files/file-stamp.ts';
import { digestOf } from '../tables/copy/copy-seal.ts';
import { readMeta, type TableHead, type TableState, writeMeta } from '../tables/copy/table-meta.ts';

/** Set when counting rows would not give the same ids; null otherwise, and for a damaged copy. */
export function fileOfOwnIds(path: string): string | null {
  const meta = withCopy(path, headAndState);
  return meta === null || meta.state.rowCount === meta.state.lastRowId ? null : meta.head.rel;
}

/** False when the copy holds another version. */
export async function bindToContent(path: string, file: FileHandle): Promise<boolean> {
  const meta = withCopy(path, headAndState);
  if (meta === null) return false;
  const stamp = stampOf(await file.stat({ bigint: true }));
  const hash = await hashFile(sourceOf(file.fd, stamp.size));
  const { stamp: own, hash: known } = meta.state;
  if (known === null ? !sameContent(own, stamp) : known !== hash) return false;
  const state = { ...meta.state, hash };
  return withCopy(path, (db) => (writeMeta(db, 'state', state), true)) === true;
}

/** False when the content differs. */
export async function bindToFile(
  path: string,
  pathOf: (rel: string) => string,
  now: number,
): Promise<boolean> {
  const meta = withCopy(path, headAndState);
  if (meta === null || meta.state.hash === null) return false;
  const file = pathOf(meta.head.rel);
  const stamp = statFile(file);
  if (stamp === null) return false;
  const hash = await unlessGone(digestOf(file));
  if (hash !== meta.state.hash) return false;
  const state = { ...meta.state, stamp, stampTakenAt: now };
  return withCopy(path, (db) => (writeMeta(db, 'state', state), true)) === true;
}

function headAndState(db: Database): { head: TableHead; state: TableState } | null {
  const head = readMeta(db, 'table');
  const state = readMeta(db, 'state');
  return head && state && { head, state };
}

/** Null also for a damaged copy, which is rebuilt from its file. */
function withCopy<T>(path: string, work: (db: Database) => T): T | null {
  let db: Database | null = null;
  try {
    db = new Database(path, { readwrite: true, create: false });
    db.run('PRAGMA busy_timeout = 30000');
    return work(db);
  } catch {
    return null;
  } finally {
    db?.close();
  }
}
