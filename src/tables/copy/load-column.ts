/**
 * One column of a copy under construction: converts cells to stored values under a supposed type, and counts their
 * classes to check that type.
 */
import { declaredColumnType } from '../infer/declared-type.ts';
import { type FileColumn, presentedType, type ColumnType } from '../infer/file-type.ts';
import {
  type BlankMode,
  booleanOf,
  type CellClass,
  classify,
  classIn,
  emptyCounts,
  fileStorage,
  integerOf,
  isStoredAsIs,
  numberOf,
  storedValue,
  typeOfCounts,
} from '../infer/infer.ts';
import type { Cell, ClassCounts, Column, StoredValue } from '../types.ts';

export class LoadColumn {
  readonly position: number;
  readonly declaredType: string | undefined;
  readonly #blank: BlankMode;
  /** With a type declared by the file nothing is counted. */
  readonly #file: FileColumn | undefined;
  readonly #store: ((cell: Cell) => StoredValue) | null;
  #type: ColumnType;
  /** Fast path for text cells: the type is inferred and text may be blank. */
  readonly #isInferred: boolean;
  #isNumeric = false;
  #sample = emptyCounts();
  #integers = 0;
  #numbers = 0;
  #booleans = 0;
  #strings = 0;

  /** A companion's declared type wins over the file's. */
  constructor(
    position: number,
    declaredType: string | undefined,
    blank: BlankMode,
    file?: FileColumn,
  ) {
    this.position = position;
    this.declaredType = declaredType;
    this.#blank = blank;
    this.#file = declaredType === undefined ? file : undefined;
    this.#store = this.#file ? fileStorage(this.#file.type) : null;
    const inFile = this.#file ? presentedType(this.#file.type) : 'string';
    this.#type = declaredType === undefined ? inFile : declaredColumnType(declaredType);
    this.#isInferred = declaredType === undefined && blank === 'empty';
  }

  get type(): ColumnType {
    return this.#type;
  }

  get declared(): boolean {
    return this.declaredType !== undefined;
  }

  /** No cell can change the type. */
  get #isSettled(): boolean {
    return this.declared || this.#file !== undefined;
  }

  get counts(): ClassCounts {
    return {
      integer: this.#integers,
      number: this.#numbers,
      boolean: this.#booleans,
      string: this.#strings,
    };
  }

  /** Supposes that all cells are like those in `sample`; restarts the counting. */
  suppose(sample: ClassCounts): void {
    this.#sample = sample;
    if (!this.#isSettled) this.#type = typeOfCounts(sample);
    this.#isNumeric = this.#type === 'integer' || this.#type === 'number';
    this.#integers = this.#numbers = this.#booleans = this.#strings = 0;
  }

  /**
   * Whether the supposed type fits the cells so far together with the sample. An integer column becomes a number column
   * on the way: both store the same values.
   */
  mayHold(): boolean {
    if (this.#isSettled) return true;
    const { integer, number, boolean, string } = this.#sample;
    const type = typeOfCounts({
      integer: integer + this.#integers,
      number: number + this.#numbers,
      boolean: boolean + this.#booleans,
      string: string + this.#strings,
    });
    if (this.#type === 'integer' && type === 'number') this.#type = type;
    return this.#type === type;
  }

  /** Call after the last cell. */
  holds(): boolean {
    return this.#isSettled || typeOfCounts(this.counts) === this.#type;
  }

  /** Counts a cell without storing it. */
  count(cell: Cell): CellClass {
    const found = classIn(cell, this.#blank);
    this.#add(found);
    return found;
  }

  /** Counts the cell and returns its stored value; undefined is a cell missing in a short row. */
  take(cell: Cell | undefined): StoredValue {
    if (this.#store) return this.#store(cell ?? null);
    if (this.#isInferred) {
      if (typeof cell === 'string') return this.#takeText(cell);
      if (typeof cell === 'number' && this.#isNumeric) return this.#takeNumber(cell);
    }
    const present = cell ?? null;
    this.count(present);
    return storedValue(present, this, this.#blank);
  }

  /** For the first `count` cells; may return the list itself. */
  takeAll(cells: readonly Cell[], count: number): readonly StoredValue[] {
    // These cells are stored values already; in most files all columns are such.
    if (this.#file && isStoredAsIs(this.#file.type)) return cells as readonly StoredValue[];
    return Array.from({ length: count }, (_, row) => this.take(cells[row]));
  }

  #takeNumber(number: number): number {
    if (Number.isSafeInteger(number)) this.#integers++;
    else this.#numbers++;
    return number + 0;
  }

  #takeText(text: string): StoredValue {
    if (this.#isNumeric) return this.#takeNumericText(text);
    if (this.#type === 'string') {
      const found = classify(text);
      this.#add(found);
      return found === 'blank' ? '' : text;
    }
    const boolean = booleanOf(text);
    if (boolean === null) this.#add(classify(text));
    else this.#booleans++;
    return boolean;
  }

  /** Null for a blank cell, or one that refutes the type; the value then does not matter. */
  #takeNumericText(text: string): number | null {
    const integer = integerOf(text);
    if (integer === integer) {
      this.#integers++;
      return integer;
    }
    const number = numberOf(text);
    if (number === number) {
      this.#numbers++;
      return number;
    }
    this.#add(classify(text));
    return null;
  }

  #add(found: CellClass): void {
    if (found === 'string') this.#strings++;
    else if (found === 'integer') this.#integers++;
    else if (found === 'number') this.#numbers++;
    else if (found === 'boolean') this.#booleans++;
  }

  /** As shown to the rest of the program. */
  described(name: string, extra: boolean): Column {
    const { position, type, declared, declaredType, counts } = this;
    const column = { name, type, position, declared, extra, counts };
    if (this.#file) return { ...column, file: this.#file };
    return declaredType === undefined ? column : { ...column, declaredType };
  }
}
