/**
 * Which parts belong to the store, in tables of `events.sqlite`: so a snapshot of it is one of both tiers.
 *
 * Bounds are those of the events that are left. `part_gone` has the ids of a part that were changed or deleted since.
 * Files of parts that were replaced or emptied are kept for readers that began before (`parts_dropped`).
 */
import type { Database } from 'bun:sqlite';
import type { NewPart } from './part-writer.ts';

export interface Part extends NewPart {
  readonly no: number;
  /** Events of the file that are no longer part of it. */
  readonly gone: number;
}

export const PART_TABLES: readonly string[] = [
  `CREATE TABLE parts (
    no INTEGER PRIMARY KEY,
    file TEXT NOT NULL UNIQUE,
    "index" TEXT NOT NULL,
    rows INTEGER NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL,
    file_bytes INTEGER NOT NULL,
    hash TEXT NOT NULL,
    footer_hash TEXT NOT NULL,
    min_id INTEGER NOT NULL,
    max_id INTEGER NOT NULL,
    min_time INTEGER NOT NULL,
    max_time INTEGER NOT NULL,
    min_created INTEGER NOT NULL,
    max_created INTEGER NOT NULL
  ) STRICT`,
  'CREATE TABLE part_gone (part INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (part, id)) STRICT, WITHOUT ROWID',
  'CREATE TABLE parts_dropped (file TEXT PRIMARY KEY, dropped INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  "INSERT INTO counters VALUES ('next_part', 1)",
];

const SELECT = `SELECT no, file, "index", rows, gone, bytes, file_bytes AS fileBytes, hash, footer_hash AS footerHash,
  min_id AS minId, max_id AS maxId, min_time AS minTime, max_time AS maxTime, min_created AS minCreated,
  max_created AS maxCreated FROM main.parts`;

/** Of the manifest since the store was made: while it is the same, so are the parts. */
export function partChanges(db: Database): number {
  const row = db
    .query<{ value: number }, []>("SELECT value FROM main.counters WHERE name = 'part_changes'")
    .get();
  return row?.value ?? 0;
}

function noteChange(db: Database): void {
  db.run(
    "INSERT INTO counters VALUES ('part_changes', 1) ON CONFLICT (name) DO UPDATE SET value = counters.value + 1",
  );
}

/** By number. Stores of earlier versions, which only a reader meets before they are opened for writing, have none. */
export function readParts(db: Database): Part[] {
  const known = db.query("SELECT 1 FROM main.sqlite_schema WHERE name = 'parts'").get();
  return known === null ? [] : db.query<Part, []>(`${SELECT} ORDER BY no`).all();
}

export function partWith(db: Database, id: number): Part[] {
  return db
    .query<Part, [number]>(`${SELECT} WHERE ?1 BETWEEN min_id AND max_id ORDER BY no`)
    .all(id);
}

export function goneOf(db: Database, no: number): ReadonlySet<number> {
  const rows = db.query<{ id: number }, [number]>('SELECT id FROM main.part_gone WHERE part = ?');
  return new Set(rows.all(no).map(({ id }) => id));
}

export function addPart(db: Database, part: NewPart): void {
  db.query(
    `INSERT INTO parts (no, file, "index", rows, bytes, file_bytes, hash, footer_hash, min_id, max_id, min_time,
       max_time, min_created, max_created)
     VALUES ((SELECT value FROM counters WHERE name = 'next_part'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    part.file,
    part.index,
    part.rows,
    part.bytes,
    part.fileBytes,
    part.hash,
    part.footerHash,
    part.minId,
    part.maxId,
    part.minTime,
    part.maxTime,
    part.minCreated,
    part.maxCreated,
  );
  db.run("UPDATE counters SET value = value + 1 WHERE name = 'next_part'");
  noteChange(db);
}

/** `now`: microseconds. */
export function dropPart(db: Database, { no, file }: Part, now: number): void {
  db.query('DELETE FROM parts WHERE no = ?').run(no);
  db.query('DELETE FROM part_gone WHERE part = ?').run(no);
  db.query('INSERT OR REPLACE INTO parts_dropped VALUES (?, ?)').run(file, now);
  noteChange(db);
}

/** Events of the part that are left, in numbers. */
export type PartRest = Pick<
  Part,
  'bytes' | 'minId' | 'maxId' | 'minTime' | 'maxTime' | 'minCreated' | 'maxCreated'
>;

export function noteGone(db: Database, no: number, ids: readonly number[], rest: PartRest): void {
  const add = db.query('INSERT INTO part_gone VALUES (?, ?)');
  for (const id of ids) add.run(no, id);
  db.query(
    `UPDATE parts SET gone = gone + ?, bytes = ?, min_id = ?, max_id = ?, min_time = ?, max_time = ?, min_created = ?,
     max_created = ? WHERE no = ?`,
  ).run(
    ids.length,
    rest.bytes,
    rest.minId,
    rest.maxId,
    rest.minTime,
    rest.maxTime,
    rest.minCreated,
    rest.maxCreated,
    no,
  );
  noteChange(db);
}

/** In files; 0 for a store of an earlier version. */
export function partBytes(db: Database): number {
  return readParts(db).reduce((sum, { fileBytes }) => sum + fileBytes, 0);
}
