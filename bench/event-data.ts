/**
 * An event store with a fixed seed, its substring index, and the same events as NDJSON. Made once into bench/data.
 *
 * The events lie in the two days before END; queries that ask for the last day get it as a parameter, so that the same
 * rows are found whenever the benchmark runs.
 */
import { Database } from 'bun:sqlite';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Indexer } from '../src/events/read/indexer.ts';
import { createEventSchema, EVENTS_FILE } from '../src/events/store/schema.ts';
import { INDEX_FILE } from '../src/events/read/text-index.ts';
import { sealed } from '../test/support/sealed.ts';
import { DATA_DIR, randomSource } from './data.ts';

/** When the newest event was stored, in microseconds. */
const END_MICROS = Date.parse('2026-11-20T10:00:00Z') * 1000;
const SPAN_MICROS = 2 * 86_400_000_000;
/** A day before the newest event. */
export const LAST_DAY = '2026-11-19T10:00:00.000000Z';
/** Stands in the text of three events. */
export const NEEDLE = 'a1b2c3d4e5';
/** As rare, and too short for a substring index. */
export const SHORT_NEEDLE = 'zq';
/** Events in the default run. */
export const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 1_000_000);
const HOSTS = 20;
const OWNERS = ['soc', 'web', 'lab', 'ops'];
const LEVELS = ['info', 'info', 'info', 'info', 'info', 'info', 'warn', 'warn', 'error', 'fatal'];
const STATUSES = [200, 200, 200, 200, 200, 204, 301, 404, 500, 503];
const METHODS = ['GET', 'GET', 'POST', 'PUT'];

/** Files of a store. */
export interface EventData {
  readonly store: string;
  readonly index: string;
  readonly lines: string;
}

interface MadeEvent {
  readonly index: string;
  readonly host: string;
  readonly data: string;
  readonly fields: string;
  readonly created: number;
  readonly eventTime: number | null;
}

/** The owners of the hosts, for lookups. */
export const ASSETS_CSV = `host,owner\n${Array.from({ length: HOSTS }, (_, at) => `h${at},${OWNERS[at % OWNERS.length]}\n`).join('')}`;

/** The files of a store of so many events, made on first use: two minutes for a million. */
export async function eventData(events: number): Promise<EventData> {
  const folder = join(DATA_DIR, `events-${events}`);
  const data = {
    store: join(folder, EVENTS_FILE),
    index: join(folder, INDEX_FILE),
    lines: join(folder, 'events.ndjson'),
  };
  if (existsSync(folder)) return data;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  await write(events, part);
  const indexer = new Indexer(part);
  while (indexer.step());
  indexer.close();
  fold(join(part, INDEX_FILE));
  renameSync(part, folder);
  return data;
}

/** Puts copies of the store into a state directory; with its substring index unless told otherwise. */
export function placeStore(data: EventData, stateDir: string, hasIndex = true): void {
  mkdirSync(stateDir, { recursive: true });
  copyFileSync(data.store, join(stateDir, EVENTS_FILE));
  if (hasIndex) copyFileSync(data.index, join(stateDir, INDEX_FILE));
}

/** The folder of the same store with all of its events sealed, made on first use: a minute for a million. */
export async function sealedEventData(events: number): Promise<string> {
  const { store } = await eventData(events);
  const folder = join(DATA_DIR, `events-${events}-sealed`);
  if (existsSync(folder)) return folder;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  copyFileSync(store, join(part, EVENTS_FILE));
  sealed(part, END_MICROS + 1);
  const db = new Database(join(part, EVENTS_FILE));
  db.run('VACUUM');
  db.close();
  fold(join(part, EVENTS_FILE));
  renameSync(part, folder);
  return folder;
}

/** Bytes of its Parquet files. */
export function sealedBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith('.parquet'))
    .reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0);
}

async function write(events: number, folder: string): Promise<void> {
  const path = join(folder, EVENTS_FILE);
  const db = new Database(path, { create: true });
  db.run('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  createEventSchema(db);
  const lines = await open(join(folder, 'events.ndjson'), 'w');
  const insert = db.prepare(
    `INSERT INTO events (id, created, updated, event_time, "index", sourcetype, source, host, data, fields, ascii, bytes)
     VALUES (?1, ?2, ?2, ?3, ?4, 'plain', 'bench', ?5, ?6, jsonb(?7), 1, ?8)`,
  );
  const totals = new Map<string, { events: number; bytes: number; first: number }>();
  const random = randomSource();
  let text = '';
  db.run('BEGIN');
  for (let id = 1; id <= events; id++) {
    const { index, host, data, fields, created, eventTime } = madeEvent(id, events, random);
    const bytes = data.length + fields.length + index.length + host.length + 10;
    insert.run(id, created, eventTime, index, host, data, fields, bytes);
    const total = totals.get(index) ?? { events: 0, bytes: 0, first: id };
    total.events++;
    total.bytes += bytes;
    totals.set(index, total);
    text += `{"id":${id},"index":"${index}","sourcetype":"plain","source":"bench","host":"${host}","data":${JSON.stringify(data)},"extracted_fields":${fields}}\n`;
    if (text.length < 2 ** 20 && id < events) continue;
    await lines.writeFile(text);
    text = '';
  }
  for (const [name, total] of totals)
    db.run('INSERT INTO indexes VALUES (?, ?, ?, ?)', [
      name,
      total.events,
      total.bytes,
      total.first,
    ]);
  db.run("UPDATE counters SET value = ? WHERE name = 'next_id'", [events + 1]);
  db.run("UPDATE counters SET value = ? WHERE name = 'last_created'", [END_MICROS]);
  db.run('COMMIT');
  insert.finalize();
  db.close();
  await lines.close();
  fold(path);
}

/** Log lines of three indexes; every third event carries a time of its own. */
function madeEvent(id: number, events: number, random: () => number): MadeEvent {
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!;
  const created = END_MICROS - Math.floor(((events - id) / events) * SPAN_MICROS);
  const kind = random();
  const index = kind < 0.6 ? 'web' : kind < 0.7 ? 'auth' : 'app';
  const host = `h${Math.floor(random() * HOSTS)}`;
  const user = `u${Math.floor(random() * 300)}`;
  const status = pick(STATUSES);
  const bytes = Math.floor(random() * 60_000);
  const level = pick(LEVELS);
  const trace = Math.floor(random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0');
  const needle = id % Math.ceil(events / 3) === 1 ? ` token=${NEEDLE} mark=${SHORT_NEEDLE}` : '';
  const action =
    index === 'auth'
      ? `${random() < 0.3 ? 'Failed' : 'Accepted'} login for ${user} from 10.0.${Math.floor(random() * 4)}.${Math.floor(random() * 250)} port 22`
      : `${pick(METHODS)} /api/items/${Math.floor(random() * 5000)} the quick brown fox jumps over the lazy dog`;
  const data =
    `${new Date(created / 1000).toISOString()} ${level} ${host} ${action} status=${status} bytes=${bytes} ` +
    `user=${user} took=${Math.floor(random() * 900)}ms trace=${trace}${needle} attempt=${id}`;
  const fields = JSON.stringify({ status, bytes, user, level, trace });
  const eventTime = id % 3 === 0 ? created - Math.floor(random() * 3_000_000) : null;
  return { index, host, data, fields, created, eventTime };
}

/** Leaves no log beside the database. */
function fold(path: string): void {
  const db = new Database(path);
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}
