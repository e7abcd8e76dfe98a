/** Stores the cells of a column under a supposed type, and counts their classes and spellings to check that type. */
import { declaredColumnType } from '../infer/declared-type.ts';
import type { FileColumn, ColumnType } from '../infer/file-type.ts';
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
import {
  type CountedColumn,
  FormCollector,
  isDateFormat,
  isNamed,
  PLAIN_CONTEXT,
  storageOf,
  type TextContext,
} from '../infer/reading.ts';
import type { Cell, ClassCounts, Column, Reading, StoredValue } from '../types.ts';
import { dateSortKey } from '../values/column-dates.ts';
import { keyOfScanned } from '../values/date-scan.ts';
import { isPointed } from '../values/number-spelling.ts';

/** Strings in no form, of dates or numbers, after which a column is plain text. */
const MAX_ODD = 64;

interface Declared {
  readonly type: string;
  readonly format?: string;
}

export class LoadColumn {
  readonly position: number;
  readonly declared: Declared | undefined;
  readonly #blank: BlankMode;
  /** With a type declared by the file nothing is counted. */
  readonly #file: FileColumn | undefined;
  readonly #context: TextContext;
  readonly #store: ((cell: Cell) => StoredValue) | null;
  #reading: Reading = { type: 'string' };
  #type: ColumnType = 'string';
  /** Fast path for text cells: the type is inferred, text may be blank, and numbers have no marks. */
  #isQuick = false;
  /** The copy holds a key beside each value. */
  isKeyed = false;
  #isNumeric = false;
  /** Numbers that stay text because of another column. */
  #isDoubtful = false;
  /** Spellings count; not when the sample has only numbers or booleans. */
  #looks: boolean;
  #column: Parameters<typeof storedValue>[1];
  #sample = emptyCounts();
  #forms: FormCollector;
  #integers = 0;
  #numbers = 0;
  #booleans = 0;
  #strings = 0;

  /** A companion's declared type wins over the file's. */
  constructor(
    position: number,
    declared: Declared | undefined,
    blank: BlankMode,
    file?: FileColumn,
    context: TextContext = PLAIN_CONTEXT,
  ) {
    this.position = position;
    this.declared = declared;
    this.#blank = blank;
    this.#context = context;
    this.#file = declared === undefined ? file : undefined;
    this.#store = this.#file ? fileStorage(this.#file.type) : null;
    this.#looks = this.#mayLook;
    this.#column = this.#target;
    this.#forms = this.#newForms();
  }

  get #mayLook(): boolean {
    if (this.#file) return false;
    const { declared } = this;
    if (declared === undefined || isDateFormat(declared.format)) return true;
    const type = declaredColumnType(declared.type);
    return this.#context.spellsNumbers && (type === 'integer' || type === 'number');
  }

  #newForms(): FormCollector {
    const isKept = isDateFormat(this.declared?.format);
    return new FormCollector(this.#context, isKept ? Number.POSITIVE_INFINITY : MAX_ODD);
  }

  /** No cell can change the type. */
  get #isSettled(): boolean {
    return this.declared !== undefined || this.#file !== undefined;
  }

  get counts(): ClassCounts {
    return {
      integer: this.#integers,
      number: this.#numbers,
      boolean: this.#booleans,
      string: this.#strings,
    };
  }

  /** As far as counted. */
  get counted(): CountedColumn {
    const { counts, declared } = this;
    return {
      counts,
      forms: this.#forms.counts,
      ...(declared && { declaredType: declared.type }),
      ...(declared?.format !== undefined && { declaredFormat: declared.format }),
      ...(this.#file && { file: this.#file }),
    };
  }

  /**
   * Supposes that all cells are like those in `sample`; null: plain values until their spellings are counted.
   * Restarts the counting.
   */
  suppose(sample: ClassCounts, reading: Reading | null): void {
    this.#sample = sample;
    this.#reading = reading ?? { type: 'string' };
    this.#type = this.#reading.type;
    this.isKeyed = this.#reading.dates?.isKeyed === true;
    const isInferred = this.declared === undefined && this.#blank === 'empty';
    const isQuick = !this.#reading.numbers && !isNamed(this.#context);
    this.#isQuick = isInferred && !this.#file && isQuick;
    const isNumeric = this.#type === 'integer' || this.#type === 'number';
    this.#isNumeric = isNumeric && !this.#reading.numbers;
    this.#isDoubtful = this.#type === 'string' && typeOfCounts(sample) === 'number';
    const { integer, number, boolean, string } = sample;
    const isPlain = string === 0 && integer + number + boolean > 0 && !isNamed(this.#context);
    this.#looks = this.#mayLook && (!isPlain || this.#isDoubtful);
    this.#column = this.#target;
    this.#integers = this.#numbers = this.#booleans = this.#strings = 0;
    this.#forms = this.#newForms();
    if (!this.#looks) this.#forms.giveUp();
  }

  /** An integer column becomes a number column on the way: both store the same values. */
  mayHold(): boolean {
    // Marks of numbers, and those in other columns, are known at the end.
    const isLate = this.#isDoubtful || this.#reading.numbers || isNamed(this.#context);
    if (this.#isSettled || isLate) return true;
    const { integer, number, boolean, string } = this.#sample;
    const type = typeOfCounts({
      integer: integer + this.#integers,
      number: number + this.#numbers,
      boolean: boolean + this.#booleans,
      string: string + this.#strings,
    });
    if (this.#type === 'integer' && type === 'number') {
      this.#type = type;
      this.#column = this.#target;
    }
    return this.#type === type;
  }

  /** Call after the last cell. */
  holds(reading: Reading | null): boolean {
    if (reading === null) return false;
    const isWidened = this.#isNumeric && reading.type === 'number';
    const type = isWidened ? 'number' : this.#reading.type;
    return storageOf({ ...this.#reading, type }) === storageOf(reading);
  }

  /** Counts a cell without storing it. */
  count(cell: Cell): CellClass {
    const found = classIn(cell, this.#blank);
    this.#add(found);
    if (this.#looks) this.#look(cell, found);
    return found;
  }

  /** Counts how the cell is spelled. */
  #look(cell: Cell, found: CellClass): void {
    const { spellsNumbers, dateFormat } = this.#context;
    if (found === 'blank' || found === 'boolean') return;
    // In the sample most cells of most files are such, and their texts would have to be made.
    const isFormless = dateFormat === undefined && found !== 'number';
    if (isFormless && !this.#forms.isWhole) return;
    if (isFormless && found === 'integer' && typeof cell === 'number') {
      if (spellsNumbers) this.#forms.addInteger(cell);
      return;
    }
    const text = String(cell);
    if (this.#forms.isFormatted(text)) this.#forms.formatted++;
    if (found !== 'string' && !spellsNumbers) return;
    if (found === 'number' && isPointed(text)) this.#forms.pointed++;
    if (this.#forms.isWhole) this.#forms.addText(text, found !== 'string');
  }

  /** Undefined: missing in a short row. */
  take(cell: Cell | undefined): StoredValue {
    if (this.#store) return this.#store(cell ?? null);
    if (this.#isQuick) {
      if (typeof cell === 'string') return this.#takeText(cell);
      if (typeof cell === 'number' && this.#isNumeric) return this.#takeNumber(cell);
    }
    const present = cell ?? null;
    this.count(present);
    return storedValue(present, this.#column, this.#blank);
  }

  get #target(): Parameters<typeof storedValue>[1] {
    const declaredType = this.declared?.type;
    return {
      ...this.#reading,
      type: this.#type,
      declared: declaredType !== undefined,
      ...(declaredType !== undefined && { declaredType }),
    };
  }

  /** Of the value just stored, for keyed columns. */
  key(value: StoredValue): string | null {
    const dates = this.#reading.dates!;
    const { lastDate } = this.#forms;
    this.#forms.lastDate = -1;
    return (lastDate < 0 ? null : keyOfScanned(lastDate, dates.order)) ?? dateSortKey(value, dates);
  }

  /** For the first `count` cells; may return the list itself. */
  takeAll(cells: readonly Cell[], count: number): readonly StoredValue[] {
    // These cells are stored values already; in most files all columns are such.
    if (this.#file && isStoredAsIs(this.#file.type)) return cells as readonly StoredValue[];
    return Array.from({ length: count }, (_, row) => this.take(cells[row]));
  }

  #takeNumber(number: number): number {
    if (Number.isSafeInteger(number)) this.#integers++;
    else {
      this.#numbers++;
      // Three decimals at least.
      if (Math.round(number * 100) / 100 !== number) this.#notePointed(String(number));
    }
    return number + 0;
  }

  #notePointed(text: string): void {
    if (isPointed(text)) this.#forms.pointed++;
  }

  #takeText(text: string): StoredValue {
    if (this.#isNumeric) return this.#takeNumericText(text);
    if (this.#type === 'string') return this.#takeString(text);
    const boolean = booleanOf(text);
    if (boolean === null) this.#add(classify(text));
    else this.#booleans++;
    return boolean;
  }

  #takeString(text: string): string | null {
    const { dates } = this.#reading;
    if (dates && this.#forms.addDate(text, this.isKeyed)) {
      this.#strings++;
      return text;
    }
    const found = classify(text);
    this.#add(found);
    if (found === 'blank') return dates ? null : '';
    if (this.#looks && this.#forms.isWhole) this.#look(text, found);
    return text;
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
      if (Math.round(number * 1000) / 1000 === number) this.#notePointed(text);
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

  described(name: string, extra: boolean, reading: Reading): Column {
    const { position, counted, declared } = this;
    return { name, ...reading, position, declared: declared !== undefined, extra, ...counted };
  }
}
