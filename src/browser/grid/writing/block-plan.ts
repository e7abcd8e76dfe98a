/**
 * What paste, fill down and clear would change, as plain data before anything is sent. Excludes
 * read-only cells and cells that already hold the value.
 */
import {
  cellOf,
  type CellValue,
  type GridColumn,
  type GridRow,
  plainNumber,
  plainText,
} from '../../../pages/grid/model.ts';
import type { CellBlock } from '../table/places.ts';
import { isSameCell, type Misfit, type RowEdit, sent, type Values } from './row-edits.ts';

export interface BlockPlan {
  readonly edits: readonly RowEdit[];
  readonly added: readonly Values[];
  readonly columns: readonly string[];
  readonly locked: readonly string[];
  /** Columns of the text beyond the last shown one. */
  readonly surplus: number;
  readonly hasHead: boolean;
}

type Cells = readonly (readonly string[])[];

export function valueCount(edits: readonly RowEdit[]): number {
  return edits.reduce((sum, { values }) => sum + Object.keys(values).length, 0);
}

/** `valueOf` gets places counted from the first row and column; undefined leaves the cell. */
export function planCells(
  rows: readonly GridRow[],
  columns: readonly (GridColumn | null)[],
  valueOf: (row: number, column: number) => CellValue | undefined,
): RowEdit[] {
  return rows.flatMap((row, at) => {
    const changed = columns.flatMap((column, index) => {
      if (column?.isWritable !== true) return [];
      const { name, type } = column;
      const value = valueOf(at, index);
      if (value === undefined) return [];
      const before = cellOf(row, name);
      // Texts that are equal as numbers are still different texts: `007` and `7`.
      const isSame =
        type === 'string' ? plainText(before) === plainText(value) : isSameCell(before, value);
      return isSame ? [] : [[name, value] as const];
    });
    return changed.length === 0 ? [] : [{ row, values: Object.fromEntries(changed) }];
  });
}

/** Copies the first row into all the others. */
export function planFill(rows: readonly GridRow[], columns: readonly GridColumn[]): RowEdit[] {
  const [source = {}, ...others] = rows;
  return planCells(others, columns, (_, column) => sent(cellOf(source, columns[column]!.name)));
}

export function planEmpty(rows: readonly GridRow[], columns: readonly GridColumn[]): RowEdit[] {
  return planCells(rows, columns, () => '');
}

interface PastePlaces {
  /** Rows from the top of the block on. */
  readonly cells: Cells;
  /** Null where a cell has no column. */
  readonly columns: readonly (GridColumn | null)[];
  readonly top: number;
  readonly bottom: number;
  readonly hasHead: boolean;
}

/**
 * Cells go right and down from the block's corner; a block that is a whole multiple of the text is
 * filled with repetitions. A first line that names columns selects them.
 */
export function pastePlaces(
  text: Cells,
  {
    block,
    columns,
    total,
  }: {
    readonly block: CellBlock;
    readonly columns: readonly GridColumn[];
    readonly total: number;
  },
): PastePlaces {
  const named = namedColumns(text, columns);
  const cells = named === null ? tiled(text, block) : text.slice(1);
  const width = Math.max(0, ...cells.map((row) => row.length));
  const order = named ?? columns.slice(block.left);
  const places = Array.from({ length: width }, (_, index) => order[index] ?? null);
  const bottom = Math.min(block.top + cells.length, total) - 1;
  return { cells, columns: places, top: block.top, bottom, hasHead: named !== null };
}

/** Null when the line names anything else, or is the only line. */
export function namedColumns(text: Cells, columns: readonly GridColumn[]): GridColumn[] | null {
  const head = text.length > 1 ? headOf(text, columns) : null;
  return head !== null && new Set(head).size === head.length ? head : null;
}

/** The columns that the first line names; null when a cell names none. */
export function headOf([line = []]: Cells, columns: readonly GridColumn[]): GridColumn[] | null {
  const byName = new Map(columns.map((column) => [column.name.trim().toLowerCase(), column]));
  const head = line.map((cell) => byName.get(cell.trim().toLowerCase()));
  return head.length > 0 && head.every((column) => column !== undefined) ? head : null;
}

/** What a line of text says for writable columns. */
export function lineValues(
  line: readonly string[],
  columns: readonly (GridColumn | null)[],
): Values {
  const values = line.flatMap((cell, index) => {
    const column = columns[index];
    return column?.isWritable === true ? [[column.name, plainNumber(cell, column)] as const] : [];
  });
  return Object.fromEntries(values);
}

/** Repeated when the block is a whole multiple of the text. */
function tiled(text: Cells, { top, bottom, left, right }: CellBlock): Cells {
  const [height, width] = [text.length, Math.max(0, ...text.map((row) => row.length))];
  const [rows, columns] = [bottom - top + 1, right - left + 1];
  if (height === 0 || width === 0 || rows % height !== 0 || columns % width !== 0) return text;
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) => text[row % height]![column % width] ?? ''),
  );
}

export function planPaste(places: PastePlaces, rows: readonly GridRow[]): BlockPlan {
  const { cells, columns, top, bottom, hasHead } = places;
  const known = columns.filter((column) => column !== null);
  const valueAt = (row: number, column: number): CellValue | undefined => {
    const cell = cells[row]?.[column];
    return cell === undefined ? undefined : plainNumber(cell, columns[column]!);
  };
  const added = cells.slice(Math.max(0, bottom - top + 1)).map((line) => lineValues(line, columns));
  return {
    edits: planCells(rows, columns, valueAt),
    added: added.filter((values) => Object.values(values).some((value) => value !== '')),
    columns: known.filter(({ isWritable }) => isWritable).map(({ name }) => name),
    locked: known.filter(({ isWritable }) => !isWritable).map(({ name }) => name),
    surplus: columns.length - known.length,
    hasHead,
  };
}

/** Misfit rows count over the edits first, then the added rows. */
export function withoutMisfits(
  { edits, added }: Pick<BlockPlan, 'edits' | 'added'>,
  misfits: readonly Misfit[],
): { readonly edits: readonly RowEdit[]; readonly added: readonly Values[] } {
  const wrong = new Set(misfits.map(({ row, column }) => `${row} ${column}`));
  const fitting = (values: Values, at: number): Values =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !wrong.has(`${at} ${name}`)));
  return {
    edits: edits
      .map(({ row, values }, at) => ({ row, values: fitting(values, at) }))
      .filter(({ values }) => Object.keys(values).length > 0),
    added: added.map((values, at) => fitting(values, edits.length + at)),
  };
}
