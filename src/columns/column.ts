/**
 * Batches of columns: what the operators of this folder work on, wherever the columns come from.
 *
 * A batch is a run of rows (up to some ten thousand) as one column per field, all of the same length. A column is
 * either a dictionary with one code a row, or numbers with a bitmap of the rows that have none. Operators look at each
 * entry of a dictionary once, and at rows only as integers and doubles.
 */

/** What a cell can be. The owner of a column says what its entries mean. */
export type Entry = string | number | bigint | boolean | null;

export type Codes = Uint8Array | Uint16Array | Int32Array;

/**
 * The cell of row `i` is `entries[codes[i]]`; null is an entry like others. An entry may stand twice. Batches may share
 * the list of entries, to which later ones append: what is known of an entry is kept by list and code.
 */
export interface DictionaryColumn {
  readonly kind: 'dictionary';
  readonly codes: Codes;
  readonly entries: readonly Entry[];
}

/** Finite doubles, or integers of 32 bits. */
export interface NumberColumn {
  readonly kind: 'numbers';
  readonly values: Float64Array | Int32Array;
  /** Bit `i & 7` of byte `i >> 3` is set where row `i` has no number, whose value is 0; null when all have one. */
  readonly nulls: Uint8Array | null;
  /** Over the rows that have a number; `least` is above `most` when none has. */
  readonly least: number;
  readonly most: number;
}

export type Column = DictionaryColumn | NumberColumn;

/** Rows that stay: one byte a row, 1 or 0; null for all. */
export type Selection = Uint8Array | null;

export function isNullAt(nulls: Uint8Array | null, row: number): boolean {
  return nulls !== null && (nulls[row >> 3]! & (1 << (row & 7))) !== 0;
}

export function entryAt(column: Column, row: number): Entry {
  if (column.kind === 'dictionary') return column.entries[column.codes[row]!]!;
  return isNullAt(column.nulls, row) ? null : column.values[row]!;
}

/** More different numbers than these are not worth a dictionary. */
const MAX_NUMBER_ENTRIES = 4_096;

/** The narrower of both kinds. Minus zero becomes zero. */
export function columnOf(cells: readonly Entry[]): Column {
  return numberColumn(cells) ?? dictionaryColumn(cells);
}

function numberColumn(cells: readonly Entry[]): NumberColumn | null {
  const different = new Set<number>();
  let nulls: Uint8Array | null = null;
  let isWhole = true;
  let least = Infinity;
  let most = -Infinity;
  const values = new Float64Array(cells.length);
  for (let row = 0; row < cells.length; row++) {
    const cell = cells[row]!;
    if (cell === null) {
      nulls ??= new Uint8Array((cells.length + 7) >> 3);
      nulls[row >> 3]! |= 1 << (row & 7);
      continue;
    }
    if (typeof cell !== 'number' || !Number.isFinite(cell)) return null;
    values[row] = cell + 0;
    if (isWhole && (cell | 0) !== cell) isWhole = false;
    if (cell < least) least = cell;
    if (cell > most) most = cell;
    if (different.size <= MAX_NUMBER_ENTRIES) different.add(cell);
  }
  if (different.size <= Math.min(MAX_NUMBER_ENTRIES, cells.length / 4)) return null;
  return {
    kind: 'numbers',
    values: isWhole ? Int32Array.from(values) : values,
    nulls,
    least,
    most,
  };
}

export function dictionaryColumn(cells: readonly Entry[]): DictionaryColumn {
  const codeOf = new Map<Entry, number>();
  const entries: Entry[] = [];
  const codes = new Int32Array(cells.length);
  for (let row = 0; row < cells.length; row++) {
    const given = cells[row]!;
    // A map takes minus zero for zero; the entry must not depend on which came first.
    const cell = given === 0 ? 0 : given;
    let code = codeOf.get(cell);
    if (code === undefined) {
      code = entries.length;
      codeOf.set(cell, code);
      entries.push(cell);
    }
    codes[row] = code;
  }
  return { kind: 'dictionary', codes: narrowed(codes, entries.length), entries };
}

/** Codes below `count` in the fewest bytes. */
export function narrowed(codes: Int32Array, count: number): Codes {
  if (count <= 0x100) return Uint8Array.from(codes);
  return count <= 0x1_0000 ? Uint16Array.from(codes) : codes;
}
