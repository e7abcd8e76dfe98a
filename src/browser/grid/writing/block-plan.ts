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

export function valueCount(edits: readonly RowEdit[]): number {
  return edits.reduce((sum, { values }) => sum + Object.keys(values).length, 0);
}

interface PasteTarget {
  readonly block: CellBlock;
  readonly columns: readonly GridColumn[];
  readonly total: number;
}

interface PastePlaces {
  /** Rows from the top of the block on. */
  readonly cells: readonly (readonly string[])[];
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

/** Null when the line names anything else, or is the only line. */
export function namedColumns(
  text: readonly (readonly string[])[],
  columns: readonly GridColumn[],
): GridColumn[] | null {
  const byName = new Map(columns.map((column) => [column.name.trim().toLowerCase(), column]));
  const head = text[0]?.map((cell) => byName.get(cell.trim().toLowerCase())) ?? [];
  const isHead = text.length > 1 && head.every((column) => column !== undefined);
  return isHead && new Set(head).size === head.length ? head : null;
}

/** Repeated when the block is a whole multiple of the text. */
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

/** Copies the first row into all the others. */
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

export function planEmpty(rows: readonly GridRow[], columns: readonly GridColumn[]): RowEdit[] {
  const writable = columns.filter(({ isWritable }) => isWritable);
  const values = Object.fromEntries(writable.map(({ name }) => [name, '']));
  return editsOf(
    rows.map((row) => ({ row, values })),
    columns,
  );
}

function editsOf(edits: readonly RowEdit[], columns: readonly (GridColumn | null)[]): RowEdit[] {
  const texts = new Set(columns.flatMap((one) => (one?.type === 'string' ? [one.name] : [])));
  // Texts that are equal as numbers are still different texts: `007` and `7`.
  const isSame = (name: string, one: CellValue, other: CellValue): boolean =>
    texts.has(name) ? plainText(one) === plainText(other) : isSameCell(one, other);
  return edits.flatMap(({ row, values }) => {
    const changed = Object.entries(values).filter(
      ([name, value]) => !isSame(name, cellOf(row, name), value),
    );
    return changed.length === 0 ? [] : [{ row, values: Object.fromEntries(changed) }];
  });
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
