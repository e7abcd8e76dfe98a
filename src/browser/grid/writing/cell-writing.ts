/**
 * Single cells: typed, pasted or cleared, saved in the background. Until saved, the cell shows the
 * value as unsaved; a refused one is reopened for editing.
 */
import { CellEditor, type Edit, type Step } from '../table/editor.ts';
import {
  blankNote,
  cellOf,
  countText,
  fits,
  idOf,
  plainNumber,
  plainText,
} from '../../../pages/grid/model.ts';
import type { Place } from '../table/places.ts';
import type { RowEdit } from './row-edits.ts';
import { ChangeRefused, messageOf } from './row-requests.ts';
import type { RowWriting } from './row-writing.ts';
import { UnsavedEdits } from './unsaved.ts';
import type { WritingContext } from './context.ts';

/** Topic of messages about unsaved values. */
const UNSAVED = 'unsaved';

export class CellWriting {
  readonly unsaved: UnsavedEdits;
  readonly #context: WritingContext;
  readonly #rows: RowWriting;
  readonly #editor: CellEditor;
  /** Saves in progress, until the page has the resulting row. */
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

  get isTyping(): boolean {
    return this.#editor.isOpen;
  }

  get isUnsaved(): boolean {
    return this.#editor.isChanged || this.unsaved.size > 0;
  }

  edit(place: Place, text: string | null): boolean {
    const { table, store } = this.#context;
    const row = store.at(place.row);
    const column = table.columns[place.column];
    if (row === undefined || column === undefined || !column.isWritable) return false;
    const left = this.unsaved.of(row, column);
    const isRefused = left !== undefined && left.problem !== null;
    // A refused value is reopened as it was typed.
    if (isRefused && text === null) this.#reopen(place, left);
    else this.#editor.open(place, isRefused ? row : this.unsaved.over(row), column, { text });
    return true;
  }

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

  /** Retries failed saves; `isWorth` gets the status of each refusal. */
  tryAgain(isWorth: (status: number) => boolean = () => true): void {
    for (const edit of this.unsaved.failed()) if (isWorth(edit.status)) void this.#take(edit);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#taking);
  }

  /** Drops refused values that a later change has replaced. */
  forget(edits: readonly RowEdit[]): void {
    const cells = new Map(edits.map(({ row, values }) => [idOf(row), values]));
    for (const edit of this.unsaved.failed()) {
      const values = cells.get(idOf(edit.row));
      if (values !== undefined && Object.hasOwn(values, edit.column.name)) {
        this.unsaved.remove(edit);
      }
    }
  }

  versionChanged(before: string, after: string): void {
    if (this.#editor.version === before) this.#editor.version = after;
    this.unsaved.versionChanged(before, after);
  }

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

  /** The next editable cell of the row; past the end the focus returns to the grid. */
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

/** A newly activated cell has its element two frames later. */
function afterDrawing(run: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(run));
}

function isInDialog(): boolean {
  return document.querySelector('dialog[open]') !== null;
}
