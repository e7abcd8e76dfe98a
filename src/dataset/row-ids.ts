/**
 * The row ids of a copy being built: 1…n, or ids to keep from an earlier copy of the same rows (DS-47, DS-48).
 */
/** Gives one id per row, in order. */
export class RowIds {
  readonly #kept: Iterator<number> | null;
  #last = 0;
  #isBroken = false;

  /** `kept`: ids in row order; absent: 1…n. */
  constructor(kept?: Iterable<number>) {
    this.#kept = kept ? kept[Symbol.iterator]() : null;
  }

  /** The highest id given so far, 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** The kept ids do not fit the rows: too few, too many, or not growing. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** The id of the next row; meaningless once the ids are broken. */
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

  /** To be called after the last row: ids that are left over break the numbering too. */
  end(): void {
    if (this.#kept !== null && !this.#kept.next().done) this.#isBroken = true;
    this.close();
  }

  /** Lets go of the kept ids, wherever they come from. */
  close(): void {
    this.#kept?.return?.();
  }
}
