/**
 * What a typed copy stores about itself, in its table `meta` as one JSON value per key, so that stamp and copy cannot
 * be separated.
 *
 * `table` is fixed when the copy is built; `state` changes with every edit, in the transaction of its rows; `journal`
 * is written before the file is replaced and keeps the row ids over a crash in between.
 */
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import type { TextContext } from '../infer/reading.ts';
import type { ClassCounts, Column, FormCounts, Segment } from '../types.ts';

/** Raised when the layout changes: older copies are then rebuilt. */
export const TABLE_FORMAT = 12;

/** Checked when read: a copy that somebody else wrote to is opened to learn its row ids. */
type Check<T> = (value: unknown) => value is T;
type Checked<C> = C extends Check<infer T> ? T : never;

const isText = (value: unknown): value is string => typeof value === 'string';
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value);
const isNumber = (value: unknown): value is number => Number.isFinite(value);
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
/** As in `FileStamp`; negative for files older than 1970. */
const isDigits = (value: unknown): value is string => isText(value) && /^-?\d+$/.test(value);
const isBlankMode = (value: unknown): value is 'empty' | 'null' =>
  value === 'empty' || value === 'null';
const isDialect = (value: unknown): value is Record<string, unknown> => isObject(value);
/** Members that nothing relies on are not checked. */
const isColumn = members({
  name: isText,
  type: isText,
  position: isCount,
  counts: isObject,
  forms: isObject,
});
const isStamp = members({ size: isCount, mtimeNs: isDigits, ctimeNs: isDigits, inode: isDigits });

const isTableHead = members({
  format: isCount,
  rel: isText,
  sheet: isTextOrNull,
  /** Random; with the sequence it makes the version tag. */
  generation: isText,
  /** Of another value once rows may have other ids; absent: the generation. */
  numbering: (value): value is string | undefined => value === undefined || isText(value),
  /** How a blank cell reads in JSON. */
  blank: isBlankMode,
  /** Digest of the companion texts the copy was built with. */
  companion: isText,
  /** Shown beside the resource. */
  companionProblem: isTextOrNull,
  /** Served verbatim. */
  companionSchema: isTextOrNull,
  columns: listOf((value): value is Column => isColumn(value)),
  /** Bytes before the first segment. */
  bodyOffset: isCount,
  /** What its texts were read by. */
  context: (value): value is TextContext => isObject(value),
});

const isTableState = members({
  stamp: isStamp,
  /** Epoch ms when the stamp was taken; decides whether it must be confirmed by content. */
  stampTakenAt: isNumber,
  /** Null after an edit until the file has been quiet for a while. */
  hash: isTextOrNull,
  /** Changes made through the service since the copy was built. */
  sequence: isCount,
  rowCount: isCount,
  /** Highest ever assigned; never reused. */
  lastRowId: isCount,
  /** By index of `TableHead.columns`. */
  counts: listOf((value): value is ClassCounts => isObject(value)),
  forms: listOf((value): value is FormCounts => isObject(value)),
  dialect: isDialect,
});

/** Row ids of the file version an edit was about to put in place. */
const isTableJournal = members({
  /** Size, mtime and inode of the new file; the rename sets its ctime, which cannot be known before. */
  stamp: isStamp,
  deleted: listOf(isCount),
  created: listOf(isCount),
  lastRowId: isCount,
});

export type TableHead = Checked<typeof isTableHead>;
export type TableState = Checked<typeof isTableState>;
export type TableJournal = Checked<typeof isTableJournal>;

const META = { table: isTableHead, state: isTableState, journal: isTableJournal };

type MetaKey = keyof typeof META;
type MetaValue<K extends MetaKey> = Checked<(typeof META)[K]>;

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function members<C extends Readonly<Record<string, Check<unknown>>>>(
  checks: C,
): Check<{ readonly [K in keyof C]: Checked<C[K]> }> {
  const named = Object.entries(checks);
  return (value): value is { readonly [K in keyof C]: Checked<C[K]> } =>
    isObject(value) &&
    named.every(([name, check]) => check((value as Readonly<Record<string, unknown>>)[name]));
}

function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(check);
}

/** Null when absent or damaged. */
export function readMeta<K extends MetaKey>(db: Database, key: K): MetaValue<K> | null {
  const row = db
    .query<{ value: string }, SQLQueryBindings[]>('SELECT value FROM meta WHERE key = ?')
    .get(key);
  const value: unknown = row && JSON.parse(row.value);
  return META[key](value) ? (value as MetaValue<K>) : null;
}

/** Of a copy in an earlier format, with what later ones added left blank: enough for its row ids. */
export function readFormer(db: Database): { head: TableHead; state: TableState } | null {
  const value = (key: MetaKey): Record<string, unknown> => {
    const row = db
      .query<{ value: string }, SQLQueryBindings[]>('SELECT value FROM meta WHERE key = ?')
      .get(key);
    return { ...(row && (JSON.parse(row.value) as Record<string, unknown>)) };
  };
  const [table, state] = [value('table'), value('state')];
  const columns = Array.isArray(table['columns']) ? (table['columns'] as object[]) : [];
  const head = {
    context: {},
    ...table,
    columns: columns.map((column) => ({ counts: {}, forms: {}, ...column })),
  };
  const filled = { forms: columns.map(() => ({})), ...state };
  return isTableHead(head) && isTableState(filled) ? { head, state: filled } : null;
}

/** Null removes the key. */
export function writeMeta<K extends MetaKey>(
  db: Database,
  key: K,
  value: MetaValue<K> | null,
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
