/**
 * What the index holds, read by the server itself: a start after which nothing is new needs no worker for it.
 *
 * Only where an earlier run left nothing to do. Ranges that were not finished or not cleared, a long write-ahead log, a
 * damaged file: all of that is the worker's, which alone writes to the index.
 */
import type { Database } from 'bun:sqlite';
import { type Stats, statSync } from 'node:fs';
import { MAX_RESOURCE_NO } from './entry-id.ts';
import { openForReading } from './index-file.ts';
import { type IndexedResource, LIVE_RESOURCES } from './index-writer.ts';

/** More than this is for the worker to read: at 2 µs each it would hold the event loop for 40 ms. */
const MAX_HELD = 20_000;
/** The last one to close the file takes its log in, which is 1 ms for so much. */
const MAX_LOG_BYTES = 1024 * 1024;

/** The resources of the index at `path`; null when the worker has to look at it. Never throws. */
export function heldResources(path: string): IndexedResource[] | null {
  let db: Database | null = null;
  try {
    if ((found(logOf(path))?.size ?? 0) > MAX_LOG_BYTES) return null;
    db = openForReading(path);
    return db && read(db);
  } catch {
    // Damaged, or in the hands of another process: the worker finds out which.
    return null;
  } finally {
    db?.close();
  }
}

/** Whether the titles were written down after the last change of the index. */
export function areTitlesWritten(path: string, snapshot: string): boolean {
  const titles = found(snapshot);
  const log = found(logOf(path));
  const changedAt = Math.max(found(path)?.mtimeMs ?? Infinity, log?.size ? log.mtimeMs : 0);
  return titles !== null && titles.mtimeMs >= changedAt;
}

function read(db: Database): IndexedResource[] | null {
  const [row] = db
    .query("SELECT count(*), max(no), count(*) FILTER (WHERE state <> 'live') FROM resources")
    .values() as [number, number | null, number][];
  const [count, last, unfinished] = row!;
  const isSimple = unfinished === 0 && count <= MAX_HELD && (last ?? 0) < MAX_RESOURCE_NO / 2;
  return isSimple ? (db.query(LIVE_RESOURCES).all() as IndexedResource[]) : null;
}

function found(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function logOf(path: string): string {
  return `${path}-wal`;
}
