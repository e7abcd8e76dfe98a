/**
 * The tables of `<state>/events.sqlite`: every stored event, and what is kept with it in the same transactions.
 *
 * One process writes (writer.ts), any number read. Frequently used members are columns; `fields` is JSONB, because
 * grouping and filtering by a member is 1.6 to 2.3 times as fast as in JSON text and 8 % smaller. JSONB keeps the
 * digits of a number. No foreign keys, and secondary indexes only for times: each one costs every insert about 10 %.
 */
import type { Database } from 'bun:sqlite';
import { PART_TABLES } from '../parts/manifest.ts';

export const EVENTS_FILE = 'events.sqlite';
/** `svce`, to recognise our file. */
export const EVENTS_APPLICATION_ID = 0x73_76_63_65;
/** `user_version` of the newest schema this executable knows. */
export const EVENTS_SCHEMA_VERSION = 3;

/** `next`: next number of the channel; `used`: microseconds of its last use. */
const ACK_CHANNELS = `CREATE TABLE ack_channels (
    sender TEXT NOT NULL,
    channel TEXT NOT NULL,
    next INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (sender, channel)
  ) STRICT, WITHOUT ROWID`;

/**
 * Times in `events` are microseconds since the epoch; `time` is `_time`. Members of `fields` are `fields ->>
 * '$.user'`, its text is `json(fields)`; an event without fields has `{}`.
 *
 * `ascii` is 1 when all texts of the row are ASCII; then SQLite's LIKE finds a folded term (see term.ts). `bytes` is
 * the size that counts for retention. `indexes.first_id`: no event of that index has a smaller id. `changed_events`:
 * events whose text was replaced after they were stored, for readers of an older substring index. `counters` holds
 * `next_id` (ids are never reused, even after the newest event was deleted) and `last_created` (`created` never
 * decreases with the id).
 */
const SCHEMA: readonly string[] = [
  `CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    event_time INTEGER,
    "index" TEXT NOT NULL,
    sourcetype TEXT NOT NULL,
    source TEXT NOT NULL,
    host TEXT NOT NULL,
    data TEXT NOT NULL,
    fields BLOB NOT NULL,
    ascii INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    time INTEGER AS (coalesce(event_time, created)) VIRTUAL
  ) STRICT`,
  'CREATE INDEX events_by_time ON events (time)',
  'CREATE INDEX events_by_index ON events ("index", time)',
  `CREATE TABLE indexes (
    name TEXT PRIMARY KEY,
    events INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    first_id INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE changed_events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE replies (
    user_id INTEGER NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash BLOB NOT NULL,
    answer TEXT NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (user_id, route, key)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX replies_by_created ON replies (created)',
  `CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  ACK_CHANNELS,
  // A substring index belongs to one store; this identifies it, should another take its place.
  'CREATE TABLE identity (store TEXT NOT NULL) STRICT',
  'INSERT INTO identity VALUES (lower(hex(randomblob(16))))',
  "INSERT INTO counters VALUES ('next_id', 1), ('last_created', 0)",
  ...PART_TABLES,
  `PRAGMA application_id = ${EVENTS_APPLICATION_ID}`,
  `PRAGMA user_version = ${EVENTS_SCHEMA_VERSION}`,
];

const UPGRADES: Readonly<Record<number, readonly string[]>> = {
  1: [ACK_CHANNELS, ...PART_TABLES, 'PRAGMA user_version = 3'],
  2: [...PART_TABLES, 'PRAGMA user_version = 3'],
};

/** Also adds the tables that an older version lacks. */
export function createEventSchema(db: Database): void {
  const { user_version: version } = db
    .query<{ user_version: number }, []>('PRAGMA user_version')
    .get()!;
  const statements = version === 0 ? SCHEMA : UPGRADES[version];
  if (statements === undefined) return;
  db.transaction(() => {
    for (const statement of statements) db.run(statement);
  }).immediate();
}
