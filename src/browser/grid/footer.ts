/** Row count, selection count and go-to-row, below the grid. */
import { localNumber } from '../shared/times.ts';
import { make } from './element.ts';
import { countText } from '../../pages/grid/model.ts';
import { sizeOf } from './table/places.ts';
import type { GridTable } from './table/table.ts';

export class Footer {
  readonly element: HTMLElement;
  readonly #table: GridTable;
  readonly #count = make('span', { class: 'row-count', role: 'status' });

  constructor(table: GridTable) {
    this.#table = table;
    this.element = make('div', { class: 'grid-foot' }, this.#count, this.#goTo());
  }

  /**
   * `rows` is null while unknown; `of` is the total number of columns when some are hidden, else
   * null.
   */
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
