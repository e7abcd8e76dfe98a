/**
 * Quoted texts in what clients send, scanned once. A pattern like `"(?:[^"\\]|\\.)*"` takes quadratic time for
 * unclosed quotes.
 */

const BACKSLASH = 0x5c;

/** Ask from left to right. */
export class QuotedTexts {
  readonly #text: string;
  /** Unclosed kinds of quotes; later ones of the kind are unclosed too. */
  readonly #open = new Set<number>();

  constructor(text: string) {
    this.#text = text;
  }

  /** After the quoted text that begins at `at`; -1 when never closed. A backslash escapes the next character. */
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
