/**
 * Cells out of a text: what a spreadsheet puts on the clipboard, and CSV.
 */

/** What a spreadsheet's own text is called on the clipboard. */
export const TABBED = 'text/tab-separated-values';

/** Cells of a text: tabs between them if there are any, else commas or semicolons; quotes as in CSV. Blank rows are left out. */
export function parseCells(text: string): string[][] {
  return cellsBetween(text, separatorOf(text)).filter((row) => row.some((cell) => cell !== ''));
}

function separatorOf(text: string): string {
  const [firstLine = ''] = text.split('\n', 1);
  if (firstLine.includes('\t')) return '\t';
  return firstLine.split(';').length > firstLine.split(',').length ? ';' : ',';
}

/** What a person copied somewhere. */
export interface Clip {
  readonly text: string;
  /** Rows and cells, blank ones too. */
  readonly cells: readonly (readonly string[])[];
}

/**
 * Cells out of a paste. Only tabs are between the cells of a spreadsheet: it also puts a table of HTML on the clipboard, which
 * is how its texts with commas are told from CSV. One line without tabs is one cell.
 */
export function clipOf(data: { getData(type: string): string }): Clip {
  const text = data.getData('text/plain');
  const tabbed = data.getData(TABBED);
  if (tabbed !== '') return { text, cells: cellsBetween(tabbed, '\t') };
  const isOneLine = !text.trim().includes('\n');
  const isTable = text.includes('\t') || /<table[\s>]/i.test(data.getData('text/html'));
  if (!isTable && isOneLine) return { text, cells: [[text.replace(/\r?\n$/, '')]] };
  return { text, cells: cellsBetween(text, isTable ? '\t' : separatorOf(text)) };
}

function cellsBetween(text: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  let at = 0;
  while (at < text.length) {
    const { cell, end } = cellAt(text, at, separator);
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

interface FoundCell {
  readonly cell: string;
  readonly end: number;
}

function cellAt(text: string, from: number, separator: string): FoundCell {
  const quoted = text[from] === '"' ? quotedCellAt(text, from, separator) : null;
  if (quoted !== null) return quoted;
  let end = from;
  while (end < text.length && text[end] !== separator && text[end] !== '\n') end++;
  const cell = text.slice(from, end);
  return cell.endsWith('\r') ? { cell: cell.slice(0, -1), end } : { cell, end };
}

/** Null when the quote is part of the text: nothing closes it, or more text follows. */
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
      return isEnd ? { cell, end: quote + 1 } : null;
    }
    cell += '"';
    at = quote + 2;
  }
}
