/** Native numbers and booleans, texts, dates as text, cached formula results. */
import { unreadable } from '../../../src/base/errors.ts';
import { MAX_CELL_CHARACTERS } from '../../../src/tables/limits.ts';
import type { Cell } from '../../../src/tables/types.ts';
import { shortDecimal } from '../../../src/tables/values/short-decimal.ts';
import { type CellPosition, type CellRange, isInside, referenceText } from '../cell-reference.ts';
import { MAX_SHEET_COLUMNS } from '../limits.ts';
import { serialOf, serialText } from '../serial-date.ts';
import { textOf, unescaped } from '../xml/xml-text.ts';
import { type Formula, parseFormula, shiftFormula } from './formula.ts';
import type { CellSpan } from './row-scanner.ts';
import { stringItem } from './shared-strings.ts';
import { ABSENT } from './sheet-tag.ts';
import type { DateKinds } from './styles.ts';

const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

interface CellContext {
  readonly part: string;
  readonly kinds: DateKinds;
  readonly is1904: boolean;
  readonly sharedString: (index: number) => string | undefined;
  /** Results of formulas without one, by the key of `uncalculated`. */
  readonly results?: ReadonlyMap<number, string | number | boolean>;
}

export class CellContent {
  readonly #context: CellContext;
  /** Cells that read as their formula: row × MAX_SHEET_COLUMNS + column. */
  readonly uncalculated = new Set<number>();
  readonly calculated = new Set<number>();
  readonly #openArrays: { readonly text: string; readonly range: CellRange }[] = [];
  /** By their index, where they are spelled out. */
  readonly #masters = new Map<string, { text: string; position: CellPosition }>();

  constructor(context: CellContext) {
    this.#context = context;
  }

  /** '' without a value. Throws `unreadable-file`. */
  value(text: string, cell: CellSpan): Cell {
    if (cell.formulaFrom !== ABSENT) return this.#result(text, cell);
    if (cell.type === 'inline') {
      const { inlineFrom, inlineTo } = cell;
      return inlineFrom === ABSENT
        ? ''
        : stringItem(text, inlineFrom, inlineTo, this.#context.part);
    }
    return cell.valueFrom === ABSENT ? this.#uncalculated(cell) : this.#typed(text, cell);
  }

  /** A cell that an array formula without results fills reads as the formula. */
  #uncalculated(cell: CellSpan): Cell {
    const array = this.#openArrays.find(({ range }) => isInside(cell, range));
    return array === undefined ? '' : this.#withoutResult(cell, array.text);
  }

  remember(element: string, { row, column }: CellPosition): void {
    const { kind, shared, text } = parseFormula(element, this.#context.part);
    if (kind === 'shared' && text !== '') {
      this.#masters.set(shared, { text, position: { row, column } });
    }
  }

  #typed(text: string, cell: CellSpan): Cell {
    const { type, valueFrom: from, valueTo: to } = cell;
    if (type === 'number') return this.#number(text, from, to, cell.style);
    if (type === 'shared') return this.#shared(text, cell);
    const value = textOf(text.slice(from, to));
    if (type === 'boolean') return value === '' ? '' : value === '1' || value === 'true';
    if (type === 'date') return this.#isoDate(value);
    if (value.length > MAX_CELL_CHARACTERS) {
      throw unreadable(`more than ${MAX_CELL_CHARACTERS} characters in ${referenceText(cell)}`);
    }
    return unescaped(value);
  }

  #number(text: string, from: number, to: number, style: number): Cell {
    const value = spelledNumber(text, from, to);
    if (value !== value) return unescaped(textOf(text.slice(from, to)));
    return this.#shown(value, style);
  }

  #shown(value: number, style: number): Cell {
    const kind = this.#context.kinds[style];
    if (kind === undefined || kind === 'none') return value;
    return serialText(value, kind, this.#context.is1904) ?? value;
  }

  #shared(text: string, cell: CellSpan): Cell {
    const { valueFrom: from, valueTo: to } = cell;
    if (from === to) return '';
    const found = this.#context.sharedString(spelledNumber(text, from, to));
    if (found !== undefined) return found;
    throw unreadable(`the cell ${referenceText(cell)} names a shared text that does not exist`);
  }

  /** Strict files may store dates as text; they read like dates of all other files. */
  #isoDate(text: string): Cell {
    const serial = serialOf(text, 'date', false);
    return serial === null ? text : (serialText(serial, 'date', false) ?? text);
  }

  #result(text: string, cell: CellSpan): Cell {
    const element = text.slice(cell.formulaFrom, cell.formulaTo);
    // Where a shared formula is spelled out, it has a range.
    if (element.includes('ref=')) this.remember(element, cell);
    const { valueFrom: from, valueTo: to } = cell;
    const isEmptyText = from === to && cell.type === 'text';
    if (from !== ABSENT && (from < to || isEmptyText)) return this.#typed(text, cell);
    const { kind, range, text: formula } = this.#formulaOf(element, cell);
    if (kind === 'array' && range !== null) this.#openArrays.push({ text: formula, range });
    return formula === '' ? '' : this.#withoutResult(cell, formula);
  }

  #withoutResult({ row, column, style }: CellSpan, formula: string): Cell {
    const key = row * MAX_SHEET_COLUMNS + column;
    const result = this.#context.results?.get(key);
    (result === undefined ? this.uncalculated : this.calculated).add(key);
    if (result === undefined) return `=${formula}`;
    return typeof result === 'number' ? this.#shown(result, style) : result;
  }

  /** Without `=`; '' for one that belongs to several cells. */
  formulaAt(text: string, cell: CellSpan): string {
    const element = text.slice(cell.formulaFrom, cell.formulaTo);
    const formula = this.#formulaOf(element, cell);
    return formula.kind === 'array' || formula.kind === 'table' ? '' : formula.text;
  }

  #formulaOf(element: string, { row, column }: CellPosition): Formula {
    const formula = parseFormula(element, this.#context.part);
    if (formula.kind !== 'shared' || formula.text !== '') return formula;
    const master = this.#masters.get(formula.shared);
    if (!master) return formula;
    const { position, text } = master;
    return { ...formula, text: shiftFormula(text, row - position.row, column - position.column) };
  }
}

export function spelledNumber(text: string, from: number, to: number): number {
  const value = numberAt(text, from, to);
  if (value === value) return value;
  const decoded = textOf(text.slice(from, to));
  return numberAt(decoded, 0, decoded.length);
}

/** An xsd:double; `to` exclusive; NaN when it is none. */
function numberAt(text: string, from: number, to: number): number {
  const value = shortDecimal(text, from, to);
  if (value === value) return value;
  const spelling = text.slice(from, to);
  const number = NUMBER.test(spelling) ? Number(spelling) : NaN;
  return Number.isFinite(number) ? number : NaN;
}
