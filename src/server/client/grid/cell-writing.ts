/**
 * Single cells: typed, pasted or emptied while the person goes on. Until a value is in the file its cell shows it as such, and one
 * that was refused is gone on with where it stands.
 */
import { CellEditor, type Edit, type Step } from './editor.ts';
import { blankNote, cellOf, countText, fits, idOf, plainNumber, plainText } from './model.ts';
import type { Place } from './places.ts';
import type { RowEdit } from './row-edits.ts';
import { ChangeRefused, messageOf } from './row-requests.ts';
import type { RowWriting } from './row-writing.ts';
import { UnsavedEdits } from './unsaved.ts';
import type { WritingContext } from './writing-context.ts';

/** Messages about values that are not in the file. */
const UNSAVED = 'unsaved';

/** The changes of single cells. */
export class CellWriting {
  /** Values that were typed and are not in the file yet. */
  readonly unsaved: UnsavedEdits;
  readonly #context: WritingContext;
  readonly #rows: RowWriting;
  readonly #editor: CellEditor;
  /** Values on their way, until the page has the row as it is then. */
  readonly #taking = new Set<Promise<void>>();

  constructor(context: WritingContext, rows: RowWriting) {
    this.#context = context;
    this.#rows = rows;
    const { table, store } = context;
    this.unsaved = new UnsavedEdits(() => table.update());
    this.#editor = new CellEditor({
      table,
      version: () => store.version,
      take: (edit) => void this.#take(edit),
      save: (edit) => this.#save(edit),
      moved: (step) => this.#moved(step),
    });
  }

  /** Somebody is in the middle of a cell. */
  get isTyping(): boolean {
    return this.#editor.isOpen;
  }

  /** Something was typed that is not in the file. */
  get isUnsaved(): boolean {
    return this.#editor.isChanged || this.unsaved.size > 0;
  }

  /** Starts to edit a cell; false when it cannot be changed. */
  edit(place: Place, text: string | null): boolean {
    const { table, store } = this.#context;
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

  /** Empties the active cell. */
  async empty(): Promise<void> {
    const { table, store, data, undo } = this.#context;
    const row = table.selection.activeRow;
    const column = table.columns[table.selection.active.column];
    if (row === undefined || column?.isWritable !== true) return;
    if (plainText(cellOf(row, column.name)) === '') return;
    await this.#take({ row, column, value: '', version: store.version });
    if (this.unsaved.size === 0)
      undo.offer(
        `${column.name} of row ${idOf(row)} is blank now.${blankNote(data, [column.name])}`,
      );
  }

  /** One value into the active cell; one that does not fit is left in the editor. */
  paste(text: string): void {
    const { table, store, notices } = this.#context;
    const row = table.selection.activeRow;
    const column = table.columns[table.selection.active.column];
    if (row === undefined || column === undefined) return;
    if (!column.isWritable) {
      notices.show(`${column.name} cannot be changed.`);
      return;
    }
    const value = plainNumber(text, column);
    if (!fits(value, column)) this.edit(table.selection.active, text);
    else if (plainText(this.unsaved.of(row, column)?.value ?? cellOf(row, column.name)) !== value) {
      void this.#take({ row, column, value, version: store.version });
    }
  }

  /** Sends again what was not taken; `isWorth` is asked about the status of the refusal. */
  tryAgain(isWorth: (status: number) => boolean = () => true): void {
    for (const edit of this.unsaved.failed()) if (isWorth(edit.status)) void this.#take(edit);
  }

  /** Resolves when no value is on its way: rows are as they are shown. */
  async settled(): Promise<void> {
    await Promise.all(this.#taking);
  }

  /** What was refused in these cells is overtaken. */
  forget(edits: readonly RowEdit[]): void {
    const cells = new Map(edits.map(({ row, values }) => [idOf(row), values]));
    for (const edit of this.unsaved.failed()) {
      const values = cells.get(idOf(edit.row));
      if (values !== undefined && Object.hasOwn(values, edit.column.name)) {
        this.unsaved.remove(edit);
      }
    }
  }

  /** Our own change has made `after` of the version that the page shows. */
  versionChanged(before: string, after: string): void {
    if (this.#editor.version === before) this.#editor.version = after;
    this.unsaved.versionChanged(before, after);
  }

  /** Sends a value while the person goes on; until it is in the file, the cell shows it as such. */
  async #take(edit: Edit): Promise<void> {
    const taking = this.#send(edit);
    this.#taking.add(taking);
    await taking;
    this.#taking.delete(taking);
  }

  async #send(edit: Edit): Promise<void> {
    const { store, notices, table, history, undo } = this.#context;
    const { row, column, value } = edit;
    this.unsaved.put(edit, null);
    try {
      await this.#rows.save(row, { [column.name]: value }, () => edit.version);
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
        afterDrawing(() => this.#reopen(place, { ...edit, problem }));
        return;
      }
      this.#tellUnsaved(problem);
    } finally {
      if (history.nextUndo !== null) undo.draw();
    }
  }

  #tellUnsaved(problem: string): void {
    const count = this.unsaved.failed().length;
    this.#context.notices.show(
      `${countText(count, 'value')} not saved: ${problem}`,
      { label: 'Try again', run: () => this.tryAgain() },
      UNSAVED,
    );
  }

  #reopen(place: Place, left: Edit & { readonly problem: string | null }): void {
    this.unsaved.remove(left);
    this.#context.notices.hide(UNSAVED);
    this.#editor.open(place, left.row, left.column, {
      text: left.value,
      version: left.version,
      ...(left.problem !== null && { problem: left.problem }),
    });
  }

  async #save({ row, column, value, version }: Edit): Promise<void> {
    try {
      await this.#rows.save(row, { [column.name]: value }, () => version);
    } catch (error) {
      throw error instanceof ChangeRefused ? new Error(error.reason) : error;
    }
  }

  #moved(step: Step): void {
    const { selection } = this.#context.table;
    const { row, column } = selection.active;
    if (step === 'down') selection.activate({ row: row + 1, column });
    else if (step === 'previous') this.#editBeside(-1);
    else if (step === 'next') this.#editBeside(1);
  }

  /** The next cell of the row that can be written; at its end the grid has the focus again. */
  #editBeside(by: -1 | 1): void {
    const { table } = this.#context;
    const { row, column } = table.selection.active;
    for (let at = column + by; at >= 0 && at < table.columns.length; at += by) {
      if (!table.columns[at]!.isWritable) continue;
      table.selection.activate({ row, column: at });
      afterDrawing(() => this.edit({ row, column: at }, null));
      return;
    }
  }
}

/** The cell that was made active is there only with the frame after the next. */
function afterDrawing(run: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(run));
}

function isInDialog(): boolean {
  return document.querySelector('dialog[open]') !== null;
}
