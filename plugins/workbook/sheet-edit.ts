/**
 * One edit of a worksheet part in one pass: changes touched cells, the sheet's extent, new rows,
 * and formulas that lost their first cell.
 */
import { AppError } from '../../src/base/errors.ts';
import { TimeSlice } from '../../src/base/work/time-slice.ts';
import type { Cell } from '../../src/tables/types.ts';
import { CellContent, spelledNumber } from './cell-content.ts';
import { cellMarkup, isBlankValue, nativeValue, readBack } from './cell-markup.ts';
import { parseRange, rangeText, referenceText, united } from './cell-reference.ts';
import { ChangedCells } from './covered-cells.ts';
import { unreadable } from './unreadable.ts';
import { expand } from './expansion.ts';
import type { WorkbookPackage, Worksheet } from './package.ts';
import { type PackedPart, PartCompressor } from './part-compressor.ts';
import { PartSplice } from './part-splice.ts';
import type { RowScanner } from './row-scanner.ts';
import { ABSENT, CellType } from './sheet-tag.ts';
import { placeFor, styleOfRow, stylesOfRow, widenedSpans } from './row-markup.ts';
import { SheetFormulas } from './sheet-formulas.ts';
import { parseSheetHead, type SheetHead } from './sheet-head.ts';
import { SheetWindow } from './sheet-window.ts';
import type { DateKinds } from './styles.ts';
import { isBlank } from './table-sink.ts';
import { XmlCursor } from './xml-cursor.ts';
import { afterElement, afterTag, nextTag } from './xml-element.ts';

/** Cells by column; missing ones stay in an updated row and are blank in a created one. */
export interface RowChange {
  /** Position in the table, or index among the created rows. */
  readonly origin: { readonly update: number } | { readonly create: number };
  readonly cells: ReadonlyMap<number, Cell>;
}

export interface SharedText {
  readonly shared: number;
}

interface ChangedCell {
  readonly position: number;
  readonly before: Cell | SharedText | undefined;
  readonly after: Cell | undefined;
}

export interface DeliveredCell {
  readonly origin: RowChange['origin'];
  readonly position: number;
  readonly cell: Cell;
}

interface SheetEditOptions {
  readonly book: WorkbookPackage;
  readonly sheet: Worksheet;
  readonly kinds: DateKinds;
  /** By sheet row. */
  readonly changes: ReadonlyMap<number, RowChange>;
  /** Sheet row whose cell styles new rows get; null for none. */
  readonly templateRow: number | null;
  readonly width: number;
}

export interface SheetEditResult {
  readonly part: PackedPart;
  readonly cells: readonly ChangedCell[];
  readonly delivered: readonly DeliveredCell[];
  readonly hasLostFormulas: boolean;
  readonly hasFormulas: boolean;
}

interface Patch {
  readonly from: number;
  readonly to: number;
  readonly markup: string;
}

export class SheetEdit {
  readonly #options: SheetEditOptions;
  readonly #compressor: PartCompressor;
  readonly #splice: PartSplice;
  readonly #rows: SheetWindow;
  readonly #content: CellContent;
  readonly #slice = new TimeSlice();
  readonly #pendingRows: number[];
  #passedRows = 0;
  readonly #changed = new ChangedCells();
  readonly #formulas: SheetFormulas;
  readonly #cells: ChangedCell[] = [];
  readonly #delivered: DeliveredCell[] = [];
  #templateStyles: readonly number[] = [];
  #head: SheetHead | null = null;
  #prefix = '';

  constructor(options: SheetEditOptions) {
    const { book, sheet, kinds, changes } = options;
    this.#options = options;
    this.#compressor = new PartCompressor(sheet.entry.method);
    this.#splice = new PartSplice(this.#compressor);
    const chunks = this.#splice.watched(expand(book.archive, sheet.entry));
    this.#rows = new SheetWindow(sheet.entry.name, chunks);
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
      await this.#splice.finish();
      const part = await this.#compressor.finish();
      return {
        part,
        cells: this.#cells,
        delivered: this.#delivered,
        hasLostFormulas: this.#formulas.hasLost,
        hasFormulas: this.#formulas.hasAny,
      };
    } finally {
      await this.#rows.window.close();
      this.#compressor.close();
    }
  }

  async #walk(): Promise<void> {
    const { window } = this.#rows;
    const { data, prefix } = await this.#rows.start();
    if (data === null || data.isEmpty) {
      throw new AppError('conflict', 'The file changed while it was edited');
    }
    this.#prefix = prefix;
    this.#head = parseSheetHead(window.text, data.from, prefix, window.part);
    this.#patchDimension(this.#head);
    window.position = data.to;
    const isTouched = (number: number): boolean =>
      this.#options.changes.has(number) || number === this.#options.templateRow;
    const find = (): ReturnType<SheetWindow['find']> => this.#rows.find(isTouched);
    for (let found = find(); found !== 'end'; found = find()) {
      if (found === 'cut') {
        await this.#rows.more();
        continue;
      }
      const { row } = this.#rows;
      if (this.#nextPending < row.number) await this.#addRowsBefore(row.number);
      this.#visit(row);
      window.position = row.to;
      if (this.#mustRest) await this.#rest();
    }
    await this.#addRowsBefore(Number.POSITIVE_INFINITY);
    await this.#readTail();
    this.#formulas.check(this.#changed);
  }

  get #mustRest(): boolean {
    return this.#slice.isOver || this.#splice.isFull(this.#rows.window.offset);
  }

  async #rest(): Promise<void> {
    const { offset } = this.#rows.window;
    if (this.#splice.isFull(offset)) await this.#splice.settle(offset);
    if (this.#slice.isOver) await this.#slice.rest();
  }

  /** Merged cells follow the rows. */
  async #readTail(): Promise<void> {
    const { window } = this.#rows;
    // The first closing tag is that of the rows, the second that of the sheet.
    for (let isPastRows = false; ;) {
      const { text } = window;
      const at = nextTag(text, window.position, window.part);
      const isClosing = at >= 0 && text.startsWith('</', at);
      const end =
        at < 0 ? -1 : isClosing ? afterTag(text, at) : afterElement(text, at, window.part);
      if (end < 0) {
        if (!(await window.fill())) throw unreadable(`${window.part} is malformed XML`);
        continue;
      }
      if (isClosing && isPastRows) return window.drain();
      if (isClosing) isPastRows = true;
      else if (text.startsWith(`<${this.#prefix}mergeCells`, at)) {
        await this.#refuseMerged(text.slice(at, end));
      }
      window.position = end;
      await this.#rest();
    }
  }

  async #refuseMerged(element: string): Promise<void> {
    const cursor = new XmlCursor(element, this.#rows.window.part);
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
    const { offset } = this.#rows.window;
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
    if (row.number === this.#options.templateRow) {
      const { text } = this.#rows.window;
      const { width } = this.#options;
      const columnStyle = (column: number): number => this.#head?.columnStyle(column) ?? 0;
      this.#templateStyles = stylesOfRow(text, row, width, columnStyle);
    }
    const patches: Patch[] = [];
    for (let index = 0; index < row.count; index++) {
      const cell = change && this.#wanted(change, row.columns[index]!);
      if (change && cell !== undefined) patches.push(...this.#changeCell(row, index, cell, change));
      else if (row.formulaFrom[index] !== ABSENT) patches.push(...this.#keepFormula(row, index));
    }
    if (change) {
      this.#passedRows++;
      patches.push(...this.#addCells(row, change));
    }
    // Insertions before a cell precede its replacement.
    this.#apply(patches.sort((a, b) => a.from - b.from || a.to - b.to));
  }

  #apply(patches: readonly Patch[]): void {
    const { window } = this.#rows;
    for (const { from, to, markup } of patches) {
      this.#splice.replace(window.offsetOf(from), window.offsetOf(to), Buffer.from(markup));
    }
  }

  #changeCell(row: RowScanner, index: number, cell: Cell, change: RowChange): Patch[] {
    const position = { row: row.number, column: row.columns[index]! };
    const present = Math.max(0, row.styles[index]!);
    // An updated cell keeps its style, even if it has none.
    const isNew = 'create' in change.origin && present === 0;
    const style = isNew ? this.#newStyle(position.column, change, 0) : present;
    const { value, after } = this.#stored(cell, style, position.column, change);
    const before = this.#before(row, index);
    const hasFormula = row.formulaFrom[index] !== ABSENT;
    if (before === after && style === present && !hasFormula) return [];
    if (hasFormula) this.#formulas.lose(this.#formulaElement(row, index), position);
    this.#changed.add(position, !isBlankValue(value));
    this.#cells.push({ position: position.column, before, after });
    const markup = cellMarkup(this.#prefix, referenceText(position), style, value);
    return [{ from: row.starts[index]!, to: row.ends[index]!, markup }];
  }

  #stored(
    cell: Cell,
    style: number,
    column: number,
    { origin }: RowChange,
  ): { value: ReturnType<typeof nativeValue>; after: Cell } {
    const { is1904 } = this.#options.book;
    const kind = this.#options.kinds[style] ?? 'none';
    const value = nativeValue(cell, kind, is1904);
    const after = readBack(value, kind, is1904);
    if (after !== cell && !isBlank(after)) {
      this.#delivered.push({ origin, position: column, cell: after });
    }
    return { value, after };
  }

  #before(row: RowScanner, index: number): ChangedCell['before'] {
    const { text } = this.#rows.window;
    const from = row.valueFrom[index]!;
    const to = row.valueTo[index]!;
    const isShared = row.types[index] === CellType.shared && from < to;
    if (isShared) return { shared: spelledNumber(text, from, to) };
    return this.#content.value(text, row, index);
  }

  /** A remaining formula may have to take over a lost one. */
  #keepFormula(row: RowScanner, index: number): Patch[] {
    const position = { row: row.number, column: row.columns[index]! };
    const element = this.#formulaElement(row, index);
    const markup = this.#formulas.keep(element, position, this.#prefix);
    if (markup === null) return [];
    return [{ from: row.formulaFrom[index]!, to: row.formulaTo[index]!, markup }];
  }

  #formulaElement(row: RowScanner, index: number): string {
    return this.#rows.window.text.slice(row.formulaFrom[index], row.formulaTo[index]);
  }

  #addCells(row: RowScanner, change: RowChange): Patch[] {
    const { text } = this.#rows.window;
    const isMissing = (column: number): boolean => row.indexOf(column) < 0;
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
    for (let column = 0; column < this.#options.width; column++) {
      const cell = this.#wanted(change, column);
      if (cell === undefined || !isMissing(column)) continue;
      const style = this.#newStyle(column, change, rowStyle);
      const { value, after } = this.#stored(cell, style, column, change);
      if (value === null && (style === 0 || !('create' in change.origin))) continue;
      const position = { row: rowNumber, column };
      if (value !== null) {
        this.#changed.add(position, !isBlankValue(value));
        this.#cells.push({ position: column, before: undefined, after });
      }
      added.push({
        column,
        markup: cellMarkup(this.#prefix, referenceText(position), style, value),
      });
    }
    return added;
  }

  /** Undefined: the present cell stays. */
  #wanted({ origin, cells }: RowChange, column: number): Cell | undefined {
    const isBlankByDefault = 'create' in origin && column < this.#options.width;
    return cells.get(column) ?? (isBlankByDefault || cells.has(column) ? null : undefined);
  }

  /** For created rows from the row above, else from the row or column. */
  #newStyle(column: number, { origin }: RowChange, rowStyle: number): number {
    const above = 'create' in origin ? (this.#templateStyles[column] ?? 0) : 0;
    return above || rowStyle || (this.#head?.columnStyle(column) ?? 0);
  }
}
