/** Searches after a pause in typing, or at once with Enter. */
import { make } from '../element.ts';

const TYPING_PAUSE_MS = 250;

export class SearchBox {
  readonly element: HTMLFormElement;
  readonly #input = make('input', {
    type: 'search',
    'aria-label': 'Rows with these words',
    placeholder: 'Search words',
    'data-key': 'f',
    autocomplete: 'off',
  });
  readonly #search: (words: string) => void;
  #typing = 0;

  /** `search` may be called with the same words again. */
  constructor(search: (words: string) => void) {
    this.#search = search;
    this.element = make('form', { class: 'grid-search', role: 'search' }, this.#input);
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.searchNow();
    });
    this.#input.addEventListener('input', () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.searchNow(), TYPING_PAUSE_MS) as unknown as number;
    });
  }

  /** Leaves what the user is typing. */
  show(words: string): void {
    if (document.activeElement !== this.#input) this.#input.value = words;
  }

  /** Overwrites what is being typed, and drops a pending search. */
  replace(words: string): void {
    clearTimeout(this.#typing);
    this.#input.value = words;
  }

  searchNow(): void {
    clearTimeout(this.#typing);
    this.#search(this.#input.value.trim());
  }

  /** Focuses with the caret where it was in the box before. */
  focus(caret: readonly [start: number | null, end: number | null]): void {
    this.#input.focus();
    this.#input.setSelectionRange(...caret);
  }
}
