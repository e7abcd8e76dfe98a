/**
 * Folds the edits of a group into one change of a file. Each row is looked up once and then kept here, so later edits
 * see earlier ones.
 */
import { AppError } from '../../base/errors.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import { PAGE_BYTES } from '../copy/copy-file.ts';
import type { Mutation, Step } from './change-request.ts';
import type { RowUpdate, RowValues } from './mutation.ts';
import type { Table, TableCommit } from '../copy/table.ts';
import type { StoredSegment, TableJournal, TableState } from '../copy/table-meta.ts';
import type { FileStamp } from '../../base/files/file-stamp.ts';
import type { Cell, Column, EditPlan, TableChanges, StoredValue } from '../types.ts';
import { storedCell } from '../infer/infer.ts';
import { type CellValues, mergeChanges, type RowChange, rowDigest } from '../history/row-change.ts';
import { countCell } from '../infer/reading.ts';

export interface StepResult {
  readonly action: Step['action'];
  /** In the order of the request. */
  readonly rowIds: readonly number[];
  /** Those of them that are new. */
  readonly createdIds: readonly number[];
}

/** What became of one edit. */
export interface EditResult extends Pick<Mutation, 'action' | 'isDryRun'> {
  readonly steps: readonly StepResult[];
  /** Of all steps. */
  readonly rowIds: readonly number[];
  /** Version after this edit. */
  readonly version: string;
  /** False when the file already held these values: nothing was written. */
  readonly isChanged: boolean;
  /** Made without an entry in the history, which could not be written. */
  readonly isUnrecorded?: boolean;
  /** Resolves when everybody who follows changes has followed: an answer must wait for it. */
  readonly followed: Promise<void>;
}

interface AppliedEdit extends Omit<EditResult, 'followed'> {
  readonly changes: readonly RowChange[];
}

interface DraftRow {
  readonly stored: Map<number, StoredValue>;
  readonly cells: Map<number, Cell>;
  isDeleted: boolean;
  readonly isCreated: boolean;
}

/** For pages that every edit writes, locks and audit entries. */
const ROOM_AT_LEAST = 1 << 20;

export class Draft {
  readonly #table: Table;
  readonly #rows = new Map<number, DraftRow>();
  #changes = 0;
  #lastRowId: number;

  constructor(table: Table) {
    this.#table = table;
    this.#lastRowId = table.state.lastRowId;
  }

  /** After the edits applied so far. */
  get version(): string {
    return this.#table.version(this.#changes);
  }

  get isChanged(): boolean {
    return this.#changes > 0;
  }

  /** Throws `not-found` for a missing row; then nothing has changed. Yields to the event loop. */
  async apply({ action, isDryRun, steps }: Mutation): Promise<AppliedEdit> {
    await this.#requireRows(steps);
    const before = this.#changes;
    const results: StepResult[] = [];
    const changes = new Map<number, RowChange | null>();
    for (const step of steps) results.push(await this.#take(step, changes));
    return {
      changes: [...changes.values()].filter((change) => change !== null),
      action,
      isDryRun,
      steps: results,
      rowIds: results.flatMap(({ rowIds }) => rowIds),
      version: this.version,
      isChanged: this.#changes > before,
    };
  }

  /** What one step deletes, later ones do not find. */
  async #requireRows(steps: readonly Step[]): Promise<void> {
    const slice = new TimeSlice();
    const gone = new Set<number>();
    for (const step of steps) {
      for (const rowId of rowsNamedBy(step)) {
        if (slice.isOver) await slice.rest();
        if (gone.has(rowId)) throw missing(rowId);
        this.#find(rowId);
        if (step.action === 'delete') gone.add(rowId);
      }
    }
  }

  async #take(step: Step, changes: Map<number, RowChange | null>): Promise<StepResult> {
    const slice = new TimeSlice();
    const before = this.#lastRowId;
    let isChanged = false;
    const rowIds: number[] = [];
    const rows = step.action === 'delete' ? step.rowIds : step.rows;
    for (const item of rows) {
      if (slice.isOver) await slice.rest();
      const { rowId, values } = itemOf(step, item);
      const change = this.#digested(
        rowId === null ? this.#create(values!) : this.#change(rowId, values),
      );
      rowIds.push(change.rowId);
      if (change.before?.size === 0 && change.after !== null) continue;
      const older = changes.get(change.rowId);
      changes.set(change.rowId, older ? mergeChanges(older, change) : change);
      isChanged = true;
    }
    if (isChanged) this.#changes++;
    const createdIds = rowIds.filter((rowId) => rowId > before);
    return { action: step.action, rowIds, createdIds };
  }

  /** `values` null: the row goes. */
  #change(rowId: number, values: RowValues | null): RowChange {
    const row = this.#find(rowId);
    if (values !== null) return this.#put(rowId, row, values);
    row.isDeleted = true;
    return { rowId, before: this.#named(row.stored), after: null };
  }

  #digested(change: RowChange): RowChange {
    if (change.after === null) return change;
    const { columns } = this.#table;
    const { stored } = this.#rows.get(change.rowId)!;
    const values = columns.map(({ position }) => stored.get(position) ?? null);
    return { ...change, digest: rowDigest(columns, values) };
  }

  #named(stored: ReadonlyMap<number, StoredValue>): CellValues {
    return new Map(
      this.#table.columns.map(({ name, position }) => [name, stored.get(position) ?? null]),
    );
  }

  #create(values: RowValues): RowChange {
    const rowId = ++this.#lastRowId;
    const stored = new Map<number, StoredValue>();
    for (const column of this.#table.columns) {
      stored.set(column.position, this.#stored(values.get(column.position), column));
    }
    this.#rows.set(rowId, { stored, cells: new Map(values), isDeleted: false, isCreated: true });
    return { rowId, before: null, after: this.#named(stored) };
  }

  #put(rowId: number, row: DraftRow, values: RowValues): RowChange {
    const before = new Map<string, StoredValue>();
    const after = new Map<string, StoredValue>();
    for (const column of this.#table.columns) {
      const cell = values.get(column.position);
      if (cell === undefined) continue;
      const stored = this.#stored(cell, column);
      const present = row.stored.get(column.position) ?? null;
      if (stored === present) continue;
      before.set(column.name, present);
      after.set(column.name, stored);
      row.stored.set(column.position, stored);
      row.cells.set(column.position, cell);
    }
    return { rowId, before, after };
  }

  #stored(cell: Cell | undefined, column: Column): StoredValue {
    return storedCell(cell, column, this.#table.head.blank);
  }

  #find(rowId: number): DraftRow {
    let row = this.#rows.get(rowId);
    if (!row) {
      const values = this.#table.row(rowId);
      if (values) {
        const stored = new Map(
          this.#table.columns.map((column, index) => [column.position, values[index]!]),
        );
        row = { stored, cells: new Map(), isDeleted: false, isCreated: false };
        this.#rows.set(rowId, row);
      }
    }
    if (!row || row.isDeleted) throw missing(rowId);
    return row;
  }

  /** By position in the present file. Yields to the event loop. */
  async changes(): Promise<TableChanges> {
    const slice = new TimeSlice();
    const updates = new Map<number, ReadonlyMap<number, Cell>>();
    const deletes = new Set<number>();
    const creates: ReadonlyMap<number, Cell>[] = [];
    for (const [rowId, row] of this.#rows) {
      if (slice.isOver) await slice.rest();
      if (row.isCreated) {
        if (!row.isDeleted) creates.push(row.cells);
      } else if (row.isDeleted) deletes.add(this.#table.positionOf(rowId));
      else if (row.cells.size > 0) updates.set(this.#table.positionOf(rowId), row.cells);
    }
    return { updates, deletes, creates };
  }

  /** Bytes by which the copy's log may grow; an overestimate. */
  get roomToFollow(): number {
    const indexes = this.#table.indexes.size;
    let bytes = ROOM_AT_LEAST;
    for (const { cells, isCreated } of this.#rows.values()) {
      // New rows fill page after page; others change separate pages in the table and in every index.
      bytes += isCreated ? (1 + indexes) * bytesOf(cells) : (1 + 2 * indexes) * PAGE_BYTES;
    }
    return bytes;
  }

  journal(stamp: FileStamp): TableJournal {
    return {
      stamp,
      deleted: this.#deleted(),
      created: this.#created(),
      lastRowId: this.#lastRowId,
    };
  }

  async commit(
    plan: EditPlan,
    written: { readonly stamp: FileStamp; readonly hash: string },
    stampTakenAt: number,
  ): Promise<TableCommit> {
    const { state } = this.#table;
    const slice = new TimeSlice();
    const updates = new Map<number, Map<number, StoredValue>>();
    const creates = new Map<number, Map<number, StoredValue>>();
    for (const [rowId, row] of this.#rows) {
      if (slice.isOver) await slice.rest();
      if (row.isDeleted) continue;
      if (row.isCreated) creates.set(rowId, row.stored);
      else if (row.cells.size > 0) updates.set(rowId, changedValues(row));
    }
    this.#deliver(plan, updates, creates);
    const deletes = this.#deleted();
    return {
      updates,
      creates,
      deletes,
      segments: this.#segments(plan),
      state: {
        ...written,
        stampTakenAt,
        sequence: state.sequence + this.#changes,
        rowCount: state.rowCount - deletes.length + creates.size,
        lastRowId: this.#lastRowId,
        ...(await this.#counts(plan)),
        dialect: plan.layout.dialect,
      },
    };
  }

  /** Where the file differs from what was asked for, the copy follows the file. */
  #deliver(
    plan: EditPlan,
    updates: Map<number, Map<number, StoredValue>>,
    creates: Map<number, Map<number, StoredValue>>,
  ): void {
    if (!plan.delivered?.length) return;
    const columns = new Map(this.#table.columns.map((column) => [column.position, column]));
    const created = [...creates.keys()];
    const positions = plan.delivered.flatMap(({ origin }) =>
      'update' in origin ? origin.update : [],
    );
    const updated = this.#table.rowIdsAt(positions);
    for (const { origin, position, cell } of plan.delivered) {
      const column = columns.get(position);
      const row =
        'create' in origin
          ? creates.get(created[origin.create] ?? -1)
          : rowOf(updates, updated.get(origin.update));
      if (column && row) row.set(position, this.#stored(cell, column));
    }
  }

  #deleted(): number[] {
    return [...this.#rows].flatMap(([id, row]) => (row.isDeleted && !row.isCreated ? [id] : []));
  }

  #created(): number[] {
    return [...this.#rows].flatMap(([id, row]) => (row.isCreated && !row.isDeleted ? [id] : []));
  }

  async #counts(plan: EditPlan): Promise<Pick<TableState, 'counts' | 'forms'>> {
    const slice = new TimeSlice();
    const { columns, state, head } = this.#table;
    const counts = state.counts.map((entry) => ({ ...entry }));
    const forms = state.forms.map((entry) => ({
      ...entry,
      forms: entry.forms && { ...entry.forms },
      units: { ...entry.units },
    }));
    const indexOf = new Map(columns.map((column, index) => [column.position, index]));
    for (const { position, before, after } of plan.cells) {
      if (slice.isOver) await slice.rest();
      const index = indexOf.get(position);
      if (index === undefined) continue;
      const count = (cell: Cell | undefined, step: 1 | -1): void => {
        if (cell !== undefined) countCell(counts[index]!, forms[index]!, cell, step, head);
      };
      count(before, -1);
      count(after, 1);
    }
    return { counts, forms };
  }

  /** It gets the id of its first row, so that ids can be located through it. */
  #segments(plan: EditPlan): StoredSegment[] {
    const old = this.#table.segments;
    const created = this.#created();
    const kept = this.#table.state.rowCount - this.#deleted().length;
    let position = 0;
    return plan.layout.segments.map(({ rows, bytes }, index) => {
      const firstRowId =
        old[index]?.firstRowId ?? created[Math.max(0, position - kept)] ?? this.#lastRowId + 1;
      position += rows;
      return { firstRowId, rows, bytes };
    });
  }
}

function rowsNamedBy(step: Step): readonly number[] {
  if (step.action === 'create') return [];
  if (step.action === 'delete') return step.rowIds;
  return step.rows.flatMap(({ rowId }) => rowId ?? []);
}

/** `rowId` null: a new row; `values` null: the row goes. */
function itemOf(
  { action }: Step,
  item: unknown,
): { readonly rowId: number | null; readonly values: RowValues | null } {
  if (action === 'create') return { rowId: null, values: item as RowValues };
  if (action === 'delete') return { rowId: item as number, values: null };
  return item as RowUpdate;
}

function missing(rowId: number): AppError {
  return new AppError('not-found', `Row ${rowId} not found`);
}

function bytesOf(cells: ReadonlyMap<number, Cell>): number {
  let bytes = 16;
  for (const cell of cells.values()) bytes += typeof cell === 'string' ? 3 * cell.length + 4 : 12;
  return bytes;
}

/** Formulas change rows that no edit named. */
function rowOf<T>(
  rows: Map<number, Map<number, T>>,
  id: number | undefined,
): Map<number, T> | undefined {
  if (id === undefined) return undefined;
  let row = rows.get(id);
  if (row === undefined) rows.set(id, (row = new Map()));
  return row;
}

function changedValues(row: DraftRow): Map<number, StoredValue> {
  return new Map([...row.cells.keys()].map((position) => [position, row.stored.get(position)!]));
}
