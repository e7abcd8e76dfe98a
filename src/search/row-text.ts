/**
 * A dataset row as the index knows it (DS-151): the title is its first non-blank cell, the body
 * `column: value | column: value` over the non-blank ones. Stored are the cells alone; names are written once for all.
 */

const SEPARATOR = '\u001f';

/** The cells of a row as one text; separators within a cell become blanks. */
export function packCells(cells: readonly (string | null)[]): string {
  return cells
    .map((cell) => (cell === null ? '' : cell.replaceAll(SEPARATOR, ' ')))
    .join(SEPARATOR);
}

/** The title and body of packed cells under these column names. */
export function unpackRow(
  packed: string,
  columns: readonly string[],
): { readonly title: string; readonly body: string } {
  let title = '';
  let body = '';
  for (const [index, cell] of packed.split(SEPARATOR).entries()) {
    if (cell.trim() === '') continue;
    if (title === '') title = cell;
    body += `${body === '' ? '' : ' | '}${columns[index] ?? ''}: ${cell}`;
  }
  return { title, body };
}

/** The title of packed cells: the first that is not blank. */
export function firstCell(packed: string): string {
  for (let start = 0; start <= packed.length;) {
    const next = packed.indexOf(SEPARATOR, start);
    const end = next < 0 ? packed.length : next;
    const cell = packed.slice(start, end);
    if (cell.trim() !== '') return cell;
    start = end + 1;
  }
  return '';
}
