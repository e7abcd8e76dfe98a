/** Conditions and order of a view as chips: a press on one edits it, its cross removes it. */
import { parseFilter } from '../../../pages/grid/conditions.ts';
import { make } from '../element.ts';
import { describeMember, shortWords } from '../../../pages/grid/filter-words.ts';
import type { SortStep, View } from '../../../pages/grid/view.ts';

const MAX_WHOLE = 2_000;

interface ChipActions {
  /**
   * Edits a member of the filter, beside `anchor`; null: the whole filter, when it is no object.
   */
  change(column: string | null, anchor: HTMLElement): void;
  remove(column: string | null): void;
  unsort(step: SortStep): void;
}

export function chipsOf(
  { filter, sort }: Pick<View, 'filter' | 'sort'>,
  actions: ChipActions,
): HTMLElement[] {
  const parsed = parseFilter(filter);
  const columns = parsed === null ? [null] : Object.keys(parsed);
  const conditions = columns.map((column) => {
    const all =
      column === null ? 'the filter is no JSON object' : describeMember(column, parsed![column]);
    const whole = all.length > MAX_WHOLE ? `${all.slice(0, MAX_WHOLE)}…` : all;
    const text = shortWords(whole);
    const change = make(
      'button',
      {
        type: 'button',
        class: 'plain words',
        // For those who cannot see the tooltip.
        'aria-label': `Change the filter ${column === null ? '' : whole}`.trim(),
        title: whole === text ? null : whole,
        'aria-haspopup': 'dialog',
        onclick: () => actions.change(column, change),
      },
      text,
    );
    const label = column === null ? 'Remove the filter' : `Remove the filter ${text}`;
    return chip(change, label, () => actions.remove(column));
  });
  if (sort.length < 2) return conditions;
  const steps = sort.map((step, index) =>
    chip(
      make('span', {}, `${index + 1}. ${step.column} ${step.isDescending ? '↓' : '↑'}`),
      `Do not sort by ${step.column}`,
      () => actions.unsort(step),
    ),
  );
  return [...conditions, ...steps];
}

function chip(words: HTMLElement, label: string, remove: () => void): HTMLElement {
  const cross = { type: 'button', class: 'plain cross', 'aria-label': label, onclick: remove };
  return make('li', { class: 'chip' }, words, make('button', cross, '×'));
}
