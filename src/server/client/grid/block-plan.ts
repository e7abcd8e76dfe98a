/**
 * What pasting over cells, filling them down and emptying them would change: plain data, made before anything is shown or sent.
 * Cells that cannot be written and those that hold the value already are never part of it.
 */
import {
  cellOf,
  type CellValue,
  type GridColumn,
  type GridRow,
  plainNumber,
  plainText,
} from './model.ts';
import type { CellBlock } from './places.ts';
import { isSameCell, type Misfit, type RowEdit, sent, type Values } from './row-edits.ts';

/** What is to be done, and what of it cannot be. */
export interface BlockPlan {
  readonly edits: readonly RowEdit[];
  /** Rows past the last one, as they would be added. */
  readonly added: readonly Values[];
  /** Names of the columns that are written, in their order. */
  readonly columns: readonly string[];
  /** Columns in the block that nobody may write here. */
  readonly locked: readonly string[];
  /** Columns of the text past the last one that is shown. */
  readonly surplus: number;
  /** The first line names the columns, so it is none of the rows. */
  readonly hasHead: boolean;
}

/** Number of values in the rows that a plan changes. */
export function valueCount(edits: readonly RowEdit[]): number {
  return edits.reduce((sum, { values }) => sum + Object.keys(values).length, 0);
}

/** Where cells of a text go. */
interface PasteTarget {
  readonly block: CellBlock;
  /** All that are shown, in their order. */
  readonly columns: readonly GridColumn[];
  /** Number of rows of the view. */
  readonly total: number;
}

/** The place of every cell of a text, before the rows that are there are known. */
interface PastePlaces {
  /** Cells by rows from the top of the block on. */
  readonly cells: readonly (readonly string[])[];
  /** The column of each cell of a row; null where there is none. */
  readonly columns: readonly (GridColumn | null)[];
  /** Rows that are there, both ends included; none when `bottom` is less than `top`. */
  readonly top: number;
  readonly bottom: number;
  readonly hasHead: boolean;
}

/**
 * Where cells go: from the corner of the block to the right and down; a block that is several times as large as the text is
 * filled with it. A first line that names columns says which ones are meant.
 */
export function pastePlaces(
  text: readonly (readonly string[])[],
  { block, columns, total }: PasteTarget,
): PastePlaces {
  const named = namedColumns(text, columns);
  const cells = named === null ? tiled(text, block) : text.slice(1);
  const width = Math.max(0, ...cells.map((row) => row.length));
  const places = Array.from({ length: width }, (_, index) =>
    named === null ? (columns[block.left + index] ?? null) : (named[index] ?? null),
  );
  const bottom = Math.min(block.top + cells.length, total) - 1;
  return { cells, columns: places, top: block.top, bottom, hasHead: named !== null };
}

/** The columns that the first line names; null when it names others, or is all there is. */
export function namedColumns(
  text: readonly (readonly string[])[],
  columns: readonly GridColumn[],
): GridColumn[] | null {
  const byName = new Map(columns.map((column) => [column.name.trim().toLowerCase(), column]));
  const head = text[0]?.map((cell) => byName.get(cell.trim().toLowerCase())) ?? [];
  const isHead = text.length > 1 && head.every((column) => column !== undefined);
  return isHead && new Set(head).size === head.length ? head : null;
}

/** As often as it fits in the block, when that is a whole number of times. */
function tiled(
  text: readonly (readonly string[])[],
  { top, bottom, left, right }: CellBlock,
): readonly (readonly string[])[] {
  const [height, width] = [text.length, Math.max(0, ...text.map((row) => row.length))];
  const [rows, columns] = [bottom - top + 1, right - left + 1];
  if (height === 0 || width === 0 || rows % height !== 0 || columns % width !== 0) return text;
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) => text[row % height]![column % width] ?? ''),
  );
}

/** What the cells would change in the rows from `places.top` to `places.bottom`. */
export function planPaste(places: PastePlaces, rows: readonly GridRow[]): BlockPlan {
  const { cells, columns, hasHead } = places;
  const valuesOf = (line: readonly string[]): Values =>
    Object.fromEntries(
      line.flatMap((cell, index) => {
        const column = columns[index];
        return column?.isWritable === true ? [[column.name, plainNumber(cell, column)]] : [];
      }),
    );
  const present = places.bottom - places.top + 1;
  const locked = columns.filter((column) => column !== null && !column.isWritable);
  return {
    edits: editsOf(
      rows.map((row, index) => ({ row, values: valuesOf(cells[index] ?? []) })),
      columns,
    ),
    added: cells
      .slice(Math.max(0, present))
      .map(valuesOf)
      .filter((values) => Object.values(values).some((value) => value !== '')),
    columns: columns.flatMap((one) => (one?.isWritable === true ? [one.name] : [])),
    locked: locked.map((column) => column!.name),
    surplus: columns.filter((column) => column === null).length,
    hasHead,
  };
}

/** The first of the rows in all the others, in these columns. */
export function planFill(rows: readonly GridRow[], columns: readonly GridColumn[]): RowEdit[] {
  const [source, ...others] = rows;
  if (source === undefined) return [];
  const writable = columns.filter(({ isWritable }) => isWritable);
  const values = Object.fromEntries(writable.map(({ name }) => [name, sent(cellOf(source, name))]));
  return editsOf(
    others.map((row) => ({ row, values })),
    columns,
  );
}

/** Nothing in all of these cells. */
export function planEmpty(rows: readonly GridRow[], columns: readonly GridColumn[]): RowEdit[] {
  const writable = columns.filter(({ isWritable }) => isWritable);
  const values = Object.fromEntries(writable.map(({ name }) => [name, '']));
  return editsOf(
    rows.map((row) => ({ row, values })),
    columns,
  );
}

/** Only what is another value than before. */
function editsOf(edits: readonly RowEdit[], columns: readonly (GridColumn | null)[]): RowEdit[] {
  const texts = new Set(columns.flatMap((one) => (one?.type === 'string' ? [one.name] : [])));
  // Two texts that are the same number are two texts all the same: `007` and `7`.
  const isSame = (name: string, one: CellValue, other: CellValue): boolean =>
    texts.has(name) ? plainText(one) === plainText(other) : isSameCell(one, other);
  return edits.flatMap(({ row, values }) => {
    const changed = Object.entries(values).filter(
      ([name, value]) => !isSame(name, cellOf(row, name), value),
    );
    return changed.length === 0 ? [] : [{ row, values: Object.fromEntries(changed) }];
  });
}

/** The plan without the values that do not fit; their rows are counted over the edits and then the added rows. */
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
