/**
 * Cells as they are written (DS-87): native numbers, booleans and texts, dates as serial numbers where the format shows
 * dates.
 *
 * Texts stand in the cell itself (`inlineStr`) instead of the table of shared ones: Excel, LibreOffice and the readers of
 * every common library take both, and only one part of the package has to change. Text is never a formula.
 */
import { AppError } from '../../src/base/errors.ts';
import type { Cell } from '../../src/dataset/types.ts';
import { MAX_CELL_TEXT } from '../../src/dataset/sheet-limits.ts';
import type { DateKind } from './number-format.ts';
import { serialOf, serialText } from './serial-date.ts';
import { isBlank } from './table-sink.ts';
import { escaped, xmlText } from './xml-text.ts';

/** A value as a cell of a certain style holds it. */
type NativeValue = string | number | boolean | null;

/**
 * The value that stores `cell` in a cell whose numbers show as `kind`; null stores nothing. Throws `schema-mismatch` for
 * texts a workbook cannot hold.
 */
export function nativeValue(cell: Cell, kind: DateKind, is1904: boolean): NativeValue {
  if (cell === null || cell === '') return null;
  if (typeof cell === 'boolean') return cell;
  // Adding 0 makes -0 a plain 0, as JSON does.
  if (typeof cell === 'number') return cell + 0;
  // Larger integers would lose digits as numbers.
  if (typeof cell === 'bigint') {
    return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
  }
  refuseUnwritable(cell);
  return serialOf(cell, kind, is1904) ?? cell;
}

/** What reading gives for the value. */
export function readBack(value: NativeValue, kind: DateKind, is1904: boolean): Cell {
  if (value === null) return '';
  return typeof value === 'number' ? (serialText(value, kind, is1904) ?? value) : value;
}

/** The `c` element of a value. `style` is the index of a cell format, 0 or less for none. */
export function cellMarkup(
  prefix: string,
  reference: string,
  style: number,
  value: NativeValue,
): string {
  const open = `<${prefix}c r="${reference}"${style > 0 ? ` s="${style}"` : ''}`;
  const close = `</${prefix}c>`;
  if (value === null) return `${open}/>`;
  const v = (text: string): string => `<${prefix}v>${text}</${prefix}v>`;
  if (typeof value === 'number') return `${open}>${v(numberText(value))}${close}`;
  if (typeof value === 'boolean') return `${open} t="b">${v(value ? '1' : '0')}${close}`;
  // Outer and repeated white space would be lost to programs that tidy up XML.
  const space = /^\s|\s$|\s\s|[\t\n]/.test(value) ? ' xml:space="preserve"' : '';
  const text = `<${prefix}t${space}>${xmlText(escaped(value))}</${prefix}t>`;
  return `${open} t="inlineStr"><${prefix}is>${text}</${prefix}is>${close}`;
}

function numberText(value: number): string {
  return String(value).toUpperCase();
}

function refuseUnwritable(text: string): void {
  if (text.length > MAX_CELL_TEXT) {
    throw mismatch(`a text of a workbook may not exceed ${MAX_CELL_TEXT} characters`);
  }
  if (text.includes('\u0000')) throw mismatch('a text may not contain NUL');
  if (!text.isWellFormed()) throw mismatch('a text may not contain a lone surrogate');
}

/** Whether the value leaves the cell without content. */
export function isBlankValue(value: NativeValue): boolean {
  return isBlank(value);
}

/** A `schema-mismatch` in the words of DS-75. */
export function mismatch(rest: string): AppError {
  return new AppError('schema-mismatch', `Schema validation failed: ${rest}`);
}
