/** Columns that are text because their cells leave it open, and the options that would decide it. */
import type { ClassCounts, Column, FormCounts, Reading } from '../types.ts';
import { isNamed, presentReadings, type TextContext } from './reading.ts';

export interface ReadingHint {
  readonly columns: readonly string[];
  /** For the companion, beside those it has. */
  readonly options: Readonly<Record<string, string>>;
}

/** Where several would do for a column, each is told, but no two together where one does. */
const CHOICES: readonly (readonly [
  options: ReadingHint['options'],
  context: Partial<TextContext>,
])[] = [
  [{ units: 'auto' }, { hasUnits: true }],
  [{ decimal: ',' }, { decimal: ',' }],
  [
    { decimal: ',', units: 'auto' },
    { decimal: ',', hasUnits: true },
  ],
  [{ thousands: ',' }, { thousands: ',' }],
  [{ date_order: 'dmy' }, { dateOrder: 'dmy' }],
  [{ date_order: 'mdy' }, { dateOrder: 'mdy' }],
];

/** Only options that leave every other column as it is. */
export function readingHints(
  columns: readonly Column[],
  counts: readonly ClassCounts[],
  forms: readonly FormCounts[],
  context: TextContext,
): ReadingHint[] {
  const hints = pointedHint(columns, counts, forms, context);
  for (const [options, choice] of CHOICES) {
    if (Object.keys(choice).some((name) => name in context)) continue;
    const readings = presentReadings(columns, counts, forms, { ...context, ...choice });
    const changed = columns.filter((column, index) => {
      const reading = readings[index];
      // Points were not counted, and would be none of the file's marks.
      if (!reading) return column.type === 'number' && choice.decimal === ',';
      return !isSame(column, reading);
    });
    const isGain = changed.every((column) => isText(column) && !column.declared);
    const names = changed.map(({ name }) => name);
    const isNeedless =
      Object.keys(options).length > 1 &&
      names.every((name) => hints.some((hint) => hint.columns.includes(name)));
    if (names.length > 0 && isGain && !isNeedless) hints.push({ columns: names, options });
  }
  return hints;
}

/**
 * In a file of semicolons `12.345` may well be twelve thousand: told where all numbers with a point are so, because
 * naming the mark would make text of others.
 */
function pointedHint(
  columns: readonly Column[],
  counts: readonly ClassCounts[],
  forms: readonly FormCounts[],
  context: TextContext,
): ReadingHint[] {
  if (context.delimiter !== ';' || isNamed(context)) return [];
  const numbers = [...columns.entries()].filter(
    ([, { type, numbers: style, file }]) => type === 'number' && !style && !file,
  );
  const isPointed = numbers.every(([index]) => forms[index]!.pointed === counts[index]!.number);
  if (numbers.length === 0 || !isPointed || numbers.some(([, { declared }]) => declared)) return [];
  return [{ columns: numbers.map(([, { name }]) => name), options: { thousands: '.' } }];
}

function isText({ type, format }: Reading): boolean {
  return type === 'string' && format === undefined;
}

function isSame(a: Reading, b: Reading): boolean {
  return a.type === b.type && a.format === b.format;
}
