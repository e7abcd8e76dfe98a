/**
 * Excel's tables (list objects, ECMA-376-1, 18.5) and defined names of a range (18.2.5).
 *
 * Each is a dataset of its own, `<sheet>/<name>`, unless it is all there is on its sheet. A defined name may stand
 * for anything; it counts when its range has two rows and columns at least and a full first row of different texts.
 */
import { unreadable } from '../../../src/base/errors.ts';
import { TimeSlice } from '../../../src/base/scheduling/time-slice.ts';
import type { Cell } from '../../../src/tables/types.ts';
import { expand } from '../archive/expansion.ts';
import { type CellRange, isInside, parseRange } from '../cell-reference.ts';
import { parseSheetHead } from '../edit/sheet-markup.ts';
import { XmlCursor } from '../xml/xml-cursor.ts';
import { textOf, unescaped } from '../xml/xml-text.ts';
import {
  partText,
  relationshipsOf,
  type WorkbookPackage,
  type Worksheet,
  worksheetNamed,
} from './package.ts';
import { SheetWindow } from './sheet-window.ts';

interface NamedTable {
  readonly name: string;
  /** Header included, the row of totals not. */
  readonly range: CellRange;
  /** Excel's own tables grow with their rows; a row of totals or a defined name stands fast. */
  readonly grows: boolean;
}

/** Those of one sheet; some workbooks define tens of thousands of names. */
const MAX_NAMED = 200;

/** `<sheet>/<table>` where no worksheet is called so. Throws `unreadable-file`. */
export async function tableNamed(
  book: WorkbookPackage,
  name: string | undefined,
): Promise<{ sheet: Worksheet; table: NamedTable | null }> {
  const isSheet = book.worksheets.some((sheet) => sheet.name.normalize() === name?.normalize());
  const slash = name?.lastIndexOf('/') ?? -1;
  if (name === undefined || isSheet || slash < 0) {
    return { sheet: worksheetNamed(book, name), table: null };
  }
  const sheet = worksheetNamed(book, name.slice(0, slash));
  const wanted = name.slice(slash + 1).normalize();
  const tables = [...(await excelTables(book, sheet)), ...(await namedRanges(book, sheet))];
  const table = tables.find((one) => one.name.normalize() === wanted);
  if (table) return { sheet, table };
  throw unreadable(`it has no table named ${JSON.stringify(name)}`);
}

/** None for a sheet that is one table and nothing else. Throws `unreadable-file`. */
export async function namedTables(
  book: WorkbookPackage,
  sheet: Worksheet,
  firstRows: (sheet: Worksheet, rows: readonly number[]) => Promise<ReadonlyMap<number, Cell[]>>,
): Promise<string[]> {
  const tables = await excelTables(book, sheet);
  const ranges = (await namedRanges(book, sheet)).filter(
    ({ range }) => !tables.some((table) => isWithin(range, table.range)),
  );
  if (tables.length + ranges.length === 0) return [];
  const headers = ranges.length === 0 ? new Map() : await firstRows(sheet, rowsOf(ranges));
  const found = [
    ...tables,
    ...ranges.filter(({ range }) => isHeader(headers.get(range.first.row) ?? [], range)),
  ];
  const used = found.length === 1 ? await usedRange(book, sheet) : null;
  if (used !== null && isWithin(used, found[0]!.whole)) return [];
  return [...new Set(found.map(({ name }) => name))];
}

type FoundTable = NamedTable & {
  /** With its row of totals. */
  readonly whole: CellRange;
};

async function excelTables(book: WorkbookPackage, sheet: Worksheet): Promise<FoundTable[]> {
  const found: FoundTable[] = [];
  for (const { type, entry } of await relationshipsOf(book.archive, sheet.entry.name)) {
    if (type !== 'table' || found.length >= MAX_NAMED) continue;
    const cursor = new XmlCursor(await partText(book.archive, entry), entry.name);
    if (!cursor.next()) continue;
    const name = unescaped(cursor.attribute('displayName') ?? cursor.attribute('name') ?? '');
    const whole = parseRange(cursor.attribute('ref') ?? '');
    const hasHeader = (cursor.attribute('headerRowCount') ?? '1') === '1';
    if (whole === null || !hasHeader || !isName(name)) continue;
    const totals = Number(cursor.attribute('totalsRowCount') ?? 0) || 0;
    const last = { ...whole.last, row: whole.last.row - totals };
    found.push({ name, whole, range: { ...whole, last }, grows: totals === 0 });
  }
  return found;
}

/** Not the ones Excel keeps for itself, nor hidden ones. */
async function namedRanges(book: WorkbookPackage, sheet: Worksheet): Promise<FoundTable[]> {
  const slice = new TimeSlice();
  const cursor = new XmlCursor(book.workbookText, book.workbook.name);
  const found: FoundTable[] = [];
  while (cursor.next() && found.length < MAX_NAMED) {
    if (slice.isOver) await slice.rest();
    if (cursor.kind !== 'open' || cursor.local !== 'definedName') continue;
    const name = unescaped(cursor.attribute('name') ?? '');
    const isShown = cursor.attribute('hidden') !== '1' && !name.startsWith('_xlnm.');
    const from = cursor.to;
    if (!cursor.skip() || !isShown || !isName(name)) continue;
    const match = REFERENCE.exec(textOf(book.workbookText.slice(from, cursor.from)).trim());
    const owner = match?.[1]?.replaceAll("''", "'") ?? match?.[2];
    const whole = match && owner === sheet.name ? parseRange(match[3]!) : null;
    const isTable =
      whole !== null && whole.last.row > whole.first.row && whole.last.column > whole.first.column;
    if (isTable) found.push({ name, whole, range: whole, grows: false });
  }
  return found;
}

/** `Sheet!$A$1:$C$9`, the sheet in quotes where it needs them. */
const REFERENCE = /^(?:'((?:[^']|'')+)'|([^'!]+))!(\$?[A-Z]{1,3}\$?\d+:\$?[A-Z]{1,3}\$?\d+)$/i;

/** Fit to stand behind the sheet's name. */
function isName(name: string): boolean {
  return name !== '' && !/[/\p{Cc}]/u.test(name) && name !== '.' && name !== '..';
}

function rowsOf(tables: readonly FoundTable[]): number[] {
  return tables.map(({ range }) => range.first.row);
}

function isHeader(row: readonly Cell[], { first, last }: CellRange): boolean {
  const cells = row.slice(first.column, last.column + 1);
  const names = cells.map((cell) => (typeof cell === 'string' ? cell.trim().toLowerCase() : ''));
  const isFull = names.length === last.column - first.column + 1 && !names.includes('');
  return isFull && new Set(names).size === names.length;
}

async function usedRange(book: WorkbookPackage, sheet: Worksheet): Promise<CellRange | null> {
  const window = new SheetWindow(sheet.entry.name, expand(book.archive, sheet.entry));
  try {
    const { data, prefix } = await window.start();
    if (data === null) return null;
    return parseSheetHead(window.text, data.from, prefix, window.part).dimension?.range ?? null;
  } finally {
    await window.close();
  }
}

function isWithin(inner: CellRange, outer: CellRange): boolean {
  return isInside(inner.first, outer) && isInside(inner.last, outer);
}
