/**
 * Groups the rows of batches by the entries of key columns; counts them and folds the numbers of measures.
 *
 * A measure's numbers are folded into one `PackedNumbers` per group (count, exact sum, on request least and most
 * or all of them). Its other entries (nulls, texts) are not folded: they are part of the group's key. Entries are equal when
 * `Object.is` says so, zeros apart; what else is equal the caller merges. Groups come in the order of their first row.
 *
 * Memory is that of the groups. Check `isFull` after each batch: `take` empties it, and a group may come again later.
 */
import type { Column, DictionaryColumn, Entry, Selection } from './column.ts';
import { isNullAt } from './column.ts';
import type { PackedNumbers } from './exact-sum.ts';
import { ByEntry } from './by-entry.ts';
import { GroupSums, type MeasureOrder } from './group-sums.ts';

export interface Group {
  readonly keys: readonly Entry[];
  /** Per measure what its rows of this group have: numbers, or this entry. */
  readonly measures: readonly (PackedNumbers | Entry)[];
  /** Rows. */
  readonly count: number;
}

/** Of sums and kept values, about 64 MB. */
const MAX_DOUBLES = 8_000_000;
/** Their keys take about as much. */
const MAX_GROUPS = 262_144;
/** Beyond, pairs of codes are looked up in a map; a table of so many takes 4 MB. */
const MAX_TABLE = 1_000_000;

export class Grouping {
  readonly #codings: readonly Coding[];
  readonly #pairs: Pairs[];
  readonly #keyCount: number;
  readonly #sums: readonly GroupSums[];
  #counts = new Float64Array(64);
  #size = 0;

  constructor(keyCount: number, measures: readonly MeasureOrder[]) {
    this.#keyCount = keyCount;
    this.#codings = Array.from(
      { length: keyCount + measures.length },
      (_, at) => new Coding(at >= keyCount),
    );
    this.#sums = measures.map((order) => new GroupSums(order));
    this.#pairs = this.#codings.slice(1).map(() => new Pairs());
  }

  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    const width = this.#sums.reduce((sum, { width: one }) => sum + one, 0);
    const kept = this.#sums.reduce((sum, { kept: one }) => sum + one, 0);
    return this.#size > MAX_GROUPS || this.#size * width + kept > MAX_DOUBLES;
  }

  /** Columns of `rows` rows: keys, then measures. */
  push(rows: number, columns: readonly Column[], selection: Selection): void {
    const groups = this.#groupsOf(rows, columns, selection);
    this.#count(groups);
    this.#sums.forEach((sums, at) => {
      const column = columns[this.#keyCount + at]!;
      if (column.kind === 'numbers') {
        sums.add(withNumber(groups, column.nulls), this.#size, column.values, null);
        return;
      }
      const { isNumber, numbers } = numbersOf(column);
      if (!isNumber.includes(1)) return;
      const { codes } = column;
      const numeric = isNumber.includes(0)
        ? groups.map((group, row) => (isNumber[codes[row]!] === 1 ? group : -1))
        : groups;
      sums.add(numeric, this.#size, numbers, codes);
    });
  }

  /** All groups that have rows, and begins anew. */
  *take(): Generator<Group> {
    const size = this.#size;
    for (let group = 0; group < size; group++) {
      const count = this.#counts[group]!;
      if (count > 0) yield this.#group(group, count);
    }
    this.#size = 0;
    this.#counts.fill(0);
    for (const part of [...this.#codings, ...this.#pairs, ...this.#sums]) part.reset();
  }

  #group(group: number, count: number): Group {
    const codes: number[] = [];
    let rest = group;
    for (let at = this.#pairs.length - 1; at >= 0; at--) {
      const { first, second } = this.#pairs[at]!.of(rest);
      codes.unshift(second);
      rest = first;
    }
    if (this.#codings.length > 0) codes.unshift(rest);
    const entries = codes.map((code, at) => this.#codings[at]!.entries[code]!);
    const measures = this.#sums.map((sums, at) =>
      codes[this.#keyCount + at] === FOLDED ? sums.packed(group) : entries[this.#keyCount + at]!,
    );
    return { keys: entries.slice(0, this.#keyCount), measures, count };
  }

  /** The group of each row, -1 for rows left out; all groups so far are below `#size`. */
  #groupsOf(rows: number, columns: readonly Column[], selection: Selection): Int32Array {
    const [first, ...others] = this.#codings.map((coding, at) =>
      coding.codesOf(columns[at]!, selection),
    );
    const groups = first ?? new Int32Array(rows);
    this.#size = this.#codings[0]?.entries.length ?? 1;
    if (selection !== null)
      for (let row = 0; row < rows; row++) if (selection[row] === 0) groups[row] = -1;
    others.forEach((codes, at) => {
      const pairs = this.#pairs[at]!;
      pairs.number(groups, codes, this.#size, this.#codings[at + 1]!.entries.length);
      this.#size = pairs.size;
    });
    return groups;
  }

  #count(groups: Int32Array): void {
    if (this.#size > this.#counts.length) {
      const grown = new Float64Array(2 ** Math.ceil(Math.log2(this.#size)));
      grown.set(this.#counts);
      this.#counts = grown;
    }
    const counts = this.#counts;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row]!;
      if (group >= 0) counts[group]!++;
    }
  }
}

/** The code of all numbers of a measure. */
const FOLDED = 0;

/** Codes that mean the same in all batches. */
class Coding {
  readonly #folds: boolean;
  #codeOf = new Map<Entry, number>();
  readonly #known = new ByEntry();
  entries: Entry[] = [];

  constructor(folds: boolean) {
    this.#folds = folds;
    this.reset();
  }

  reset(): void {
    this.#codeOf = new Map();
    this.#known.forget();
    this.entries = this.#folds ? [FOLDED] : [];
  }

  /** Of every selected row, in an array of its own. */
  codesOf(column: Column, selection: Selection): Int32Array {
    if (column.kind === 'dictionary') {
      const { codes, entries } = column;
      const known = this.#known.of(entries);
      const result = new Int32Array(codes.length);
      for (let row = 0; row < codes.length; row++) {
        if (selection !== null && selection[row] === 0) continue;
        const code = codes[row]!;
        if (known[code]! < 0) {
          const entry = entries[code]!;
          known[code] = this.#folds && isFinite(entry) ? FOLDED : this.#code(entry);
        }
        result[row] = known[code]!;
      }
      return result;
    }
    const { values, nulls } = column;
    const codes = new Int32Array(values.length);
    if (this.#folds && nulls === null) return codes;
    for (let row = 0; row < values.length; row++) {
      if (selection !== null && selection[row] === 0) continue;
      if (isNullAt(nulls, row)) codes[row] = this.#code(null);
      else if (!this.#folds) codes[row] = this.#code(values[row]!);
    }
    return codes;
  }

  #code(entry: Entry): number {
    let code = this.#codeOf.get(entry);
    if (code === undefined) {
      code = this.entries.length;
      this.#codeOf.set(entry, code);
      this.entries.push(entry);
    }
    return code;
  }
}

/** Numbers pairs of codes as they come. */
class Pairs {
  #firsts: number[] = [];
  #seconds: number[] = [];
  /** While there is one second code only, a pair has the number of its first; so many there are. */
  #plain: number | null = 0;
  /** By first and second, 1 more than the number; replaced by the map once pairs are too many. */
  #table: Int32Array | null = new Int32Array(64);
  #width = 8;
  #map = new Map<number, number>();

  get size(): number {
    return this.#plain ?? this.#firsts.length;
  }

  of(pair: number): { readonly first: number; readonly second: number } {
    if (this.#plain !== null) return { first: pair, second: 0 };
    return { first: this.#firsts[pair]!, second: this.#seconds[pair]! };
  }

  reset(): void {
    this.#firsts = [];
    this.#seconds = [];
    this.#plain = 0;
    this.#table = new Int32Array(64);
    this.#width = 8;
    this.#map = new Map();
  }

  /** Replaces each of `firsts` by the number of its pair. Codes are below the counts. */
  number(firsts: Int32Array, seconds: Int32Array, firstCount: number, secondCount: number): void {
    if (this.#plain !== null && secondCount <= 1) {
      this.#plain = firstCount;
      return;
    }
    if (this.#plain !== null) {
      for (let first = 0; first < this.#plain; first++) this.#add(first, 0);
      this.#plain = null;
      this.#table = new Int32Array(0);
    }
    this.#reserve(firstCount, secondCount);
    const table = this.#table;
    const width = this.#width;
    for (let row = 0; row < firsts.length; row++) {
      const first = firsts[row]!;
      if (first < 0) continue;
      const second = seconds[row]!;
      if (table === null) {
        // Of full groups and one batch more are fewer than 2^23, and of codes than 2^30.
        const key = first * 0x4000_0000 + second;
        let pair = this.#map.get(key);
        if (pair === undefined) this.#map.set(key, (pair = this.#add(first, second)));
        firsts[row] = pair;
      } else {
        const cell = first * width + second;
        if (table[cell] === 0) table[cell] = this.#add(first, second) + 1;
        firsts[row] = table[cell]! - 1;
      }
    }
  }

  #add(first: number, second: number): number {
    this.#seconds.push(second);
    return this.#firsts.push(first) - 1;
  }

  #reserve(firstCount: number, secondCount: number): void {
    if (this.#table === null) return;
    if (secondCount <= this.#width && firstCount * this.#width <= this.#table.length) return;
    const width = Math.max(this.#width, 2 ** Math.ceil(Math.log2(secondCount)));
    const size = width * 2 ** Math.ceil(Math.log2(firstCount));
    this.#table = size <= MAX_TABLE ? new Int32Array(size) : null;
    this.#width = width;
    this.#firsts.forEach((first, pair) => {
      const second = this.#seconds[pair]!;
      if (this.#table === null) this.#map.set(first * 0x4000_0000 + second, pair);
      else this.#table[first * width + second] = pair + 1;
    });
  }
}

function isFinite(entry: Entry): entry is number {
  return typeof entry === 'number' && Number.isFinite(entry);
}

function numbersOf({ entries }: DictionaryColumn): { isNumber: Uint8Array; numbers: Float64Array } {
  return {
    isNumber: Uint8Array.from(entries, (entry) => (isFinite(entry) ? 1 : 0)),
    numbers: Float64Array.from(entries, (entry) => (isFinite(entry) ? entry : 0)),
  };
}

function withNumber(groups: Int32Array, nulls: Uint8Array | null): Int32Array {
  if (nulls === null) return groups;
  return groups.map((group, row) => (isNullAt(nulls, row) ? -1 : group));
}
