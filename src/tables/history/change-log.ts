/**
 * What edits did to the rows of each table: by whom, when, and every cell before and after; and which files were
 * replaced as a whole, whose contents `docroot/file-versions.ts` keeps.
 *
 * An entry is written before its file is replaced, without a sync of its own: the audit entry that every answer waits
 * for is written to the same database and synced after it. Entries whose replacement is not known to have happened are
 * `open`; the next look at their table compares them with its rows.
 *
 * Bounded in age, number and bytes (`HistoryLimits`); the newest entry of a table stays.
 */
import { timestamp } from '../../base/clock.ts';
import { AppError, asNoSpace } from '../../base/errors.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import type { Database, SqlValue } from '../../store/database.ts';
import type { Table } from '../copy/table.ts';
import {
  type CellValues,
  decodeChanges,
  encodeChanges,
  mergeChanges,
  type RowChange,
} from './row-change.ts';

/** A file, and the sheet of a workbook. */
export interface TableKey {
  readonly rel: string;
  readonly sheet: string | null;
}

export interface HistoryLimits {
  readonly enabled: boolean;
  /** False: what cannot be kept stops no change. */
  readonly required: boolean;
  readonly max_age_days: number;
  readonly max_changes_per_table: number;
  readonly max_bytes_per_table: number;
  readonly max_bytes: number;
}

export interface NewEntry {
  readonly userId: number;
  readonly username: string;
  readonly action: string;
  readonly changes: readonly RowChange[];
  /** The entries it takes back, and of which rows; null: of all. */
  readonly undoes?:
    { readonly ids: readonly number[]; readonly rowIds: readonly number[] | null } | undefined;
}

/** A content of a file. */
export interface KeptContent {
  /** SHA-256 in lower-case hex. */
  readonly hash: string;
  readonly size: number;
}

/** A file that is replaced as a whole, or deleted. */
export interface NewFileEntry extends Pick<NewEntry, 'userId' | 'username' | 'action'> {
  /** What it held before; null: not kept. */
  readonly version: KeptContent | null;
  /** Bytes that takes. */
  readonly storedBytes: number;
  readonly undoes?: number | undefined;
}

/** What another program did, by `table-difference.ts`. */
export interface OtherChange {
  /** `Table.numbering` of the rows before. */
  readonly before: string;
  /** When the file was written, epoch milliseconds. */
  readonly writtenAt: number;
  readonly rowCount: number;
  /** Null: not kept. */
  readonly map: Uint8Array | null;
  readonly pieces: readonly Piece[];
}

/** How to get from the rows after an entry to those before it. */
export interface BackStep {
  readonly id: number;
  /** Of a change of the whole table: the numbering of the rows before, and its map. */
  readonly map: { readonly before: string; readonly bytes: Uint8Array | null } | null;
}

export interface Entry {
  readonly id: number;
  /** RFC 3339. */
  readonly at: string;
  /** Empty: another program. */
  readonly username: string;
  readonly action: string;
  readonly rowCount: number;
  /** `unsure`: the server stopped during the edit, and the rows are neither as before nor as after it. */
  readonly state: 'made' | 'unsure';
  readonly undoes: readonly number[];
  /** `Table.numbering`: the row ids of it mean other rows under another one. */
  readonly numbering: string;
  /** Of the whole file: what it held before. */
  readonly version: KeptContent | null;
  /** The table was numbered anew by it; `lost`: what it did is not kept. */
  readonly other: 'kept' | 'lost' | null;
  /** Rows of it that later entries took back. */
  readonly undone: 'all' | ReadonlySet<number>;
}

export interface EntryFilter {
  /** Older than this entry. */
  readonly before?: number;
  /** Newer than this entry. */
  readonly after?: number;
  /** At this time or later, RFC 3339. */
  readonly since?: string;
  readonly username?: string;
  /** Of the present numbering. */
  readonly row?: { readonly id: number; readonly numbering: string };
}

const ROWS_PER_PIECE = 1_000;
/** Looking at all entries of a table costs more than an edit. */
const PRUNE_EVERY = 100;
/** Of times of files and of the clock. */
const CLOCK_SLACK_MS = 2_000;
/** Small enough to fill more than one page, so that a prune down to the limit goes no further than needed. */
const PRUNED_AT_ONCE = 200;
const DAY_MS = 86_400_000;
/** Enough to tell whether an edit was made. */
const COMPARED_ROWS = 1_000;

export class ChangeLog {
  readonly #db: Database;
  readonly #limits: () => HistoryLimits;
  readonly #now: () => number;
  /** Tables without entries that an earlier process left open. */
  readonly #settled = new Set<string>();
  /** Open entries of edits that this process is making. */
  readonly #inFlight = new Set<number>();
  #written = 0;
  /** At least so many are kept; `prune` counts them. */
  #bytes = 0;

  readonly #onMissed: (error: unknown) => void;

  /** `onMissed`: why a change is made without an entry. */
  constructor(
    db: Database,
    limits: () => HistoryLimits,
    now: () => number,
    onMissed: (error: unknown) => void = () => {},
  ) {
    this.#db = db;
    this.#limits = limits;
    this.#now = now;
    this.#onMissed = onMissed;
  }

  get isOn(): boolean {
    return this.#limits().enabled;
  }

  /**
   * Writes down what an edit is about to do. Call `close` afterwards, whatever happens. None for entries that are not
   * kept. Throws `no-space`, and `unavailable` when the history is damaged. Hold the table's `exclusive`.
   */
  async begin(
    table: Table,
    key: TableKey,
    entries: readonly NewEntry[],
  ): Promise<readonly number[]> {
    if (!this.#limits().enabled) return [];
    return this.#asRequired(() => this.#begin(table, key, entries), []);
  }

  /** Throws `no-space` and `unavailable`, unless history is not required: then `otherwise`. */
  async #asRequired<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const found = asNoSpace(error);
      if (!this.#limits().required) {
        this.#onMissed(found);
        return otherwise;
      }
      if (found instanceof AppError) throw found;
      throw new AppError('unavailable', 'The history of this change cannot be kept', {
        cause: error,
      });
    }
  }

  async #begin(
    table: Table,
    key: TableKey,
    entries: readonly NewEntry[],
  ): Promise<readonly number[]> {
    await this.settle(table, key);
    if (++this.#written % PRUNE_EVERY === 0) await this.#pruneTable(key);
    if (this.#bytes > this.#limits().max_bytes) await this.prune();
    const at = timestamp(this.#now());
    const slice = new TimeSlice();
    const pieces: { readonly entry: NewEntry; readonly parts: Piece[]; size: number }[] = [];
    for (const entry of entries) {
      const parts: Piece[] = [];
      let size = 0;
      const changes = [...entry.changes].sort((one, other) => one.rowId - other.rowId);
      for (let from = 0; from < changes.length; from += ROWS_PER_PIECE) {
        if (slice.isOver) await slice.rest();
        const part = changes.slice(from, from + ROWS_PER_PIECE);
        const rows = encodeChanges(part);
        size += rows.length;
        parts.push({ first: part[0]!.rowId, last: part.at(-1)!.rowId, rows });
      }
      pieces.push({ entry, parts, size });
      this.#bytes += size;
    }
    return this.#db.relaxed.transaction(async (tx) => {
      const ids: number[] = [];
      for (const { entry, parts, size } of pieces) {
        const { userId, username, action, changes, undoes } = entry;
        const { lastId: id } = await tx.run(
          `INSERT INTO changes (rel, sheet, numbering, at, user_id, username, action, row_count, size, state, undoes, undone_rows)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?)`,
          [
            ...columnsOf(key),
            table.numbering,
            at,
            userId,
            username,
            action,
            changes.length,
            size,
            undoes === undefined ? null : JSON.stringify(undoes.ids),
            undoes === undefined || undoes.rowIds === null ? null : JSON.stringify(undoes.rowIds),
          ],
        );
        ids.push(id);
        for (const { first, last, rows } of parts) {
          await tx.run(
            'INSERT INTO change_rows (change_id, first_row, last_row, rows) VALUES (?, ?, ?, ?)',
            [id, first, last, rows],
          );
        }
      }
      for (const id of ids) this.#inFlight.add(id);
      return ids;
    });
  }

  /** As `begin`, for a file that is about to be replaced or deleted; null: not kept. Hold the file's lock. */
  async beginFile(
    rel: string,
    { userId, username, action, version, storedBytes, undoes }: NewFileEntry,
  ): Promise<number | null> {
    if (!this.#limits().enabled) return null;
    return this.#asRequired(async () => {
      this.#bytes += storedBytes;
      if (this.#bytes > this.#limits().max_bytes) await this.prune();
      const at = timestamp(this.#now());
      const id = await this.#db.relaxed.transaction(async (tx) => {
        const { lastId } = await tx.run(
          `INSERT INTO changes (rel, sheet, numbering, at, user_id, username, action, row_count, size, state, undoes)
           VALUES (?, '', '', ?, ?, ?, ?, 0, ?, 'open', ?)`,
          [
            rel,
            at,
            userId,
            username,
            action,
            storedBytes,
            undoes === undefined ? null : JSON.stringify([undoes]),
          ],
        );
        if (version !== null) {
          await tx.run('INSERT INTO file_versions (change_id, hash, size) VALUES (?, ?, ?)', [
            lastId,
            version.hash,
            version.size,
          ]);
        }
        return lastId;
      });
      this.#inFlight.add(id);
      await this.#pruneTable({ rel, sheet: null });
      return id;
    }, null);
  }

  /** Entries of whole files that an earlier process left open. */
  async openFileEntries(): Promise<{ id: number; rel: string; hash: string | null }[]> {
    const open = await this.#db.all<{ id: number; rel: string; hash: string | null }>(
      `SELECT id, rel, hash FROM changes LEFT JOIN file_versions ON change_id = id
       WHERE state = 'open' AND numbering = '' ORDER BY id`,
    );
    return open.filter(({ id }) => !this.#inFlight.has(id));
  }

  /** The first change of a file after an entry, in whichever of its tables; null: there is none. */
  async changedAfter(
    rel: string,
    id: number,
  ): Promise<{
    readonly id: number;
    readonly rows: number;
    readonly version: KeptContent | null;
  } | null> {
    const found = await this.#db.get<{
      id: number;
      rows: number;
      hash: string | null;
      size: number | null;
    }>(
      `SELECT id, row_count AS rows, hash, file_versions.size AS size
       FROM changes LEFT JOIN file_versions ON change_id = id
       WHERE rel = ? AND state <> 'open' AND id > ? ORDER BY id LIMIT 1`,
      [rel, id],
    );
    if (found === null) return null;
    const { hash, size, rows } = found;
    const version = hash === null || size === null ? null : { hash, size };
    return { id: found.id, rows, version };
  }

  /** The last change of a table, or of its file, until that time; 0: there is none. */
  async lastAt(key: TableKey, time: string): Promise<number> {
    const found = await this.#db.get<{ id: number | null }>(
      `SELECT max(id) AS id FROM changes WHERE rel = ? AND sheet IN (?, '') AND state <> 'open' AND at <= ?`,
      [...columnsOf(key), time],
    );
    return found?.id ?? 0;
  }

  /** Those of `hashes` that no entry has. */
  async unkept(hashes: readonly string[]): Promise<string[]> {
    const kept = await this.#db.all<{ hash: string }>(
      `SELECT DISTINCT hash FROM file_versions WHERE hash IN (${hashes.map(() => '?').join(', ')})`,
      hashes,
    );
    const known = new Set(kept.map(({ hash }) => hash));
    return hashes.filter((hash) => !known.has(hash));
  }

  /** Another program, or an upload, changed the rows: the table has another numbering. */
  async noteOther(table: Table, key: TableKey, change: OtherChange): Promise<void> {
    const { before, writtenAt, rowCount, map, pieces } = change;
    const size = (map?.length ?? 0) + pieces.reduce((sum, { rows }) => sum + rows.length, 0);
    this.#bytes += size;
    const now = this.#now();
    await this.#db.relaxed.transaction(async (tx) => {
      // Of a process that was killed before the new copy was in place.
      await tx.run(
        `DELETE FROM changes WHERE rel = ? AND sheet = ? AND username = '' AND id IN (
           SELECT change_id FROM change_maps WHERE before_numbering = ?)`,
        [...columnsOf(key), before],
      );
      const newest = await tx.get<{ id: number; at: string }>(
        `SELECT id, at FROM changes WHERE rel = ? AND sheet = ? ORDER BY id DESC LIMIT 1`,
        columnsOf(key),
      );
      // An upload notes its entry before the file is in place, with a file that was written before.
      const upload = await tx.get<StoredUpload>(
        `SELECT id, user_id, username, action FROM changes
         WHERE rel = ? AND sheet = '' AND numbering = '' AND id >= ? AND at >= ?
         ORDER BY id DESC LIMIT 1`,
        [key.rel, newest?.id ?? 0, timestamp(writtenAt - CLOCK_SLACK_MS)],
      );
      let id = upload?.id ?? 0;
      if (upload !== null && key.sheet === null) {
        await tx.run(
          'UPDATE changes SET numbering = ?, row_count = ?, size = size + ? WHERE id = ?',
          [table.numbering, rowCount, size, id],
        );
      } else {
        const at = Math.min(now, Math.max(writtenAt, newest === null ? 0 : Date.parse(newest.at)));
        const { lastId } = await tx.run(
          `INSERT INTO changes (rel, sheet, numbering, at, user_id, username, action, row_count, size, state)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'made')`,
          [
            ...columnsOf(key),
            table.numbering,
            timestamp(at),
            upload?.user_id ?? 0,
            upload?.username ?? '',
            upload?.action ?? 'external',
            rowCount,
            size,
          ],
        );
        id = lastId;
      }
      await tx.run('INSERT INTO change_maps (change_id, before_numbering, map) VALUES (?, ?, ?)', [
        id,
        before,
        map,
      ]);
      for (const { first, last, rows } of pieces) {
        await tx.run(
          'INSERT INTO change_rows (change_id, first_row, last_row, rows) VALUES (?, ?, ?, ?)',
          [id, first, last, rows],
        );
      }
    });
    await this.#pruneTable(key);
    if (this.#bytes > this.#limits().max_bytes) await this.prune();
  }

  /**
   * The way from the present rows back to those right after an entry, the newest first. Throws `gone` when it is not
   * known.
   */
  async wayBack(table: Table, key: TableKey, after: number): Promise<BackStep[]> {
    const end = await this.endOf(key);
    if (end !== null && after < end.id) {
      throw new AppError('gone', `What is kept of '${key.rel}' begins after ${end.at}`);
    }
    const entries = await this.#db.all<StoredStep>(
      `SELECT id, numbering, state, before_numbering, map, at FROM changes
       LEFT JOIN change_maps ON change_id = id
       WHERE rel = ? AND sheet = ? AND id > ? AND state <> 'open' ORDER BY id DESC`,
      [...columnsOf(key), after],
    );
    const steps: BackStep[] = [];
    let { numbering } = table;
    for (const entry of entries) {
      // A file whose rows were never read.
      if (entry.numbering === '') continue;
      const { id, before_numbering: before, map } = entry;
      if (entry.numbering !== numbering || entry.state === 'unsure' || (before !== null && !map)) {
        const text = `How '${key.rel}' was before ${entry.at} is not known: another program changed it`;
        throw new AppError('gone', text);
      }
      steps.push({ id, map: before === null ? null : { before, bytes: map } });
      numbering = before ?? numbering;
    }
    return steps;
  }

  /** As they are stored; those that were pruned meanwhile are missing. */
  async *piecesOf(id: number): AsyncGenerator<Uint8Array> {
    const pieces = await this.#db.all<{ id: number }>(
      'SELECT id FROM change_rows WHERE change_id = ? ORDER BY first_row',
      [id],
    );
    for (const piece of pieces) {
      const stored = await this.#db.get<{ rows: Uint8Array }>(
        'SELECT rows FROM change_rows WHERE id = ?',
        [piece.id],
      );
      if (stored !== null) yield stored.rows;
    }
  }

  /** The file, or the folder of files, has another name. */
  async renamed(from: string, to: string): Promise<void> {
    // Zero follows the slash; substr counts characters, not UTF-16 units.
    const within = 'rel = ? OR (rel >= ? AND rel < ?)';
    const below = (name: string): string[] => [name, `${name}/`, `${name}0`];
    const rest = [...from].length + 1;
    await this.#db.relaxed.transaction(async (tx) => {
      for (const table of ['changes', 'history_ends']) {
        if (table === 'history_ends')
          await tx.run(`DELETE FROM history_ends WHERE ${within}`, below(to));
        await tx.run(`UPDATE ${table} SET rel = ? || substr(rel, ?) WHERE ${within}`, [
          to,
          rest,
          ...below(from),
        ]);
      }
    });
    this.#settled.clear();
  }

  /** The edit was made, or was not: then it is forgotten. Where that cannot be written, the next look decides. */
  async close(ids: readonly number[], isMade: boolean): Promise<void> {
    if (ids.length === 0) return;
    try {
      await this.#decide(ids, isMade);
    } catch {
      // Its table is not known here.
      this.#settled.clear();
    } finally {
      for (const id of ids) this.#inFlight.delete(id);
    }
  }

  #decide(ids: readonly number[], isMade: boolean): Promise<unknown> {
    const named = ids.map(() => '?').join(', ');
    return this.#db.relaxed.run(
      isMade
        ? `UPDATE changes SET state = 'made' WHERE id IN (${named})`
        : `DELETE FROM changes WHERE id IN (${named})`,
      ids,
    );
  }

  /** Decides about entries that a process left open when it ended. The table is current. */
  async settle(table: Table, key: TableKey): Promise<void> {
    const name = JSON.stringify(columnsOf(key));
    if (this.#settled.has(name)) return;
    const open = await this.#db.all<{ id: number }>(
      `SELECT id FROM changes WHERE rel = ? AND sheet = ? AND state = 'open' AND numbering <> '' ORDER BY id`,
      columnsOf(key),
    );
    const ids = open.flatMap(({ id }) => (this.#inFlight.has(id) ? [] : [id]));
    if (ids.length > 0) {
      // Open entries of one table were about to be made together.
      const rows = [...(await this.net(ids))].slice(0, COMPARED_ROWS);
      const isMade = rows.every(({ rowId, after }) => holds(table, rowId, after));
      const isAsBefore = rows.every(({ rowId, before }) => holds(table, rowId, before));
      if (isMade || isAsBefore) await this.#decide(ids, isMade);
      else {
        await this.#db.relaxed.run(
          `UPDATE changes SET state = 'unsure' WHERE id IN (${ids.map(() => '?').join(', ')})`,
          ids,
        );
      }
    }
    this.#settled.add(name);
  }

  /** Newest first. */
  async list(key: TableKey, filter: EntryFilter, limit: number): Promise<Entry[]> {
    // Of a worksheet also what was done to its file.
    const wheres = [
      `rel = ? AND (sheet = ? OR (sheet = '' AND numbering = '')) AND state <> 'open'`,
    ];
    const params: SqlValue[] = [...columnsOf(key)];
    const add = (sql: string, ...values: SqlValue[]): void => {
      wheres.push(sql);
      params.push(...values);
    };
    if (filter.before !== undefined) add('id < ?', filter.before);
    if (filter.after !== undefined) add('id > ?', filter.after);
    if (filter.since !== undefined) add('at >= ?', filter.since);
    if (filter.username !== undefined) add('username = ?', filter.username);
    if (filter.row !== undefined) {
      const { id, numbering } = filter.row;
      add(
        `numbering = ? AND EXISTS (SELECT 1 FROM change_rows WHERE change_id = changes.id AND first_row <= ? AND last_row >= ?)`,
        numbering,
        id,
        id,
      );
    }
    const rows = await this.#db.all<StoredEntry>(
      `SELECT id, at, username, action, row_count, state, numbering, undoes, hash, file_versions.size AS size,
         before_numbering, map IS NULL AS is_lost
       FROM changes LEFT JOIN file_versions ON file_versions.change_id = id
       LEFT JOIN change_maps ON change_maps.change_id = id
       WHERE ${wheres.join(' AND ')} ORDER BY id DESC LIMIT ${limit}`,
      params,
    );
    const undone = await this.#undone(key, rows.at(-1)?.id ?? 0);
    return rows.map(
      ({ row_count: rowCount, undoes, hash, size, is_lost, before_numbering, ...row }) => ({
        ...row,
        rowCount,
        other: before_numbering === null ? null : is_lost === 1 ? 'lost' : 'kept',
        version: hash === null || size === null ? null : { hash, size },
        undoes: undoes === null ? [] : (JSON.parse(undoes) as number[]),
        undone: undone.get(row.id) ?? new Set(),
      }),
    );
  }

  /** By row id; `rowId`: that row alone. Throws `gone` for damaged ones. */
  async rowsOf(id: number, limit: number, rowId: number | null = null): Promise<RowChange[]> {
    const found: RowChange[] = [];
    const pieces = await this.#db.all<{ id: number }>(
      `SELECT id FROM change_rows WHERE change_id = ? AND (? IS NULL OR (first_row <= ? AND last_row >= ?))
       ORDER BY first_row`,
      [id, rowId, rowId, rowId],
    );
    const slice = new TimeSlice();
    for (const piece of pieces) {
      if (found.length >= limit) break;
      if (slice.isOver) await slice.rest();
      const stored = await this.#db.get<{ rows: Uint8Array }>(
        'SELECT rows FROM change_rows WHERE id = ?',
        [piece.id],
      );
      // Pruned meanwhile.
      if (stored === null) continue;
      const rows = decoded(id, stored.rows);
      found.push(...(rowId === null ? rows : rows.filter((one) => one.rowId === rowId)));
    }
    return found.slice(0, limit);
  }

  /** Whether it changed, filled or removed a cell of that column. */
  async touches(id: number, column: string): Promise<boolean> {
    for await (const piece of this.piecesOf(id)) {
      if (decoded(id, piece).some((row) => hasCell(row, column))) return true;
    }
    return false;
  }

  /** What the entries did together; ids ascending. */
  async net(ids: readonly number[]): Promise<Iterable<RowChange>> {
    const rows = new Map<number, RowChange | null>();
    for (const id of ids) {
      for (const change of await this.rowsOf(id, Number.POSITIVE_INFINITY)) {
        const older = rows.get(change.rowId);
        rows.set(change.rowId, older ? mergeChanges(older, change) : change);
      }
    }
    return [...rows.values()].filter((change) => change !== null);
  }

  /** Forgets what is too old, and the oldest of what is too much. */
  async prune(): Promise<void> {
    const limits = this.#limits();
    const oldest = timestamp(this.#now() - limits.max_age_days * DAY_MS);
    const sum = await this.#db.get<{ bytes: number }>(
      'SELECT coalesce(sum(size), 0) AS bytes FROM changes',
    );
    let bytes = sum?.bytes ?? 0;
    let after = 0;
    for (;;) {
      const rows = await this.#db.all<{ id: number; size: number; is_newest: number }>(
        `SELECT id, size, NOT EXISTS (
           SELECT 1 FROM changes AS newer
           WHERE newer.rel = changes.rel AND newer.sheet = changes.sheet AND newer.id > changes.id
         ) AS is_newest
         FROM changes WHERE id > ? AND (at < ? OR ?) ORDER BY id LIMIT ${PRUNED_AT_ONCE}`,
        [after, oldest, bytes > limits.max_bytes ? 1 : 0],
      );
      const gone = rows.filter((row) => row.is_newest === 0);
      if (gone.length > 0) {
        await this.#forget(gone.map(({ id }) => id));
      }
      for (const { size } of gone) bytes -= size;
      if (rows.length < PRUNED_AT_ONCE) break;
      after = rows.at(-1)!.id;
    }
    this.#bytes = bytes;
  }

  async #pruneTable(key: TableKey): Promise<void> {
    const { max_changes_per_table: most, max_bytes_per_table: mostBytes } = this.#limits();
    const gone = await this.#db.all<{ id: number }>(
      `SELECT id FROM (
         SELECT id, row_number() OVER newest AS place, sum(size) OVER newest AS bytes
         FROM changes WHERE rel = ? AND sheet = ? WINDOW newest AS (ORDER BY id DESC)
       ) AS listed WHERE place > 1 AND (place > ? OR bytes > ?)`,
      [...columnsOf(key), most, mostBytes],
    );
    const ids = gone.map(({ id }) => id);
    for (let from = 0; from < ids.length; from += PRUNED_AT_ONCE) {
      await this.#forget(ids.slice(from, from + PRUNED_AT_ONCE));
    }
  }

  /** And notes how far back the history of their tables now reaches. */
  async #forget(ids: readonly number[]): Promise<void> {
    const named = ids.map(() => '?').join(', ');
    await this.#db.relaxed.transaction(async (tx) => {
      await tx.run(
        `INSERT INTO history_ends (rel, sheet, change_id, at)
         SELECT rel, sheet, max(id), max(at) FROM changes WHERE id IN (${named}) GROUP BY rel, sheet
         ON CONFLICT (rel, sheet) DO UPDATE SET change_id = excluded.change_id, at = excluded.at`,
        ids,
      );
      await tx.run(`DELETE FROM changes WHERE id IN (${named})`, ids);
    });
  }

  /** The newest entry that was forgotten: how the table was before it is not known. Null: none was. */
  async endOf(key: TableKey): Promise<{ readonly id: number; readonly at: string } | null> {
    return this.#db.get(
      'SELECT change_id AS id, at FROM history_ends WHERE rel = ? AND sheet = ?',
      columnsOf(key),
    );
  }

  /** Of entries from this one on. An undoing that was itself taken back does not count. */
  async #undone(key: TableKey, from: number): Promise<Map<number, 'all' | ReadonlySet<number>>> {
    const undoings = await this.#db.all<{ id: number; undoes: string; undone_rows: string | null }>(
      `SELECT id, undoes, undone_rows FROM changes
       WHERE rel = ? AND sheet = ? AND id > ? AND undoes IS NOT NULL AND state = 'made' ORDER BY id DESC`,
      [...columnsOf(key), from],
    );
    const undone = new Map<number, 'all' | ReadonlySet<number>>();
    for (const { id, undoes, undone_rows: rowIds } of undoings) {
      if (undone.get(id) === 'all') continue;
      for (const other of JSON.parse(undoes) as number[]) {
        const known = undone.get(other);
        if (known === 'all') continue;
        const rows = rowIds === null ? 'all' : new Set(JSON.parse(rowIds) as number[]);
        undone.set(other, rows === 'all' ? rows : new Set([...(known ?? []), ...rows]));
      }
    }
    return undone;
  }
}

interface StoredUpload {
  readonly id: number;
  readonly user_id: number;
  readonly username: string;
  readonly action: string;
}

interface StoredStep {
  readonly id: number;
  readonly numbering: string;
  readonly state: string;
  readonly before_numbering: string | null;
  readonly map: Uint8Array | null;
  readonly at: string;
}

export interface Piece {
  readonly first: number;
  readonly last: number;
  readonly rows: Uint8Array;
}

interface StoredEntry extends Pick<
  Entry,
  'id' | 'at' | 'username' | 'action' | 'state' | 'numbering'
> {
  readonly row_count: number;
  readonly undoes: string | null;
  readonly hash: string | null;
  readonly size: number | null;
  readonly is_lost: number;
  readonly before_numbering: string | null;
}

function hasCell({ before, after }: RowChange, column: string): boolean {
  const [one, other] = [before?.get(column) ?? '', after?.get(column) ?? ''];
  return one !== other;
}

function decoded(id: number, bytes: Uint8Array): RowChange[] {
  try {
    return decodeChanges(bytes);
  } catch (error) {
    const text = `Change ${id} is damaged in the history, or written by a newer version of svc`;
    throw new AppError('gone', text, { cause: error });
  }
}

function columnsOf({ rel, sheet }: TableKey): [rel: string, sheet: string] {
  return [rel, sheet ?? ''];
}

/** Whether a row has these values; null: whether there is none. */
export function holds(table: Table, rowId: number, values: CellValues | null): boolean {
  const row = table.row(rowId);
  if (row === null || values === null) return row === null && values === null;
  return table.columns.every(
    ({ name }, index) => !values.has(name) || values.get(name) === row[index],
  );
}
