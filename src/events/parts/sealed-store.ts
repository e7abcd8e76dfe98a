/**
 * Sealed events as the writer changes them: a part takes the place of rows in one transaction, an event that is changed
 * or deleted is marked as gone, and a part without events is dropped.
 */
import type { Database } from 'bun:sqlite';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { EventRow } from '../event.ts';
import { addPart, dropPart, goneOf, noteGone, type Part, partWith, readParts } from './manifest.ts';
import { PARTS_FOLDER } from './part-format.ts';
import { PartDamage, PartReader } from './part-reader.ts';
import type { NewPart } from './part-writer.ts';
import { GroupRows, NO_HINT } from './group-rows.ts';
import { problemOf, damageText } from './sealed-tier.ts';

/** An event of a part as deletions see it. */
export interface SealedEvent {
  readonly id: number;
  readonly index: string;
  readonly bytes: number;
  readonly created: number;
}

type TimedEvent = SealedEvent & { readonly time: number };

/** A part that was made of rows, and of other parts. */
export interface SealOrder {
  readonly kind: 'seal';
  readonly part: NewPart;
  /** Number and `gone` of each, as they were read. */
  readonly replaces: readonly (readonly [number, number])[];
  /** The last change of an event that was seen. */
  readonly changesSeen: number;
}

/** Searches may run for an hour, and read what was there when they began. */
export const DROPPED_MICROS = 2 * 3_600_000_000;

export class SealedStore {
  readonly #db: Database;
  readonly #stateDir: string;
  /** Of the part read last: deletions often follow one another. */
  #read: {
    readonly no: number;
    readonly gone: number;
    readonly events: readonly TimedEvent[];
  } | null = null;

  constructor(db: Database, stateDir: string) {
    this.#db = db;
    this.#stateDir = stateDir;
  }

  /** Files of no part are removed: those of orders that were never carried out. `now`: microseconds. */
  recover(now: number): void {
    const folder = join(this.#stateDir, PARTS_FOLDER);
    if (!existsSync(folder)) return;
    this.forgetDropped(now);
    const known = new Set([
      ...readParts(this.#db).map(({ file }) => file),
      ...this.#db
        .query<{ file: string }, []>('SELECT file FROM parts_dropped')
        .all()
        .map(({ file }) => file),
    ]);
    for (const { name, parentPath } of readdirSync(folder, {
      withFileTypes: true,
      recursive: true,
    }).filter((entry) => entry.isFile())) {
      const path = join(parentPath, name);
      const file = path.slice(folder.length + 1);
      const isOurs = /^[^/]+\/[^/]+-\d+\.parquet$/.test(file) || /^\.\d+-\d+\.part$/.test(file);
      if (isOurs && !known.has(file)) rmSync(path, { force: true });
    }
  }

  /** Removes files that were dropped long ago. */
  forgetDropped(now: number): void {
    const old = this.#db
      .query<{ file: string }, [number]>('SELECT file FROM parts_dropped WHERE dropped < ?')
      .all(now - DROPPED_MICROS);
    for (const { file } of old) {
      rmSync(join(this.#stateDir, PARTS_FOLDER, file), { force: true });
      this.#db.query('DELETE FROM parts_dropped WHERE file = ?').run(file);
    }
  }

  /** Null when done, else why not; nothing is changed then. Call inside the transaction. */
  seal(order: SealOrder, ids: readonly number[], now: number): string | null {
    const { part, replaces, changesSeen } = order;
    const known = readParts(this.#db);
    if (known.some(({ file }) => file === part.file)) return null;
    const path = join(this.#stateDir, PARTS_FOLDER, part.file);
    if (statSync(path, { throwIfNoEntry: false })?.size !== part.fileBytes)
      return 'its file is not there';
    const old = replaces.map(([no, gone]) =>
      known.find((one) => one.no === no && one.gone === gone),
    );
    const list = JSON.stringify(ids);
    const counted = (sql: string, ...params: (string | number)[]): number =>
      this.#db.query<{ n: number }, (string | number)[]>(sql).get(...params)!.n;
    const held = 'SELECT count(*) AS n FROM events WHERE id IN (SELECT value FROM json_each(?))';
    const changed =
      'SELECT count(*) AS n FROM changed_events WHERE seq > ? AND id IN (SELECT value FROM json_each(?))';
    const isSame =
      old.every((one) => one !== undefined) &&
      counted(held, list) === ids.length &&
      counted(changed, changesSeen, list) === 0;
    if (!isSame) {
      rmSync(path, { force: true });
      return 'events were changed meanwhile';
    }
    addPart(this.#db, part);
    this.#db.query('DELETE FROM events WHERE id IN (SELECT value FROM json_each(?))').run(list);
    for (const one of old) dropPart(this.#db, one!, now);
    return null;
  }

  /** Throws `unavailable` for a damaged part. */
  find(id: number): (EventRow & Pick<SealedEvent, 'bytes'> & { readonly part: Part }) | null {
    let damage: unknown = null;
    for (const part of partWith(this.#db, id)) {
      if (part.gone > 0 && goneOf(this.#db, part.no).has(id)) continue;
      const look = (reader: PartReader) => {
        for (const group of reader.groups) {
          if (id < group.minId || id > group.maxId) continue;
          const rows = new GroupRows(reader, part, group);
          const [row] = rows.kept({ ...NO_HINT, lowestId: id, highestId: id }, null);
          if (row === undefined) continue;
          const text = (name: 'sourcetype' | 'source' | 'host' | 'data' | 'fields'): string =>
            String(rows.column(name)(row));
          const number = (name: 'created' | 'updated' | 'bytes'): number =>
            Number(rows.column(name)(row));
          return {
            id,
            index: part.index,
            sourcetype: text('sourcetype'),
            source: text('source'),
            host: text('host'),
            data: text('data'),
            created: number('created'),
            updated: number('updated'),
            fields: text('fields'),
            bytes: number('bytes'),
            part,
          };
        }
        return null;
      };
      try {
        const found = this.#reading(part, look);
        if (found !== null) return found;
      } catch (error) {
        damage = error;
      }
    }
    // It may be in the part that cannot be read.
    if (damage !== null) throw damage;
    return null;
  }

  /** Events that are left, by id. Throws `unavailable` for a damaged part. */
  eventsOf(part: Part): readonly TimedEvent[] {
    if (this.#read?.no === part.no && this.#read.gone === part.gone) return this.#read.events;
    const gone = part.gone === 0 ? null : goneOf(this.#db, part.no);
    const events = this.#reading(part, (reader) =>
      reader.groups.flatMap((group): TimedEvent[] => {
        const numbers = (name: 'id' | 'bytes' | 'created' | 'time') =>
          reader.numbers(group, name).numbers;
        const [ids, bytes, created, times] = [
          numbers('id'),
          numbers('bytes'),
          numbers('created'),
          numbers('time'),
        ];
        return [...ids].flatMap((id, at) =>
          gone?.has(id) === true
            ? []
            : { id, index: part.index, bytes: bytes[at]!, created: created[at]!, time: times[at]! },
        );
      }),
    ).sort((a, b) => a.id - b.id);
    this.#read = { no: part.no, gone: part.gone, events };
    return events;
  }

  /** As `eventsOf`; null for a damaged part. */
  readable(part: Part): readonly TimedEvent[] | null {
    try {
      return this.eventsOf(part);
    } catch (error) {
      if (error instanceof AppError && error.cause instanceof PartDamage) return null;
      throw error;
    }
  }

  /** Some of its events. `now`: microseconds. */
  remove(part: Part, ids: ReadonlySet<number>, now: number): void {
    const left = this.eventsOf(part).filter(({ id }) => !ids.has(id));
    if (left.length === 0) return dropPart(this.#db, part, now);
    const rest = {
      bytes: 0,
      minId: Infinity,
      maxId: -Infinity,
      minTime: Infinity,
      maxTime: -Infinity,
      minCreated: Infinity,
      maxCreated: -Infinity,
    };
    for (const { id, bytes, created, time } of left) {
      rest.bytes += bytes;
      rest.minId = Math.min(rest.minId, id);
      rest.maxId = Math.max(rest.maxId, id);
      rest.minTime = Math.min(rest.minTime, time);
      rest.maxTime = Math.max(rest.maxTime, time);
      rest.minCreated = Math.min(rest.minCreated, created);
      rest.maxCreated = Math.max(rest.maxCreated, created);
    }
    noteGone(this.#db, part.no, [...ids], rest);
    this.#read = { no: part.no, gone: part.gone + ids.size, events: left };
  }

  #reading<Result>(part: Part, read: (reader: PartReader) => Result): Result {
    let reader: PartReader | null = null;
    try {
      reader = new PartReader(this.#stateDir, part);
      return read(reader);
    } catch (error) {
      if (!(error instanceof PartDamage)) throw error;
      throw new AppError('unavailable', damageText(problemOf(part, error.message)), {
        cause: error,
      });
    } finally {
      reader?.close();
    }
  }
}
