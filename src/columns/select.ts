/** Which rows of a batch stay: tests of a column's entries, asked once per entry where there is a dictionary. */
import { ByEntry } from './by-entry.ts';
import { type Column, type Entry, isNullAt, type NumberColumn, type Selection } from './column.ts';

/** A test of entries; asked about the cells of selected rows only. */
export class EntryTest {
  readonly #test: (entry: Entry) => boolean;
  readonly #known = new ByEntry();

  constructor(test: (entry: Entry) => boolean) {
    this.#test = test;
  }

  /** The rows of `before` whose cell passes. */
  select(column: Column, before: Selection = null): Selection {
    if (column.kind === 'numbers') return selectNumbers(column, this.#test, before);
    const { codes, entries } = column;
    const known = this.#known.of(entries);
    const kept = new Uint8Array(codes.length);
    for (let row = 0; row < codes.length; row++) {
      if (before !== null && before[row] === 0) continue;
      const code = codes[row]!;
      if (known[code]! < 0) known[code] = this.#test(entries[code]!) ? 1 : 0;
      kept[row] = known[code]!;
    }
    return kept;
  }
}

function selectNumbers(
  { values, nulls }: NumberColumn,
  test: (entry: Entry) => boolean,
  before: Selection,
): Selection {
  const kept = new Uint8Array(values.length);
  for (let row = 0; row < values.length; row++) {
    if (before !== null && before[row] === 0) continue;
    if (test(isNullAt(nulls, row) ? null : values[row]!)) kept[row] = 1;
  }
  return kept;
}

/** Bounds of numbers; -Infinity and Infinity for none. */
export interface Range {
  readonly from: number;
  readonly to: number;
  /** Without `to` itself. */
  readonly isOpenEnded?: boolean;
}

/** The rows whose number is in the range, by the column's `least` and `most` alone where they decide. */
export function selectRange(
  column: NumberColumn,
  { from, to, isOpenEnded = false }: Range,
  before: Selection = null,
): Selection {
  const { values, nulls, least, most } = column;
  const isIn = (value: number): boolean =>
    value >= from && (isOpenEnded ? value < to : value <= to);
  if (nulls === null && isIn(least) && isIn(most)) return before;
  if (most < from || least > to || least > most) return new Uint8Array(values.length);
  return selectNumbers(column, (entry) => entry !== null && isIn(entry as number), before);
}
