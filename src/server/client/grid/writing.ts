/**
 * Everything that changes rows: cells, rows, pasted rows, deletions, undo, and what happens when somebody else was faster. Only
 * made for those who may write; nobody else gets any of its controls.
 */
import { BlockWriting } from './block-writing.ts';
import { ChangeRefused, type Changes, reasonOf } from './changes.ts';
import { clipOf } from './clip.ts';
import { askAboutConflict } from './conflict-dialog.ts';
import { CellEditor, type Edit, type Step } from './editor.ts';
import { make, makeDialog, quietButton } from './element.ts';
import type { Fill } from './fill-plan.ts';
import {
  blankNote,
  cellOf,
  countText,
  fits,
  type GridData,
  type GridRow,
  idOf,
  plainNumber,
  plainText,
} from './model.ts';
import { isSameCell, type RowEdit, type Values, type WrittenRow } from './row-edits.ts';
import { type Notices, UNDONE } from './notices.ts';
import { openPaste } from './paste.ts';
import { openRow, rowTitle } from './row-dialog.ts';
import { mayPass, type RowStore } from './rows.ts';
import type { Place } from './places.ts';
import type { GridTable } from './table.ts';
import { UnsavedEdits } from './unsaved.ts';

interface WritingOptions {
  readonly data: GridData;
  readonly store: RowStore;
  readonly table: GridTable;
  readonly notices: Notices;
  readonly changes: Changes;
  /** After every change: panels about the rows are out of date. */
  rowsChanged(): void;
}

/** Messages about values that are not in the file. */
const UNSAVED = 'unsaved';

/** The writing half of the page. */
export class Writing {
  readonly tools: HTMLElement;
  readonly #options: WritingOptions;
  readonly #editor: CellEditor;
  readonly #blocks: BlockWriting;
  readonly #deleteButton: HTMLButtonElement;
  readonly #undoButton: HTMLButtonElement;
  readonly #redoButton: HTMLButtonElement;
  /** Values that were typed and are not in the file yet. */
  readonly unsaved: UnsavedEdits;
  #running = 0;
  /** Values on their way, until the page has the row as it is then. */
  readonly #taking = new Set<Promise<void>>();
  #settling: Promise<unknown> = Promise.resolve();

  constructor(options: WritingOptions) {
    this.#options = options;
    const { table, store } = options;
    this.#editor = new CellEditor({
      table,
      version: () => store.version,
      take: (edit) => void this.#take(edit),
      save: (edit) => this.#saveCell(edit),
      moved: (step) => this.#moved(step),
    });
    this.unsaved = new UnsavedEdits(() => table.update());
    this.#blocks = new BlockWriting({
      ...options,
      run: (change) => this.#run(change),
      changed: () => this.#changed(),
      offerUndo: (text, topic) => this.#offerUndo(text, topic),
      addRows: (text, replace) => this.#openPaste(text, replace),
      settled: async () => void (await Promise.all(this.#taking)),
      forget: (edits) => this.#forget(edits),
    });
    this.#deleteButton = quietButton('Delete', () => this.#confirmDelete(), {
      class: 'quiet small danger',
    });
    this.#undoButton = quietButton('Undo', () => void this.#undo(), { 'data-action': 'Undo' });
    this.#redoButton = quietButton('Redo', () => void this.#undo(true), { 'data-action': 'Redo' });
    this.tools = make(
      'div',
      { class: 'tool-group' },
      quietButton('Add row', () => this.#openNewRow(), {
        'data-key': 'n',
        'data-action': 'Add a row',
      }),
      quietButton('Paste rows', () => this.#openPaste(''), { 'data-action': 'Paste rows' }),
      this.#deleteButton,
      this.#undoButton,
      this.#redoButton,
    );
    addEventListener('beforeunload', (event) => {
      if (this.#editor.isChanged || this.unsaved.size > 0 || this.isBusy) event.preventDefault();
    });
    // On the document: the event goes to where the caret is, which may be anywhere.
    document.addEventListener('paste', (event) => this.#pasted(event));
    this.selectionChanged();
    this.#undoChanged();
  }

  /** A change is on its way. */
  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** Somebody is in the middle of a cell. */
  get isTyping(): boolean {
    return this.#editor.isOpen;
  }

  /** Starts to edit a cell; false when it cannot be changed. */
  edit(place: Place, text: string | null): boolean {
    const { table, store } = this.#options;
    const row = store.at(place.row);
    const column = table.columns[place.column];
    if (row === undefined || column === undefined || !column.isWritable) return false;
    const left = this.unsaved.of(row, column);
    const isRefused = left !== undefined && left.problem !== null;
    // What was refused is gone on with where it stands.
    if (isRefused && text === null) this.#reopen(place, left);
    else this.#editor.open(place, isRefused ? row : this.unsaved.over(row), column, { text });
    return true;
  }

  /** Keys of the grid that change something. */
  key(event: KeyboardEvent): boolean {
    const { table } = this.#options;
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey;
    const key = event.key.toLowerCase();
    if (isCommand && (key === 'z' || key === 'y')) {
      void this.#undo(key === 'y' || event.shiftKey);
      return true;
    }
    if (isCommand && key === 'd') {
      void this.#blocks.fillDown();
      return true;
    }
    if (key !== 'delete' && key !== 'backspace') return false;
    if (table.selection.rows.size > 0) this.#confirmDelete();
    else if (table.selection.block !== null) void this.#blocks.empty();
    else void this.#clearCell();
    return true;
  }

  /** Fills cells beside a block with its pattern. */
  fill(fill: Fill, isCopy: boolean): void {
    void this.#blocks.fill(fill, isCopy);
  }

  /** What has just been copied goes: rows after a question, cells at once. */
  cut(): void {
    const { selection } = this.#options.table;
    if (selection.rows.size > 0) this.#confirmDelete();
    else void this.#blocks.empty({ isCut: true });
  }

  /** Says on the button what it will delete. */
  selectionChanged(): void {
    const { size } = this.#options.table.selection.rows;
    this.#deleteButton.hidden = size === 0;
    this.#deleteButton.textContent = `Delete ${countText(size)}`;
    this.#deleteButton.title = `Delete ${countText(size)} of ${this.#options.data.file}`;
  }

  /** Our own change made this version, with these cells. */
  versionChanged(version: string, written: readonly WrittenRow[]): void {
    const { store } = this.#options;
    if (this.#editor.version === store.version) this.#editor.version = version;
    this.unsaved.versionChanged(store.version, version);
    store.versionMade(version, written);
    this.#options.table.selection.written(written);
  }

  /** Ways to the first rows of a table that has none. */
  firstRows(): HTMLElement[] {
    return [
      quietButton('Add the first row', () => this.#openNewRow()),
      quietButton('Paste from a spreadsheet', () => this.#openPaste('')),
    ];
  }

  /** Somebody else's change: numbers of rows may mean other rows. */
  fileChanged(): void {
    this.#options.changes.doubt();
    this.#options.table.selection.selectNone();
  }

  /** Sends again what was not taken; `isWorth` is asked about the status of the refusal. */
  tryAgain(isWorth: (status: number) => boolean = () => true): void {
    for (const edit of this.unsaved.failed()) if (isWorth(edit.status)) void this.#take(edit);
  }

  /** The row as a sheet of fields. */
  openRow(row: GridRow): void {
    const { data, store } = this.#options;
    const sheet = { version: store.version };
    openRow({
      columns: data.columns,
      title: rowTitle(row, data.file),
      row,
      verb: 'Save',
      save: (values) => this.#saveRow(row, values, () => sheet.version),
      remove: () => this.#confirmDelete([row]),
    });
  }

  /** Sends a value while the person goes on; until it is in the file, the cell shows it as such. */
  async #take(edit: Edit): Promise<void> {
    const taking = this.#send(edit);
    this.#taking.add(taking);
    await taking;
    this.#taking.delete(taking);
  }

  async #send(edit: Edit): Promise<void> {
    const { store, notices, table, changes } = this.#options;
    const { row, column, value } = edit;
    this.unsaved.put(edit, null);
    try {
      await this.#saveRow(row, { [column.name]: value }, () => edit.version);
      this.unsaved.remove(edit);
      if (this.unsaved.size === 0) notices.hide(UNSAVED);
    } catch (error) {
      const problem = error instanceof ChangeRefused ? error.reason : messageOf(error);
      const status = error instanceof ChangeRefused ? error.status : 0;
      if (!this.unsaved.put(edit, problem, status)) return;
      const isAbout = status === 412 || status === 422;
      const place = { row: store.placeOf(idOf(row)), column: table.columns.indexOf(column) };
      if (isAbout && place.row >= 0 && !this.isTyping && !isInDialog()) {
        table.selection.activate(place);
        requestAnimationFrame(() =>
          requestAnimationFrame(() => this.#reopen(place, { ...edit, problem })),
        );
        return;
      }
      this.#tellUnsaved(problem);
    } finally {
      if (changes.nextUndo !== null) this.#undoChanged();
    }
  }

  #tellUnsaved(problem: string): void {
    const { notices } = this.#options;
    const count = this.unsaved.failed().length;
    notices.show(
      `${countText(count, 'value')} not saved: ${problem}`,
      { label: 'Try again', run: () => this.tryAgain() },
      UNSAVED,
    );
  }

  #reopen(place: Place, left: Edit & { readonly problem: string | null }): void {
    this.unsaved.remove(left);
    this.#options.notices.hide(UNSAVED);
    this.#editor.open(place, left.row, left.column, {
      text: left.value,
      version: left.version,
      ...(left.problem !== null && { problem: left.problem }),
    });
  }

  async #saveCell({ row, column, value, version }: Edit): Promise<void> {
    try {
      await this.#saveRow(row, { [column.name]: value }, () => version);
    } catch (error) {
      throw error instanceof ChangeRefused ? new Error(error.reason) : error;
    }
  }

  async #saveRow(row: GridRow, values: Values, version: () => string): Promise<void> {
    if (Object.keys(values).length === 0) return;
    const { changes, store, table } = this.#options;
    const id = idOf(row);
    try {
      await this.#run(() => changes.update(row, values, version));
    } catch (error) {
      if (!(error instanceof ChangeRefused) || error.status !== 412) throw error;
      await this.#settle(row, values);
      return;
    }
    // Without an answer the next look at the file brings it.
    const [present] = await changes.read([id]).catch(() => []);
    if (present !== undefined) {
      store.replace(present);
      table.selection.written([{ ...present, _row_id: id }]);
    }
    this.#changed();
  }

  /** The file changed under an edit; one such question at a time. Throws when the person wants to go on typing. */
  #settle(row: GridRow, values: Values): Promise<void> {
    const settling = this.#settling.then(() => this.#settleNow(row, values));
    this.#settling = settling.catch(() => {});
    return settling;
  }

  async #settleNow(row: GridRow, values: Values): Promise<void> {
    const { changes, store, notices, data } = this.#options;
    for (;;) {
      const [present] = await changes.read([idOf(row)]);
      const version = changes.readVersion;
      // An answer that got lost on its way: the file has it.
      if (present !== undefined && hasCells(present, values)) break;
      // The change was elsewhere: this row is as it was seen.
      const isSame = present !== undefined && hasCells(present, row);
      const decision = isSame
        ? 'overwrite'
        : await askAboutConflict(data.file, row, present, values);
      if (decision === 'cancel') throw new ChangeRefused(412, 'Changed by someone else meanwhile');
      if (decision === 'overwrite' && present !== undefined) {
        changes.doubt();
        try {
          await this.#run(() => changes.update(present, values, () => version));
        } catch (error) {
          // Changed once more while the person was thinking.
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
    this.#changed();
  }

  async #clearCell(): Promise<void> {
    const { table, store, data } = this.#options;
    const row = table.selection.activeRow;
    const column = table.columns[table.selection.active.column];
    if (row === undefined || column?.isWritable !== true) return;
    if (plainText(cellOf(row, column.name)) === '') return;
    await this.#take({ row, column, value: '', version: store.version });
    if (this.unsaved.size === 0)
      this.#offerUndo(
        `${column.name} of row ${idOf(row)} is blank now.${blankNote(data, [column.name])}`,
      );
  }

  #openNewRow(): void {
    const { data } = this.#options;
    openRow({
      columns: data.columns,
      title: `New row of ${data.file}`,
      row: null,
      verb: 'Add',
      save: (values) => this.#create([values]),
    });
  }

  #openPaste(text: string, replace?: () => void): void {
    const { data, table } = this.#options;
    openPaste({
      columns: table.columns.filter(({ isWritable }) => isWritable),
      file: data.file,
      text,
      create: (rows) => this.#create(rows),
      ...(replace !== undefined && { replace }),
    });
  }

  /** What was refused in these cells is overtaken. */
  #forget(edits: readonly RowEdit[]): void {
    const cells = new Map(edits.map(({ row, values }) => [idOf(row), values]));
    for (const edit of this.unsaved.failed()) {
      const values = cells.get(idOf(edit.row));
      if (values !== undefined && Object.hasOwn(values, edit.column.name)) {
        this.unsaved.remove(edit);
      }
    }
  }

  #pasted(event: ClipboardEvent): void {
    const { table } = this.#options;
    const clip = event.clipboardData === null ? null : clipOf(event.clipboardData);
    if (document.activeElement !== table.element || clip === null || clip.text === '') return;
    event.preventDefault();
    const [[cell = ''] = []] = clip.cells;
    const isOneCell = clip.cells.length === 1 && clip.cells[0]!.length === 1;
    if (isOneCell && table.selection.block === null && table.selection.target !== null)
      this.#pasteCell(cell);
    else if (clip.cells.length > 0) this.#blocks.paste(clip);
  }

  /** One value into the active cell; one that does not fit is left in the editor. */
  #pasteCell(text: string): void {
    const { table, store } = this.#options;
    const row = table.selection.activeRow;
    const column = table.columns[table.selection.active.column];
    if (row === undefined || column === undefined) return;
    if (!column.isWritable) {
      this.#options.notices.show(`${column.name} cannot be changed.`);
      return;
    }
    const value = plainNumber(text, column);
    if (!fits(value, column)) this.edit(table.selection.active, text);
    else if (plainText(this.unsaved.of(row, column)?.value ?? cellOf(row, column.name)) !== value) {
      void this.#take({ row, column, value, version: store.version });
    }
  }

  async #create(rows: readonly Values[]): Promise<void> {
    const { changes, store, table, data } = this.#options;
    const ids = await this.#run(() => changes.create(rows));
    store.reload();
    this.#changed();
    this.#offerUndo(`Added ${countText(ids.length)} to ${data.file}, at its end.`);
    // In file order the new rows are the last ones; elsewhere they are where the sort puts them, if the filter lets them in.
    if (!location.search.match(/[?&](?:sort|filter|q)=/)) {
      const last = (store.total ?? 0) + ids.length - 1;
      store.total = last + 1;
      table.selection.activate({ row: last, column: Math.max(0, table.selection.active.column) });
    }
  }

  #confirmDelete(rows: readonly GridRow[] = this.#options.table.selection.chosen): void {
    const { table, data } = this.#options;
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
    const { changes, store, table, notices, data } = this.#options;
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
      await this.#run(() => changes.delete(rows, { progress, signal: giveUp.signal }));
      const gone = rows.length - done;
      const rest =
        gone === 0
          ? ''
          : giveUp.signal.aborted
            ? ' Stopped.'
            : ` ${countText(gone)} were gone before.`;
      this.#offerUndo(`Deleted ${countText(done)} of ${data.file}.${rest}`);
    } catch (error) {
      const text = `Not deleted: ${reasonOf(error)}`;
      const again = { label: 'Try again', run: () => void this.#delete(rows) };
      const isWorth = error instanceof ChangeRefused && mayPass(error.status);
      if (done === 0) notices.show(text, isWorth ? again : null, UNDONE);
      else this.#offerUndo(`${text} ${countText(done)} of ${all} are deleted.`, UNDONE);
    }
    if (done > 0) table.selection.selectNone();
    store.reload();
    this.#changed();
  }

  async #undo(isRedo = false): Promise<void> {
    const { changes, store, notices, data } = this.#options;
    const verb = isRedo ? 'redo' : 'undo';
    try {
      const label = await this.#run(() => (isRedo ? changes.redo() : changes.undo()));
      if (label === null) {
        notices.show(`There is nothing to ${verb}.`);
        return;
      }
      store.reload();
      this.#changed();
      const isAgain = label.startsWith('the deletion') && !isRedo;
      notices.show(
        `${isRedo ? 'Redid' : 'Undid'} ${label}.${isAgain ? ' What was deleted is put back at the end of the file, with new numbers.' : ''}`,
      );
    } catch (error) {
      const isConflict = error instanceof ChangeRefused && error.status === 412;
      const reason =
        isConflict && !messageOf(error).startsWith('Row ')
          ? `${data.file} was changed by someone else meanwhile.`
          : messageOf(error);
      notices.show(`Not ${isRedo ? 'redone' : 'undone'}: ${reason}`);
      if (isConflict) changes.doubt();
      this.#undoChanged();
    }
  }

  #offerUndo(text: string, topic = ''): void {
    this.#options.notices.show(text, { label: 'Undo', run: () => void this.#undo() }, topic);
  }

  #changed(): void {
    this.#undoChanged();
    this.#options.rowsChanged();
  }

  #undoChanged(): void {
    const next = this.#options.changes.nextUndo;
    this.#undoButton.disabled = next === null;
    this.#undoButton.title = next === null ? 'Nothing to undo' : `Undo ${next.label}`;
    const again = this.#options.changes.nextRedo;
    this.#redoButton.hidden = again === null;
    this.#redoButton.title = again === null ? '' : `Redo ${again.label}`;
  }

  async #run<T>(change: () => Promise<T>): Promise<T> {
    this.#running++;
    try {
      return await change();
    } finally {
      this.#running--;
    }
  }

  #moved(step: Step): void {
    const { table } = this.#options;
    const { row, column } = table.selection.active;
    if (step === 'down') table.selection.activate({ row: row + 1, column });
    else if (step === 'previous') this.#editBeside(-1);
    else if (step === 'next') this.#editBeside(1);
  }

  /** The next cell of the row that can be written; at its end the grid has the focus again. */
  #editBeside(by: -1 | 1): void {
    const { table } = this.#options;
    const { row, column } = table.selection.active;
    for (let at = column + by; at >= 0 && at < table.columns.length; at += by) {
      if (!table.columns[at]!.isWritable) continue;
      table.selection.activate({ row, column: at });
      requestAnimationFrame(() =>
        requestAnimationFrame(() => this.edit({ row, column: at }, null)),
      );
      return;
    }
  }
}

/** Whether a row has these values, as far as it knows their columns. */
function hasCells(row: GridRow, values: Values): boolean {
  return Object.keys(values).every((name) => isSameCell(cellOf(row, name), cellOf(values, name)));
}

function isInDialog(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
