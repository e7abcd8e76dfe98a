/**
 * The edited form of an .xlsx workbook (DS-87): the sheet's part with its touched cells, and the few other parts that must
 * follow; every other entry of the archive is copied as it is.
 */
import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/file-source.ts';
import type {
  Cell,
  EditPlan,
  Segment,
  TableChanges,
  TableLayout,
} from '../../src/dataset/types.ts';
import type { ArchiveEntry } from './archive.ts';
import { rewrittenArchive } from './archive-edit.ts';
import { mismatch } from './cell-markup.ts';
import { type Dialect, dialectRecord, storedDialect } from './dialect.ts';
import { DEFAULT_LIMITS, MAX_ROWS, type WorkbookLimits } from './limits.ts';
import { openPackage, type WorkbookPackage, worksheetNamed } from './package.ts';
import { pack, type PackedPart } from './part-compressor.ts';
import {
  hasFormulasElsewhere,
  recalculatingWorkbook,
  withoutCalculationChain,
} from './recalculation.ts';
import { RowMap } from './row-map.ts';
import { pickSharedStrings } from './shared-strings.ts';
import {
  type DeliveredCell,
  type RowChange,
  type SharedText,
  SheetEdit,
  type SheetEditResult,
} from './sheet-edit.ts';
import { extendedTables } from './sheet-tables.ts';
import { readDateKinds } from './styles.ts';

/** Text for whoever tries to change a legacy workbook (DS-66). */
export const LEGACY_IS_READ_ONLY = 'Legacy .xls workbooks are read-only; convert the file to .xlsx';

/** An edit of a workbook; dates are stored as numbers, so a cell may read differently from what was written. */
export interface WorkbookEditPlan extends EditPlan {
  /** Cells for which a reader of the new file gets another value than the one in the changes (`2024-05-01` as date). */
  readonly delivered: readonly DeliveredCell[];
}

/**
 * The file after `changes` as pieces, its layout, and every changed cell. Throws `unreadable-file` for what cannot be
 * changed (merged cells, parts of an array formula or data table, signed workbooks), `schema-mismatch` for values a
 * workbook cannot hold, `conflict` when the file is not the one of the layout. Costs expanding and compressing the
 * sheet's part, off the event loop and in slices.
 */
export async function editWorkbook(
  source: FileSource,
  layout: TableLayout,
  changes: TableChanges,
  limits: WorkbookLimits = DEFAULT_LIMITS,
): Promise<WorkbookEditPlan> {
  const dialect = storedDialect(layout);
  if (dialect.format === 'xls') throw new AppError('read-only', LEGACY_IS_READ_ONLY);
  const book = await openPackage(source, limits);
  refuseSigned(book);
  const sheet = worksheetNamed(book, dialect.sheet);
  const rows = new TargetRows(dialect, changes);
  const result = await new SheetEdit({
    book,
    sheet,
    kinds: await readDateKinds(book),
    changes: rows.changes,
    templateRow: rows.templateRow,
    width: dialect.width,
  }).run();

  const texts = new Map<ArchiveEntry, string>();
  if (rows.created !== null) {
    const { created } = rows;
    const tables = await extendedTables(book.archive, sheet.entry, created);
    for (const [entry, text] of tables) texts.set(entry, text);
  }
  const hasFormulas =
    result.hasFormulas || (dialect.hasFormulas ?? (await hasFormulasElsewhere(book, sheet.entry)));
  const chain = result.hasLostFormulas ? await withoutCalculationChain(book) : null;
  for (const [entry, text] of chain?.replaced ?? []) texts.set(entry, text);
  const recalculating = hasFormulas ? await recalculatingWorkbook(book) : null;
  if (recalculating !== null) texts.set(book.workbook, recalculating);

  const replaced = new Map<ArchiveEntry, PackedPart>([[sheet.entry, result.part]]);
  for (const [entry, text] of texts) {
    replaced.set(entry, await pack(Buffer.from(text, 'latin1'), entry.method));
  }
  const removed = new Set(chain ? [chain.removed] : []);
  return {
    pieces: rewrittenArchive(book.archive, { replaced, removed }),
    layout: {
      dialect: dialectRecord({ ...dialect, rows: rows.after.toJSON(), hasFormulas }),
      bodyOffset: layout.bodyOffset,
      segments: segmentsAfter(layout.segments, changes),
    },
    cells: await resolvedCells(book, result),
    delivered: result.delivered,
  };
}

/** Where changes of table rows fall in the sheet. */
class TargetRows {
  /** By sheet row. */
  readonly changes = new Map<number, RowChange>();
  /** Row whose styles new rows copy, null without new rows or without a row above them. */
  readonly templateRow: number | null;
  readonly created: {
    readonly first: number;
    readonly last: number;
    readonly width: number;
  } | null;
  readonly after: RowMap;

  constructor(dialect: Dialect, { updates, deletes, creates }: TableChanges) {
    const { width, headerRow } = dialect;
    const map = RowMap.of(dialect.rows);
    const positions = [...updates.keys(), ...deletes].sort((a, b) => a - b);
    const sheetRows = map.sheetRows(positions);
    if (sheetRows.length < positions.length) throw changedFile();
    const deleted = new Set<number>();
    for (const [index, position] of positions.entries()) {
      const sheetRow = sheetRows[index]!;
      if (deletes.has(position)) deleted.add(sheetRow);
      const cells = deletes.has(position) ? blankRow(width) : updates.get(position)!;
      refuseOutside(cells, width);
      this.changes.set(sheetRow, { origin: { update: position }, cells });
    }
    this.after = map.without(deleted);
    const above = this.after.last;
    const first = (above ?? headerRow) + 1;
    if (creates.length > 0 && width === 0) {
      throw mismatch('a worksheet without a header row takes no rows');
    }
    if (first + creates.length - 1 > MAX_ROWS) {
      throw mismatch(`a worksheet may not exceed ${MAX_ROWS} rows`);
    }
    for (const [index, cells] of creates.entries()) {
      refuseOutside(cells, width);
      // A row that is deleted in the same edit may be the one that is filled.
      this.changes.set(first + index, { origin: { create: index }, cells });
      this.after.add(first + index);
    }
    this.templateRow = creates.length > 0 ? above : null;
    this.created = creates.length > 0 ? { first, last: first + creates.length - 1, width } : null;
  }
}

function blankRow(width: number): Map<number, Cell> {
  return new Map(Array.from({ length: width }, (_, column) => [column, null]));
}

function refuseOutside(cells: ReadonlyMap<number, Cell>, width: number): void {
  for (const column of cells.keys()) if (column >= width) throw changedFile();
}

/** The file is not the one whose layout is known: another program wrote it since. */
function changedFile(): AppError {
  return new AppError('conflict', 'The file changed while it was edited');
}

function refuseSigned(book: WorkbookPackage): void {
  const isSigned = book.archive.entries.some(({ name }) => /^_xmlsignatures\//i.test(name));
  if (!isSigned) return;
  throw new AppError(
    'unreadable-file',
    'the workbook is digitally signed; a change would break the signature',
  );
}

/** Rows by segment; how many bytes they take is not known any more, and nothing depends on it. */
function segmentsAfter(segments: readonly Segment[], changes: TableChanges): Segment[] {
  const deleted = [...changes.deletes].sort((a, b) => a - b);
  let end = 0;
  let next = 0;
  const after = segments.map(({ rows, bytes }) => {
    end += rows;
    const from = next;
    while (next < deleted.length && deleted[next]! < end) next++;
    return { rows: rows - (next - from), bytes };
  });
  if (changes.creates.length === 0) return after;
  const last = after.at(-1);
  if (last) last.rows += changes.creates.length;
  else after.push({ rows: changes.creates.length, bytes: 0 });
  return after;
}

async function resolvedCells(
  book: WorkbookPackage,
  { cells }: SheetEditResult,
): Promise<EditPlan['cells']> {
  const indexes = new Set<number>();
  for (const { before } of cells) if (isShared(before)) indexes.add(before.shared);
  const strings = await pickSharedStrings(book, indexes);
  return cells.map(({ position, before, after }) => ({
    position,
    before: isShared(before) ? strings.get(before.shared) : before,
    after,
  }));
}

function isShared(before: SheetEditResult['cells'][number]['before']): before is SharedText {
  return typeof before === 'object' && before !== null;
}
