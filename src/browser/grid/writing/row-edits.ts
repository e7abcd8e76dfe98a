import { BOOLEAN_TEXT } from '../../../tables/infer/declared-type.ts';
import { cellOf, type CellValue, type GridRow, plainText } from '../../../pages/grid/model.ts';

export type Values = Readonly<Record<string, CellValue>>;

/** By row id, as sent. */
export type WrittenRow = Values & { readonly _row_id: number };

export interface RowEdit {
  readonly row: GridRow;
  readonly values: Values;
}

export interface Misfit {
  readonly row: number;
  readonly column: string;
  readonly message: string;
}

/** Limits of one write: rows the page's address accepts, and characters of text. */
const ROWS_PER_UPDATE = 500;
const CHARACTERS_PER_UPDATE = 2_000_000;

/** At least one, even over the limit. */
export function nextPart(edits: readonly RowEdit[]): readonly RowEdit[] {
  let characters = 0;
  const most = Math.min(edits.length, ROWS_PER_UPDATE);
  for (let count = 0; count < most; count++) {
    for (const value of Object.values(edits[count]!.values)) characters += plainText(value).length;
    if (characters > CHARACTERS_PER_UPDATE && count > 0) return edits.slice(0, count);
  }
  return edits.slice(0, most);
}

/** The edit that undoes this one. */
export function reversed({ row, values }: RowEdit): RowEdit {
  const before = Object.keys(values).map((name) => [name, sent(cellOf(row, name))] as const);
  return { row: { ...row, ...values } as GridRow, values: Object.fromEntries(before) };
}

/** Long integers as digits, since JSON has no bigint here. */
export function sent(value: CellValue): CellValue {
  return typeof value === 'bigint' ? String(value) : value;
}

/** Whether the file cannot tell them apart: a typed text, and the value read from it. */
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

/** Ignores columns the row does not know. */
export function hasCells(row: GridRow, values: Values): boolean {
  return Object.keys(values).every((name) => isSameCell(cellOf(row, name), cellOf(values, name)));
}
