/**
 * What a typed copy knows about itself: which file version it holds, its columns and where rows stand in the file.
 *
 * Stored inside the copy (table `meta`, one JSON value per key), so that a copy without its file stamp, or a stamp
 * without its copy, cannot exist. `table` is fixed when the copy is built; `state` changes with every edit, in the
 * same transaction as the rows; `journal` is written before the file is replaced and tells, after a crash in
 * between, which row ids the new file holds (DS-48).
 */
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import type { FileStamp } from '../base/file-stamp.ts';
import { META_SHAPES } from './meta-shape.ts';
import type { ClassCounts, Column, Segment } from './types.ts';

/** Raised when the layout of the typed copy changes: older copies are then built anew. */
export const TABLE_FORMAT = 2;

/** The fixed part of a copy. */
export interface TableHead {
  readonly format: number;
  readonly rel: string;
  readonly sheet: string | null;
  /** Random; with the sequence it makes the version tag of DS-46. */
  readonly generation: string;
  /** How a blank cell reads in JSON (DS-64). */
  readonly blank: 'empty' | 'null';
  /** Digest of the companion texts the copy was built with. */
  readonly companion: string;
  /** Text of a companion's own problem (DS-70, DS-72), shown beside the resource. */
  readonly companionProblem: string | null;
  /** The text of a companion schema, served verbatim (DS-70). */
  readonly companionSchema: string | null;
  readonly columns: readonly Column[];
  /** Bytes before the first segment. */
  readonly bodyOffset: number;
}

/** The part that every edit changes. */
export interface TableState {
  readonly stamp: FileStamp;
  /** Epoch ms at which the stamp was taken; decides whether it must be confirmed by content. */
  readonly stampTakenAt: number;
  /** Content hash of the stamped file; null after an edit until the file has been quiet for a while. */
  readonly hash: string | null;
  /** Changes made through the service since the copy was built. */
  readonly sequence: number;
  readonly rowCount: number;
  /** Highest id ever assigned; never reused (DS-48). */
  readonly lastRowId: number;
  /** Class counts by index of `TableHead.columns`. */
  readonly counts: readonly ClassCounts[];
  readonly dialect: Record<string, unknown>;
}

/** Row ids of the file version that an edit was about to put in place. */
export interface TableJournal {
  /** Size, mtime and inode of the new file; its ctime is set by the rename and cannot be known before. */
  readonly stamp: FileStamp;
  readonly deleted: readonly number[];
  readonly created: readonly number[];
  readonly lastRowId: number;
}

interface MetaValues {
  table: TableHead;
  state: TableState;
  journal: TableJournal;
}

/** The value stored under a key of the copy; null when there is none, or damage has made something else of it. */
export function readMeta<K extends keyof MetaValues>(db: Database, key: K): MetaValues[K] | null {
  const row = db
    .query<{ value: string }, SQLQueryBindings[]>('SELECT value FROM meta WHERE key = ?')
    .get(key);
  const value: unknown = row && JSON.parse(row.value);
  return META_SHAPES[key](value) ? (value as MetaValues[K]) : null;
}

/** Stores a value under a key, or removes the key when the value is null. */
export function writeMeta<K extends keyof MetaValues>(
  db: Database,
  key: K,
  value: MetaValues[K] | null,
): void {
  if (value === null) db.query('DELETE FROM meta WHERE key = ?').run(key);
  else {
    db.query('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(
      key,
      JSON.stringify(value),
    );
  }
}

/** Makes the `meta` table of a new copy and fills it. */
export function initialiseMeta(db: Database, head: TableHead, state: TableState): void {
  db.run(
    'CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
  );
  writeMeta(db, 'table', head);
  writeMeta(db, 'state', state);
}

/** A segment as the copy stores it: with the lowest row id it may hold. */
export interface StoredSegment extends Segment {
  firstRowId: number;
}

/** All segments of the copy, in file order. */
export function readSegments(db: Database): StoredSegment[] {
  return db
    .query('SELECT first_row_id, rows, bytes FROM segments ORDER BY seq')
    .values()
    .map((row) => {
      const [firstRowId, rows, bytes] = row as [number, number, number];
      return { firstRowId, rows, bytes };
    });
}

/** Brings the stored segments from `before` to `after`, writing only those that differ. */
export function writeSegments(
  db: Database,
  before: readonly StoredSegment[],
  after: readonly StoredSegment[],
): void {
  const upsert = db.query(
    'INSERT OR REPLACE INTO segments (seq, first_row_id, rows, bytes) VALUES (?, ?, ?, ?)',
  );
  after.forEach((segment, seq) => {
    const old = before[seq];
    if (
      old?.rows === segment.rows &&
      old.bytes === segment.bytes &&
      old.firstRowId === segment.firstRowId
    ) {
      return;
    }
    upsert.run(seq, segment.firstRowId, segment.rows, segment.bytes);
  });
  if (before.length > after.length) {
    db.query('DELETE FROM segments WHERE seq >= ?').run(after.length);
  }
}
