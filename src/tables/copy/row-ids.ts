/** Row ids of a copy under construction: 1…n, or ids kept from an earlier copy of the same rows. */
/** One id per row, in order. */
export class RowIds {
  readonly #kept: Iterator<number> | null;
  #last = 0;
  #isBroken = false;

  /** `kept`: ids in row order; absent: 1…n. */
  constructor(kept?: Iterable<number>) {
    this.#kept = kept ? kept[Symbol.iterator]() : null;
  }

  /** Highest so far; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** The kept ids do not fit: too few, too many, or not growing. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Meaningless once the ids are broken. */
  next(): number {
    if (this.#kept === null) return ++this.#last;
    const { done, value } = this.#kept.next();
    if (done || !(value > this.#last)) {
      this.#isBroken = true;
      this.close();
      return ++this.#last;
    }
    this.#last = value;
    return value;
  }

  /** Call after the last row: leftover ids break the numbering too. */
  end(): void {
    if (this.#kept !== null && !this.#kept.next().done) this.#isBroken = true;
    this.close();
  }

  /** Closes the source of the kept ids. */
  close(): void {
    this.#kept?.return?.();
  }
}
