/** For both formats: finds the header, the width, and the rows that count. */
import { unreadable } from '../../src/base/errors.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import { headerIndex, MAX_ROWS_LOOKED_AT } from '../../src/tables/infer/header-row.ts';
import { type Cell, ReadAgain, type ReadOptions, type RowSink } from '../../src/tables/types.ts';
import { type CellRange, parseRange } from './cell-reference.ts';
import { type Dialect, RowMap } from './dialect.ts';
import { MAX_CELLS, MAX_SHEET_COLUMNS } from './limits.ts';
import { isTotal, type SumFormula, type TotalCandidate } from './total-row.ts';

/**
 * Rows delivered at once: scanned to find one of them again, and held in memory. Halved for wide
 * tables.
 */
const SEGMENT_ROWS = 1_024;
const SEGMENT_CELLS = 16_384;

interface SheetRow {
  readonly number: number;
  readonly offset: number;
  readonly cells: readonly Cell[];
  readonly sums: readonly SumFormula[];
}

type Identity = Pick<Dialect, 'format' | 'sheet' | 'table' | 'grows' | 'readOnlyReason'>;

export class TableSink {
  readonly #sink: RowSink;
  readonly #identity: Identity;
  readonly #options: ReadOptions;
  /** What counts of the sheet; open to the right and below for a range of one cell. */
  readonly #region: CellRange | null;
  readonly #lastRow: number;
  readonly #lastColumn: number;
  readonly #map = new RowMap();
  /** The first rows, until they tell where the table begins; then null. */
  #first: SheetRow[] | null = [];
  /** Null: to be found. */
  #headerRow: number | null;
  #firstColumn = 0;
  #width = 0;
  #names: readonly string[] = [];
  #rows: Cell[][] = [];
  /** The last row so far, which may be the total of the others. */
  #last: TotalCandidate | null = null;
  #lastOffset = 0;
  #segmentStart = 0;
  #cells = 0;

  constructor(sink: RowSink, identity: Identity, options: ReadOptions) {
    this.#sink = sink;
    this.#identity = identity;
    this.#options = options;
    this.#region = options.range === undefined ? null : parseRange(options.range);
    const isOpen = this.#region === null || !options.range!.includes(':');
    this.#lastRow = isOpen ? Infinity : this.#region!.last.row;
    this.#lastColumn = isOpen ? Infinity : this.#region!.last.column;
    this.#headerRow = options.headerRow ?? this.#region?.first.row ?? null;
  }

  /**
   * `offset` is the row's end, in any measure that grows with the content; `cellsUpTo` gives '' where there is no
   * cell. Throws `ReadAgain` when a cell stands left of where the table was found to begin.
   */
  row(
    sheetRow: number,
    offset: number,
    cellsUpTo: (width: number) => Cell[],
    sums: readonly SumFormula[] = [],
  ): void {
    if (sheetRow > this.#lastRow) return;
    if (this.#first === null) {
      const end = this.#firstColumn + this.#width;
      if (this.#width > 0) this.#take(sheetRow, offset, cellsUpTo(end), sums);
      return;
    }
    if (sheetRow < (this.#headerRow ?? 1)) return;
    this.#first.push({ number: sheetRow, offset, cells: cellsUpTo(this.#lastColumn + 1), sums });
    if (this.#headerRow !== null || this.#first.length >= MAX_ROWS_LOOKED_AT) this.#begin(offset);
  }

  #take(sheetRow: number, offset: number, upToEnd: Cell[], sums: readonly SumFormula[]): void {
    const before = this.#region === null ? upToEnd.slice(0, this.#firstColumn) : [];
    if (before.some((cell) => !isBlank(cell))) {
      throw new ReadAgain({ ...this.#options.learned, firstColumn: 0 });
    }
    const cells = this.#firstColumn === 0 ? upToEnd : upToEnd.slice(this.#firstColumn);
    const filled = cells.reduce<number>((sum, cell) => (isBlank(cell) ? sum : sum + 1), 0);
    if (filled === 0) return;
    this.#cells += filled;
    if (this.#cells > MAX_CELLS) throw unreadable(`it has more than ${MAX_CELLS} cells`);
    // Before the row, so that the last one can still be left out.
    const isFull =
      this.#rows.length >= SEGMENT_ROWS || this.#rows.length * cells.length >= SEGMENT_CELLS;
    if (isFull) this.#flush(this.#lastOffset);
    const previous = this.#map.last;
    this.#map.add(sheetRow);
    this.#rows.push(cells);
    this.#last = { row: sheetRow, previous, cells, sums };
    this.#lastOffset = offset;
  }

  /** With the rows so far, which are enough or all. */
  #begin(offset: number): void {
    const rows = this.#first!;
    this.#first = null;
    const header = this.#headerIn(rows);
    if (header === undefined) return this.#header([], offset);
    this.#headerRow = header.number;
    const below = rows.slice(rows.indexOf(header) + 1);
    this.#firstColumn = this.#firstColumnOf([header, ...below]);
    this.#header(header.cells.slice(this.#firstColumn), header.offset);
    const end = this.#firstColumn + this.#width;
    if (this.#width > 0) {
      for (const row of below)
        this.#take(row.number, row.offset, row.cells.slice(0, end), row.sums);
    }
  }

  #headerIn(rows: readonly SheetRow[]): SheetRow | undefined {
    const headerRow = this.#headerRow;
    if (headerRow !== null) return rows.find(({ number }) => number === headerRow);
    const parted = rows.flatMap((row, index) => {
      const isParted = index > 0 && row.number > rows[index - 1]!.number + 1;
      return isParted ? [null, row] : [row];
    });
    return parted[headerIndex(parted.map((row) => row?.cells ?? []))] ?? undefined;
  }

  /** Where only the header is declared, A. */
  #firstColumnOf(rows: readonly SheetRow[]): number {
    const { headerRow, learned } = this.#options;
    if (this.#region !== null) return this.#region.first.column;
    if (headerRow !== undefined) return 0;
    if (learned?.firstColumn !== undefined) return learned.firstColumn;
    const starts = rows.map(({ cells }) => cells.findIndex((cell) => !isBlank(cell)));
    return Math.min(...starts.filter((start) => start >= 0));
  }

  /** `marked`: cells by the keys of `CellContent`, to be counted in the layout. */
  end(
    offset: number,
    marked: Readonly<Partial<Record<'uncalculated' | 'calculated', ReadonlySet<number>>>> = {},
  ): void {
    if (this.#first !== null) this.#begin(offset);
    const total = this.#withoutTotal();
    this.#flush(offset);
    const dialect: Dialect = {
      ...this.#identity,
      headerRow: this.#headerRow ?? 1,
      firstColumn: this.#firstColumn,
      lastRow: Number.isFinite(this.#lastRow) ? this.#lastRow : null,
      isFound: this.#options.headerRow === undefined && this.#region === null,
      width: this.#width,
      rows: (total === null ? this.#map : this.#map.without(new Set([total.row]))).toJSON(),
      total,
      hasFormulas: null,
    };
    const counts = Object.entries(marked)
      .map(([name, cells]) => [name, this.#countWithin(cells)] as const)
      .filter(([, count]) => count > 0);
    this.#sink.layout({ ...dialect, ...Object.fromEntries(counts) }, 0);
  }

  #countWithin(cells: ReadonlySet<number>): number {
    const rows = new Set([...cells].map((cell) => Math.floor(cell / MAX_SHEET_COLUMNS)));
    const positions = this.#map.positions(rows);
    const end = this.#firstColumn + this.#width;
    let count = 0;
    for (const cell of cells) {
      const column = cell % MAX_SHEET_COLUMNS;
      const isInTable = column >= this.#firstColumn && column < end;
      if (isInTable && positions.has(Math.floor(cell / MAX_SHEET_COLUMNS))) count++;
    }
    return count;
  }

  /** Takes the last row away if it is the total of the others; a declared range has none. */
  #withoutTotal(): Dialect['total'] {
    const last = this.#last;
    const place = { firstRow: (this.#headerRow ?? 1) + 1, firstColumn: this.#firstColumn };
    if (last === null || this.#region !== null || !isTotal(last, place)) return null;
    this.#rows.pop();
    const values = last.cells.flatMap((cell, index): [string, Cell][] =>
      isBlank(cell) ? [] : [[this.#names[index]!, cell]],
    );
    return { row: last.row, values: Object.fromEntries(values) };
  }

  #header(cells: readonly Cell[], offset: number): void {
    const named = cells.findLastIndex((cell) => !isBlank(cell)) + 1;
    const width = named > 0 ? Math.max(named, this.#lastColumn + 1 - this.#firstColumn) : 0;
    this.#width = Number.isFinite(width) ? width : named;
    this.#segmentStart = offset;
    const names = Array.from({ length: this.#width }, (_, index) => headerText(cells[index] ?? ''));
    this.#names = cleanNames(names);
    this.#sink.header(this.#names);
  }

  #flush(offset: number): void {
    if (this.#rows.length === 0) return;
    const rows = this.#rows;
    this.#rows = [];
    this.#sink.segment({ rows: rows.length, bytes: offset - this.#segmentStart }, rows);
    this.#segmentStart = offset;
  }
}

/** Nothing, or white space alone. */
export function isBlank(cell: Cell | undefined): boolean {
  if (cell === undefined || cell === null) return true;
  if (typeof cell !== 'string') return false;
  const code = cell.charCodeAt(0);
  return !(code > 0x20 && code < 0x80) && cell.trim() === '';
}

function headerText(cell: Cell): string {
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE';
  return cell === null ? '' : String(cell);
}
