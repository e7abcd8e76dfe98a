/**
 * Values for rows: as they are typed and sent, compared with what is there, taken back, and cut into writes.
 */
import { BOOLEAN_TEXT } from '../../../dataset/boolean-text.ts';
import { cellOf, type CellValue, type GridRow, plainText } from './model.ts';

/** Values by column name. */
export type Values = Readonly<Record<string, CellValue>>;

/** New values of a row by its number, as they are sent. */
export type WrittenRow = Values & { readonly _row_id: number };

/** New values of a row as it was seen. */
export interface RowEdit {
  readonly row: GridRow;
  readonly values: Values;
}

/** A value that does not fit its column. */
export interface Misfit {
  /** Place in the list of rows. */
  readonly row: number;
  readonly column: string;
  readonly message: string;
}

/** What goes into one write: as many rows as the page's address takes, and texts of some size. */
const ROWS_PER_UPDATE = 500;
const CHARACTERS_PER_UPDATE = 2_000_000;

/** As many as go into one write; at least one. */
export function nextPart(edits: readonly RowEdit[]): readonly RowEdit[] {
  let characters = 0;
  const most = Math.min(edits.length, ROWS_PER_UPDATE);
  for (let count = 0; count < most; count++) {
    for (const value of Object.values(edits[count]!.values)) characters += plainText(value).length;
    if (characters > CHARACTERS_PER_UPDATE && count > 0) return edits.slice(0, count);
  }
  return edits.slice(0, most);
}

/** What takes an edit back. */
export function reversed({ row, values }: RowEdit): RowEdit {
  const before = Object.keys(values).map((name) => [name, sent(cellOf(row, name))] as const);
  return { row: { ...row, ...values } as GridRow, values: Object.fromEntries(before) };
}

/** A value as it is sent back: digits of long integers, since JSON has no bigint here. */
export function sent(value: CellValue): CellValue {
  return typeof value === 'bigint' ? String(value) : value;
}

/** Whether the file can say the same by both: a text as it was typed, and the value read from it. */
export function isSameCell(one: CellValue, other: CellValue): boolean {
  const [a, b] = [plainText(one), plainText(other)];
  if (a === b) return true;
  if (a === '' || b === '') return false;
  const truth = [
    BOOLEAN_TEXT.get(a.trim().toLowerCase()),
    BOOLEAN_TEXT.get(b.trim().toLowerCase()),
  ];
  if (typeof one === 'boolean' || typeof other === 'boolean') return truth[0] === truth[1];
  return Number(a) === Number(b);
}

/** Whether a row has these values, as far as it knows their columns. */
export function hasCells(row: GridRow, values: Values): boolean {
  return Object.keys(values).every((name) => isSameCell(cellOf(row, name), cellOf(values, name)));
}
