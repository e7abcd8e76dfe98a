import { countText, listText } from '../../pages/grid/model.ts';
import { make, makeForm } from '../shared/element.ts';
import { localNumber } from '../shared/times.ts';
import { sizeOf } from './table/places.ts';
import type { GridTable } from './table/table.ts';

export function makeFooter(table: GridTable) {
  const count = make('span.row-count', { role: 'status' });
  const people = make('span.people');
  const place = make('input', {
    type: 'number',
    min: 1,
    'aria-label': 'Go to row',
    placeholder: 'Go to row',
    'data-key': 'g',
  });
  const go = (): void => {
    const row = Number(place.value) - 1;
    if (!Number.isInteger(row) || row < 0) return;
    const { element, selection } = table;
    element.focus({ preventScroll: true });
    selection.activate({ row, column: Math.max(0, selection.active.column) });
  };
  const selected = (): string => {
    const { rows: chosen, block } = table.selection;
    if (chosen.size > 0) return ` · ${localNumber(chosen.size)} selected`;
    if (block === null) return '';
    const { rows, cells } = sizeOf(block);
    return ` · ${countText(cells, 'cell')} in ${countText(rows)} selected`;
  };
  return {
    element: make('div.grid-foot', count, people, makeForm(go, { class: 'go-to' }, place)),
    drawPeople(names: readonly string[]): void {
      people.textContent = names.length === 0 ? '' : `Also here: ${listText(names)}`;
    },
    /**
     * `rows` is null while unknown; `of` is the total number of columns when some are hidden, else
     * null.
     */
    draw(rows: number | null, of: number | null): void {
      const { length } = table.columns;
      const cut = of === null ? '' : ` · the first ${length} of ${localNumber(of)} columns`;
      count.textContent = rows === null ? '' : countText(rows) + cut + selected();
    },
  };
}
