/**
 * What the index holds, read by the server itself, so that a start without changes needs no worker. Unfinished or
 * uncleared ranges, a long write-ahead log or a damaged file need the worker.
 */
import type { Database } from 'bun:sqlite';
import { type Stats, statSync } from 'node:fs';
import { MAX_RESOURCE_NO } from './entry-id.ts';
import { openForReading } from './index-file.ts';
import { type IndexedResource, LIVE_RESOURCES } from './index-writer.ts';

/** At 2 µs each, more would block the event loop for over 40 ms. */
const MAX_HELD = 20_000;
/** Folding so much takes 1 ms at closing. */
const MAX_LOG_BYTES = 1024 * 1024;

/** Null when the worker has to open it. Never throws. */
export function heldResources(path: string): IndexedResource[] | null {
  let db: Database | null = null;
  try {
    if ((found(logOf(path))?.size ?? 0) > MAX_LOG_BYTES) return null;
    db = openForReading(path);
    return db && read(db);
  } catch {
    return null;
  } finally {
    db?.close();
  }
}

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
