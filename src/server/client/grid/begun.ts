/**
 * Who was faster than the grid's script: what stands in the forms of the plain page, and where the focus is, goes on in the
 * grid. Nothing that was typed or chosen is lost.
 */
import { make, makeDialog, quietButton } from './element.ts';
import { formView } from './plain-form.ts';
import type { View } from './view.ts';

/** What was begun; null is what was not. */
export interface Begun {
  /** Words to search for. */
  readonly words: string | null;
  /** Of the search box, which has the focus. */
  readonly caret: readonly [start: number | null, end: number | null] | null;
  /** The filter as JSON. */
  readonly filter: string | null;
  /** The form "Filter and sort", with what is chosen in it. */
  readonly form: HTMLFormElement | null;
  /** The field of that form that has the focus. */
  readonly field: HTMLElement | null;
}

/** What was begun in the plain page below `root`, to be asked before it gives way. */
export function findBegun(root: HTMLElement): Begun {
  const boxOf = (name: string): HTMLInputElement | null =>
    root.querySelector(`form[role=search] input[name=${name}]`);
  const [words, filter] = [boxOf('q'), boxOf('filter')];
  const { activeElement } = document;
  const isFiltering = filter !== null && activeElement === filter;
  const form = root.querySelector<HTMLFormElement>('.view-form form');
  const isBegun = form !== null && (isOpen(form) || (isFresh() && isChanged(form)));
  const isInForm = isBegun && form.contains(activeElement);
  return {
    words: words !== null && isChosen(words) ? words.value : null,
    caret:
      words !== null && activeElement === words ? [words.selectionStart, words.selectionEnd] : null,
    filter: filter !== null && (isFiltering || isChosen(filter)) ? filter.value : null,
    form: isBegun ? form : null,
    field: isInForm ? (activeElement as HTMLElement) : null,
  };
}

/** Goes on with the form in a dialog; `filter` is what its condition stands beside. */
export function openForm(
  { form, field }: Pick<Begun, 'form' | 'field'>,
  filter: () => string,
  show: (view: Pick<View, 'filter' | 'sort'>) => void,
): void {
  if (form === null) return;
  const dialog = makeDialog('Filter and sort', make('div', { class: 'view-form' }, form));
  form.append(quietButton('Cancel', () => dialog.close()));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const fields = new URLSearchParams(
      [...new FormData(form)].map(([name, value]): [string, string] => [name, String(value)]),
    );
    dialog.close();
    show(formView(fields, filter()));
  });
  dialog.showModal();
  field?.focus();
}

function isOpen(form: HTMLFormElement): boolean {
  return form.closest('details')?.open === true;
}

/** After Back and a reload the browser itself puts in what was there. */
function isFresh(): boolean {
  const [navigation] = performance.getEntriesByType('navigation');
  return (navigation as PerformanceNavigationTiming | undefined)?.type === 'navigate';
}

function isChanged(form: HTMLFormElement): boolean {
  return [...form.elements].some(isChosen);
}

/** Whether a field says something else than when it came. */
function isChosen(field: Element): boolean {
  if (field instanceof HTMLInputElement) return field.value !== field.defaultValue;
  if (!(field instanceof HTMLSelectElement)) return false;
  const before = [...field.options].findIndex((option) => option.defaultSelected);
  return field.selectedIndex !== Math.max(0, before);
}
