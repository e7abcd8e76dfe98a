/**
 * The line below the rows: how many there are and how many are selected, and the way to one of them by its place.
 */
import { localNumber } from '../times.ts';
import { make } from './element.ts';
import { countText } from './model.ts';
import { sizeOf } from './places.ts';
import type { GridTable } from './table.ts';

/** Counts, and goes to a row. */
export class Footer {
  readonly element: HTMLElement;
  readonly #table: GridTable;
  readonly #count = make('span', { class: 'row-count', role: 'status' });

  constructor(table: GridTable) {
    this.#table = table;
    this.element = make('div', { class: 'grid-foot' }, this.#count, this.#goTo());
  }

  /** Says the number of rows, null as long as it is not known; and `of` how many columns only some are shown, null: all. */
  draw(rows: number | null, of: number | null): void {
    const { columns } = this.#table;
    const cut = of === null ? '' : ` · the first ${columns.length} of ${localNumber(of)} columns`;
    this.#count.textContent = rows === null ? '' : countText(rows) + cut + this.#selected();
  }

  #selected(): string {
    const { rows: chosen, block } = this.#table.selection;
    if (chosen.size > 0) return ` · ${localNumber(chosen.size)} selected`;
    if (block === null) return '';
    const { rows, cells } = sizeOf(block);
    return ` · ${countText(cells, 'cell')} in ${countText(rows)} selected`;
  }

  #goTo(): HTMLElement {
    const place = make('input', {
      type: 'number',
      min: 1,
      'aria-label': 'Go to row',
      placeholder: 'Go to row',
      'data-key': 'g',
    });
    const form = make('form', { class: 'go-to' }, place);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const row = Number(place.value) - 1;
      if (!Number.isInteger(row) || row < 0) return;
      const { element, selection } = this.#table;
      element.focus({ preventScroll: true });
      selection.activate({ row, column: Math.max(0, selection.active.column) });
    });
    return form;
  }
}
