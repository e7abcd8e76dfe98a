/**
 * Edits an .xlsx workbook: rewrites touched cells and the few parts that must follow; all other entries are copied
 * verbatim.
 */
import { AppError, mismatch, unreadable } from '../../../src/base/errors.ts';
import { changedFile, type FileSource } from '../../../src/base/files/file-source.ts';
import { PieceList } from '../../../src/base/files/piece-list.ts';
import type { Piece } from '../../../src/base/files/piece-writer.ts';
import type { KindLimits } from '../../../src/docroot/kind.ts';
import { segmentsAfter } from '../../../src/tables/edit/segments-after.ts';
import { lostGuess } from '../../../src/tables/infer/companion.ts';
import type { Cell, EditPlan, TableChanges, TableLayout } from '../../../src/tables/types.ts';
import { EditedArchive } from '../archive/edited-archive.ts';
import { type Dialect, RowMap } from '../dialect.ts';
import { DEFAULT_LIMITS, MAX_ROWS, MAX_SHEET_COLUMNS } from '../limits.ts';
import type { CellPosition } from '../cell-reference.ts';
import type { EditedBook } from '../formulas/recalculate.ts';
import type { Area } from '../formulas/scope.ts';
import type { RemovedRows } from '../removal/remove-rows.ts';
import type { RowShift } from '../removal/row-shift.ts';
import type { ChangedResult } from '../formulas/write-results.ts';
import { isBlank } from '../table-sink.ts';
import {
  openPackage,
  relationshipsOf,
  type WorkbookPackage,
  type Worksheet,
  worksheetNamed,
} from '../xlsx/package.ts';
import { readSheet } from '../xlsx/sheet-reader.ts';
import { readSharedStrings } from '../xlsx/shared-strings.ts';
import { type DateKinds, readDateKinds } from '../xlsx/styles.ts';
import {
  hasFormulasElsewhere,
  recalculatingWorkbook,
  withoutCalculationChain,
} from './recalculation.ts';
import { type RowChange, SheetEdit, type SheetEditResult } from './sheet-edit.ts';
import { calculatedColumns, type CreatedRows, extendedTables } from './sheet-tables.ts';

export const LEGACY_IS_READ_ONLY = 'Legacy .xls workbooks are read-only; convert the file to .xlsx';

/** With the cells that read differently from the changes (`2024-05-01` in a date format). */
export type WorkbookEditPlan = Required<EditPlan>;

/**
 * Throws `unreadable-file` for what cannot be changed (merged cells, parts of an array formula or data table, signed
 * workbooks), `schema-mismatch` for values a workbook cannot hold, `conflict` when the file is not the layout's.
 * Expands and compresses the sheet's part, off the event loop and in slices.
 */
export async function editWorkbook(
  source: FileSource,
  layout: TableLayout,
  changes: TableChanges,
  { maxBytes }: KindLimits = DEFAULT_LIMITS,
): Promise<WorkbookEditPlan> {
  const dialect = layout.dialect as unknown as Dialect;
  if (dialect.format !== 'xlsx') throw new AppError('read-only', LEGACY_IS_READ_ONLY);
  const book = await openPackage(source, maxBytes);
  if (book.archive.entries.some(({ name }) => /^_xmlsignatures\//i.test(name))) {
    throw unreadable('the workbook is digitally signed; a change would break the signature');
  }
  const sheet = worksheetNamed(book, dialect.sheet);
  const missing = rowsMissing(dialect, changes);
  if (missing > 0) {
    const { file, total } = await withRows(book, sheet, dialect, missing);
    const moved = { ...layout, dialect: { ...dialect, total } };
    const plan = await editWorkbook(file.over(source), moved, changes, { maxBytes });
    return { ...plan, pieces: file.through(plan.pieces) };
  }
  const rows = new TargetRows(dialect, changes);
  const kinds = await readDateKinds(book);
  const filled = rows.created && (await calculatedColumns(book.archive, sheet.entry, rows.created));
  const result = await new SheetEdit({
    book,
    sheet,
    kinds,
    changes: rows.changes,
    templateRow: rows.templateRow,
    calculatedColumns: filled ?? new Set(),
    columns: { first: dialect.firstColumn, end: dialect.firstColumn + dialect.width },
    isDraft: rows.removable.length > 0,
  }).run();

  const parts = new EditedArchive(book.archive);
  parts.replace(sheet.entry, result.part);
  if (rows.created !== null) {
    const tables = await extendedTables(book.archive, sheet.entry, rows.created);
    for (const [entry, text] of tables) parts.replaceText(entry, text);
  }
  const hasFormulas =
    result.hasFormulas || (dialect.hasFormulas ?? (await hasFormulasElsewhere(book, sheet.entry)));
  const removed = await removedRows({ book, parts }, sheet, rows);
  const after = removed === null ? book : { ...book, workbookText: removed.workbookText };
  if (removed !== null) rows.close(removed.shift);
  const chain =
    result.hasLostFormulas || result.hasFilledFormulas || removed !== null
      ? await withoutCalculationChain(book)
      : null;
  if (chain !== null) {
    for (const [entry, text] of chain.replaced) parts.replaceText(entry, text);
    parts.remove(chain.removed);
  }
  const followed = hasFormulas
    ? await followFormulas({ book: after, parts }, sheet, rows, result, kinds)
    : NOTHING_FOLLOWED;
  const recalculating = hasFormulas ? await recalculatingWorkbook(after) : null;
  if (recalculating !== null) parts.replaceText(book.workbook, recalculating);

  const shared = new Set(result.cells.flatMap((cell) => cell.shared ?? []));
  const strings = await readSharedStrings(book, shared);
  const pieces = await parts.pieces();
  await requireSameTable(source, pieces, dialect, maxBytes);
  return {
    pieces,
    layout: {
      dialect: {
        ...dialect,
        rows: rows.after.toJSON(),
        lastRow: dialect.lastRow && rows.lastRow(dialect.lastRow),
        hasFormulas,
      },
      bodyOffset: layout.bodyOffset,
      segments: segmentsAfter(layout.segments, changes),
    },
    cells: [
      ...result.cells.map((cell) => ({
        position: cell.position - dialect.firstColumn,
        before: cell.shared === undefined ? cell.before : strings[cell.shared],
        after: cell.after,
      })),
      ...followed.cells,
    ],
    delivered: [
      ...result.delivered.map((cell) => ({
        ...cell,
        position: cell.position - dialect.firstColumn,
      })),
      ...followed.delivered,
    ],
    changedSheets: [
      ...followed.changedSheets,
      ...((await mayNameTables(book, sheet)) ? [sheet.name] : []),
    ],
    isReread: followed.isReread || result.hasFilledFormulas || dialect.total !== null,
  };
}

/** Tables of a sheet are parts of it: a change of one shows in the others. */
async function mayNameTables(book: WorkbookPackage, sheet: Worksheet): Promise<boolean> {
  const related = await relationshipsOf(book.archive, sheet.entry.name);
  return (
    related.some(({ type }) => type === 'table') ||
    /<(?:\w+:)?definedName[\s>]/.test(book.workbookText)
  );
}

/** Above the row of totals, so that the added rows find room. */
function rowsMissing({ rows, headerRow, total }: Dialect, changes: TableChanges): number {
  const { creates, deletes } = changes;
  if (total === null || creates.length === 0) return 0;
  const map = RowMap.of(rows);
  const left = map.without(new Set(map.sheetRows([...deletes].sort((a, b) => a - b))));
  return Math.max(0, (left.last ?? headerRow) + 1 + creates.length - total.row);
}

/** Throws `unreadable-file` where the row of totals cannot move. */
async function withRows(
  book: WorkbookPackage,
  sheet: Worksheet,
  { total }: Dialect,
  count: number,
): Promise<{ file: PieceList; total: Dialect['total'] }> {
  const { moveRows } = await import('../removal/remove-rows.ts');
  const { RowInsertion } = await import('../removal/row-shift.ts');
  const parts = new EditedArchive(book.archive);
  const moved = await moveRows({ book, parts }, sheet, new RowInsertion(total!.row, count));
  if (moved === null) {
    throw unreadable(`its row of totals, row ${total!.row}, cannot be moved down for more rows`);
  }
  const chain = await withoutCalculationChain(book);
  for (const [entry, text] of chain?.replaced ?? []) parts.replaceText(entry, text);
  if (chain !== null) parts.remove(chain.removed);
  const file = new PieceList();
  file.add(...(await parts.pieces()));
  return { file, total: { ...total!, row: total!.row + count } };
}

/** Null when the rows stay, without content. */
async function removedRows(
  edited: EditedBook,
  sheet: Worksheet,
  rows: TargetRows,
): Promise<RemovedRows | null> {
  if (rows.removable.length === 0) return null;
  const { removeRows } = await import('../removal/remove-rows.ts');
  return removeRows(edited, sheet, rows.removable);
}

/** Results that the typed copy takes one by one; with more it is made anew. */
const MAX_DELIVERED = 20_000;

type Followed = Pick<WorkbookEditPlan, 'cells' | 'delivered' | 'changedSheets' | 'isReread'>;

const NOTHING_FOLLOWED: Followed = { cells: [], delivered: [], changedSheets: [], isReread: false };

/** Brings the formulas that depend on the changed cells up to date, in all worksheets. */
async function followFormulas(
  edited: EditedBook,
  target: Worksheet,
  rows: TargetRows,
  { changed }: SheetEditResult,
  kinds: DateKinds,
): Promise<Followed> {
  const { worksheets } = edited.book;
  const sheet = worksheets.indexOf(target);
  const areas = [...rows.changedAreas(sheet, changed.all())];
  // The libraries for it take 5 MB, which only a process that edits formulas should spend.
  const { newResults } = await import('../formulas/recalculate.ts');
  const { writeResults } = await import('../formulas/write-results.ts');
  const changedSheets: string[] = [];
  let own: readonly ChangedResult[] = [];
  const moved = rows.hasMoved ? sheet : null;
  for (const [index, results] of await newResults(edited, areas, moved)) {
    const written = await writeResults(edited, index, results, kinds);
    if (written === null) continue;
    edited.parts.replace(worksheets[index]!.entry, written.part);
    if (index === sheet) own = written.cells;
    else changedSheets.push(worksheets[index]!.name);
  }
  return { ...rows.followed(own), changedSheets };
}

/** One found below titles, or away from column A, must be found there again. */
async function requireSameTable(
  source: FileSource,
  pieces: readonly Piece[],
  { sheet, headerRow, firstColumn, isFound, total }: Dialect,
  maxBytes: number,
): Promise<void> {
  const isMoved = isFound && (headerRow > 1 || firstColumn > 0);
  if (!isMoved && total === null) return;
  const file = new PieceList();
  file.add(...pieces);
  let found: Partial<Dialect> = {};
  const sink = {
    header: () => {},
    segment: () => {},
    layout: (dialect: TableLayout['dialect']) => void (found = dialect),
  };
  const options = isFound ? { sheet } : { sheet, headerRow };
  await readSheet(file.over(source), options, sink, maxBytes);
  const isSame = found.headerRow === headerRow && found.firstColumn === firstColumn;
  if (!isSame) throw lostGuess('header_row');
  if (total !== null && !found.total) {
    throw unreadable('its row of totals would no longer sum up the rows above it');
  }
}

class TargetRows {
  readonly changes = new Map<number, RowChange>();
  /** Row whose styles new rows copy; null without new rows or without a row above. */
  readonly templateRow: number | null;
  /** Before any row is removed. */
  readonly created: CreatedRows | null;
  /** Deleted and not filled again. */
  readonly removable: readonly number[];
  #after: RowMap;
  #shift: RowShift | null = null;
  readonly #before: RowMap;
  readonly #layout: Pick<
    Dialect,
    'headerRow' | 'width' | 'firstColumn' | 'lastRow' | 'total' | 'uncalculated' | 'calculated'
  >;

  constructor(dialect: Dialect, { updates, deletes, creates }: TableChanges) {
    const { width, headerRow, firstColumn, lastRow, grows, table, total } = dialect;
    const { uncalculated, calculated } = dialect;
    const inSheet = (cells: ReadonlyMap<number, Cell>): ReadonlyMap<number, Cell> =>
      new Map(Array.from(cells, ([position, cell]) => [firstColumn + position, cell]));
    const map = RowMap.of(dialect.rows);
    this.#before = map;
    this.#layout = { headerRow, width, firstColumn, lastRow, total, uncalculated, calculated };
    const positions = [...updates.keys(), ...deletes].sort((a, b) => a - b);
    const sheetRows = map.sheetRows(positions);
    if (sheetRows.length < positions.length) throw changedFile();
    const deleted = new Set<number>();
    const blank = new Map(Array.from({ length: width }, (_, column) => [column, null]));
    for (const [index, position] of positions.entries()) {
      const sheetRow = sheetRows[index]!;
      if (deletes.has(position)) deleted.add(sheetRow);
      const cells = updates.get(position) ?? blank;
      refuseOutside(cells, width);
      this.changes.set(sheetRow, { origin: { update: position }, cells: inSheet(cells) });
    }
    this.#after = map.without(deleted);
    const above = this.#after.last;
    const first = (above ?? headerRow) + 1;
    if (creates.length > 0 && width === 0) {
      throw mismatch('a worksheet without a header row takes no rows');
    }
    if (first + creates.length - 1 > MAX_ROWS) {
      throw mismatch(`a worksheet may not exceed ${MAX_ROWS} rows`);
    }
    if (creates.length > 0 && !grows && first + creates.length - 1 > (lastRow ?? MAX_ROWS)) {
      throw unreadable(`the table may not go past row ${lastRow}, where its range ends`);
    }
    for (const [index, cells] of creates.entries()) {
      refuseOutside(cells, width);
      // A deleted row may be replaced by a new one in the same edit.
      this.changes.set(first + index, {
        origin: { create: index },
        cells: inSheet(cells),
        needsRoom: lastRow !== null && !deleted.has(first + index),
        keepsFormulas: !deleted.has(first + index),
      });
      this.#after.add(first + index);
    }
    // What stands below a declared range must not move into it; the range of a table that the workbook names follows.
    const isOpen = lastRow === null || table !== null;
    this.removable = [...deleted].filter(
      (row) => isOpen && (row < first || row >= first + creates.length),
    );
    this.templateRow = creates.length > 0 ? above : null;
    this.created =
      creates.length > 0
        ? { first, last: first + creates.length - 1, firstColumn, width: firstColumn + width }
        : null;
  }

  get after(): RowMap {
    return this.#after;
  }

  /** Where a range ends now. */
  lastRow(before: number): number {
    const last = Math.max(before, this.created?.last ?? 0);
    return last - (this.#shift?.before(last + 1) ?? 0);
  }

  get hasMoved(): boolean {
    return this.#shift !== null;
  }

  /** The removable rows were taken out. */
  close(shift: RowShift): void {
    this.#shift = shift;
    this.#after = this.#after.shifted((row) => shift.at(row));
  }

  /** A gap that was closed changes the rows above and below it. */
  *changedAreas(sheet: number, cells: Iterable<CellPosition>): Generator<Area> {
    for (const { row: before, column } of cells) {
      const row = this.#shift === null ? before : this.#shift.at(before);
      if (row !== null) yield { sheet, top: row, left: column, bottom: row, right: column };
    }
    const right = MAX_SHEET_COLUMNS - 1;
    for (const row of this.#shift?.edges() ?? []) {
      yield { sheet, top: row, left: 0, bottom: row, right };
    }
  }

  /** What new results in the sheet mean for the table. */
  followed(results: readonly ChangedResult[]): Omit<Followed, 'changedSheets'> {
    const { headerRow, width, firstColumn, lastRow, total } = this.#layout;
    const { uncalculated = 0, calculated = 0 } = this.#layout;
    const totalRow = total && (this.#shift?.at(total.row) ?? total.row);
    const shown = results.filter(
      ({ row, column }) =>
        row !== totalRow &&
        row >= headerRow &&
        row <= (lastRow ?? Infinity) &&
        column >= firstColumn &&
        column < firstColumn + width,
    );
    const positions = this.#before.positions(
      new Set(shown.map(({ row }) => this.#originOfRow(row))),
    );
    const isReread =
      shown.length > MAX_DELIVERED ||
      // They are counted by reading.
      uncalculated + calculated > 0 ||
      // Names may change, and rows come or go.
      shown.some(
        ({ row, before, after, isCalculated }) =>
          row === headerRow ||
          !isCalculated ||
          before === undefined ||
          isBlank(before) !== isBlank(after) ||
          this.#originOf(row, positions) === null,
      );
    if (isReread) return { cells: [], delivered: [], isReread };
    const cells: Followed['cells'][number][] = [];
    const delivered: Followed['delivered'][number][] = [];
    for (const { row, column, before, after } of shown) {
      const origin = this.#originOf(row, positions)!;
      const position = column - firstColumn;
      cells.push({ position, before, after });
      delivered.push({ origin, position, cell: after });
    }
    return { cells, delivered, isReread };
  }

  #originOfRow(row: number): number {
    return this.#shift?.origin(row) ?? row;
  }

  /** Null for a row that is none of the table. */
  #originOf(
    now: number,
    positions: ReadonlyMap<number, number>,
  ): Followed['delivered'][number]['origin'] | null {
    const row = this.#originOfRow(now);
    if (this.created !== null && row >= this.created.first && row <= this.created.last) {
      return { create: row - this.created.first };
    }
    const position = positions.get(row);
    return position === undefined ? null : { update: position };
  }
}

function refuseOutside(cells: ReadonlyMap<number, Cell>, width: number): void {
  for (const column of cells.keys()) if (column >= width) throw changedFile();
}
