/**
 * Changes of whole rows: the row form, new and pasted rows, deletion, and conflicts over one row.
 */
import { askAboutConflict } from './conflict-dialog.ts';
import { make, makeDialog } from '../element.ts';
import { countText, type GridRow, idOf } from '../../../pages/grid/model.ts';
import { UNDONE } from '../notices.ts';
import { openPaste } from './paste.ts';
import { openRow, rowTitle } from '../row-dialog.ts';
import { hasCells, type Values } from './row-edits.ts';
import { ChangeRefused, reasonOf } from './row-requests.ts';
import { mayPass } from '../table/rows.ts';
import { isFileOrder } from '../../../pages/grid/view.ts';
import type { WritingContext } from './context.ts';

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

  openPaste(text: string, replace?: () => void): void {
    const { data, table } = this.#context;
    openPaste({
      columns: table.columns.filter(({ isWritable }) => isWritable),
      file: data.file,
      text,
      create: (rows) => this.#create(rows),
      ...(replace !== undefined && { replace }),
    });
  }

  async save(row: GridRow, values: Values, version: () => string): Promise<void> {
    if (Object.keys(values).length === 0) return;
    const { changes, requests, store, table, run, changed } = this.#context;
    const id = idOf(row);
    try {
      await run(() => changes.update(row, values, version));
    } catch (error) {
      if (!(error instanceof ChangeRefused) || error.status !== 412) throw error;
      await this.#settle(row, values);
      return;
    }
    // If this fails, the next check for changes loads it.
    const { rows } = await requests.read([id]).catch(() => ({ rows: [] }));
    const [present] = rows;
    if (present !== undefined) {
      store.replace(present);
      table.selection.written([{ ...present, _row_id: id }]);
    }
    changed();
  }

  /**
   * Resolves a conflict, one question at a time. Throws when the user wants to continue editing.
   */
  #settle(row: GridRow, values: Values): Promise<void> {
    const settling = this.#settling.then(() => this.#settleNow(row, values));
    this.#settling = settling.catch(() => {});
    return settling;
  }

  async #settleNow(row: GridRow, values: Values): Promise<void> {
    const { changes, requests, history, store, notices, data, run, changed } = this.#context;
    for (;;) {
      const { rows, version } = await requests.read([idOf(row)]);
      const [present] = rows;
      // Already written by a request whose response was lost.
      if (present !== undefined && hasCells(present, values)) break;
      // Another row was changed, not this one.
      const isSame = present !== undefined && hasCells(present, row);
      const decision = isSame
        ? 'overwrite'
        : await askAboutConflict(data.file, row, present, values);
      if (decision === 'cancel') throw new ChangeRefused(412, 'Changed by someone else meanwhile');
      if (decision === 'overwrite' && present !== undefined) {
        history.doubt();
        try {
          await run(() => changes.update(present, values, () => version));
        } catch (error) {
          // Changed again while the user was deciding.
          if (error instanceof ChangeRefused && error.status === 412) continue;
          throw error;
        }
      }
      if (isSame) break;
      notices.show(
        decision === 'overwrite' ? 'Your value is in the file now.' : 'These are the newest rows.',
      );
      break;
    }
    store.reload();
    changed();
  }

  async #create(rows: readonly Values[]): Promise<void> {
    const { changes, store, table, data, undo, run, changed } = this.#context;
    const ids = await run(() => changes.create(rows));
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
    const dialog = makeDialog(
      `${what}?`,
      make('p', {}, 'Undo adds them again, at the end of the file and with new row numbers.'),
      make(
        'form',
        { method: 'dialog', class: 'dialog-actions' },
        make('button', { class: 'small danger', onclick: () => void this.#delete(rows) }, what),
        make('button', { class: 'quiet small' }, 'Cancel'),
      ),
    );
    dialog.addEventListener('close', () => table.element.focus({ preventScroll: true }));
    dialog.showModal();
  }

  async #delete(rows: readonly GridRow[]): Promise<void> {
    const { changes, store, table, notices, data, undo, run, changed } = this.#context;
    const giveUp = new AbortController();
    const all = countText(rows.length);
    let done = 0;
    const tell = (): void => {
      notices.show(`Deleting… ${countText(done)} of ${all}`, {
        label: 'Stop',
        run: () => giveUp.abort(),
      });
    };
    tell();
    const progress = (deleted: number): void => {
      done = deleted;
      tell();
    };
    try {
      await run(() => changes.delete(rows, { progress, signal: giveUp.signal }));
      const gone = rows.length - done;
      const rest =
        gone === 0
          ? ''
          : giveUp.signal.aborted
            ? ' Stopped.'
            : ` ${countText(gone)} were gone before.`;
      undo.offer(`Deleted ${countText(done)} of ${data.file}.${rest}`);
    } catch (error) {
      const text = `Not deleted: ${reasonOf(error)}`;
      const again = { label: 'Try again', run: () => void this.#delete(rows) };
      const isWorth = error instanceof ChangeRefused && mayPass(error.status);
      if (done === 0) notices.show(text, isWorth ? again : null, UNDONE);
      else undo.offer(`${text} ${countText(done)} of ${all} are deleted.`, UNDONE);
    }
    if (done > 0) table.selection.selectNone();
    store.reload();
    changed();
  }
}
