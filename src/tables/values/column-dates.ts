import { datePattern, patternKey, patternText } from './date-pattern.ts';
import { dateKey } from './date-scan.ts';
import { type DateOrder } from './date-form.ts';
import { type DateStyle, isoKey, styledKey, writtenIn } from './date-style.ts';

export interface ColumnDates {
  /** Null without a value, and with a pattern. */
  readonly style: DateStyle | null;
  /** Named or found; null: day and month are never in question, or never clear. */
  readonly order: DateOrder | null;
  /** The copy holds a key beside each text, because the texts do not sort by time. */
  readonly isKeyed: boolean;
  /** Named by a companion (`date_format`). */
  readonly pattern?: string;
}

/** Sorts after every moment. */
export const AFTER_MOMENTS = '~';

/** What a keyed column is compared by: moments in their order, then what is no date; null for a blank. */
export function dateSortKey(
  stored: string | number | bigint | null,
  dates: ColumnDates,
): string | null {
  if (stored === null || stored === '') return null;
  const text = String(stored);
  return columnKey(text, dates) ?? AFTER_MOMENTS + text;
}

/** As `dateKey`, of text in the form of the column. */
export function columnKey(text: string, { pattern, order }: ColumnDates): string | null {
  const named = pattern === undefined ? null : datePattern(pattern);
  return named ? patternKey(text, named) : dateKey(text, order);
}

/** The key of ISO text, or of text as the column spells it; null for any other. */
export function operandKey(text: string, dates: ColumnDates): string | null {
  return (
    isoKey(text) ??
    (dates.pattern === undefined ? styledKey(text, dates.style) : columnKey(text, dates))
  );
}

/**
 * As sent where it has the column's form, else ISO text in the column's spelling. Null for other text, a time in a
 * column of dates, a zone that is missing or needless.
 */
export function writtenDate(
  text: string,
  format: 'date' | 'date-time',
  { style, pattern }: ColumnDates,
): string | null {
  const named = pattern === undefined ? null : datePattern(pattern);
  if (!named) return writtenIn(text, format, style);
  if (patternKey(text, named) !== null) return text;
  const key = isoKey(text);
  const zone = /(?:[Zz]|([+-])(\d\d):(\d\d)) *$/.exec(text.slice(10));
  const isShifted = zone?.[2] !== undefined && zone[2] + zone[3] !== '0000';
  if (key === null || (named.hasZone ? zone === null : isShifted)) return null;
  return patternText(key, named);
}
