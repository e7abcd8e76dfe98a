/**
 * What was changed in a dataset, by whom, and taking it back.
 *
 * For those who may change its rows: earlier values may be gone because they should not have been there.
 */
import type { App } from '../../app.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Table } from '../../tables/copy/table.ts';
import { MAX_CHANGED_ROWS, type Mutation, type Step } from '../../tables/edit/change-request.ts';
import type { RowValues } from '../../tables/edit/mutation.ts';
import type { EditResult } from '../../tables/edit/draft.ts';
import { type Entry, type EntryFilter, holds } from '../../tables/history/change-log.ts';
import type { CellValues, RowChange } from '../../tables/history/row-change.ts';
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

type JsonCells = Readonly<Record<string, unknown>>;

export interface ShownRow {
  readonly _row_id: number;
  readonly before: JsonCells | null;
  readonly after: JsonCells | null;
}

export interface ShownChange {
  readonly id: number;
  readonly at: string;
  readonly user: string;
  readonly action: string;
  readonly count: number;
  readonly state: Entry['state'];
  readonly undoes: readonly number[];
  readonly undone: 'no' | 'partly' | 'all';
  readonly rows: readonly ShownRow[];
  readonly rows_truncated: boolean;
}

/** Newest first; one more than `limit` tells that there are others. */
export async function listChanges(
  services: App,
  resource: Resource,
  filter: EntryFilter & { readonly change?: number },
  limit: number,
): Promise<readonly ShownChange[]> {
  const table = await currentTable(services, resource);
  const { change, ...rest } = filter;
  const wanted = change === undefined ? rest : { ...rest, before: change + 1, after: change - 1 };
  const entries = await services.changeLog.list(resource, wanted, limit);
  const shown: ShownChange[] = [];
  const rowLimit = change === undefined ? ROWS_IN_LIST : MAX_ROWS;
  for (const entry of entries) {
    const rows = await services.changeLog.rowsOf(entry.id, rowLimit + 1, filter.rowId ?? null);
    // Between the rows of this piece, but none of them.
    if (filter.rowId !== undefined && rows.length === 0) continue;
    shown.push({
      id: entry.id,
      at: entry.at,
      user: entry.username,
      action: entry.action,
      count: entry.rowCount,
      state: entry.state,
      undoes: entry.undoes,
      undone: entry.undone === 'all' ? 'all' : entry.undone.size > 0 ? 'partly' : 'no',
      rows: rows.slice(0, rowLimit).map((row) => shownRow(row, table)),
      rows_truncated: rows.length > rowLimit,
    });
  }
  return shown;
}

async function currentTable(services: App, resource: Resource): Promise<Table> {
  const table = await services.tables.current(services.datasets.targetOf(resource));
  await services.changeLog.settle(table, resource);
  return table;
}

function shownRow({ rowId, before, after }: RowChange, table: Table): ShownRow {
  return { _row_id: rowId, before: jsonCells(before, table), after: jsonCells(after, table) };
}

/** As rows show them; columns that the dataset no longer has are left out. */
function jsonCells(
  values: CellValues | null,
  { columns }: Pick<Table, 'columns'>,
): JsonCells | null {
  if (values === null) return null;
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
  const result = await submitChange(services, caller, origin, resource, {
    ifMatch: request.ifMatch,
    isAlone: true,
    validate: async (table) => {
      plan = await planUndo(services, resource, table, request);
      return mutationOf(services, resource, table, plan, request);
    },
    undoes: () => {
      const { ids, rows, isPart } = plan!;
      return { ids, rowIds: isPart ? rows.map(({ rowId }) => rowId) : null };
    },
  });
  const { ids, conflicts } = plan!;
  return { result, changes: ids, skipped: conflicts };
}

interface UndoPlan {
  readonly ids: readonly number[];
  readonly rows: readonly RowChange[];
  readonly conflicts: readonly Conflict[];
  /** Some rows of the changes stay as they are. */
  readonly isPart: boolean;
}

async function planUndo(
  services: App,
  resource: Resource,
  table: Table,
  { what, rowIds, skipsConflicts }: UndoRequest,
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
  const ids = entries.map(({ id }) => id).reverse();
  const all = [...(await changeLog.net(ids))];
  const wanted = rowIds === null ? null : new Set(rowIds);
  const asked = all.filter(
    ({ rowId }) => !undone.has(rowId) && (wanted === null || wanted.has(rowId)),
  );
  const conflicts = asked.flatMap((row): Conflict[] => {
    const reason = conflictOf(row, table);
    return reason === null ? [] : [{ rowId: row.rowId, reason }];
  });
  if (conflicts.length > 0 && !skipsConflicts) throw changedSince(conflicts);
  const clashing = new Set(conflicts.map(({ rowId }) => rowId));
  const rows = asked.filter(({ rowId }) => !clashing.has(rowId));
  if (rows.length === 0) {
    throw new AppError('conflict', 'There is nothing to take back: no such row is as it was left');
  }
  return { ids, rows, conflicts, isPart: rows.length < all.length };
}

/** Why a row cannot become what it was; null when it can. */
function conflictOf({ rowId, before, after }: RowChange, table: Table): string | null {
  const gone = [...(before?.keys() ?? [])].find(
    (name) => !table.columns.some((column) => column.name === name),
  );
  if (gone !== undefined) return `there is no column '${gone}' any more`;
  if (holds(table, rowId, after)) {
    const lost = after === null ? unwritable(before!, table) : undefined;
    return lost === undefined ? null : `its '${lost}' cannot be written`;
  }
  const row = table.row(rowId);
  if (row === null) return 'it was deleted since';
  if (after === null) return 'it is there again';
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
  const texts = named.map(({ rowId, reason }) => `row ${rowId}: ${reason}`).join('; ');
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
  const gone = rows.filter(({ before }) => before === null);
  const changed = rows.filter(({ before, after }) => before !== null && after !== null);
  const missing = rows.filter(({ after }) => after === null);
  const data = {
    delete: gone.map(({ rowId }) => ({ _row_id: rowId })),
    update: changed.map(({ rowId, before }) => ({ ...jsonCells(before, table), _row_id: rowId })),
    create: missing.map(({ before }) => jsonCells(before, { columns })),
  };
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
  const spelledAs = (values: RowValues, { spelled = new Map() }: RowChange): RowValues =>
    new Map([
      ...values,
      ...[...spelled].flatMap(([name, text]): [number, string][] => {
        const position = positions.get(name);
        return position === undefined ? [] : [[position, text]];
      }),
    ]);
  const steps = mutation.steps.map((step): Step => {
    if (step.action === 'create') {
      return { ...step, rows: step.rows.map((values, at) => spelledAs(values, missing[at]!)) };
    }
    if (step.action !== 'update') return step;
    const spelled = step.rows.map(({ rowId, values }, at) => ({
      rowId,
      values: spelledAs(values, changed[at]!),
    }));
    return { ...step, rows: spelled };
  });
  return { ...mutation, steps };
}
