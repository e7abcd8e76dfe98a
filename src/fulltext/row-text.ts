/**
 * A dataset row in the index: title is its first non-blank cell, body `column: value | column: value` over the
 * non-blank ones.
 */

import type { RowTexts } from '../tables/copy/copy-rows.ts';

/** Average word with its separator. */
const CHARACTERS_PER_WORD = 6;

interface RowText {
  readonly title: string;
  readonly body: string;
}

/** `isWhole`: no cell is blank. */
export function rowText(
  cells: readonly (string | null)[],
  columns: readonly string[],
): RowText & { readonly isWhole: boolean } {
  let title = '';
  let body = '';
  let isWhole = true;
  for (const [index, cell] of cells.entries()) {
    if (cell === null || cell.trim() === '') {
      isWhole = false;
      continue;
    }
    if (title === '') title = cell;
    body += `${body === '' ? '' : ' | '}${columns[index] ?? ''}: ${cell}`;
  }
  return { title, body, isWhole };
}

/** What scores count in: names of columns are left out, as they are the same for all rows; `size` is of the body. */
export function scoredText(
  row: RowTexts,
  columns: readonly string[],
): RowText & { readonly size: number } {
  let title = '';
  let body = '';
  let characters = 0;
  for (let index = 0; index < columns.length; index++) {
    const cell = row[index + 1] as string | null | undefined;
    if (cell == null || cell === '') continue;
    // Most cells begin with a letter or digit.
    if (cell.charCodeAt(0) <= 32 || cell.charCodeAt(0) > 126) if (cell.trim() === '') continue;
    if (title === '') title = cell;
    body += `${cell}\u001f`;
    characters += (characters === 0 ? 2 : 5) + (columns[index]?.length ?? 0) + cell.length;
  }
  return { title, body, size: wordsIn(characters) };
}

/** Words in a text, roughly. */
export function sizeOf(text: string): number {
  return wordsIn(text.length);
}

function wordsIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_WORD);
}
