/**
 * The rows of a worksheet as a table, for both formats: finds the header, the width, and the rows
 * that count.
 */
import { unreadable } from '../../src/base/errors.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import type { Cell, RowSink } from '../../src/tables/types.ts';
import { type Dialect, RowMap } from './dialect.ts';
import { MAX_CELLS } from './limits.ts';

/**
 * Rows delivered at once: scanned to find one of them again, and held in memory. Halved for wide
 * tables.
 */
const SEGMENT_ROWS = 1_024;
const SEGMENT_CELLS = 16_384;

export class TableSink {
  readonly #sink: RowSink;
  readonly #identity: Pick<Dialect, 'format' | 'sheet' | 'headerRow'>;
  readonly #map = new RowMap();
  #width: number | null = null;
  #rows: Cell[][] = [];
  #segmentStart = 0;
  #cells = 0;

  constructor(sink: RowSink, identity: Pick<Dialect, 'format' | 'sheet' | 'headerRow'>) {
    this.#sink = sink;
    this.#identity = identity;
  }

  /**
   * Takes the next row. `offset` is its end in the file, in any measure that grows with the content;
   * `cellsUpTo` gives its cells, '' where there is none.
   */
  row(sheetRow: number, offset: number, cellsUpTo: (width: number) => Cell[]): void {
    const { headerRow } = this.#identity;
    if (sheetRow < headerRow) return;
    if (sheetRow === headerRow) return this.#header(cellsUpTo(Infinity), offset);
    if (this.#width === null) this.#header([], offset);
    if (this.#width === 0) return;
    const cells = cellsUpTo(this.#width!);
    const filled = cells.reduce<number>((sum, cell) => (isBlank(cell) ? sum : sum + 1), 0);
    if (filled === 0) return;
    this.#cells += filled;
    if (this.#cells > MAX_CELLS) throw unreadable(`it has more than ${MAX_CELLS} cells`);
    this.#map.add(sheetRow);
    this.#rows.push(cells);
    const isFull =
      this.#rows.length >= SEGMENT_ROWS || this.#rows.length * cells.length >= SEGMENT_CELLS;
    if (isFull) this.#flush(offset);
  }

  end(offset: number): void {
    if (this.#width === null) this.#header([], offset);
    this.#flush(offset);
    const dialect: Dialect = {
      ...this.#identity,
      width: this.#width ?? 0,
      rows: this.#map.toJSON(),
      hasFormulas: null,
    };
    this.#sink.layout({ ...dialect }, 0);
  }

  #header(cells: readonly Cell[], offset: number): void {
    const width = cells.findLastIndex((cell) => !isBlank(cell)) + 1;
    this.#width = width;
    this.#segmentStart = offset;
    this.#sink.header(cleanNames(cells.slice(0, width).map(headerText)));
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
