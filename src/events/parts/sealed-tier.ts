/**
 * Sealed events by row groups that may meet conditions: as columns, or loaded into a table of a database in memory that
 * looks like the one of the hot tier, so that both are asked by the same SQL and answer the same.
 *
 * Loaded is what a statement names, of rows that may meet its conditions: those are tested again by the statement. A
 * part that cannot be read is left out and told in `problems`.
 */
import { Database } from 'bun:sqlite';
import type { Selection } from '../../columns/column.ts';
import { timeText } from '../event-time.ts';
import { registerTermFunctions } from '../read/term.ts';
import { goneOf, type Part, partChanges, readParts } from './manifest.ts';
import { membersIn } from './field-columns.ts';
import {
  type Cells,
  COLUMNS,
  GroupRows,
  type Named,
  type PartHint,
  placesOf,
} from './group-rows.ts';
import { type Group, PartDamage, PartReader } from './part-reader.ts';

export interface PartProblem {
  readonly part: string;
  readonly events: number;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

export function problemOf(part: Part, reason: string): PartProblem {
  const { file, rows, gone, minTime, maxTime } = part;
  return {
    part: file,
    events: rows - gone,
    from: timeText(minTime),
    to: timeText(maxTime),
    reason,
  };
}

export function problemText(problem: PartProblem): string {
  return `The answer is incomplete: ${damageText(problem)}`;
}

export function damageText({ part, events, from, to, reason }: PartProblem): string {
  return `${events} event(s) from ${from} to ${to} cannot be read, because events/${part} is damaged: ${reason}`;
}

interface Totals {
  readonly rows: number;
  readonly minTime: number;
  readonly maxTime: number;
}

/** Of rows, with their keys as `k0` and `k1`. */
export type MergeOrder = 'id' | 'id DESC' | 'time' | 'time DESC, id DESC';

export interface Keyed {
  readonly k0: number;
  readonly k1: number;
}

export const ORDER_KEYS: Readonly<Record<MergeOrder, string>> = {
  id: 'id AS k0, 0 AS k1',
  'id DESC': 'id AS k0, 0 AS k1',
  time: 'time AS k0, 0 AS k1',
  'time DESC, id DESC': 'time AS k0, id AS k1',
};

/** Open files are kept for the next snapshot. */
const MAX_OPEN = 128;
const MAX_TABLES = 4;
const INSERT_ROWS = 40;

export class SealedTier {
  readonly #db: Database;
  readonly #stateDir: string;
  readonly #open = new Map<string, PartReader>();
  readonly #free: Database[] = [];
  /** As of `#seen` changes. Ten thousand take 30 ms to read. */
  #parts: readonly Part[] | null = null;
  /** Null until this snapshot was asked. */
  #changes: number | null = null;
  #seen: number | null = null;
  readonly #gone = new Map<number, ReadonlySet<number>>();
  readonly #problems = new Map<number, PartProblem>();
  readonly #plain = new Set<string>();
  /** Found by `verify`: left out as a whole from then on. */
  readonly #unsound = new Map<number, PartProblem>();

  /** `db`: the hot tier, whose snapshot counts. */
  constructor(db: Database, stateDir: string) {
    this.#db = db;
    this.#stateDir = stateDir;
  }

  /** The snapshot is another one. */
  forget(): void {
    this.#changes = null;
    this.#plain.clear();
    this.#problems.clear();
    for (const [no, problem] of this.#unsound) this.#problems.set(no, problem);
  }

  /** Met in this snapshot so far. */
  get problems(): readonly PartProblem[] {
    return [...this.#problems.values()];
  }

  /** Members that were asked for in this snapshot and are no columns in some part. */
  get plainMembers(): readonly string[] {
    return [...this.#plain];
  }

  get parts(): readonly Part[] {
    if (this.#changes !== null) return this.#parts!;
    const changes = partChanges(this.#db);
    if (this.#parts === null || changes !== this.#seen) {
      this.#parts = readParts(this.#db);
      this.#gone.clear();
    }
    this.#seen = this.#changes = changes;
    return this.#parts;
  }

  get isEmpty(): boolean {
    return this.parts.length === 0;
  }

  highestId(): number {
    return this.parts.reduce((most, { maxId }) => Math.max(most, maxId), 0);
  }

  /** Those that may have such events. */
  partsFor(hint: PartHint): Part[] {
    const indexes = hint.indexes && new Set(hint.indexes);
    return this.parts.filter(
      (part) => (indexes === null || indexes.has(part.index)) && isWithin(part, hint),
    );
  }

  /** Reads the parts as a whole, each once in a process; damaged ones are then in `problems`. */
  verify(hint: PartHint): void {
    for (const part of this.partsFor(hint)) {
      try {
        this.#reader(part).requireHash(part);
      } catch (error) {
        this.#note(part, error);
        this.#unsound.set(part.no, this.#problems.get(part.no)!);
      }
    }
  }

  /** One after the other; valid until the next is asked for. `sql`: names the columns that are loaded. */
  *tables(hint: PartHint, sql: string): Generator<Database> {
    const columns = new NeededColumns(sql);
    for (const part of this.partsFor(hint)) {
      for (const group of this.#groups(part, hint)) {
        const db = this.#load(part, group, hint, columns);
        if (db === null) continue;
        try {
          yield db;
        } finally {
          this.#release(db);
        }
      }
    }
  }

  /** Of the events that meet the hint, by runs; of a part or a group as a whole without reading it. */
  *totals(hint: PartHint): Generator<Totals> {
    const isBounded = [hint.terms, hint.texts, hint.members, hint.times].every(
      ({ length }) => length === 0,
    );
    for (const part of this.partsFor(hint)) {
      if (isBounded && isInside(part, hint)) {
        yield { ...part, rows: part.rows - part.gone };
        continue;
      }
      for (const group of this.#groups(part, hint)) {
        if (isBounded && part.gone === 0 && isInside(group, hint)) {
          yield group;
          continue;
        }
        const totals = this.#take(part, group, hint, (rows, selection) => {
          const timeAt = rows.column('time') as (row: number) => number;
          const places = placesOf(selection, rows.rows);
          // In order of time.
          const [first, last] = [places[0]!, places[places.length - 1]!];
          return { rows: places.length, minTime: timeAt(first), maxTime: timeAt(last) };
        });
        if (totals !== null) yield totals;
      }
    }
  }

  /**
   * What `take` makes of each row group, one after the other. It reads all columns it needs, so that a group is read
   * as a whole or not at all; null for nothing.
   */
  *groups<Taken>(
    hint: PartHint,
    take: (rows: GroupRows, selection: Selection) => Taken | null,
  ): Generator<Taken> {
    for (const part of this.partsFor(hint)) {
      for (const group of this.#groups(part, hint)) {
        const taken = this.#take(part, group, hint, take);
        if (taken !== null) yield taken;
      }
    }
  }

  /** As `merged`; `take` as for `groups`, it gives the row at a place. */
  mergedGroups<Row extends object>(
    order: MergeOrder,
    hint: PartHint,
    hot: Iterable<Row & Keyed>,
    take: (
      rows: GroupRows,
      selection: Selection,
    ) => { readonly selection: Selection; readonly rowAt: (place: number) => Row } | null,
  ): Generator<Row & Keyed> {
    return this.#merged(order, hint, hot, (part, group) => {
      const rows = this.#take(part, group, hint, (rows, selection) => {
        const taken = take(rows, selection);
        return taken && keyedRows(order, rows, taken.selection, taken.rowAt);
      });
      return rows && new Cursor(rows, () => {});
    });
  }

  /**
   * Rows of both tiers in one order: `hot` gives those of the hot tier, `read` those of one table. Groups are loaded
   * when the order reaches them.
   */
  merged<Row extends Keyed>(
    order: MergeOrder,
    { hint, sql }: { readonly hint: PartHint; readonly sql: string },
    hot: Iterable<Row>,
    read: (db: Database) => Iterable<Row>,
  ): Generator<Row> {
    const columns = new NeededColumns(sql);
    return this.#merged(order, hint, hot, (part, group) => {
      const db = this.#load(part, group, hint, columns);
      return db && new Cursor(read(db)[Symbol.iterator](), () => this.#release(db));
    });
  }

  *#merged<Row extends Keyed>(
    order: MergeOrder,
    hint: PartHint,
    hot: Iterable<Row>,
    open: (part: Part, group: Group) => Cursor<Row> | null,
  ): Generator<Row> {
    const sign = order.endsWith('DESC') ? -1 : 1;
    const bound = (one: Part | Group): number =>
      order.startsWith('id')
        ? sign > 0
          ? one.minId
          : one.maxId
        : sign > 0
          ? one.minTime
          : one.maxTime;
    const waiting: { readonly bound: number; readonly part: Part; readonly group: Group | null }[] =
      this.partsFor(hint).map((part) => ({ bound: bound(part), part, group: null }));
    waiting.sort((a, b) => (b.bound - a.bound) * sign);
    const cursors: Cursor<Row>[] = [];
    const add = (cursor: Cursor<Row>): void => {
      if (cursor.step()) cursors.push(cursor);
    };
    try {
      add(new Cursor(hot[Symbol.iterator](), () => {}));
      for (;;) {
        let best = least(cursors, sign);
        // Equal times may be in a group that is not open yet.
        while (waiting.length > 0) {
          const next = waiting.at(-1)!;
          if (best !== null && (next.bound - best.row.k0) * sign > 0) break;
          waiting.pop();
          const { part, group } = next;
          if (group === null) {
            for (const one of this.#groups(part, hint))
              waiting.push({ bound: bound(one), part, group: one });
            waiting.sort((a, b) => (b.bound - a.bound) * sign);
            continue;
          }
          const cursor = open(part, group);
          if (cursor === null) continue;
          add(cursor);
          best = least(cursors, sign);
        }
        if (best === null) return;
        yield best.row;
        if (!best.step()) cursors.splice(cursors.indexOf(best), 1);
      }
    } finally {
      for (const cursor of cursors) cursor.end();
    }
  }

  close(): void {
    for (const reader of this.#open.values()) reader.close();
    this.#open.clear();
    for (const db of this.#free.splice(0)) db.close();
  }

  #reader(part: Part): PartReader {
    const key = `${part.file} ${part.footerHash}`;
    let reader = this.#open.get(key);
    if (reader === undefined) reader = new PartReader(this.#stateDir, part);
    this.#open.delete(key);
    this.#open.set(key, reader);
    if (this.#open.size > MAX_OPEN) {
      const [oldest] = this.#open.keys();
      this.#open.get(oldest!)!.close();
      this.#open.delete(oldest!);
    }
    return reader;
  }

  #note(part: Part, error: unknown): void {
    if (!(error instanceof PartDamage)) throw error;
    this.#problems.set(part.no, problemOf(part, error.message));
  }

  #groups(part: Part, hint: PartHint): Group[] {
    if (this.#problems.has(part.no)) return [];
    try {
      const reader = this.#reader(part);
      return reader.groups.filter((group) => {
        if (!isWithin(group, hint)) return false;
        const texts = hint.terms.map(({ folded }) => folded);
        return texts.length === 0 || reader.mayHave(group, texts);
      });
    } catch (error) {
      this.#note(part, error);
      return [];
    }
  }

  /** Null when no row is left. */
  #load(part: Part, group: Group, hint: PartHint, columns: NeededColumns): Database | null {
    return this.#take(part, group, hint, (rows, selection) => {
      const kept = placesOf(selection, rows.rows);
      const values = COLUMNS.map((name) => columns.of(rows, name));
      const db = this.#free.pop() ?? newTable();
      insert(db, kept, values);
      return db;
    });
  }

  #take<Taken>(
    part: Part,
    group: Group,
    hint: PartHint,
    take: (rows: GroupRows, selection: Selection) => Taken | null,
  ): Taken | null {
    if (this.#problems.has(part.no)) return null;
    try {
      const note = (member: string): unknown => this.#plain.add(member);
      const rows = new GroupRows(this.#reader(part), part, group, note);
      const selection = rows.selection(hint, part.gone === 0 ? null : this.#goneOf(part.no));
      return selection?.includes(1) === false ? null : take(rows, selection);
    } catch (error) {
      this.#note(part, error);
      return null;
    }
  }

  #goneOf(no: number): ReadonlySet<number> {
    let gone = this.#gone.get(no);
    if (gone === undefined) this.#gone.set(no, (gone = goneOf(this.#db, no)));
    return gone;
  }

  #release(db: Database): void {
    if (this.#free.length >= MAX_TABLES) return db.close();
    db.run('DELETE FROM events');
    this.#free.push(db);
  }
}

function isWithin(
  { minId, maxId, minTime, maxTime }: Part | Group,
  { earliest, latest, lowestId, highestId }: PartHint,
): boolean {
  return (
    maxId >= (lowestId ?? -Infinity) &&
    minId <= (highestId ?? Infinity) &&
    maxTime >= (earliest ?? -Infinity) &&
    minTime <= (latest ?? Infinity)
  );
}

function isInside(
  { minId, maxId, minTime, maxTime }: Part | Group,
  { earliest, latest, lowestId, highestId }: PartHint,
): boolean {
  return (
    minId >= (lowestId ?? -Infinity) &&
    maxId <= (highestId ?? Infinity) &&
    minTime >= (earliest ?? -Infinity) &&
    maxTime <= (latest ?? Infinity)
  );
}

/** What a statement reads. A name in a text of another meaning only loads more. */
class NeededColumns {
  readonly #names: ReadonlySet<Named>;
  /** Null for all of `fields`. */
  readonly #members: readonly string[] | null;

  constructor(sql: string) {
    this.#names = new Set(COLUMNS.filter((name) => new RegExp(`\\b${name}\\b`).test(sql)));
    this.#members = membersIn(sql);
  }

  of(rows: GroupRows, name: Named): Cells | null {
    if (!this.#names.has(name)) return null;
    const own = name === 'fields' && this.#members !== null ? rows.fieldsOf(this.#members) : null;
    return own ?? rows.column(name);
  }
}

function newTable(): Database {
  const db = new Database(':memory:');
  registerTermFunctions(db);
  db.run(`CREATE TABLE events (id INTEGER PRIMARY KEY, created INTEGER, updated INTEGER, event_time INTEGER,
    "index" TEXT, sourcetype TEXT, source TEXT, host TEXT, data TEXT, fields BLOB, ascii INTEGER, bytes INTEGER,
    time INTEGER) STRICT`);
  return db;
}

const ROW = '(?, ?, ?, ?, ?, ?, ?, ?, ?, jsonb(?), ?, ?, ?)';

function insert(db: Database, kept: Uint32Array, columns: readonly (Cells | null)[]): void {
  const many = db.query(`INSERT INTO events VALUES ${new Array(INSERT_ROWS).fill(ROW).join(', ')}`);
  const one = db.query(`INSERT INTO events VALUES ${ROW}`);
  db.run('BEGIN');
  for (let from = 0; from < kept.length;) {
    const isFull = kept.length - from >= INSERT_ROWS;
    const to = isFull ? from + INSERT_ROWS : from + 1;
    const values: (string | number | null)[] = [];
    for (; from < to; from++)
      for (const column of columns) values.push(column?.(kept[from]!) ?? null);
    (isFull ? many : one).run(...values);
  }
  db.run('COMMIT');
}

/** Sorts rows below `count` by whole numbers: those of a group are near each other. */
function sortBy(places: Uint32Array, keyOf: (place: number) => number, count: number): void {
  let least = Infinity;
  for (const place of places) least = Math.min(least, keyOf(place));
  const keys = Float64Array.from(places, (place) => (keyOf(place) - least) * count + place);
  // Without a comparison that is called: a tenth of the time.
  if (keys.every(Number.isSafeInteger))
    keys.sort().forEach((key, at) => (places[at] = key % count));
  else places.sort((a, b) => keyOf(a) - keyOf(b));
}

/** Rows of a group, which are in the order of time and id. */
function keyedRows<Row extends object>(
  order: MergeOrder,
  rows: GroupRows,
  selection: Selection,
  rowAt: (place: number) => Row,
): Iterator<Row & Keyed> {
  const places = placesOf(selection, rows.rows);
  const ids = rows.column('id') as (row: number) => number;
  const times = order.startsWith('time') ? (rows.column('time') as typeof ids) : null;
  if (times === null) sortBy(places, ids, rows.rows);
  if (order.endsWith('DESC')) places.reverse();
  return Iterator.from(places).map((place): Row & Keyed => {
    const keys = times === null ? { k0: ids(place), k1: 0 } : { k0: times(place), k1: ids(place) };
    return Object.assign(rowAt(place), keys);
  });
}

class Cursor<Row> {
  row!: Row;
  readonly #rows: Iterator<Row>;
  readonly #release: () => void;

  constructor(rows: Iterator<Row>, release: () => void) {
    this.#rows = rows;
    this.#release = release;
  }

  /** False after the last row; it is over then. */
  step(): boolean {
    const { done, value } = this.#rows.next();
    if (done === true) {
      this.#release();
      return false;
    }
    this.row = value;
    return true;
  }

  end(): void {
    this.#rows.return?.();
    this.#release();
  }
}

function least<Row extends Keyed>(
  cursors: readonly Cursor<Row>[],
  sign: number,
): Cursor<Row> | null {
  let best: Cursor<Row> | null = null;
  for (const cursor of cursors) {
    const order = best === null ? -1 : cursor.row.k0 - best.row.k0 || cursor.row.k1 - best.row.k1;
    if (best === null || order * sign < 0) best = cursor;
  }
  return best;
}
