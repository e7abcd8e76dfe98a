/** Cells in texts of the clipboard. */

export const TABBED = 'text/tab-separated-values';

export type Cells = readonly (readonly string[])[];

export interface Clip {
  readonly text: string;
  /** Blank rows included. */
  readonly cells: Cells;
}

/**
 * Separated by tabs if there are any, else commas or semicolons; quoted as in CSV. Blank rows are
 * skipped.
 */
export function parseCells(text: string): string[][] {
  return cellsBetween(text, separatorOf(text)).filter((row) => row.some((cell) => cell !== ''));
}

function separatorOf(text: string): string {
  const [firstLine = ''] = text.split('\n', 1);
  if (firstLine.includes('\t')) return '\t';
  return firstLine.split(';').length > firstLine.split(',').length ? ';' : ',';
}

/**
 * Spreadsheets separate cells by tabs only, and also put an HTML table on the clipboard, which
 * tells their commas from CSV's.
 */
export function clipOf(data: { getData(type: string): string }): Clip {
  const text = data.getData('text/plain');
  const tabbedText = data.getData(TABBED);
  if (tabbedText !== '') return { text, cells: cellsBetween(tabbedText, '\t') };
  const isOneLine = !text.trim().includes('\n');
  const isTable = text.includes('\t') || /<table[\s>]/i.test(data.getData('text/html'));
  if (!isTable && isOneLine) return { text, cells: [[text.replace(/\r?\n$/, '')]] };
  return { text, cells: cellsBetween(text, isTable ? '\t' : separatorOf(text)) };
}

function cellsBetween(text: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  let at = 0;
  while (at < text.length) {
    const [cell, end] = cellAt(text, at, separator);
    rows.at(-1)!.push(cell);
    at = end;
    if (text[at] === separator) {
      at++;
      if (at === text.length) rows.at(-1)!.push('');
      continue;
    }
    if (text[at] === '\r') at++;
    if (text[at] === '\n') at++;
    if (at < text.length) rows.push([]);
  }
  return rows;
}

type FoundCell = readonly [cell: string, end: number];

function cellAt(text: string, from: number, separator: string): FoundCell {
  const quoted = text[from] === '"' ? quotedCellAt(text, from, separator) : null;
  if (quoted !== null) return quoted;
  let end = from;
  while (end < text.length && text[end] !== separator && text[end] !== '\n') end++;
  return [text.slice(from, end).replace(/\r$/, ''), end];
}

/** Null when the quote is literal: unclosed, or followed by more text. */
function quotedCellAt(text: string, from: number, separator: string): FoundCell | null {
  let cell = '';
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return null;
    cell += text.slice(at, quote);
    const next = text[quote + 1];
    if (next !== '"') {
      const isEnd = next === undefined || next === separator || next === '\n' || next === '\r';
      return isEnd ? [cell, quote + 1] : null;
    }
    cell += '"';
    at = quote + 2;
  }
}
