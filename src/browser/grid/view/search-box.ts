/** Searches after a pause in typing, or at once with Enter. */
import { debounced, make, makeForm } from '../../shared/element.ts';

const TYPING_PAUSE_MS = 250;

export interface SearchBox {
  readonly element: HTMLElement;
  /** Leaves what the user is typing. */
  show(words: string): void;
  /** Overwrites what is being typed, and drops a pending search. */
  replace(words: string): void;
  searchNow(): void;
  /** Focuses with the caret where it was in the box before. */
  focus(caret: readonly [start: number | null, end: number | null]): void;
}

/** `search` may be called with the same words again. */
export function makeSearchBox(search: (words: string) => void): SearchBox {
  const input = make('input', {
    type: 'search',
    'aria-label': 'Rows with these words',
    placeholder: 'Search words',
    'data-key': 'f',
    autocomplete: 'off',
    oninput: () => later(),
  });
  const searchNow = (): void => {
    later.cancel();
    search(input.value.trim());
  };
  const later = debounced(TYPING_PAUSE_MS, searchNow);
  return {
    element: makeForm(searchNow, { class: 'grid-search', role: 'search' }, input),
    show(words) {
      if (document.activeElement !== input) input.value = words;
    },
    replace(words) {
      later.cancel();
      input.value = words;
    },
    searchNow,
    focus(caret) {
      input.focus();
      input.setSelectionRange(...caret);
    },
  };
}
