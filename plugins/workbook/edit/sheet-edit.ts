/** Changes touched cells, the sheet's extent, new rows, and formulas that lost their first cell, in one pass. */
import { unreadable, mismatch } from '../../../src/base/errors.ts';
import { changedFile } from '../../../src/base/files/file-source.ts';
import { TimeSlice } from '../../../src/base/scheduling/time-slice.ts';
import type { Cell, EditPlan } from '../../../src/tables/types.ts';
import { expand, STORED } from '../archive/expansion.ts';
import { type PackedPart, PartSplice } from '../archive/part-writer.ts';
import { parseRange, rangeText, referenceText, united } from '../cell-reference.ts';
import { isBlank } from '../table-sink.ts';
import { CellContent, spelledNumber } from '../xlsx/cell-content.ts';
import { shiftFormula } from '../xlsx/formula.ts';
import type { WorkbookPackage, Worksheet } from '../xlsx/package.ts';
import type { CellSpan, RowScanner } from '../xlsx/row-scanner.ts';
import { ABSENT } from '../xlsx/sheet-tag.ts';
import { SheetWindow } from '../xlsx/sheet-window.ts';
import type { DateKinds } from '../xlsx/styles.ts';
import { XmlCursor } from '../xml/xml-cursor.ts';
import { ChangedCells } from './changed-cells.ts';
import { SheetFormulas } from './sheet-formulas.ts';
import {
  parseSheetHead,
  placeFor,
  type SheetHead,
  styleOfRow,
  stylesOfRow,
  widenedSpans,
} from './sheet-markup.ts';
import { MAX_CELL_TEXT, sheetText } from '../../../src/tables/encode/sheet-text.ts';
import { type DateKind, serialOf, serialText } from '../serial-date.ts';

/** Cells by column; missing ones stay in an updated row and are blank in a created one. */
export interface RowChange {
  /** Position in the table, or index among the created rows. */
  readonly origin: DeliveredCell['origin'];
  readonly cells: ReadonlyMap<number, Cell>;
  /** A created row of a table with something else below: its cells must be blank. */
  readonly needsRoom?: boolean;
  /** Of a created row: formulas that wait for its values stay where none is given. */
  readonly keepsFormulas?: boolean;
}

interface ChangedCell {
  readonly position: number;
  readonly before: Cell | undefined;
  /** Index of the text before, where it stands in the shared table. */
  readonly shared?: number;
  readonly after: Cell | undefined;
}

type DeliveredCell = NonNullable<EditPlan['delivered']>[number];

interface SheetEditOptions {
  readonly book: WorkbookPackage;
  readonly sheet: Worksheet;
  readonly kinds: DateKinds;
  /** By sheet row. */
  readonly changes: ReadonlyMap<number, RowChange>;
  /** Sheet row whose cell styles new rows get; null for none. */
  readonly templateRow: number | null;
  /** Of the sheet: where new rows get its formulas, too. */
  readonly calculatedColumns: ReadonlySet<number>;
  /** Those of the table, from 0; `end` is exclusive. */
  readonly columns: { readonly first: number; readonly end: number };
  /** The part is rewritten once more. */
  readonly isDraft: boolean;
}

export interface SheetEditResult {
  readonly part: PackedPart;
  readonly cells: readonly ChangedCell[];
  readonly changed: ChangedCells;
  readonly delivered: readonly DeliveredCell[];
  readonly hasLostFormulas: boolean;
  readonly hasFilledFormulas: boolean;
  readonly hasFormulas: boolean;
}

/** Held in memory without compression, which would cost more than half of what the edit does. */
const MAX_DRAFT_BYTES = 64 * 1024 * 1024;

interface Patch {
  readonly from: number;
  readonly to: number;
  readonly markup: string;
}

export class SheetEdit {
  readonly #options: SheetEditOptions;
  readonly #splice: PartSplice;
  readonly #window: SheetWindow;
  readonly #content: CellContent;
  readonly #slice = new TimeSlice();
  readonly #pendingRows: number[];
  #passedRows = 0;
  readonly #changed = new ChangedCells();
  readonly #formulas: SheetFormulas;
  readonly #cells: ChangedCell[] = [];
  readonly #delivered: DeliveredCell[] = [];
  #templateStyles: readonly number[] = [];
  readonly #templateFormulas = new Map<number, string>();
  #hasFilled = false;
  #head: SheetHead | null = null;
  #prefix = '';

  constructor(options: SheetEditOptions) {
    const { book, sheet, kinds, changes, isDraft } = options;
    this.#options = options;
    const isPlain = isDraft && sheet.entry.size <= MAX_DRAFT_BYTES;
    this.#splice = new PartSplice(isPlain ? STORED : sheet.entry.method);
    const chunks = this.#splice.watched(expand(book.archive, sheet.entry));
    this.#window = new SheetWindow(sheet.entry.name, chunks);
    this.#content = new CellContent({
      part: sheet.entry.name,
      kinds,
      is1904: book.is1904,
      sharedString: () => undefined,
    });
    this.#formulas = new SheetFormulas(sheet.entry.name, this.#content);
    this.#pendingRows = [...changes.keys()].sort((a, b) => a - b);
  }

  /** Throws `unreadable-file` for cells that cannot be changed, `schema-mismatch`. */
  async run(): Promise<SheetEditResult> {
    try {
      await this.#walk();
      return {
        part: await this.#splice.finish(),
        cells: this.#cells,
        changed: this.#changed,
        delivered: this.#delivered,
        hasLostFormulas: this.#formulas.hasLost,
        hasFilledFormulas: this.#hasFilled,
        hasFormulas: this.#formulas.hasAny,
      };
    } finally {
      await this.#window.close();
      this.#splice.close();
    }
  }

  async #walk(): Promise<void> {
    const window = this.#window;
    const { data, prefix } = await window.start();
    if (data === null || data.isEmpty) throw changedFile();
    this.#prefix = prefix;
    this.#head = parseSheetHead(window.text, data.from, prefix, window.part);
    this.#patchDimension(this.#head);
    window.position = data.to;
    const { changes, templateRow } = this.#options;
    await window.eachRow(
      (row) => this.#pass(row),
      (number) => changes.has(number) || number === templateRow,
    );
    await this.#addRowsBefore(Number.POSITIVE_INFINITY);
    await this.#readTail();
    this.#formulas.check(this.#changed);
  }

  /** Waits only where it must: most rows are not touched. */
  #pass(row: RowScanner): Promise<void> | void {
    if (this.#nextPending < row.number) {
      return this.#addRowsBefore(row.number).then(() => this.#pass(row));
    }
    this.#visit(row);
    this.#window.position = row.to;
    if (this.#mustRest) return this.#rest();
  }

  get #mustRest(): boolean {
    return this.#slice.isOver || this.#splice.isFull(this.#window.offset);
  }

  async #rest(): Promise<void> {
    const { offset } = this.#window;
    if (this.#splice.isFull(offset)) await this.#splice.settle(offset);
    if (this.#slice.isOver) await this.#slice.rest();
  }

  /** Merged cells follow the rows. */
  async #readTail(): Promise<void> {
    const window = this.#window;
    await window.passTag();
    await window.eachElement((from, to) => {
      const isMerging = window.text.startsWith(`<${this.#prefix}mergeCells`, from);
      if (isMerging) return this.#refuseMerged(window.text.slice(from, to));
      if (this.#mustRest) return this.#rest();
    });
    await window.drain();
  }

  async #refuseMerged(element: string): Promise<void> {
    const cursor = new XmlCursor(element, this.#window.part);
    while (cursor.next()) {
      if (this.#slice.isOver) await this.#slice.rest();
      const ref = cursor.kind === 'close' ? undefined : cursor.attribute('ref');
      const range = ref === undefined ? null : parseRange(ref);
      if (range) this.#changed.refuseMerged(range);
    }
  }

  #patchDimension({ dimension }: SheetHead): void {
    if (dimension === null) return;
    let range = dimension.range;
    for (const [row, { cells }] of this.#options.changes) {
      for (const [column, cell] of cells) {
        const position = { row, column };
        if (!isBlank(cell)) range = united(range, { first: position, last: position });
      }
    }
    if (rangeText(range) === rangeText(dimension.range)) return;
    const { from, to } = dimension.span;
    this.#apply([{ from, to, markup: `ref="${rangeText(range)}"` }]);
  }

  /** Past all rows when there is none. */
  get #nextPending(): number {
    return this.#pendingRows[this.#passedRows] ?? Number.POSITIVE_INFINITY;
  }

  /** Writes new rows that come before row `number`. */
  async #addRowsBefore(number: number): Promise<void> {
    const { offset } = this.#window;
    while (this.#nextPending < number) {
      const row = this.#nextPending;
      this.#passedRows++;
      const markup = this.#newCells(row, this.#options.changes.get(row)!)
        .map((cell) => cell.markup)
        .join('');
      if (markup === '') continue;
      const element = `<${this.#prefix}row r="${row}">${markup}</${this.#prefix}row>`;
      this.#splice.replace(offset, offset, Buffer.from(element));
      if (this.#mustRest) await this.#rest();
    }
  }

  #visit(row: RowScanner): void {
    const change = this.#options.changes.get(row.number);
    if (row.count === 0 && change === undefined && row.number !== this.#options.templateRow) return;
    if (row.number === this.#options.templateRow) {
      const { text } = this.#window;
      const { end } = this.#options.columns;
      const columnStyle = (column: number): number => this.#head?.columnStyle(column) ?? 0;
      this.#templateStyles = stylesOfRow(text, row, end, columnStyle);
    }
    const patches: Patch[] = [];
    for (const cell of row.cells.slice(0, row.count)) {
      const waits = change !== undefined && this.#keepsFormula(cell, change);
      const value = change && !waits ? this.#wanted(change, cell.column) : undefined;
      if (change && value !== undefined) patches.push(...this.#changeCell(cell, value, change));
      else if (cell.formulaFrom !== ABSENT) patches.push(...this.#keepFormula(cell));
      if (row.number === this.#options.templateRow) this.#noteFormula(cell);
    }
    if (change) {
      this.#passedRows++;
      patches.push(...this.#addCells(row, change));
    }
    // Insertions before a cell precede its replacement.
    this.#apply(patches.sort((a, b) => a.from - b.from || a.to - b.to));
  }

  #noteFormula(cell: CellSpan): void {
    if (cell.formulaFrom === ABSENT || !this.#options.calculatedColumns.has(cell.column)) return;
    const formula = this.#content.formulaAt(this.#window.text, cell);
    if (formula !== '') this.#templateFormulas.set(cell.column, formula);
  }

  #apply(patches: readonly Patch[]): void {
    const window = this.#window;
    for (const { from, to, markup } of patches) {
      this.#splice.replace(window.offsetOf(from), window.offsetOf(to), Buffer.from(markup));
    }
  }

  #changeCell(span: CellSpan, cell: Cell, change: RowChange): Patch[] {
    const { row, column } = span;
    const present = Math.max(0, span.style);
    // An updated cell keeps its style, even if it has none.
    const isNew = 'create' in change.origin && present === 0;
    const style = isNew ? this.#newStyle(column, change, 0) : present;
    const { text } = this.#window;
    const kept = sameType(cell, span);
    const { value, after } = this.#stored(kept, style, column, change, cell);
    const { valueFrom, valueTo } = span;
    const isShared = span.type === 'shared' && valueFrom !== ABSENT && valueFrom < valueTo;
    const before = isShared ? undefined : this.#content.value(text, span);
    const hasFormula = span.formulaFrom !== ABSENT;
    if (change.needsRoom === true && (isShared || hasFormula || !isBlank(before))) {
      throw unreadable(`the cell ${referenceText(span)} below the table is in use`);
    }
    if (before === after && style === present && !hasFormula) return [];
    if (hasFormula) this.#formulas.lose(this.#formulaElement(span), { row, column });
    this.#changed.add(span, !isBlank(value));
    const shared = isShared ? { shared: spelledNumber(text, valueFrom, valueTo) } : {};
    this.#cells.push({ position: column, before, after, ...shared });
    const markup = cellMarkup(this.#prefix, referenceText(span), style, value);
    return [{ from: span.start, to: span.end, markup }];
  }

  #stored(
    cell: Cell,
    style: number,
    column: number,
    { origin }: RowChange,
    asked = cell,
  ): { value: NativeValue; after: Cell } {
    const { is1904 } = this.#options.book;
    const kind = this.#options.kinds[style] ?? 'none';
    const value = nativeValue(cell, kind, is1904);
    const after = readBack(value, kind, is1904);
    if (after !== asked && !isBlank(after)) {
      this.#delivered.push({ origin, position: column, cell: after });
    }
    return { value, after };
  }

  #keepsFormula(cell: CellSpan, { cells, keepsFormulas, needsRoom, origin }: RowChange): boolean {
    const { column, formulaFrom, type } = cell;
    const { first, end } = this.#options.columns;
    if (keepsFormulas !== true || needsRoom === true || formulaFrom === ABSENT) return false;
    if (cells.has(column) || column < first || column >= end) return false;
    const value = type === 'shared' ? '' : this.#content.value(this.#window.text, cell);
    if (!isBlank(value)) {
      this.#delivered.push({ origin, position: column, cell: value });
      this.#cells.push({ position: column, before: undefined, after: value });
    }
    return true;
  }

  /** A remaining formula may have to take over a lost one. */
  #keepFormula(cell: CellSpan): Patch[] {
    const { row, column, formulaFrom: from, formulaTo: to } = cell;
    const element = this.#formulaElement(cell);
    const markup = this.#formulas.keep(element, { row, column }, this.#prefix);
    return markup === null ? [] : [{ from, to, markup }];
  }

  #formulaElement({ formulaFrom, formulaTo }: CellSpan): string {
    return this.#window.text.slice(formulaFrom, formulaTo);
  }

  #addCells(row: RowScanner, change: RowChange): Patch[] {
    const { text } = this.#window;
    const isMissing = (column: number): boolean => row.at(column) === undefined;
    const added = this.#newCells(row.number, change, styleOfRow(text, row), isMissing);
    if (added.length === 0) return [];
    const spans = widenedSpans(
      text,
      row,
      added.map(({ column }) => column),
    );
    const patches: Patch[] = spans === null ? [] : [spans];
    if (row.isEmpty) {
      const markup = `>${added.map((cell) => cell.markup).join('')}</${this.#prefix}row>`;
      return [...patches, { from: row.openEnd - 2, to: row.openEnd, markup }];
    }
    const close = text.lastIndexOf('</', row.to - 1);
    for (const { column, markup } of added) {
      const at = placeFor(row, column) ?? close;
      patches.push({ from: at, to: at, markup });
    }
    return patches;
  }

  #newCells(
    rowNumber: number,
    change: RowChange,
    rowStyle = 0,
    isMissing: (column: number) => boolean = () => true,
  ): { column: number; markup: string }[] {
    const added: { column: number; markup: string }[] = [];
    const { first, end } = this.#options.columns;
    for (let column = first; column < end; column++) {
      const cell = this.#wanted(change, column);
      if (cell === undefined || !isMissing(column)) continue;
      const formula = this.#formulaFor(rowNumber, column, change);
      if (formula !== null) {
        const style = this.#newStyle(column, change, rowStyle);
        const position = { row: rowNumber, column };
        this.#changed.add(position, true);
        added.push({
          column,
          markup: formulaMarkup(this.#prefix, referenceText(position), style, formula),
        });
        continue;
      }
      const style = this.#newStyle(column, change, rowStyle);
      const { value, after } = this.#stored(cell, style, column, change);
      if (value === null && (style === 0 || !('create' in change.origin))) continue;
      const position = { row: rowNumber, column };
      if (value !== null) {
        this.#changed.add(position, !isBlank(value));
        this.#cells.push({ position: column, before: undefined, after });
      }
      added.push({
        column,
        markup: cellMarkup(this.#prefix, referenceText(position), style, value),
      });
    }
    return added;
  }

  /** Of the row above, as it would be filled down; null where there is none. */
  #formulaFor(row: number, column: number, { origin, cells }: RowChange): string | null {
    const formula = this.#templateFormulas.get(column);
    if (formula === undefined || !('create' in origin) || cells.has(column)) return null;
    this.#hasFilled = true;
    return shiftFormula(formula, row - this.#options.templateRow!, 0);
  }

  /** Undefined: the present cell stays. */
  #wanted({ origin, cells }: RowChange, column: number): Cell | undefined {
    const { first, end } = this.#options.columns;
    const isBlankByDefault = 'create' in origin && column >= first && column < end;
    return cells.get(column) ?? (isBlankByDefault || cells.has(column) ? null : undefined);
  }

  /** For created rows from the row above, else from the row or column. */
  #newStyle(column: number, { origin }: RowChange, rowStyle: number): number {
    const above = 'create' in origin ? (this.#templateStyles[column] ?? 0) : 0;
    return above || rowStyle || (this.#head?.columnStyle(column) ?? 0);
  }
}

/** As JSON writes it; other digits, such as those of 007, are a text. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

/**
 * A text for a cell that holds a number or a truth value becomes one if it can: columns of mixed types show all their
 * cells as texts.
 */
function sameType(cell: Cell, { type, valueFrom }: CellSpan): Cell {
  if (typeof cell !== 'string' || valueFrom === ABSENT) return cell;
  if (type === 'number' && NUMBER.test(cell)) return Number(cell);
  if (type === 'boolean' && /^(?:true|false)$/i.test(cell)) return cell.length === 4;
  return cell;
}

type NativeValue = string | number | boolean | null;

function nativeValue(cell: Cell, kind: DateKind, is1904: boolean): NativeValue {
  if (cell === null || cell === '') return null;
  if (typeof cell === 'boolean') return cell;
  // Adding 0 turns -0 into 0, as JSON does.
  if (typeof cell === 'number') return cell + 0;
  // Larger integers would lose digits as numbers.
  if (typeof cell === 'bigint') {
    return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
  }
  refuseUnwritable(cell);
  return serialOf(cell, kind, is1904) ?? cell;
}

/** What a reader gets for the value. */
function readBack(value: NativeValue, kind: DateKind, is1904: boolean): Cell {
  if (value === null) return '';
  return typeof value === 'number' ? (serialText(value, kind, is1904) ?? value) : value;
}

/**
 * Texts go into the cell (`inlineStr`) instead of the shared table: all common programs read both, and only one part
 * has to change. Text is never a formula.
 */
function cellMarkup(prefix: string, reference: string, style: number, value: NativeValue): string {
  const open = `<${prefix}c r="${reference}"${style > 0 ? ` s="${style}"` : ''}`;
  const close = `</${prefix}c>`;
  if (value === null) return `${open}/>`;
  const v = (text: string): string => `<${prefix}v>${text}</${prefix}v>`;
  if (typeof value === 'number') return `${open}>${v(String(value).toUpperCase())}${close}`;
  if (typeof value === 'boolean') return `${open} t="b">${v(value ? '1' : '0')}${close}`;
  // Programs that tidy up XML drop outer and repeated white space.
  const space = /^\s|\s$|\s\s|[\t\n]/.test(value) ? ' xml:space="preserve"' : '';
  const text = `<${prefix}t${space}>${sheetText(value)}</${prefix}t>`;
  return `${open} t="inlineStr"><${prefix}is>${text}</${prefix}is>${close}`;
}

function formulaMarkup(prefix: string, reference: string, style: number, formula: string): string {
  const open = `<${prefix}c r="${reference}"${style > 0 ? ` s="${style}"` : ''}>`;
  return `${open}<${prefix}f>${sheetText(formula)}</${prefix}f></${prefix}c>`;
}

function refuseUnwritable(text: string): void {
  if (text.length > MAX_CELL_TEXT) {
    throw mismatch(`a text of a workbook may not exceed ${MAX_CELL_TEXT} characters`);
  }
  if (text.includes('\u0000')) throw mismatch('a text may not contain NUL');
  if (!text.isWellFormed()) throw mismatch('a text may not contain a lone surrogate');
}
