/**
 * Single cells: typed, pasted or cleared, saved in the background. Until saved, the cell shows the
 * value as unsaved, also when the connection is lost; a refused one is reopened for editing.
 */
import { mismatchReason } from '../../../tables/edit/mismatch-text.ts';
import {
  blankNote,
  cellOf,
  countText,
  fits,
  type GridColumn,
  type GridRow,
  idOf,
  plainNumber,
  plainText,
} from '../../../pages/grid/model.ts';
import { messageOf, Refused } from '../../shared/ask.ts';
import type { UnsavedValue } from '../table/cells.ts';
import { CellEditor, type Edit, type Step } from '../table/editor.ts';
import type { Place } from '../table/places.ts';
import type { RowEdit } from './row-edits.ts';
import type { RowWriting, WritingContext } from './row-writing.ts';

/** Topic of messages about unsaved values. */
const UNSAVED = 'unsaved';

type Unsaved = Edit & UnsavedValue & { readonly status: number };

export class CellWriting {
  readonly #context: WritingContext;
  readonly #rows: RowWriting;
  readonly #editor: CellEditor;
  /** At most one per cell: a later value replaces the earlier. */
  readonly #unsaved = new Map<string, Unsaved>();
  /** Saves in progress, until the page has the resulting row. */
  readonly #taking = new Set<Promise<void>>();

  constructor(context: WritingContext, rows: RowWriting) {
    this.#context = context;
    this.#rows = rows;
    this.#editor = new CellEditor({
      table: context.table,
      take: (edit) => void this.#take(edit),
      save: async ({ row, column, value, version }) => {
        await rows
          .save(row, { [column.name]: value }, () => version)
          .catch((error: unknown) => {
            throw error instanceof Refused ? new Error(mismatchReason(messageOf(error))) : error;
          });
      },
      moved: (step) => this.#moved(step),
    });
  }

  get isTyping(): boolean {
    return this.#editor.isOpen;
  }

  /** Something is being typed or not saved yet. */
  get isBegun(): boolean {
    return this.isTyping || this.#unsaved.size > 0;
  }

  /** Leaving the page would lose something. */
  get isUnsaved(): boolean {
    return this.#editor.isChanged || this.#unsaved.size > 0;
  }

  unsaved(row: GridRow, column: GridColumn): Unsaved | undefined {
    return this.#unsaved.get(keyOf({ row, column }));
  }

  edit(place: Place, text: string | null): boolean {
    const { table, store } = this.#context;
    const row = store.at(place.row);
    const column = table.columns[place.column];
    if (row === undefined || column?.isWritable !== true) return false;
    const left = this.unsaved(row, column);
    const isRefused = left !== undefined && left.problem !== null;
    // A refused value is reopened as it was typed.
    if (isRefused && text === null) this.#reopen(place, left);
    else {
      const shown = isRefused ? row : this.#withUnsaved(row);
      const { version } = store;
      this.#editor.open({ place, row: shown, column, text, problem: null, version });
    }
    return true;
  }

  async empty(): Promise<void> {
    const { table, store, data, undo } = this.#context;
    const row = table.selection.activeRow;
    const column = table.columns[table.selection.active.column];
    if (row === undefined || column?.isWritable !== true) return;
    if (plainText(cellOf(row, column.name)) === '') return;
    await this.#take({ row, column, value: '', version: store.version });
    if (this.#unsaved.size > 0) return;
    const note = blankNote(data, [column.name]);
    undo.offer(`${column.name} of row ${idOf(row)} is blank now.${note}`);
  }

  paste(text: string): void {
    const { table, store, notices } = this.#context;
    const row = table.selection.activeRow;
    const column = table.columns[table.selection.active.column];
    if (row === undefined || column === undefined) return;
    if (!column.isWritable) return notices.show(`${column.name} cannot be changed.`);
    const value = plainNumber(text, column);
    const present = this.unsaved(row, column)?.value ?? cellOf(row, column.name);
    if (!fits(value, column)) this.edit(table.selection.active, text);
    else if (plainText(present) !== value) {
      void this.#take({ row, column, value, version: store.version });
    }
  }

  /** Retries failed saves; `isWorth` gets the status of each refusal. */
  tryAgain(isWorth: (status: number) => boolean = () => true): void {
    for (const edit of this.#failed()) if (isWorth(edit.status)) void this.#take(edit);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#taking);
  }

  /** Drops refused values that a later change has replaced. */
  forget(edits: readonly RowEdit[]): void {
    const cells = new Map(edits.map(({ row, values }) => [idOf(row), values]));
    for (const edit of this.#failed()) {
      const values = cells.get(idOf(edit.row));
      if (values !== undefined && Object.hasOwn(values, edit.column.name)) this.#remove(edit);
    }
  }

  /** What is based on `before` now counts as based on `after`, which our own change made. */
  versionChanged(before: string, after: string): void {
    for (const edit of [this.#editor, ...this.#unsaved.values()]) {
      if (edit.version === before) edit.version = after;
    }
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
    this.#put(edit, null, 0);
    try {
      await this.#rows.save(row, { [column.name]: value }, () => edit.version);
      this.#remove(edit);
      if (this.#unsaved.size === 0) notices.hide(UNSAVED);
    } catch (error) {
      // A later value has replaced this one meanwhile.
      if (this.unsaved(row, column)?.value !== value) return;
      const problem = mismatchReason(messageOf(error));
      const status = error instanceof Refused ? error.status : 0;
      this.#put(edit, problem, status);
      const isAbout = status === 412 || status === 422;
      const place = { row: store.placeOf(idOf(row)), column: table.columns.indexOf(column) };
      const isInDialog = document.querySelector('dialog[open]') !== null;
      if (isAbout && place.row >= 0 && !this.isTyping && !isInDialog) {
        table.selection.activate(place);
        afterDrawing(() => this.#reopen(place, { ...edit, problem }));
        return;
      }
      notices.show(
        `${countText(this.#failed().length, 'value')} not saved: ${problem}`,
        { label: 'Try again', run: () => this.tryAgain() },
        UNSAVED,
      );
    } finally {
      if (history.nextUndo !== null) undo.draw();
    }
  }

  /** Those not being saved. */
  #failed(): readonly Unsaved[] {
    return [...this.#unsaved.values()].filter(({ problem }) => problem !== null);
  }

  #withUnsaved(row: GridRow): GridRow {
    const mine = [...this.#unsaved.values()].filter((one) => idOf(one.row) === idOf(row));
    return { ...row, ...Object.fromEntries(mine.map(({ column, value }) => [column.name, value])) };
  }

  #put(edit: Edit, problem: string | null, status: number): void {
    this.#unsaved.set(keyOf(edit), Object.assign(edit, { problem, status }));
    this.#context.table.update();
  }

  #remove(edit: Edit): void {
    if (this.unsaved(edit.row, edit.column)?.value !== edit.value) return;
    this.#unsaved.delete(keyOf(edit));
    this.#context.table.update();
  }

  #reopen(place: Place, left: Edit & Pick<UnsavedValue, 'problem'>): void {
    this.#remove(left);
    this.#context.notices.hide(UNSAVED);
    const { row, column, value: text, problem, version } = left;
    this.#editor.open({ place, row, column, text, problem, version });
  }

  #moved(step: Step): void {
    const { selection, columns } = this.#context.table;
    const { row, column } = selection.active;
    if (step === 'down') selection.activate({ row: row + 1, column });
    const by = { stay: 0, down: 0, previous: -1, next: 1 }[step];
    if (by === 0) return;
    // The next editable cell of the row; past the end the focus returns to the grid.
    for (let at = column + by; at >= 0 && at < columns.length; at += by) {
      if (!columns[at]!.isWritable) continue;
      selection.activate({ row, column: at });
      afterDrawing(() => this.edit({ row, column: at }, null));
      return;
    }
  }
}

function keyOf({ row, column }: Pick<Edit, 'row' | 'column'>): string {
  return `${idOf(row)} ${column.name}`;
}

/** A newly activated cell has its element two frames later. */
function afterDrawing(run: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(run));
}
