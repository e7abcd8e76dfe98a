/**
 * The conditions and the order of a view as chips above the rows: each says what it does, is changed by a press on its words,
 * and taken away by its cross.
 */
import { parseFilter } from './conditions.ts';
import { make } from './element.ts';
import { describeMember, shortWords } from './filter-words.ts';
import type { SortStep, View } from './view.ts';

/** Characters of a tooltip; more is for the filter itself. */
const MAX_WHOLE = 2_000;

/** What can be done with chips. */
interface ChipActions {
  /** Changes a member of the filter, beside `anchor`; null: the filter as a whole, which is no object. */
  change(column: string | null, anchor: HTMLElement): void;
  remove(column: string | null): void;
  unsort(step: SortStep): void;
}

/** The chips of a view; an order by one column stands in its head and has none. */
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
        // Whoever cannot see the tooltip hears the whole.
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
