/** Which rows of a batch stay: tests of a column's entries, asked once per entry where there is a dictionary. */
import { type Column, type Entry, isNullAt, type NumberColumn, type Selection } from './column.ts';

/** The rows of `before` whose cell passes. Of a dictionary each entry is tested once, also those of other rows. */
export function select(
  column: Column,
  test: (entry: Entry) => boolean,
  before: Selection = null,
): Selection {
  if (column.kind === 'numbers') return selectNumbers(column, test, before);
  const passes = Uint8Array.from(column.entries, (entry) => (test(entry) ? 1 : 0));
  if (!passes.includes(0)) return before;
  const { codes } = column;
  const kept = new Uint8Array(codes.length);
  for (let row = 0; row < codes.length; row++)
    kept[row] = before?.[row] === 0 ? 0 : passes[codes[row]!]!;
  return kept;
}

function selectNumbers(
  { values, nulls }: NumberColumn,
  test: (entry: Entry) => boolean,
  before: Selection,
): Selection {
  const kept = new Uint8Array(values.length);
  const keepsNull = nulls !== null && test(null);
  for (let row = 0; row < values.length; row++) {
    if (before?.[row] === 0) continue;
    if (isNullAt(nulls, row) ? keepsNull : test(values[row]!)) kept[row] = 1;
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
