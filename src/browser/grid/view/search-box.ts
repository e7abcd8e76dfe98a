/** Searches after a pause in typing, or at once with Enter. */
import { debounced, make, makeForm } from '../../shared/element.ts';

const TYPING_PAUSE_MS = 250;

/** `search` may be called with the same words again. */
export function makeSearchBox(search: (words: string) => void) {
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
    /** Leaves what the user is typing. */
    show(words: string): void {
      if (document.activeElement !== input) input.value = words;
    },
    /** Overwrites what is being typed, and drops a pending search. */
    replace(words: string): void {
      later.cancel();
      input.value = words;
    },
    searchNow,
    /** Focuses with the caret where it was in the box before. */
    focus(caret: readonly [start: number | null, end: number | null]): void {
      input.focus();
      input.setSelectionRange(...caret);
    },
  };
}
