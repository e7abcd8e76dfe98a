/** Formulas of cells (ECMA-376-1, 18.3.1.40 `f`), and how they move. */
import { columnLetters } from '../../../src/tables/encode/sheet-text.ts';
import { type CellRange, columnOf, parseRange } from '../cell-reference.ts';
import { MAX_ROWS, MAX_SHEET_COLUMNS } from '../limits.ts';
import { XmlCursor } from '../xml/xml-cursor.ts';
import { textOf, unescaped } from '../xml/xml-text.ts';

export interface Formula {
  /**
   * `array` and `table` (data table) fill their whole range, of which only the first cell has the
   * element.
   */
  readonly kind: 'plain' | 'shared' | 'array' | 'table';
  /** Without `=`; empty where a shared formula is spelled out in another cell. */
  readonly text: string;
  /** Cells that a shared, array or table formula covers; else null. */
  readonly range: CellRange | null;
  /** Id of the shared formula, else ''. */
  readonly shared: string;
}

const KINDS: ReadonlyMap<string, Formula['kind']> = new Map([
  ['shared', 'shared'],
  ['array', 'array'],
  ['dataTable', 'table'],
]);

export function parseFormula(element: string, part: string): Formula {
  const cursor = new XmlCursor(element, part);
  if (!cursor.next()) throw cursor.malformed(0);
  const range = cursor.attribute('ref');
  const formula = {
    kind: KINDS.get(cursor.attribute('t') ?? '') ?? 'plain',
    range: range === undefined ? null : parseRange(range),
    shared: cursor.attribute('si') ?? '',
  };
  const from = cursor.to;
  if (cursor.kind === 'empty') return { ...formula, text: '' };
  if (!cursor.skip()) throw cursor.malformed(0);
  return { ...formula, text: unescaped(textOf(element.slice(from, cursor.from))) };
}

/**
 * In order: text, quoted sheet name, brackets of structured and external references (nested once,
 * `'` escapes), error value, words and numbers (cell references among them), anything else.
 */
const TOKEN =
  /"(?:[^"]|"")*"|'(?:[^']|'')*'|\[(?:'[^]|[^[\]']|\[(?:'[^]|[^[\]'])*\])*\]|#[A-Z0-9/!?_]+|[\p{L}\p{N}_.$\\?]+|[^]/gu;
const CELL = /^(\$?)([A-Za-z]{1,3})(\$?)([1-9][0-9]{0,6})$/;
const COLUMN = /^(\$?)([A-Za-z]{1,3})$/;
const ROW = /^(\$?)([1-9][0-9]{0,6})$/;

/** Relative references shift and wrap at the sheet's edges, absolute ones stay; texts and names are left alone. */
export function shiftFormula(formula: string, rows: number, columns: number): string {
  const tokens = formula.match(TOKEN) ?? [];
  return tokens
    .map((token, index) => {
      const next = tokens[index + 1] ?? '';
      // A name before `(` is a function, before `!` a sheet, before `[` a table.
      if (next === '(' || next === '!' || next.startsWith('[')) return token;
      const isInRange = next === ':' || tokens[index - 1] === ':';
      return shifted(token, isInRange, rows, columns);
    })
    .join('');
}

function shifted(token: string, isInRange: boolean, rows: number, columns: number): string {
  const cell = CELL.exec(token);
  if (cell) {
    const [, columnMark, letters, rowMark, row] = cell;
    const moved = shiftedColumn(columnMark!, letters!, columns);
    return moved === null ? token : moved + shiftedRow(rowMark!, row!, rows);
  }
  if (!isInRange) return token;
  const column = COLUMN.exec(token);
  if (column) return shiftedColumn(column[1]!, column[2]!, columns) ?? token;
  const row = ROW.exec(token);
  return row ? shiftedRow(row[1]!, row[2]!, rows) : token;
}

function shiftedColumn(mark: string, letters: string, by: number): string | null {
  const column = columnOf(letters);
  if (column !== column) return null;
  if (mark === '$') return mark + letters;
  return columnLetters((column + by + MAX_SHEET_COLUMNS) % MAX_SHEET_COLUMNS);
}

function shiftedRow(mark: string, row: string, by: number): string {
  if (mark === '$') return mark + row;
  return String(((Number(row) - 1 + by + MAX_ROWS) % MAX_ROWS) + 1);
}
