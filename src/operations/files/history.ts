/**
 * What was changed in a dataset, by whom, and taking it back.
 *
 * For those who may change its rows: earlier values may be gone because they should not have been there.
 */
import type { App } from '../../app.ts';
import type { Caller, Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { ChangedDuringWrite } from '../../base/files/atomic-file.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Table } from '../../tables/copy/table.ts';
import { MAX_CHANGED_ROWS, type Mutation, type Step } from '../../tables/edit/change-request.ts';
import type { RowUpdate, RowValues } from '../../tables/edit/mutation.ts';
import type { EditResult } from '../../tables/edit/draft.ts';
import { type Entry, type EntryFilter, holds } from '../../tables/history/change-log.ts';
import { type CellValues, type RowChange, rowDigest } from '../../tables/history/row-change.ts';
import type { StoredValue } from '../../tables/types.ts';
import { type Origin, requireAccess } from '../access.ts';
import { parseChange, submitChange } from './datasets.ts';

/** Rows shown of each change in a list. */
const ROWS_IN_LIST = 20;
/** Of a change asked for alone. */
const MAX_ROWS = 1_000;
/** What a moment may lie back. */
const MAX_ENTRIES = 10_000;
const MAX_NAMED_CONFLICTS = 20;
/** Among so many a row is sought that has another id; two seconds. */
const MAX_SOUGHT_ROWS = 200_000;

type JsonCells = Readonly<Record<string, unknown>>;

export interface ShownRow {
  readonly _row_id: number;
  readonly before: JsonCells | null;
  readonly after: JsonCells | null;
}

export interface ShownChange {
  readonly id: number;
  readonly at: string;
  /** Null: another program. */
  readonly user: string | null;
  readonly action: string;
  readonly count: number;
  readonly state: Entry['state'];
  /** Another program changed the file since: rows have other ids now. */
  readonly renumbered: boolean;
  readonly undoes: readonly number[];
  readonly undone: 'no' | 'partly' | 'all';
  /** Of the whole file: what it held before can be had. */
  readonly version: { readonly size: number; readonly sha256: string } | null;
  /** Its rows cannot be read: damaged, or written by a newer version. */
  readonly damaged: boolean;
  readonly rows: readonly ShownRow[];
  readonly rows_truncated: boolean;
}

/** By the name of a dataset, or the path of a file, for who may read and write it. Throws as `requireAccess`. */
export async function findResource(
  services: App,
  caller: Caller,
  origin: Origin,
  name: string,
): Promise<Resource> {
  const { registry } = services;
  const resource =
    registry.lookup('dataset', name) ??
    registry.lookup('media', name) ??
    registry.original(name) ??
    registry.lookup('content', name);
  await requireAccess(services, caller, origin, { name, resource, verb: 'read' });
  return requireAccess(services, caller, origin, { name, resource, verb: 'write' });
}

/** Newest first, of at most `limit` entries; `next` is the `before` of the page after, which may have none of a row. */
export async function listChanges(
  services: App,
  resource: Resource,
  filter: Omit<EntryFilter, 'row'> & {
    readonly change?: number;
    readonly rowId?: number;
    /** Entries that changed, filled or removed a cell of it. */
    readonly column?: string;
  },
  limit: number,
): Promise<{ readonly changes: readonly ShownChange[]; readonly next: number | null }> {
  const table = await tableIfReadable(services, resource);
  const { change, rowId, column, ...rest } = filter;
  const wanted = {
    ...rest,
    ...(rowId !== undefined &&
      table !== null && { row: { id: rowId, numbering: table.numbering } }),
    ...(change !== undefined && { before: change + 1, after: change - 1 }),
  };
  const entries = await services.changeLog.list(resource, wanted, limit);
  const shown: ShownChange[] = [];
  const rowLimit = change === undefined ? ROWS_IN_LIST : MAX_ROWS;
  for (const entry of entries) {
    const found = await rowsIfSound(services, entry.id, rowLimit + 1, rowId ?? null);
    const rows = found ?? [];
    // Between the rows of this piece, but none of them.
    if (rowId !== undefined && rows.length === 0) continue;
    if (column !== undefined && !(await services.changeLog.touches(entry.id, column))) continue;
    shown.push({
      id: entry.id,
      at: entry.at,
      user: entry.username === '' ? null : entry.username,
      action: entry.action,
      count: entry.rowCount,
      state: entry.state,
      renumbered: table !== null && entry.numbering !== '' && entry.numbering !== table.numbering,
      undoes: entry.undoes,
      undone: entry.undone === 'all' ? 'all' : entry.undone.size > 0 ? 'partly' : 'no',
      version: entry.version && { size: entry.version.size, sha256: entry.version.hash },
      damaged: found === null,
      rows: rows.slice(0, rowLimit).map((row) => shownRow(row, table)),
      rows_truncated:
        rows.length > rowLimit || (rowId === undefined && rows.length < entry.rowCount),
    });
  }
  const isLast = change !== undefined || entries.length < limit;
  return { changes: shown, next: isLast ? null : entries.at(-1)!.id };
}

/** Null for a file without rows, and where they cannot be read: what was done to it can be told all the same. */
async function tableIfReadable(services: App, resource: Resource): Promise<Table | null> {
  if (resource.kind.dataset === undefined) return null;
  try {
    return await currentTable(services, resource);
  } catch (error) {
    const code = error instanceof AppError ? error.code : null;
    if (code === 'unreadable-file' || code === 'too-large' || code === 'timed-out') return null;
    throw error;
  }
}

/** Null when they are damaged. */
async function rowsIfSound(
  { changeLog, log }: App,
  id: number,
  limit: number,
  rowId: number | null,
): Promise<readonly RowChange[] | null> {
  try {
    return await changeLog.rowsOf(id, limit, rowId);
  } catch (error) {
    if (error instanceof AppError && error.code !== 'gone') throw error;
    log.warning('a change in the history is damaged', { change: id, error });
    return null;
  }
}

/** Of one change, in the order of their ids; null where they cannot be told. */
export async function shownRows(
  services: App,
  resource: Resource,
  change: number,
  limit: number,
): Promise<readonly ShownRow[] | null> {
  const table = await tableIfReadable(services, resource);
  const rows = table && (await rowsIfSound(services, change, limit, null));
  return rows && rows.map((row) => shownRow(row, table!));
}

async function currentTable(services: App, resource: Resource): Promise<Table> {
  const table = await services.tables.current(services.datasets.targetOf(resource));
  await services.changeLog.settle(table, resource);
  return table;
}

function shownRow({ rowId, before, after }: RowChange, table: Table | null): ShownRow {
  return {
    _row_id: Math.abs(rowId),
    before: jsonCells(before, table),
    after: jsonCells(after, table),
  };
}

/** As rows show them; columns that the dataset no longer has are left out. */
function jsonCells(
  values: CellValues | null,
  table: Pick<Table, 'columns'> | null,
): JsonCells | null {
  if (values === null) return null;
  if (table === null) return Object.fromEntries(values) as JsonCells;
  const { columns } = table;
  const cells = columns.flatMap(({ name, type }): [string, unknown][] => {
    const value = values.get(name);
    return value === undefined ? [] : [[name, jsonValue(value, type)]];
  });
  return Object.fromEntries(cells);
}

function jsonValue(value: StoredValue, type: string): unknown {
  return type === 'boolean' && typeof value === 'number' ? value === 1 : value;
}

export interface UndoRequest {
  /** The id of one change, or all changes from a moment on: RFC 3339, or those after a change. */
  readonly what:
    { readonly change: number } | { readonly after: number } | { readonly since: string };
  /** Null: all rows. */
  readonly rowIds: readonly number[] | null;
  /** Of changed rows only these cells; null: all. */
  readonly columns?: readonly string[] | null;
  /** Rows that were changed since stay as they are. */
  readonly skipsConflicts: boolean;
  readonly isDryRun: boolean;
  readonly ifMatch: readonly string[] | null;
}

export interface Conflict {
  readonly rowId: number;
  readonly reason: string;
}

export interface UndoResult {
  readonly result: EditResult;
  readonly changes: readonly number[];
  readonly skipped: readonly Conflict[];
}

/**
 * Makes the rows what they were before, as a new change. The caller may write the dataset. Throws `not-found` for a
 * change that is not known (any more), `conflict` for one that was taken back already, and for rows that were changed
 * since, which it names; as `changeRows`.
 */
export async function undoChanges(
  services: App,
  caller: Principal,
  origin: Origin,
  resource: Resource,
  request: UndoRequest,
): Promise<UndoResult> {
  const name = resource.canonical;
  await requireAccess(services, caller, origin, { name, resource, verb: 'read' });
  let plan: UndoPlan | null = null;
  let planned: { readonly table: Table; readonly version: string } | null = null;
  const result = await submitChange(services, caller, origin, resource, {
    ifMatch: request.ifMatch,
    isAlone: true,
    validate: async (table) => {
      const version = table.version();
      if (plan === null || planned?.table !== table || planned.version !== version) {
        plan = await planUndo(services, resource, table, request);
        planned = { table, version };
      }
      return mutationOf(services, resource, table, plan, request);
    },
    undoes: () => {
      const { ids, rows, isPart } = plan!;
      const whole = rows.filter(({ isPartOfRow }) => !isPartOfRow);
      return { ids, rowIds: isPart ? whole.map(({ change }) => change.rowId) : null };
    },
  });
  const { ids, conflicts } = plan!;
  return { result, changes: ids, skipped: conflicts };
}

/** A change of a row, and the id that the row has now. */
interface UndoneRow {
  readonly change: RowChange;
  readonly rowId: number;
  /** Only some of its cells are taken back. */
  readonly isPartOfRow: boolean;
}

interface UndoPlan {
  readonly ids: readonly number[];
  readonly rows: readonly UndoneRow[];
  readonly conflicts: readonly Conflict[];
  /** Some rows of the changes stay as they are. */
  readonly isPart: boolean;
}

async function planUndo(
  services: App,
  resource: Resource,
  table: Table,
  { what, rowIds, columns = null, skipsConflicts }: UndoRequest,
): Promise<UndoPlan> {
  const { changeLog } = services;
  await changeLog.settle(table, resource);
  const filter =
    'change' in what ? { before: what.change + 1, after: what.change - 1 } : { ...what };
  const entries = await changeLog.list(resource, filter, MAX_ENTRIES + 1);
  if (entries.length > MAX_ENTRIES) throw tooMuch(`${MAX_ENTRIES} changes`);
  const [first] = entries;
  if (first === undefined) {
    const text =
      'change' in what ? `There is no change ${what.change}` : 'Nothing was changed since';
    throw new AppError('not-found', text);
  }
  const undone = 'change' in what ? first.undone : new Set<number>();
  if (undone === 'all') {
    throw new AppError('conflict', `Change ${first.id} was taken back already`);
  }
  const count = entries.reduce((sum, entry) => sum + entry.rowCount, 0);
  if (count > MAX_CHANGED_ROWS) throw tooMuch(`${MAX_CHANGED_ROWS} rows`);
  const [unread] = entries.filter(({ numbering }) => numbering === '');
  if (unread !== undefined && 'change' in what) {
    const text = `Change ${unread.id} was one of the whole file: put it back with content`;
    throw new AppError('conflict', text);
  }
  const lost = entries.find(({ other }) => other === 'lost');
  if (lost !== undefined) {
    throw new AppError('gone', `What change ${lost.id} did is not kept: it was too much`);
  }
  const renumbered = entries.filter(
    ({ numbering }) => numbering !== '' && numbering !== table.numbering,
  );
  if (renumbered.length > 0 && !('change' in what)) {
    const text = `Another program changed the file after change ${renumbered[0]!.id}: take back changes one by one, or those after it`;
    throw new AppError('conflict', text);
  }
  const ids = entries.map(({ id }) => id).reverse();
  const all = [...(await changeLog.net(ids))];
  for (const { id, rowCount } of entries.filter(({ other }) => other === 'kept')) {
    const { length } = await changeLog.rowsOf(id, rowCount);
    if (length < rowCount) throw tooMuch(`${length} rows of change ${id}`);
  }
  const wanted = rowIds === null ? null : new Set(rowIds);
  const asked = all.filter(
    ({ rowId }) => !undone.has(rowId) && (wanted === null || wanted.has(rowId)),
  );
  const places = renumbered.length > 0 ? await placesOf(asked, table) : null;
  const conflicts: Conflict[] = [];
  const rows: UndoneRow[] = [];
  const slice = new TimeSlice();
  for (const whole of asked) {
    if (slice.isOver) await slice.rest();
    if (table.isClosed) throw new ChangedDuringWrite(table.head.rel);
    const change = columns === null ? whole : onlyColumns(whole, columns);
    if (change === null) continue;
    const rowId = places === null ? change.rowId : places.get(change.digest ?? '');
    const isNew = change.after === null;
    const reason =
      rowId === undefined && !isNew
        ? 'another program changed the file since, and no row is as it was left'
        : conflictOf(change, isNew ? change.rowId : rowId!, table);
    const isPartOfRow = change !== whole;
    if (reason === null) rows.push({ change, rowId: rowId ?? change.rowId, isPartOfRow });
    else conflicts.push({ rowId: change.rowId, reason });
  }
  if (conflicts.length > 0 && !skipsConflicts) throw changedSince(conflicts);
  if (rows.length === 0) {
    throw new AppError('conflict', 'There is nothing to take back: no such row is as it was left');
  }
  const isPart = rows.length < all.length || rows.some(({ isPartOfRow }) => isPartOfRow);
  return { ids, rows, conflicts, isPart };
}

/** Null when none of these cells changed; a row that came or went has no part. */
function onlyColumns(change: RowChange, columns: readonly string[]): RowChange | null {
  const { before, after } = change;
  if (before === null || after === null) return null;
  const names = [...after.keys()].filter((name) => columns.includes(name));
  if (names.length === 0) return null;
  if (names.length === after.size) return change;
  const chosen = (values: CellValues): CellValues =>
    new Map(names.map((name) => [name, values.get(name) ?? null]));
  return { ...change, before: chosen(before), after: chosen(after) };
}

/** Rows of the present numbering that are as changes left theirs, by digest. */
async function placesOf(
  changes: readonly RowChange[],
  table: Table,
): Promise<ReadonlyMap<string, number>> {
  const digests = new Set(changes.map(({ digest }) => digest));
  const places = new Map<string, number>();
  const { lastRowId, rowCount } = table.state;
  if (rowCount > MAX_SOUGHT_ROWS) return places;
  const slice = new TimeSlice();
  for (let rowId = 1; rowId <= lastRowId && places.size < digests.size; rowId++) {
    if (slice.isOver) await slice.rest();
    if (table.isClosed) throw new ChangedDuringWrite(table.head.rel);
    const row = table.row(rowId);
    if (row === null) continue;
    const digest = rowDigest(table.columns, row);
    if (digests.has(digest) && !places.has(digest)) places.set(digest, rowId);
  }
  return places;
}

/** Why a row cannot become what it was; null when it can. */
function conflictOf({ before, after }: RowChange, rowId: number, table: Table): string | null {
  const gone = [...(before?.keys() ?? [])].find(
    (name) => !table.columns.some((column) => column.name === name),
  );
  if (gone !== undefined) return `there is no column '${gone}' any more`;
  if (after === null) {
    const lost = unwritable(before!, table);
    return lost === undefined ? null : `its '${lost}' cannot be written`;
  }
  if (holds(table, rowId, after)) return null;
  const row = table.row(rowId);
  if (row === null) return 'it was deleted since';
  const index = table.columns.findIndex(
    ({ name }, at) => after.has(name) && after.get(name) !== row[at],
  );
  const { name, type } = table.columns[index]!;
  return `'${name}' is ${JSON.stringify(jsonValue(row[index]!, type)).slice(0, 100)} now`;
}

/** A column that a restored row would have to leave blank. */
function unwritable(values: CellValues, { columns, writableColumns }: Table): string | undefined {
  const writable = new Set(writableColumns);
  return columns.find((column) => !writable.has(column) && (values.get(column.name) ?? '') !== '')
    ?.name;
}

function changedSince(conflicts: readonly Conflict[]): AppError {
  const named = conflicts.slice(0, MAX_NAMED_CONFLICTS);
  const more = conflicts.length > named.length ? `; ${conflicts.length - named.length} more` : '';
  const texts = named.map(({ rowId, reason }) => `row ${Math.abs(rowId)}: ${reason}`).join('; ');
  return new AppError(
    'conflict',
    `Changed since: ${texts}${more}. With skip_conflicts the other rows are taken back`,
  );
}

function tooMuch(most: string): AppError {
  return new AppError('too-large', `More than ${most} cannot be taken back at once`);
}

async function mutationOf(
  services: App,
  resource: Resource,
  table: Table,
  { rows }: UndoPlan,
  { isDryRun }: UndoRequest,
): Promise<Mutation> {
  const { writableColumns: columns } = table;
  const slice = new TimeSlice();
  const missing: UndoneRow[] = [];
  const changed: UndoneRow[] = [];
  const data = { delete: [] as object[], update: [] as object[], create: [] as object[] };
  for (const row of rows) {
    if (slice.isOver) await slice.rest();
    const { rowId, change } = row;
    const { before, after } = change;
    if (before === null) data.delete.push({ _row_id: rowId });
    else if (after === null) {
      missing.push(row);
      data.create.push(jsonCells(before, { columns })!);
    } else {
      changed.push(row);
      data.update.push({ ...jsonCells(before, table)!, _row_id: rowId });
    }
  }
  const operations = Object.entries(data)
    .filter(([, list]) => list.length > 0)
    .map(([action, list]) => ({ action, data: list }));
  const body = { action: 'batch', operations, ...(isDryRun && { dry_run: true }) };
  const mutation = await parseChange(services, resource, table, {
    method: 'POST',
    body,
    isLenient: true,
  });
  const positions = new Map(columns.map(({ name, position }) => [name, position]));
  const spelledAs = (
    values: RowValues,
    { change: { spelled = new Map() } }: UndoneRow,
  ): RowValues =>
    new Map([
      ...values,
      ...[...spelled].flatMap(([name, text]): [number, string][] => {
        const position = positions.get(name);
        return position === undefined ? [] : [[position, text]];
      }),
    ]);
  const steps: Step[] = [];
  for (const step of mutation.steps) {
    if (step.action === 'create') {
      const created: RowValues[] = [];
      for (const [at, values] of step.rows.entries()) {
        if (slice.isOver) await slice.rest();
        created.push(spelledAs(values, missing[at]!));
      }
      steps.push({ ...step, rows: created });
    } else if (step.action === 'update') {
      const updated: RowUpdate[] = [];
      for (const [at, { rowId, values }] of step.rows.entries()) {
        if (slice.isOver) await slice.rest();
        updated.push({ rowId, values: spelledAs(values, changed[at]!) });
      }
      steps.push({ ...step, rows: updated });
    } else steps.push(step);
  }
  return { ...mutation, steps };
}
