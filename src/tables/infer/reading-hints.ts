/** Columns that are text because their cells leave it open, and the options that would decide it. */
import type { ClassCounts, Column, FormCounts, Reading } from '../types.ts';
import { presentReadings, type TextContext } from './reading.ts';

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
  if (!columns.some((column) => isText(column) && !column.declared && !column.file)) return [];
  const hints: ReadingHint[] = [];
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

function isText({ type, format }: Reading): boolean {
  return type === 'string' && format === undefined;
}

function isSame(a: Reading, b: Reading): boolean {
  return a.type === b.type && a.format === b.format;
}
