/**
 * Makes parts of events that were stored some time ago, and one part of several small ones or of one that lost many
 * events. Only files are written here: the writer puts a part in the place of its events.
 *
 * Waits for so many events of an index, or until its oldest has waited for a day: so parts are few.
 */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { STRATEGY } from '../limits.ts';
import { EVENTS_FILE } from '../store/schema.ts';
import { firstIdCreatedFrom } from '../store/store.ts';
import { holdOff } from '../store/write-ahead-log.ts';
import { goneOf, type Part, readParts } from './manifest.ts';
import type { SealedRow } from './part-format.ts';
import { PartDamage, PartReader } from './part-reader.ts';
import { writePart } from './part-writer.ts';
import type { SealOrder } from './sealed-store.ts';
import { GroupRows, NO_HINT } from './group-rows.ts';

export interface SealStep {
  readonly stateDir: string;
  /** Events stored before are sealed; microseconds. */
  readonly before: number;
  readonly now: number;
}

/** `ids`: of the rows that became part of it. */
export interface Sealing {
  readonly order: SealOrder;
  readonly ids: readonly number[];
}

const DAY_MICROS = 86_400_000_000;
const SELECT = `SELECT id, created, updated, event_time, time, "index", sourcetype, source, host, data,
  json(fields) AS fields, ascii, bytes FROM events`;

/** Null when there is nothing to do. Throws what the disk throws; no file is left then. */
export function sealStep({ stateDir, before, now }: SealStep): Sealing | null {
  const path = join(stateDir, EVENTS_FILE);
  holdOff(path);
  using db = new Database(path, { readonly: true });
  db.run('PRAGMA busy_timeout = 5000');
  // One snapshot: what is changed later is noticed by the writer.
  db.run('BEGIN');
  const parts = readParts(db);
  const next = db
    .query<{ part: number; change: number }, []>(
      `SELECT (SELECT value FROM counters WHERE name = 'next_part') AS part,
         (SELECT coalesce(max(seq), 0) FROM changed_events) AS change`,
    )
    .get()!;
  const facts = { stateDir, number: next.part, changesSeen: next.change };
  return sealedRows(db, { before, now }, facts) ?? sealedParts(db, parts, facts);
}

interface Facts {
  readonly stateDir: string;
  readonly number: number;
  readonly changesSeen: number;
}

function sealedRows(
  db: Database,
  { before, now }: Pick<SealStep, 'before' | 'now'>,
  facts: Facts,
): Sealing | null {
  const below = firstIdCreatedFrom(db, before);
  const names = db.query<{ name: string }, []>('SELECT name FROM indexes ORDER BY first_id').all();
  for (const { name } of names) {
    const ids = db
      .query<{ id: number; created: number }, [string, number, number]>(
        'SELECT id, created FROM events WHERE "index" = ? AND id < ? ORDER BY time, id LIMIT ?',
      )
      .all(name, below, STRATEGY.partEvents);
    const waits = ids.length < STRATEGY.sealEvents;
    if (ids.length === 0 || (waits && ids.every(({ created }) => created > now - DAY_MICROS)))
      continue;
    const list = JSON.stringify(ids.map(({ id }) => id));
    const rows = db
      .query<SealedRow, [string]>(
        `${SELECT} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY time, id`,
      )
      .iterate(list);
    const chosen: number[] = [];
    const part = writePart(facts.stateDir, bounded(rows, chosen), {
      number: facts.number,
      groupRows: STRATEGY.partGroupEvents,
    });
    return {
      order: { kind: 'seal', part, replaces: [], changesSeen: facts.changesSeen },
      ids: chosen,
    };
  }
  return null;
}

/** Notes the ids of those taken, and takes no more than fit a part. */
function* bounded(rows: Iterable<SealedRow>, chosen: number[]): Generator<SealedRow> {
  let characters = 0;
  for (const row of rows) {
    chosen.push(row.id);
    yield row;
    characters += row.data.length + row.fields.length;
    if (characters > STRATEGY.partCharacters) return;
  }
}

/** Of those of one index that follow one another. */
function sealedParts(db: Database, parts: readonly Part[], facts: Facts): Sealing | null {
  const sorted = parts.toSorted((a, b) =>
    a.index === b.index ? a.minTime - b.minTime : a.index < b.index ? -1 : 1,
  );
  for (const [at, part] of sorted.entries()) {
    const isWorn = part.gone * 4 >= part.rows;
    const chosen = [part];
    let rows = part.rows - part.gone;
    let bytes = part.bytes;
    for (const next of sorted.slice(at + 1)) {
      rows += next.rows - next.gone;
      bytes += next.bytes;
      const fits = rows <= STRATEGY.partEvents && bytes <= STRATEGY.partCharacters;
      if (next.index !== part.index || !fits) break;
      chosen.push(next);
    }
    if (chosen.length < STRATEGY.mergedParts && !isWorn) continue;
    try {
      const events = chosen
        .flatMap((one) => rowsOf(db, one, facts.stateDir))
        .sort((a, b) => a.time - b.time || a.id - b.id);
      const made = writePart(facts.stateDir, events, {
        number: facts.number,
        groupRows: STRATEGY.partGroupEvents,
      });
      const replaces = chosen.map(({ no, gone }) => [no, gone] as const);
      return {
        order: { kind: 'seal', part: made, replaces, changesSeen: facts.changesSeen },
        ids: [],
      };
    } catch (error) {
      // A damaged one stays as it is: whoever reads it is told.
      if (!(error instanceof PartDamage)) throw error;
    }
  }
  return null;
}

function rowsOf(db: Database, part: Part, stateDir: string): SealedRow[] {
  const reader = new PartReader(stateDir, part);
  try {
    const gone = part.gone === 0 ? null : goneOf(db, part.no);
    return reader.groups.flatMap((group) => {
      const rows = new GroupRows(reader, part, group);
      const column = (name: Parameters<GroupRows['column']>[0]) => rows.column(name);
      const [id, created, updated, eventTime, time, bytes] = (
        ['id', 'created', 'updated', 'event_time', 'time', 'bytes'] as const
      ).map((name) => column(name) as (row: number) => number);
      const [sourcetype, source, host, data, fields] = (
        ['sourcetype', 'source', 'host', 'data', 'fields'] as const
      ).map((name) => column(name) as (row: number) => string);
      return [...rows.kept(NO_HINT, gone)].map((row) => ({
        id: id!(row),
        created: created!(row),
        updated: updated!(row),
        event_time: eventTime!(row),
        time: time!(row),
        index: part.index,
        sourcetype: sourcetype!(row),
        source: source!(row),
        host: host!(row),
        data: data!(row),
        fields: fields!(row),
        ascii: group.ascii ? 1 : 0,
        bytes: bytes!(row),
      }));
    });
  } finally {
    reader.close();
  }
}
