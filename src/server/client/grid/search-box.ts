/**
 * The box for words that rows have: searched while one types, after a pause, and at once with Enter.
 */
import { make } from './element.ts';

const TYPING_PAUSE_MS = 250;

/** Asks for words. */
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

  /** `search` is told the words, also when they are those of before. */
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

  /** Shows the words of a view, unless somebody is typing others. */
  show(words: string): void {
    if (document.activeElement !== this.#input) this.#input.value = words;
  }

  /** Shows words whatever is being typed; words not searched yet are forgotten. */
  replace(words: string): void {
    clearTimeout(this.#typing);
    this.#input.value = words;
  }

  /** Searches what is there, without a pause. */
  searchNow(): void {
    clearTimeout(this.#typing);
    this.#search(this.#input.value.trim());
  }

  /** Takes the focus, with the caret where it was in another box. */
  focus(caret: readonly [start: number | null, end: number | null]): void {
    this.#input.focus();
    this.#input.setSelectionRange(...caret);
  }
}
