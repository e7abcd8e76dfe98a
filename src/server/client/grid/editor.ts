/**
 * The editor in a cell: what was typed stays until the server has it, and the server's objection stands on the cell.
 */
import type { CellValue, GridColumn, GridRow } from './model.ts';
import { cellOf, plainText } from './model.ts';
import { make } from './element.ts';
import type { GridTable, Place } from './table.ts';

/** How an edit ended, and where to go from there. */
export type Step = 'stay' | 'down' | 'next' | 'previous';

interface EditorOptions {
  readonly table: GridTable;
  /** Saves; rejects with what is wrong in words. `version` is what the page showed when the edit began. */
  save(row: GridRow, column: GridColumn, value: CellValue, version: string): Promise<void>;
  /** The version the page shows. */
  version(): string;
  moved(step: Step): void;
}

/** At most one cell is edited at a time. */
export class CellEditor {
  readonly #options: EditorOptions;
  #field: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement | null = null;
  #isSaving = false;

  constructor(options: EditorOptions) {
    this.#options = options;
  }

  /** Whether somebody is typing. */
  get isOpen(): boolean {
    return this.#field !== null;
  }

  /** Version that the edit is based on; follows changes of our own. */
  version = '';

  /** Opens on a cell in sight; `text` replaces what is in it. */
  open(place: Place, row: GridRow, column: GridColumn, text: string | null): void {
    const { table } = this.#options;
    const cell = table.cell(place);
    if (cell === null || this.#field !== null) return;
    this.version = this.#options.version();
    const before = cellOf(row, column.name);
    const field = fieldFor(column, text ?? plainText(before));
    const problem = make('div', { class: 'cell-problem', id: 'cell-problem', role: 'alert' });
    problem.hidden = true;
    table.held = place.row;
    this.#field = field;
    cell.classList.add('editor');
    cell.replaceChildren(field, problem);
    field.focus();
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
      if (text === null) field.select();
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
    const commit = async (step: Step): Promise<void> => {
      if (this.#isSaving) return;
      if (field.value === plainText(before)) return close(step);
      this.#isSaving = true;
      cell.setAttribute('aria-busy', 'true');
      try {
        await this.#options.save(row, column, field.value, this.version);
        close(step);
      } catch (error) {
        problem.textContent = error instanceof Error ? error.message : String(error);
        problem.hidden = false;
        keepInSight(problem, table.element);
        field.setAttribute('aria-invalid', 'true');
        field.setAttribute('aria-describedby', problem.id);
        field.focus();
      } finally {
        this.#isSaving = false;
        cell.removeAttribute('aria-busy');
      }
    };
    field.addEventListener('keydown', (event: Event) => {
      const { key, shiftKey, altKey, isComposing } = event as KeyboardEvent;
      event.stopPropagation();
      if (isComposing) return;
      if (key === 'Escape') {
        event.preventDefault();
        if (!this.#isSaving) close('stay');
      } else if (key === 'Enter' && !(altKey || (shiftKey && field.matches('textarea')))) {
        event.preventDefault();
        void commit('down');
      } else if (key === 'Tab') {
        event.preventDefault();
        void commit(shiftKey ? 'previous' : 'next');
      }
    });
    field.addEventListener('blur', () => {
      // Leaving with the mouse keeps what was typed, as in a spreadsheet; a refusal keeps the editor.
      if (this.#field === field && !this.#isSaving && problem.hidden && document.hasFocus()) {
        void commit('stay');
      }
    });
  }
}

/** A message at the right or lower edge of the grid would be cut off. */
function keepInSight(problem: HTMLElement, grid: HTMLElement): void {
  const edge = grid.getBoundingClientRect();
  const { right, bottom } = problem.getBoundingClientRect();
  if (right > edge.right) Object.assign(problem.style, { left: 'auto', right: '0' });
  if (bottom > edge.bottom) Object.assign(problem.style, { top: 'auto', bottom: '100%' });
}

/** The field in which a value of the column is written. */
export function fieldFor(
  column: GridColumn,
  text: string,
): HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement {
  const label = column.name;
  if (column.type === 'boolean' && /^(?:true|false|)$/.test(text)) {
    const select = make('select', { 'aria-label': label });
    for (const value of ['', 'true', 'false']) {
      select.append(make('option', { value, selected: value === text }, value));
    }
    return select;
  }
  if (text.includes('\n') || text.length > 60) {
    const area = make('textarea', { 'aria-label': label, rows: 4, spellcheck: 'false' });
    area.value = text;
    return area;
  }
  const isNumber = column.type === 'integer' || column.type === 'number';
  const input = make('input', {
    type: 'text',
    'aria-label': label,
    inputmode: isNumber ? 'decimal' : null,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  input.value = text;
  return input;
}
