/**
 * What a typed copy stores about itself: its file version, its columns and where rows stand in the file.
 *
 * Kept inside the copy (table `meta`, one JSON value per key), so that stamp and copy cannot be separated. `table` is
 * fixed when the copy is built; `state` changes with every edit, in the same transaction as the rows; `journal` is
 * written before the file is replaced and gives, after a crash in between, the row ids of the new file.
 */
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import type { FileStamp } from '../../base/files/file-stamp.ts';
import { META_SHAPES } from './meta-shape.ts';
import type { ClassCounts, Column, Segment } from '../types.ts';

/** Raised when the layout changes: older copies are then rebuilt. */
export const TABLE_FORMAT = 2;

export interface TableHead {
  readonly format: number;
  readonly rel: string;
  readonly sheet: string | null;
  /** Random; with the sequence it makes the version tag. */
  readonly generation: string;
  /** How a blank cell reads in JSON. */
  readonly blank: 'empty' | 'null';
  /** Digest of the companion texts the copy was built with. */
  readonly companion: string;
  /** Shown beside the resource. */
  readonly companionProblem: string | null;
  /** Served verbatim. */
  readonly companionSchema: string | null;
  readonly columns: readonly Column[];
  /** Bytes before the first segment. */
  readonly bodyOffset: number;
}

export interface TableState {
  readonly stamp: FileStamp;
  /** Epoch ms when the stamp was taken; decides whether it must be confirmed by content. */
  readonly stampTakenAt: number;
  /** Content hash of the stamped file; null after an edit until the file has been quiet for a while. */
  readonly hash: string | null;
  /** Changes made through the service since the copy was built. */
  readonly sequence: number;
  readonly rowCount: number;
  /** Highest ever assigned; never reused. */
  readonly lastRowId: number;
  /** By index of `TableHead.columns`. */
  readonly counts: readonly ClassCounts[];
  readonly dialect: Record<string, unknown>;
}

/** Row ids of the file version an edit was about to put in place. */
export interface TableJournal {
  /** Size, mtime and inode of the new file; the rename sets its ctime, which cannot be known before. */
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

/** Null when absent or damaged. */
export function readMeta<K extends keyof MetaValues>(db: Database, key: K): MetaValues[K] | null {
  const row = db
    .query<{ value: string }, SQLQueryBindings[]>('SELECT value FROM meta WHERE key = ?')
    .get(key);
  const value: unknown = row && JSON.parse(row.value);
  return META_SHAPES[key](value) ? (value as MetaValues[K]) : null;
}

/** Null removes the key. */
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

/** For a new copy. */
export function initialiseMeta(db: Database, head: TableHead, state: TableState): void {
  db.run(
    'CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
  );
  writeMeta(db, 'table', head);
  writeMeta(db, 'state', state);
}

/** With the lowest row id it may hold. */
export interface StoredSegment extends Segment {
  firstRowId: number;
}

export function readSegments(db: Database): StoredSegment[] {
  return db
    .query('SELECT first_row_id, rows, bytes FROM segments ORDER BY seq')
    .values()
    .map((row) => {
      const [firstRowId, rows, bytes] = row as [number, number, number];
      return { firstRowId, rows, bytes };
    });
}

/** Writes only segments that differ. */
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
