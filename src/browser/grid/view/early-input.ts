/** Carries over what was begun in the static page before the grid's script had loaded. */
import { formView } from '../../../pages/grid/plain-form.ts';
import type { View } from '../../../pages/grid/view.ts';
import { closer, make, openDialog } from '../../shared/element.ts';
import { navigationType } from '../../shared/leaving.ts';
import { fieldsOf, isTouched } from '../../shared/live-form.ts';

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
  const { activeElement } = document;
  const boxOf = (name: string): HTMLInputElement | null =>
    root.querySelector(`form[role=search] input[name=${name}]`);
  const [words, filter] = [boxOf('q'), boxOf('filter')];
  const form = root.querySelector<HTMLFormElement>('.view-form form');
  // After Back or a reload the browser restores form contents.
  const isFresh = navigationType() === 'navigate';
  const isOpen = form?.closest('details')?.open === true;
  const isBegun = form !== null && (isOpen || (isFresh && [...form.elements].some(isTouched)));
  const isFiltering = filter !== null && (activeElement === filter || isTouched(filter));
  return {
    words: words !== null && isTouched(words) ? words.value : null,
    caret:
      words !== null && activeElement === words ? [words.selectionStart, words.selectionEnd] : null,
    filter: isFiltering ? filter.value : null,
    form: isBegun ? form : null,
    field: isBegun && form.contains(activeElement) ? (activeElement as HTMLElement) : null,
  };
}

export function openForm(
  { form, field }: Pick<Begun, 'form' | 'field'>,
  filter: () => string,
  show: (view: Pick<View, 'filter' | 'sort'>) => void,
): void {
  if (form === null) return;
  form.append(closer('Cancel'));
  const dialog = openDialog('Filter and sort', make('div.view-form', form));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    dialog.close();
    show(formView(new URLSearchParams(fieldsOf(form)), filter()));
  });
  field?.focus();
}
