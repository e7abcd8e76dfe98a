/**
 * New cells, written so that reading returns the same text.
 *
 * A cell is quoted when it holds the delimiter, a quote or a line end, and when the cell it
 * replaces was quoted. Outer spaces need no quotes: the reader keeps them.
 */
import { mismatch } from '../../src/base/errors.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';
import type { Cell } from '../../src/tables/types.ts';
import { type BooleanSpelling, DELIMITERS, type Delimiter } from './dialect.ts';
import { type Encoding, unencodable } from './encoding.ts';

export interface CellStyle {
  readonly delimiter: Delimiter;
  readonly encoding: Encoding;
  readonly spelling: BooleanSpelling;
  /**
   * Also quote characters another delimiter could split at, where that would change how the file is
   * read.
   */
  readonly quotesCandidates: boolean;
}

export type RowCells = ReadonlyMap<number, Cell>;

export function cellSpelling(text: string, style: CellStyle, isQuotedAnyway: boolean): string {
  const isNecessary =
    text.includes(style.delimiter) ||
    /["\r\n]/.test(text) ||
    (style.quotesCandidates && DELIMITERS.some((candidate) => text.includes(candidate)));
  return isNecessary || isQuotedAnyway ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Integers past 2^53 get an exponent: as plain digits they would turn the whole column into text.
 * Adding 0 turns -0 into 0, as JSON does.
 */
function numberText(value: number): string {
  const isLong = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLong ? value.toExponential() : String(value + 0);
}

/**
 * Numbers as their shortest JSON text, booleans as the column spells them, null as nothing. Throws
 * `schema-mismatch` for what the file could not return: characters outside its encoding, NUL, lone
 * surrogates, texts and positions over a table's limits.
 */
export function cellText(cell: Cell, position: number, style: CellStyle): string {
  if (position >= MAX_COLUMNS) throw mismatch(`a row may not exceed ${MAX_COLUMNS} columns`);
  if (cell === null) return '';
  if (typeof cell === 'boolean') return style.spelling.spell(position, cell);
  if (typeof cell === 'number') return numberText(cell);
  if (typeof cell === 'bigint') return String(cell);
  if (cell.length > MAX_CELL_CHARACTERS) {
    throw mismatch(`a text may not exceed ${MAX_CELL_CHARACTERS} characters`);
  }
  const culprit = unencodable(cell, style.encoding);
  if (culprit === null) return cell;
  throw mismatch(`the file's encoding ${style.encoding} cannot hold the character ${culprit}`);
}
