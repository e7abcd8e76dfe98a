/**
 * What the texts of a table are read as, decided from counts alone, so that an edit that changes them decides anew
 * without the file.
 */
import { dateForm, isoForm } from '../values/date-scan.ts';
import { type DateOrder } from '../values/date-form.ts';
import { type DateStyle, dateStyleOf, declaredStyleOf } from '../values/date-style.ts';
import {
  hasMarks,
  integerForm,
  isPointed,
  numberForm,
  type NumberContext,
  numberStyleOf,
  unitStyleOf,
} from '../values/number-spelling.ts';
import { affixesOf, affixKey, numberWithUnit } from '../values/number-unit.ts';
import type { Cell, ClassCounts, Column, FormCounts, Reading } from '../types.ts';
import { datePattern, patternKey } from '../values/date-pattern.ts';
import { declaredClass, declaredColumnType } from './declared-type.ts';
import { type FileColumn, presentedType } from './file-type.ts';
import { type BlankMode, classIn, typeOfCounts } from './infer.ts';

export interface TextContext extends NumberContext {
  /** Numbers may be spelled with marks (CSV). */
  readonly spellsNumbers: boolean;
  readonly dateOrder?: DateOrder;
  /** See `parseDatePattern`. */
  readonly dateFormat?: string;
  /** Columns of numbers with a unit are numbers. */
  readonly hasUnits?: boolean;
}

export const PLAIN_CONTEXT: TextContext = { spellsNumbers: false };

/** A column of more is plain text: it is spelled in no way, and every edit writes the counts. */
const MAX_FORMS = 1_000;

export function emptyForms(): FormCounts {
  return { forms: {}, odd: 0, pointed: 0, formatted: 0, units: {} };
}

export type CountedColumn = Pick<
  Column,
  'counts' | 'forms' | 'declaredType' | 'declaredFormat' | 'file'
>;

/** The companion says how texts are spelled, so that all are looked at. */
export function isNamed({ decimal, thousands, dateFormat }: TextContext): boolean {
  return decimal !== undefined || thousands !== undefined || dateFormat !== undefined;
}

/** Null for a column whose forms would have to be counted first. */
export function readingsOf(
  columns: readonly CountedColumn[],
  context: TextContext,
): (Reading | null)[] {
  const readings = columns.map((column) => readingOf(column, context));
  if (!readings.some((reading) => reading?.numbers?.hasComma)) return readings;
  return readings.map((reading, index) => {
    const { declaredType, counts, forms } = columns[index]!;
    const isInferred = declaredType === undefined && reading?.type === 'number';
    const isEither = isInferred && !reading.numbers && forms.pointed === counts.number;
    return isEither ? { type: 'string' } : reading;
  });
}

function readingOf(column: CountedColumn, context: TextContext): Reading | null {
  if (column.declaredType !== undefined) return declaredReading(column, context);
  if (column.file) return fileReading(column.file);
  const { counts, forms } = column;
  const type = typeOfCounts(counts);
  const { dateFormat } = context;
  const cells = counts.integer + counts.number + counts.string;
  if (dateFormat !== undefined && counts.boolean === 0 && cells > 0 && forms.formatted === cells) {
    return formattedReading(dateFormat);
  }
  const isMarked = context.spellsNumbers && hasMarks(context) && type !== 'boolean';
  if (type !== 'string' && !isMarked) return { type };
  if (forms.odd > 0 || counts.boolean > 0) return { type: 'string' };
  if (forms.forms === null) return null;
  const found = Object.keys(forms.forms).length;
  if (found === 0 || found > MAX_FORMS) return { type: 'string' };
  if (Object.keys(forms.units).length > 0) {
    return (context.hasUnits && unitReading(column, context)) || { type: 'string' };
  }
  const numbers = context.spellsNumbers ? numberStyleOf(forms.forms, context) : null;
  if (numbers) return { type: numbers.type, numbers };
  if (type !== 'string' || counts.integer + counts.number > 0) return { type: 'string' };
  const style = dateStyleOf(forms.forms, context.dateOrder ?? null);
  return style === null ? { type: 'string' } : datesReading(style);
}

/** Null unless all cells have the same unit. */
function unitReading(
  { counts, forms, declaredType }: CountedColumn,
  context: TextContext,
): Reading | null {
  const affixes = affixesOf(forms.units);
  const cells = counts.integer + counts.number + counts.string;
  const withUnit = Object.values(forms.units).reduce((sum, rows) => sum + rows, 0);
  if (affixes === null || forms.forms === null || withUnit !== cells) return null;
  const numbers = unitStyleOf(forms.forms, affixes, context, declaredType !== undefined);
  return numbers && { type: numbers.type, numbers };
}

function formattedReading(pattern: string): Reading {
  return {
    type: 'string',
    format: datePattern(pattern)!.hasTime ? 'date-time' : 'date',
    dates: { style: null, order: null, isKeyed: true, pattern },
  };
}

function datesReading(style: DateStyle): Reading {
  return {
    type: 'string',
    format: style.isTimed ? 'date-time' : 'date',
    dates: { style, order: style.order, isKeyed: !style.isSortable },
  };
}

function fileReading({ type }: FileColumn): Reading {
  const { kind } = type;
  const format = kind === 'date' ? 'date' : kind === 'timestamp' ? 'date-time' : undefined;
  return { type: presentedType(type), ...(format && { format }) };
}

function declaredReading(column: CountedColumn, context: TextContext): Reading | null {
  const type = declaredColumnType(column.declaredType!);
  const { counts, forms, declaredFormat } = column;
  const declared = declaredClass(column.declaredType!);
  if (declared === 'string' && isDateFormat(declaredFormat)) {
    if (forms.forms === null && forms.odd === 0) return null;
    const style = declaredStyleOf(forms.forms ?? {}, context.dateOrder ?? null);
    const dates = { style, order: style?.order ?? context.dateOrder ?? null, isKeyed: true };
    return { type, format: declaredFormat, dates };
  }
  const isNumeric = context.spellsNumbers && (type === 'integer' || type === 'number');
  const mayBeSpelled = isNumeric && (counts.string > 0 || hasMarks(context)) && forms.odd === 0;
  if (!mayBeSpelled || counts.boolean > 0) return { type };
  if (forms.forms === null) return null;
  const hasUnits = Object.keys(forms.units).length > 0;
  const numbers = hasUnits
    ? unitReading(column, context)?.numbers
    : numberStyleOf(forms.forms, context, true);
  return numbers ? { type, numbers } : { type };
}

export function isDateFormat(format: string | undefined): format is 'date' | 'date-time' {
  return format === 'date' || format === 'date-time';
}

/** -1 for a text that is neither a date nor, where the file may have such, a number. */
function formOf(text: string, { spellsNumbers }: TextContext): number {
  const form = dateForm(text);
  return form >= 0 || !spellsNumbers ? form : numberForm(text);
}

/** Counts a cell, or takes it back. */
export function countCell(
  counts: ClassCounts,
  forms: FormCounts,
  cell: Cell,
  step: 1 | -1,
  { context, blank }: { readonly context: TextContext; readonly blank: BlankMode },
): void {
  const found = classIn(cell, blank);
  if (found === 'blank') return;
  counts[found] += step;
  if (found === 'boolean') return;
  const isNumber = found !== 'string';
  const text = String(cell);
  if (isFormatted(text, context)) forms.formatted += step;
  if (isNumber && !context.spellsNumbers) return;
  if (found === 'number' && isPointed(text)) forms.pointed += step;
  const bare = formOf(text, context);
  const united = bare < 0 && context.spellsNumbers ? numberWithUnit(text) : null;
  const form = united ? numberForm(united.number) : bare;
  if (form < 0) forms.odd += step;
  else if (forms.forms !== null) {
    addTo(forms.forms, form, step);
    if (united) addTo(forms.units, affixKey(united), step);
  }
}

function addTo(counts: Record<string, number>, key: string | number, step: 1 | -1): void {
  const rows = (counts[key] ?? 0) + step;
  if (rows > 0) counts[key] = rows;
  else delete counts[key];
}

function isFormatted(text: string, { dateFormat }: TextContext): boolean {
  const pattern = dateFormat === undefined ? null : datePattern(dateFormat);
  return pattern !== null && patternKey(text, pattern) !== null;
}

/** Equal for readings that store the same values and compare them alike. */
export function storageOf(reading: Reading): string {
  const { dates, numbers, format } = reading;
  if (numbers) return `number ${JSON.stringify(numbers.marks)}`;
  if (!dates) return reading.type;
  return `${format} ${dates.pattern} ${dates.order} ${dates.isKeyed} ${dates.style?.pattern} ${dates.isKeyed ? '' : JSON.stringify(dates.style?.parts)}`;
}

/** By the counts after edits. */
export function presentReadings(
  columns: readonly Column[],
  counts: readonly ClassCounts[],
  forms: readonly FormCounts[],
  context: TextContext,
): (Reading | null)[] {
  return readingsOf(
    columns.map((column, index) => ({ ...column, counts: counts[index]!, forms: forms[index]! })),
    context,
  );
}

/** Whether the counts still give the columns what they were read as. */
export function areReadSo(
  columns: readonly Column[],
  counts: readonly ClassCounts[],
  forms: readonly FormCounts[],
  context: TextContext,
): boolean {
  const now = presentReadings(columns, counts, forms, context);
  return columns.every((column, index) => {
    const reading = now[index];
    return (
      reading != null && reading.type === column.type && storageOf(reading) === storageOf(column)
    );
  });
}

export class FormCollector {
  readonly #context: TextContext;
  /** Strings in no form after which a column is plain text, whatever comes. */
  readonly #maxOdd: number;
  /** The counts of the forms met last, by the lower bits of their number: most columns have a few. */
  readonly #recent = new Int32Array(64).fill(-1);
  readonly #rows = new Int32Array(64);
  #others = new Map<number, number>();
  readonly #units: Record<string, number> = {};
  #isWhole = true;
  #odd = 0;
  pointed = 0;
  formatted = 0;
  /** The form of the date added last, which is also the one scanned last; -1: none. */
  lastDate = -1;

  constructor(context: TextContext, maxOdd: number) {
    this.#context = context;
    this.#maxOdd = maxOdd;
  }

  /** Cells are still looked at. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  isFormatted(text: string): boolean {
    return this.#context.dateFormat !== undefined && isFormatted(text, this.#context);
  }

  /** `isNumber`: by its class, so that it is no date. */
  addText(text: string, isNumber: boolean): void {
    const form = isNumber ? numberForm(text) : formOf(text, this.#context);
    if (form >= 0) this.#count(form);
    else if (this.#addWithUnit(text)) return;
    else if (++this.#odd > this.#maxOdd) this.giveUp();
  }

  #addWithUnit(text: string): boolean {
    const found = this.#context.spellsNumbers ? numberWithUnit(text) : null;
    const form = found === null ? -1 : numberForm(found.number);
    if (found === null || form < 0) return false;
    this.#count(form);
    addTo(this.#units, affixKey(found), 1);
    return true;
  }

  /** False, and nothing counted, for a text that is no date. With `isScanned` its parts are read, too. */
  addDate(text: string, isScanned: boolean): boolean {
    const quick = isScanned ? -1 : isoForm(text);
    const form = quick >= 0 ? quick : dateForm(text);
    if (form >= 0) this.#count(form);
    this.lastDate = form;
    return form >= 0;
  }

  addInteger(value: number): void {
    this.#count(integerForm(value));
  }

  /** Some cells were not looked at. */
  giveUp(): void {
    this.#isWhole = false;
  }

  #count(form: number): void {
    const at = form & 63;
    if (this.#recent[at] !== form) {
      this.#flush(at);
      this.#recent[at] = form;
    }
    this.#rows[at]!++;
  }

  #flush(at: number): void {
    const form = this.#recent[at]!;
    if (form >= 0) this.#others.set(form, (this.#others.get(form) ?? 0) + this.#rows[at]!);
    this.#recent[at] = -1;
    this.#rows[at] = 0;
    if (this.#others.size > MAX_FORMS) {
      this.#others.clear();
      this.#odd++;
      this.giveUp();
    }
  }

  get counts(): FormCounts {
    const { pointed, formatted } = this;
    for (let at = 0; at < this.#rows.length; at++) this.#flush(at);
    if (!this.#isWhole) return { forms: null, odd: this.#odd, pointed, formatted, units: {} };
    return {
      forms: Object.fromEntries(this.#others),
      odd: this.#odd,
      pointed,
      formatted,
      units: { ...this.#units },
    };
  }
}
