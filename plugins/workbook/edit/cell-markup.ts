/**
 * Cells as written: native numbers, booleans and texts; dates as serial numbers where the format
 * shows dates.
 *
 * Texts go into the cell (`inlineStr`) instead of the shared table: Excel, LibreOffice and all
 * common libraries read both, and only one part of the package has to change. Text is never a
 * formula.
 */
import { mismatch } from '../../../src/base/errors.ts';
import { MAX_CELL_TEXT, sheetText } from '../../../src/tables/encode/sheet-text.ts';
import type { Cell } from '../../../src/tables/types.ts';
import { type DateKind, serialOf, serialText } from '../serial-date.ts';

export type NativeValue = string | number | boolean | null;

export function nativeValue(cell: Cell, kind: DateKind, is1904: boolean): NativeValue {
  if (cell === null || cell === '') return null;
  if (typeof cell === 'boolean') return cell;
  // Adding 0 turns -0 into 0, as JSON does.
  if (typeof cell === 'number') return cell + 0;
  // Larger integers would lose digits as numbers.
  if (typeof cell === 'bigint') {
    return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
  }
  refuseUnwritable(cell);
  return serialOf(cell, kind, is1904) ?? cell;
}

/** What a reader gets for the value. */
export function readBack(value: NativeValue, kind: DateKind, is1904: boolean): Cell {
  if (value === null) return '';
  return typeof value === 'number' ? (serialText(value, kind, is1904) ?? value) : value;
}

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
  if (typeof value === 'number') return `${open}>${v(String(value).toUpperCase())}${close}`;
  if (typeof value === 'boolean') return `${open} t="b">${v(value ? '1' : '0')}${close}`;
  // Programs that tidy up XML drop outer and repeated white space.
  const space = /^\s|\s$|\s\s|[\t\n]/.test(value) ? ' xml:space="preserve"' : '';
  const text = `<${prefix}t${space}>${sheetText(value)}</${prefix}t>`;
  return `${open} t="inlineStr"><${prefix}is>${text}</${prefix}is>${close}`;
}

function refuseUnwritable(text: string): void {
  if (text.length > MAX_CELL_TEXT) {
    throw mismatch(`a text of a workbook may not exceed ${MAX_CELL_TEXT} characters`);
  }
  if (text.includes('\u0000')) throw mismatch('a text may not contain NUL');
  if (!text.isWellFormed()) throw mismatch('a text may not contain a lone surrogate');
}
