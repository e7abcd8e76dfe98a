/**
 * Changes of whole rows: the row form, new and pasted rows, deletion, and conflicts over one row.
 */
import { countText, type GridData, type GridRow, idOf } from '../../../pages/grid/model.ts';
import { isFileOrder } from '../../../pages/grid/view.ts';
import { Refused } from '../../shared/ask.ts';
import { closer, make, openDialog } from '../../shared/element.ts';
import { type Notices, UNDONE } from '../notices.ts';
import { openRow, rowTitle } from '../row-dialog.ts';
import { mayPass, type RowStore } from '../table/rows.ts';
import type { GridTable } from '../table/table.ts';
import type { Changes, Settled } from './changes.ts';
import { askAboutRow, askAboutRows, type Decision, type RowConflict } from './conflict-dialog.ts';
import { openPaste } from './paste.ts';
import { reasonOf, type RowRequests } from './requests.ts';
import { hasCells, type RowEdit, type Values } from './row-edits.ts';
import type { UndoControls } from './undo-controls.ts';
import type { UndoHistory } from './undo-history.ts';

/** Shared by changes of cells, rows and blocks. */
export interface WritingContext {
  readonly data: GridData;
  readonly store: RowStore;
  readonly table: GridTable;
  readonly notices: Notices;
  readonly requests: RowRequests;
  readonly changes: Changes;
  readonly history: UndoHistory;
  readonly undo: UndoControls;
  /** Rows were changed. */
  changed(): void;
}

export class RowWriting {
  readonly #context: WritingContext;
  #settling: Promise<unknown> = Promise.resolve();

  constructor(context: WritingContext) {
    this.#context = context;
  }

  open(row: GridRow): void {
    const { data, store } = this.#context;
    const { version } = store;
    openRow({
      columns: data.columns,
      title: rowTitle(row, data.file),
      row,
      verb: 'Save',
      save: (values) => this.save(row, values, () => version),
      remove: () => this.confirmDelete([row]),
    });
  }

  openNew(): void {
    const { data } = this.#context;
    openRow({
      columns: data.columns,
      title: `New row of ${data.file}`,
      row: null,
      verb: 'Add',
      save: (values) => this.#create([values]),
    });
  }

  openPaste(text: string, replace: (() => void) | null = null): void {
    const { data, table } = this.#context;
    openPaste({
      columns: table.columns.filter(({ isWritable }) => isWritable),
      file: data.file,
      text,
      create: (rows) => this.#create(rows),
      replace,
    });
  }

  /** Rejects when the user wants to continue editing. */
  async save(row: GridRow, values: Values, version: () => string): Promise<void> {
    const names = Object.keys(values);
    if (names.length === 0) return;
    const { changes, requests, store, table, notices, changed } = this.#context;
    const id = idOf(row);
    const what = names.length === 1 ? `${names[0]} of row ${id}` : `row ${id}`;
    let decided: Decision | null = null;
    let isSettled = false;
    const settle = (edits: readonly RowEdit[]): Promise<Settled> => {
      isSettled = true;
      return this.settle(edits, async (file, [conflict]) => {
        decided = await askAboutRow(file, conflict!);
        return decided;
      });
    };
    await changes.write({
      label: `the change of ${what}`,
      edits: [{ row, values }],
      version,
      settle,
    });
    if (isSettled) store.reload();
    else {
      // If this fails, the next check for changes loads it.
      const { rows } = await requests.read([id]).catch(() => ({ rows: [] }));
      const written = rows.map((present) => ({ ...present, _row_id: id }));
      store.put(written);
      table.selection.written(written);
    }
    changed();
    if (decided === 'overwrite') notices.show('Your value is in the file now.');
    else if (decided !== null) notices.show('These are the newest rows.');
  }

  /**
   * After a conflict: the rows that are unchanged, and those the user decides to overwrite. One
   * question at a time; throws when the user wants none of it.
   */
  settle(edits: readonly RowEdit[], ask: typeof askAboutRows = askAboutRows): Promise<Settled> {
    const settling = this.#settling.then(() => this.#settleNow(edits, ask));
    this.#settling = settling.catch(() => {});
    return settling;
  }

  async #settleNow(edits: readonly RowEdit[], ask: typeof askAboutRows): Promise<Settled> {
    const { requests, history, data } = this.#context;
    const { rows, version } = await requests.read(edits.map(({ row }) => idOf(row)));
    const present = new Map(rows.map((row) => [idOf(row), row]));
    history.doubt();
    const clear: RowEdit[] = [];
    const conflicts: RowConflict[] = [];
    for (const { row, values } of edits) {
      const now = present.get(idOf(row));
      // Unchanged, or already written by a request whose response was lost.
      const isClear = now !== undefined && (hasCells(now, row) || hasCells(now, values));
      if (isClear) clear.push({ row, values });
      else conflicts.push({ before: row, present: now, values });
    }
    const decision = conflicts.length === 0 ? 'keep' : await ask(data.file, conflicts);
    if (decision === 'cancel') throw new Refused(412, 'Changed by someone else meanwhile');
    const mine = (decision === 'keep' ? [] : conflicts).flatMap(({ present: now, values }) =>
      now === undefined ? [] : [{ row: now, values }],
    );
    return { edits: [...clear, ...mine], version };
  }

  async #create(rows: readonly Values[]): Promise<void> {
    const { changes, store, table, data, undo, changed } = this.#context;
    const ids = await changes.create(rows);
    store.reload();
    changed();
    undo.offer(`Added ${countText(ids.length)} to ${data.file}, at its end.`);
    // In file order new rows come last; otherwise sort and filter decide where, or whether, they
    // appear.
    if (isFileOrder(location.search)) {
      const last = (store.total ?? 0) + ids.length - 1;
      store.total = last + 1;
      table.selection.activate({ row: last, column: Math.max(0, table.selection.active.column) });
    }
  }

  confirmDelete(rows: readonly GridRow[] = this.#context.table.selection.chosen): void {
    const { table, data } = this.#context;
    if (rows.length === 0) return;
    const what = `Delete ${countText(rows.length)} of ${data.file}`;
    openDialog(
      `${what}?`,
      { onclose: () => table.element.focus({ preventScroll: true }) },
      make('p', 'Undo adds them again, at the end of the file and with new row numbers.'),
      make(
        'p.dialog-actions',
        closer(what, () => void this.#delete(rows), { class: 'small danger' }),
        closer('Cancel'),
      ),
    );
  }

  async #delete(rows: readonly GridRow[]): Promise<void> {
    const { changes, store, table, notices, data, undo, changed } = this.#context;
    const following = followWork(notices, 'Deleting', rows.length);
    following.progress(0);
    try {
      await changes.delete(rows, following);
      const gone = rows.length - following.done;
      const rest = following.signal.aborted ? ' Stopped.' : ` ${countText(gone)} were gone before.`;
      const done = `Deleted ${countText(following.done)} of ${data.file}.`;
      undo.offer(done + (gone === 0 ? '' : rest));
    } catch (error) {
      const text = `Not deleted: ${reasonOf(error)}`;
      if (following.done === 0) tellUndone(notices, text, error, () => void this.#delete(rows));
      else undo.offer(`${text} ${following.text()} are deleted.`, UNDONE);
    }
    if (following.done > 0) table.selection.selectNone();
    store.reload();
    changed();
  }
}

/** Nothing was done; where it may pass later it can be tried again. */
export function tellUndone(notices: Notices, text: string, error: unknown, run: () => void): void {
  const isWorth = error instanceof Refused && mayPass(error.status);
  notices.show(text, isWorth ? { label: 'Try again', run } : null, UNDONE);
}

interface Work {
  readonly signal: AbortSignal;
  readonly done: number;
  /** Tells how far it is, with a button to stop it. */
  progress(done: number): void;
  /** `3 rows of 7 rows`. */
  text(): string;
}

export function followWork(notices: Notices, doing: string, total: number): Work {
  const giveUp = new AbortController();
  let done = 0;
  const text = (): string => `${countText(done)} of ${countText(total)}`;
  return {
    signal: giveUp.signal,
    get done() {
      return done;
    },
    progress(rows) {
      done = rows;
      if (done === total) return;
      notices.show(`${doing}… ${text()}`, { label: 'Stop', run: () => giveUp.abort() });
    },
    text,
  };
}
