/**
 * A dataset row in the index: title is its first non-blank cell, body `column: value | column: value` over the
 * non-blank ones. Only the cells are stored; column names are stored once per dataset.
 */

const SEPARATOR = '\u001f';

/** Separators within a cell become blanks. */
export function packCells(cells: readonly (string | null)[]): string {
  return cells
    .map((cell) => (cell === null ? '' : cell.replaceAll(SEPARATOR, ' ')))
    .join(SEPARATOR);
}

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
