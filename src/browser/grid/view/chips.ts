/** Conditions and order of a view as chips: a press on one edits it, its cross removes it. */
import { parseFilter } from '../../../pages/grid/conditions.ts';
import { describeMember, shortWords } from '../../../pages/grid/filter-words.ts';
import type { SortStep, View } from '../../../pages/grid/view.ts';
import { closer, make, makeForm, openDialog, submitter } from '../../shared/element.ts';

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
    const attributes = {
      type: 'button',
      // For those who cannot see the tooltip.
      'aria-label': `Change the filter ${column === null ? '' : whole}`.trim(),
      title: whole === text ? null : whole,
      'aria-haspopup': 'dialog',
      onclick: () => actions.change(column, change),
    };
    const change = make('button.plain.words', attributes, text);
    const label = column === null ? 'Remove the filter' : `Remove the filter ${text}`;
    return chip(change, label, () => actions.remove(column));
  });
  if (sort.length < 2) return conditions;
  const steps = sort.map((step, index) => {
    const words = `${index + 1}. ${step.column} ${step.isDescending ? '↓' : '↑'}`;
    const label = `Do not sort by ${step.column}`;
    return chip(make('span', words), label, () => actions.unsort(step));
  });
  return [...conditions, ...steps];
}

function chip(words: HTMLElement, label: string, onclick: () => void): HTMLElement {
  const cross = make('button.plain.cross', { type: 'button', 'aria-label': label, onclick }, '×');
  return make('li.chip', words, cross);
}

/** The filter as JSON, for conditions the column menus cannot express. */
export function openFilter(text: string, take: (filter: string) => void): void {
  const box = make('textarea.code', {
    rows: 5,
    'aria-label': 'Filter as a JSON object',
    placeholder: '{"price":{"$gt":50}}',
    spellcheck: 'false',
  });
  box.value = text;
  const submit = (): void => {
    dialog.close();
    take(box.value.trim());
  };
  const actions = make('p.dialog-actions', submitter('Filter'), closer('Cancel'));
  const dialog = openDialog('Filter as JSON', makeForm(submit, box, actions));
}
