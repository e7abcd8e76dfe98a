/**
 * The value of a cell from its XML: native numbers and booleans, texts, dates as text, cached
 * formula results.
 */
import { MAX_CELL_CHARACTERS } from '../../src/tables/limits.ts';
import type { Cell } from '../../src/tables/types.ts';
import { type CellPosition, referenceText } from './cell-reference.ts';
import { unreadable } from './unreadable.ts';
import { parseFormula } from './formula-element.ts';
import { shiftFormula } from './formula-shift.ts';
import { numberAt } from './number-text.ts';
import type { RowScanner } from './row-scanner.ts';
import { ABSENT, CellType } from './sheet-tag.ts';
import { serialOf, serialText } from './serial-date.ts';
import { stringItem } from './string-item.ts';
import type { DateKinds } from './styles.ts';
import { textOf, unescaped } from './xml-text.ts';

interface CellContext {
  readonly part: string;
  readonly kinds: DateKinds;
  readonly is1904: boolean;
  readonly sharedString: (index: number) => string | undefined;
}

export class CellContent {
  readonly #context: CellContext;
  /** By their index, where they are spelled out. */
  readonly #masters = new Map<string, { text: string; position: CellPosition }>();

  constructor(context: CellContext) {
    this.#context = context;
  }

  /** '' without a value. Throws `unreadable-file`. */
  value(text: string, row: RowScanner, index: number): Cell {
    const formulaFrom = row.formulaFrom[index]!;
    if (formulaFrom !== ABSENT) return this.#result(text, row, index);
    const type = row.types[index];
    if (type === CellType.inline) {
      const from = row.inlineFrom[index]!;
      return from === ABSENT
        ? ''
        : stringItem(text, from, row.inlineTo[index]!, this.#context.part);
    }
    const from = row.valueFrom[index]!;
    return from === ABSENT ? '' : this.#typed(text, from, row.valueTo[index]!, row, index);
  }

  remember(element: string, position: CellPosition): void {
    const { kind, shared, text } = parseFormula(element, this.#context.part);
    if (kind === 'shared' && text !== '') this.#masters.set(shared, { text, position });
  }

  #typed(text: string, from: number, to: number, row: RowScanner, index: number): Cell {
    const type = row.types[index];
    if (type === CellType.number) return this.#number(text, from, to, row.styles[index]!);
    if (type === CellType.shared) return this.#shared(text, from, to, row, index);
    const value = textOf(text.slice(from, to));
    if (type === CellType.boolean) return value === '' ? '' : value === '1' || value === 'true';
    if (type === CellType.date) return this.#isoDate(value);
    if (value.length > MAX_CELL_CHARACTERS) {
      throw unreadable(`more than ${MAX_CELL_CHARACTERS} characters in ${referenceOf(row, index)}`);
    }
    return unescaped(value);
  }

  #number(text: string, from: number, to: number, style: number): Cell {
    const value = spelledNumber(text, from, to);
    if (value !== value) return unescaped(textOf(text.slice(from, to)));
    const kind = this.#context.kinds[style];
    if (kind === undefined || kind === 'none') return value;
    return serialText(value, kind, this.#context.is1904) ?? value;
  }

  #shared(text: string, from: number, to: number, row: RowScanner, index: number): Cell {
    if (from === to) return '';
    const found = this.#context.sharedString(spelledNumber(text, from, to));
    if (found !== undefined) return found;
    throw unreadable(`the cell ${referenceOf(row, index)} names a shared text that does not exist`);
  }

  /** Strict files may store dates as text; they read like dates of all other files. */
  #isoDate(text: string): Cell {
    const serial = serialOf(text, 'date', false);
    return serial === null ? text : (serialText(serial, 'date', false) ?? text);
  }

  #result(text: string, row: RowScanner, index: number): Cell {
    const element = text.slice(row.formulaFrom[index]!, row.formulaTo[index]!);
    const position = { row: row.number, column: row.columns[index]! };
    // Where a shared formula is spelled out, it has a range.
    if (element.includes('ref=')) this.remember(element, position);
    const from = row.valueFrom[index]!;
    const to = row.valueTo[index]!;
    const isEmptyText = from === to && row.types[index] === CellType.text;
    if (from !== ABSENT && (from < to || isEmptyText))
      return this.#typed(text, from, to, row, index);
    const formula = this.#formulaText(element, position);
    return formula === '' ? '' : `=${formula}`;
  }

  #formulaText(element: string, position: CellPosition): string {
    const formula = parseFormula(element, this.#context.part);
    if (formula.kind !== 'shared' || formula.text !== '') return formula.text;
    const master = this.#masters.get(formula.shared);
    if (!master) return '';
    const { row, column } = master.position;
    return shiftFormula(master.text, position.row - row, position.column - column);
  }
}

export function spelledNumber(text: string, from: number, to: number): number {
  const value = numberAt(text, from, to);
  if (value === value) return value;
  const decoded = textOf(text.slice(from, to));
  return numberAt(decoded, 0, decoded.length);
}

function referenceOf(row: RowScanner, index: number): string {
  return referenceText({ row: row.number, column: row.columns[index]! });
}
