import { parseA1Ref, tokenize } from '@borgar/fx/xlsx';
import { shiftFormula } from '../xlsx/formula.ts';

/** Something that cannot follow: the rows are emptied in place instead. */
export class CannotShift extends Error {}

/** Sheet rows, from 1. */
export class RowShift {
  readonly #removed: readonly number[];

  constructor(rows: Iterable<number>) {
    this.#removed = [...new Set(rows)].sort((a, b) => a - b);
  }

  get first(): number {
    return this.#removed[0] ?? Infinity;
  }

  /** How many are removed before `row`. */
  before(row: number): number {
    let [low, high] = [0, this.#removed.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#removed[middle]! < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(row: number): boolean {
    return this.#removed[this.before(row)] === row;
  }

  /** Null for a removed row. */
  at(row: number): number | null {
    const before = this.before(row);
    return this.#removed[before] === row ? null : row - before;
  }

  /** What is left of the rows from `first` to `last`; null when nothing is. */
  span(first: number, last: number): { readonly first: number; readonly last: number } | null {
    const left = { first: first - this.before(first), last: last - this.before(last + 1) };
    return left.first <= left.last ? left : null;
  }

  /** The row that is now `row`. */
  origin(row: number): number {
    let origin = row;
    for (const removed of this.#removed) if (removed <= origin) origin++;
    return origin;
  }

  /** The rows above and below each gap, as they are numbered now. */
  *edges(): Generator<number> {
    for (const row of this.#removed) {
      const below = row - this.before(row);
      if (below > 1) yield below - 1;
      yield below;
    }
  }
}

/** Rows that come in above a row of totals: what ends right above it takes them in. */
export class RowInsertion extends RowShift {
  readonly #at: number;
  readonly #count: number;

  constructor(at: number, count: number) {
    super([]);
    this.#at = at;
    this.#count = count;
  }

  override get first(): number {
    return this.#at - 1;
  }

  override before(row: number): number {
    return row >= this.#at ? -this.#count : 0;
  }

  override has(): boolean {
    return false;
  }

  override at(row: number): number {
    return row >= this.#at ? row + this.#count : row;
  }

  override span(first: number, last: number): { readonly first: number; readonly last: number } {
    return {
      first: this.at(first),
      last: last === this.#at - 1 ? last + this.#count : this.at(last),
    };
  }
}

export interface Removal {
  readonly shift: RowShift;
  /** Lower-case name of the worksheet whose rows are removed. */
  readonly target: string;
}

const ROW = /^(\$?[A-Za-z]{0,3})(\$?)([1-9][0-9]{0,6})$/;

/**
 * `#REF!` for cells that are gone. `own`: lower-case name of its worksheet. `fixedOnly`: relative rows are no rows of
 * the sheet, as in defined names.
 */
export function shiftedFormula(
  text: string,
  own: string,
  { shift, target }: Removal,
  fixedOnly = false,
): string {
  if (!/\d/.test(text)) return text;
  const tokens = tokenize(text, { withLocation: false });
  if (tokens.map(({ value }) => value).join('') !== text) throw new CannotShift('a formula');
  const shifted = tokens.map(({ type, value }) =>
    type === 'range' || type === 'range_beam'
      ? shiftedReference(value, own, target, shift, fixedOnly)
      : value,
  );
  return shifted.join('');
}

function shiftedReference(
  value: string,
  own: string,
  target: string,
  shift: RowShift,
  fixedOnly: boolean,
): string {
  const found = parseA1Ref(value);
  if (!found || (found.workbookName ?? '') !== '') return value;
  const sheet = (found.sheetName ?? '').toLowerCase() || own;
  // A part of the worksheets would need its references moved, the others not.
  if (sheet.includes(':') && sheet !== own)
    throw new CannotShift('a reference to several worksheets');
  if (sheet !== target) return value;
  const at = value.lastIndexOf('!') + 1;
  return value.slice(0, at) + (shiftedRange(value.slice(at), shift, fixedOnly) ?? '#REF!');
}

/** `A5`, `A5:B7`, `5:7` or `A:B`; null when its rows are gone. */
export function shiftedRange(range: string, shift: RowShift, fixedOnly = false): string | null {
  const ends = range.split(':');
  if (ends.every((end) => /^\$?[A-Za-z]{1,3}$/.test(end))) return range;
  const parsed = ends.map((end) => ROW.exec(end));
  if (parsed.length > 2 || parsed.includes(null)) throw new CannotShift(`the reference ${range}`);
  if (fixedOnly && parsed.some((end) => end![2] === '' && end![1] !== '$')) return range;
  const rows = parsed.map((end) => Number(end![3]));
  const [low, high] = [Math.min(...rows), Math.max(...rows)];
  const left = shift.span(low, high);
  if (left === null) return null;
  return parsed
    .map((end, index) => `${end![1]}${end![2]}${rows[index] === low ? left.first : left.last}`)
    .join(':');
}

/**
 * Of a formula that stands for many cells by its distance from the first, such as the one of a conditional format.
 */
export function shiftedFrom(
  text: string,
  own: string,
  removal: Removal,
  rows: { readonly first: number; readonly last: number },
): string {
  let first = rows.first;
  while (removal.shift.has(first) && first < rows.last) first++;
  const shifted = shiftedFormula(shiftFormula(text, first - rows.first, 0), own, removal);
  if (shifted.includes('#REF!') && !text.includes('#REF!')) throw new CannotShift('a format');
  return shifted;
}
