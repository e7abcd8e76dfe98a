/**
 * Quoted texts in what clients send, found by walking each character once.
 *
 * A pattern like `"(?:[^"\\]|\\.)*"` looks to the end of the text for every quote that is never closed: a text of quotes
 * takes the square of its length, on the event loop.
 */

const BACKSLASH = 0x5c;

/** Finds where quoted texts of one text end; ask from the left to the right. */
export class QuotedTexts {
  readonly #text: string;
  /** Quotes that were found to be open to the end; so are all of their kind behind them. */
  readonly #open = new Set<number>();

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Position after the quoted text that begins with the quote at `at`, of whatever kind; -1 when it is never closed. A
   * backslash takes the next character with it.
   */
  endFrom(at: number): number {
    const quote = this.#text.charCodeAt(at);
    if (this.#open.has(quote)) return -1;
    for (let next = at + 1; next < this.#text.length; next++) {
      const code = this.#text.charCodeAt(next);
      if (code === quote) return next + 1;
      if (code === BACKSLASH) next++;
    }
    this.#open.add(quote);
    return -1;
  }
}
