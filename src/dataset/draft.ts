/**
 * The edits of one group folded into one change of a file: what each of them found and left, and what remains to be
 * written in the end.
 *
 * A row is looked up once in the typed copy and then lives here, so later edits of the group see earlier ones.
 */
import { AppError } from '../base/errors.ts';
import type { EditResult } from './edits.ts';
import { type StoredValue, storedValue } from './infer.ts';
import type { Mutation, RowValues } from './mutation.ts';
import type { Table, TableCommit } from './table.ts';
import type { StoredSegment, TableJournal } from './table-meta.ts';
import type { FileStamp } from '../base/file-stamp.ts';
import type { Cell, ClassCounts, EditPlan, TableChanges } from './types.ts';
import { classOf } from './infer.ts';

interface DraftRow {
  /** Stored values by column position: what is there before this edit. */
  readonly stored: Map<number, StoredValue>;
  /** Cells to write; empty for a row only looked at. */
  readonly cells: Map<number, Cell>;
  isDeleted: boolean;
  readonly isCreated: boolean;
}

export class Draft {
  readonly #table: Table;
  readonly #rows = new Map<number, DraftRow>();
  #changes = 0;
  #lastRowId: number;

  constructor(table: Table) {
    this.#table = table;
    this.#lastRowId = table.state.lastRowId;
  }

  /** Version tag after the edits applied so far. */
  get version(): string {
    return this.#table.version(this.#changes);
  }

  /** Something has to be written. */
  get isChanged(): boolean {
    return this.#changes > 0;
  }

  /** Takes an edit into the group. Throws `not-found` for a row that is not there (DS-79); then nothing changed. */
  apply(mutation: Mutation): EditResult {
    const before = this.#changes;
    const rowIds =
      mutation.action === 'create'
        ? this.#create(mutation.rows)
        : mutation.action === 'update'
          ? this.#update(mutation.rowId, mutation.values)
          : this.#delete(mutation.rowId);
    return {
      action: mutation.action,
      rowIds,
      version: this.version,
      isChanged: this.#changes > before,
    };
  }

  #create(rows: readonly RowValues[]): number[] {
    if (rows.length > 0) this.#changes++;
    return rows.map((values) => {
      const rowId = ++this.#lastRowId;
      const stored = new Map<number, StoredValue>();
      for (const column of this.#table.columns) {
        stored.set(column.position, storedValue(values.get(column.position) ?? '', column));
      }
      this.#rows.set(rowId, { stored, cells: new Map(values), isDeleted: false, isCreated: true });
      return rowId;
    });
  }

  #update(rowId: number, values: RowValues): number[] {
    const row = this.#find(rowId);
    let isChanged = false;
    for (const column of this.#table.columns) {
      const cell = values.get(column.position);
      if (cell === undefined) continue;
      const stored = storedValue(cell, column);
      if (stored === row.stored.get(column.position)) continue;
      row.stored.set(column.position, stored);
      row.cells.set(column.position, cell);
      isChanged = true;
    }
    if (isChanged) this.#changes++;
    return [rowId];
  }

  #delete(rowId: number): number[] {
    this.#find(rowId).isDeleted = true;
    this.#changes++;
    return [rowId];
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
    if (!row || row.isDeleted) throw new AppError('not-found', `Row ${rowId} not found`);
    return row;
  }

  /** What the kind has to write, by position in the present file. */
  changes(): TableChanges {
    const updates = new Map<number, ReadonlyMap<number, Cell>>();
    const deletes = new Set<number>();
    const creates: ReadonlyMap<number, Cell>[] = [];
    for (const [rowId, row] of this.#rows) {
      if (row.isCreated) {
        if (!row.isDeleted) creates.push(row.cells);
      } else if (row.isDeleted) deletes.add(this.#table.positionOf(rowId));
      else if (row.cells.size > 0) updates.set(this.#table.positionOf(rowId), row.cells);
    }
    return { updates, deletes, creates };
  }

  /** The ids the new file will hold, for the journal of the copy. */
  journal(stamp: FileStamp): TableJournal {
    return {
      stamp,
      deleted: this.#deleted(),
      created: this.#created(),
      lastRowId: this.#lastRowId,
    };
  }

  /** The change of the typed copy that goes with the kind's plan. */
  commit(
    plan: EditPlan,
    written: { readonly stamp: FileStamp; readonly hash: string },
    stampTakenAt: number,
  ): TableCommit {
    const { state } = this.#table;
    const updates = new Map<number, Map<number, StoredValue>>();
    const creates = new Map<number, Map<number, StoredValue>>();
    for (const [rowId, row] of this.#rows) {
      if (row.isDeleted) continue;
      if (row.isCreated) creates.set(rowId, row.stored);
      else if (row.cells.size > 0) updates.set(rowId, changedValues(row));
    }
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
        counts: this.#counts(plan),
        dialect: plan.layout.dialect,
      },
    };
  }

  #deleted(): number[] {
    return [...this.#rows].flatMap(([id, row]) => (row.isDeleted && !row.isCreated ? [id] : []));
  }

  #created(): number[] {
    return [...this.#rows].flatMap(([id, row]) => (row.isCreated && !row.isDeleted ? [id] : []));
  }

  #counts(plan: EditPlan): ClassCounts[] {
    const { columns, state } = this.#table;
    const counts = state.counts.map((entry) => ({ ...entry }));
    const indexOf = new Map(columns.map((column, index) => [column.position, index]));
    for (const { position, before, after } of plan.cells) {
      const entry = counts[indexOf.get(position) ?? -1];
      if (!entry) continue;
      count(entry, before, -1);
      count(entry, after, 1);
    }
    return counts;
  }

  /** New segments get the id of their first row, so that ids can still be located through them. */
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

function changedValues(row: DraftRow): Map<number, StoredValue> {
  return new Map([...row.cells.keys()].map((position) => [position, row.stored.get(position)!]));
}

function count(counts: ClassCounts, cell: Cell | undefined, step: 1 | -1): void {
  if (cell === undefined) return;
  const found = classOf(cell);
  if (found !== 'blank') counts[found] += step;
}
