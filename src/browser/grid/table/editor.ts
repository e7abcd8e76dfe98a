/**
 * The cell editor: input stays until the server has accepted it, and errors are shown at the cell.
 */
import {
  cellOf,
  fits,
  type GridColumn,
  type GridRow,
  plainNumber,
  plainText,
} from '../../../pages/grid/model.ts';
import { messageOf } from '../../shared/ask.ts';
import { make, makeSelect, quietButton } from '../../shared/element.ts';
import { isNumeric } from './cells.ts';
import type { Place } from './places.ts';
import type { GridTable } from './table.ts';

export type Step = 'stay' | 'down' | 'next' | 'previous';

interface EditorOptions {
  readonly table: GridTable;
  /** A value that seems valid: saved in the background. */
  take(edit: Edit): void;
  /** A value that seems invalid: waits for the server; rejects with its message. */
  save(edit: Edit): Promise<void>;
  moved(step: Step): void;
}

export interface Edit {
  readonly row: GridRow;
  readonly column: GridColumn;
  readonly value: string;
  /** Version shown when the edit began; advances with our own changes. */
  version: string;
}

interface Opening {
  readonly place: Place;
  readonly row: GridRow;
  readonly column: GridColumn;
  /** What stands in the editor; null: the present value, selected. */
  readonly text: string | null;
  readonly problem: string | null;
  readonly version: string;
}

/** At most one cell is edited at a time. */
export class CellEditor {
  /** Of the rows that the open editor changes. */
  version = '';
  readonly #options: EditorOptions;
  #field: Field | null = null;
  #isSaving = false;
  #before = '';

  constructor(options: EditorOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#field !== null;
  }

  /** Whether closing would lose input. */
  get isChanged(): boolean {
    return this.#field !== null && this.#field.value !== this.#before;
  }

  open({ place, row, column, text, problem: refusal, version }: Opening): void {
    const { table } = this.#options;
    const cell = table.cell(place);
    if (cell === null || this.#field !== null) return;
    this.version = version;
    const before = plainText(cellOf(row, column.name));
    const field = fieldFor(column, text ?? before);
    const problem = make('div.cell-problem', { id: 'cell-problem', role: 'alert', hidden: true });
    table.held = place.row;
    this.#field = field;
    this.#before = before;
    cell.classList.add('editor');
    cell.removeAttribute('title');
    cell.replaceChildren(field, problem);
    field.focus();
    if (!(field instanceof HTMLSelectElement)) {
      if (text === null || refusal !== null) field.select();
      else field.setSelectionRange(text.length, text.length);
    }
    const close = (step: Step): void => {
      this.#field = null;
      table.held = null;
      cell.classList.remove('editor');
      table.update();
      table.element.focus({ preventScroll: true });
      this.#options.moved(step);
    };
    const object = (message: string): void => {
      // Phones have no Esc.
      const discard = quietButton('Discard', () => close('stay'));
      discard.addEventListener('keydown', (event) => event.stopPropagation());
      problem.replaceChildren(make('span', message), discard);
      problem.hidden = false;
      keepInSight(problem, table.element);
      field.setAttribute('aria-invalid', 'true');
      field.setAttribute('aria-describedby', problem.id);
    };
    const commit = async (step: Step): Promise<void> => {
      if (this.#isSaving) return;
      const value = plainNumber(field.value, column);
      if (value === before) return close(step);
      const edit = { row, column, value, version: this.version };
      if (fits(value, column)) {
        this.#options.take(edit);
        return close(step);
      }
      this.#isSaving = true;
      cell.setAttribute('aria-busy', 'true');
      try {
        await this.#options.save(edit);
        close(step);
      } catch (error) {
        object(messageOf(error));
        field.focus();
      } finally {
        this.#isSaving = false;
        cell.removeAttribute('aria-busy');
      }
    };
    if (refusal !== null) object(refusal);
    field.addEventListener('keydown', (event: Event) => {
      const { key, shiftKey, altKey, isComposing } = event as KeyboardEvent;
      event.stopPropagation();
      if (isComposing) return;
      const isLineBreak = altKey || (shiftKey && field.matches('textarea'));
      if (key === 'Escape') {
        if (!this.#isSaving) close('stay');
      } else if (key === 'Enter' && !isLineBreak) void commit('down');
      else if (key === 'Tab') void commit(shiftKey ? 'previous' : 'next');
      else return;
      event.preventDefault();
    });
    field.addEventListener('blur', () => {
      // Clicking elsewhere commits, as in a spreadsheet; after a refusal the editor stays open.
      if (this.#field === field && !this.#isSaving && problem.hidden && document.hasFocus()) {
        void commit('stay');
      }
    });
  }
}

/** At the right or lower edge of the grid a message would be cut off. */
function keepInSight(problem: HTMLElement, grid: HTMLElement): void {
  const edge = grid.getBoundingClientRect();
  const { right, bottom } = problem.getBoundingClientRect();
  if (right > edge.right) Object.assign(problem.style, { left: 'auto', right: '0' });
  if (bottom > edge.bottom) Object.assign(problem.style, { top: 'auto', bottom: '100%' });
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export function fieldFor(column: GridColumn, text: string): Field {
  const label = { 'aria-label': column.name, spellcheck: 'false' };
  if (column.type === 'boolean' && /^(?:true|false|)$/.test(text)) {
    const choices = ['', 'true', 'false'].map((value) => [value, value] as const);
    return makeSelect(column.name, choices, text);
  }
  const field =
    text.includes('\n') || text.length > 60
      ? make('textarea', { ...label, rows: 4 })
      : make('input', {
          ...label,
          type: 'text',
          inputmode: isNumeric(column) ? 'decimal' : null,
          autocomplete: 'off',
        });
  field.value = text;
  return field;
}
