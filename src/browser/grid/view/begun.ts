/** Carries over what was begun in the static page before the grid's script had loaded. */
import { make, makeDialog, quietButton } from '../element.ts';
import { formView } from '../../../pages/grid/plain-form.ts';
import type { View } from '../../../pages/grid/view.ts';

export interface Begun {
  readonly words: string | null;
  /** Of the search box, when it has the focus. */
  readonly caret: readonly [start: number | null, end: number | null] | null;
  readonly filter: string | null;
  readonly form: HTMLFormElement | null;
  readonly field: HTMLElement | null;
}

/** To be called before the static page is replaced. */
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

/** After Back or a reload the browser restores form contents. */
function isFresh(): boolean {
  const [navigation] = performance.getEntriesByType('navigation');
  return (navigation as PerformanceNavigationTiming | undefined)?.type === 'navigate';
}

function isChanged(form: HTMLFormElement): boolean {
  return [...form.elements].some(isChosen);
}

/** Whether a field differs from its initial state. */
function isChosen(field: Element): boolean {
  if (field instanceof HTMLInputElement) return field.value !== field.defaultValue;
  if (!(field instanceof HTMLSelectElement)) return false;
  const before = [...field.options].findIndex((option) => option.defaultSelected);
  return field.selectedIndex !== Math.max(0, before);
}
