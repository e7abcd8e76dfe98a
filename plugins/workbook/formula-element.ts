/** The formula of a cell (ECMA-376-1, 18.3.1.40 `f`). */
import { parseRange, type CellRange } from './cell-reference.ts';
import { XmlCursor } from './xml-cursor.ts';
import { textOf, unescaped } from './xml-text.ts';

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
