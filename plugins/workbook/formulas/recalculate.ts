/**
 * After an edit: formulas that depend on changed cells get their new results, in every worksheet. A result that is left
 * to other programs is taken out, so that each of them calculates it.
 */
import type { EditedArchive } from '../archive/edited-archive.ts';
import { MAX_FORMULAS } from '../limits.ts';
import type { WorkbookPackage } from '../xlsx/package.ts';
import { readSharedStrings } from '../xlsx/shared-strings.ts';
import { SheetWindow } from '../xlsx/sheet-window.ts';
import {
  CellValues,
  isHidden,
  MAX_HELD,
  rawValue,
  SharedText,
  WantedCells,
} from './cell-values.ts';
import { dependents } from './dependents.ts';
import { Evaluation, type Result } from './evaluation.ts';
import {
  areasOfCell,
  type FormulaCell,
  type NamedTemplates,
  SheetFormulaCells,
} from './formula-cells.ts';
import { type Area, isWithin, WorkbookScope } from './scope.ts';

/** What tells where cells are, or means cells that are gone. */
const NUMBERS_ROWS = /\b(?:ROWS?|ADDRESS|MATCH|XMATCH)\(|#REF!/i;

export interface EditedBook {
  readonly book: WorkbookPackage;
  readonly parts: EditedArchive;
}

/** Results by worksheet, row and column; undefined: to be calculated by others. */
export type Results = ReadonlyMap<number, ReadonlyMap<number, ReadonlyMap<number, NewResult>>>;

export interface NewResult {
  readonly cell: FormulaCell;
  readonly result: Result;
}

/**
 * `changes`: cells with new content; `moved`: a worksheet whose rows have other numbers now. Of a workbook with more
 * formulas than `most`, all results are taken out. Throws `unreadable-file`.
 */
export async function newResults(
  edited: EditedBook,
  changes: readonly Area[],
  moved: number | null = null,
  most = MAX_FORMULAS,
): Promise<Results> {
  const scope = await WorkbookScope.of(edited.book, (entry) => edited.parts.textOf(entry));
  const formulas = await formulasOf(edited, scope);
  const isMoved = (cell: FormulaCell): boolean =>
    moved !== null && NUMBERS_ROWS.test(cell.template.text);
  const reached = formulas.length > most ? null : dependents(formulas, changes, isMoved);
  const results = new Map<number, Map<number, Map<number, NewResult>>>();
  if (reached?.size === 0) return results;
  const evaluation = reached && (await evaluationOf(edited, formulas, reached));
  // In the order of the file, because most formulas depend on what stands above them.
  for (const cell of formulas) {
    if (reached?.has(cell) === false) continue;
    let rows = results.get(cell.sheet);
    if (rows === undefined) results.set(cell.sheet, (rows = new Map()));
    let columns = rows.get(cell.row);
    if (columns === undefined) rows.set(cell.row, (columns = new Map()));
    columns.set(cell.column, { cell, result: evaluation?.resultOf(cell) });
  }
  return results;
}

async function formulasOf(
  { book, parts }: EditedBook,
  scope: WorkbookScope,
): Promise<FormulaCell[]> {
  const formulas: FormulaCell[] = [];
  const names: NamedTemplates = new Map();
  for (const [sheet, { entry }] of book.worksheets.entries()) {
    const cells = new SheetFormulaCells(sheet, entry.name, scope, names);
    await eachRow(
      new SheetWindow(entry.name, parts.expand(entry)),
      () => false,
      (text, row) => {
        for (const formula of cells.of(text, row)) formulas.push(formula);
      },
    );
  }
  return formulas;
}

async function eachRow(
  window: SheetWindow,
  wantsCells: (row: number) => boolean,
  visit: (text: string, row: Parameters<Parameters<SheetWindow['eachRow']>[0]>[0]) => void,
): Promise<void> {
  try {
    const { data } = await window.start();
    if (data === null || data.isEmpty) return;
    window.position = data.to;
    await window.eachRow((row) => visit(window.text, row), wantsCells);
  } finally {
    await window.close();
  }
}

/** Null when the formulas need more cells than are held. */
async function evaluationOf(
  edited: EditedBook,
  formulas: readonly FormulaCell[],
  reached: ReadonlySet<FormulaCell>,
): Promise<Evaluation | null> {
  // A formula without a result is calculated for those that need it.
  const open = formulas.filter((cell) => reached.has(cell) || !cell.hasValue);
  const values = await valuesFor(edited, open);
  if (values === null) return null;
  const subtotals = new Set(
    formulas.filter(({ template }) => /\b(?:SUBTOTAL|AGGREGATE)\(/i.test(template.text)).map(keyOf),
  );
  return new Evaluation(values, {
    is1904: edited.book.is1904,
    isSubtotal: (sheet, row, column) => subtotals.has(keyOf({ sheet, row, column })),
    hasHiddenRows: (sheet) => (values.hiddenRows.get(sheet)?.size ?? 0) > 0,
  });
}

function keyOf({ sheet, row, column }: Pick<FormulaCell, 'sheet' | 'row' | 'column'>): string {
  return `${sheet}:${row}:${column}`;
}

async function valuesFor(
  { book, parts }: EditedBook,
  open: readonly FormulaCell[],
): Promise<CellValues | null> {
  const bySheet = Map.groupBy(
    open.flatMap((cell) => [...areasOfCell(cell)]),
    ({ sheet }) => sheet,
  );
  const pending = new Map(open.map((cell) => [keyOf(cell), cell]));
  const filled = open.filter((cell) => cell.filled !== null);
  const values = new CellValues();
  for (const [sheet, areas] of bySheet) {
    const { entry } = book.worksheets[sheet]!;
    const wanted = new WantedCells(areas);
    const hidden = new Set<number>();
    values.hiddenRows.set(sheet, hidden);
    const fillers = filled.filter((cell) => cell.sheet === sheet);
    await eachRow(
      new SheetWindow(entry.name, parts.expand(entry)),
      (row) => wanted.hasRow(row),
      (text, row) => {
        if (isHidden(text, row)) hidden.add(row.number);
        if (values.count > MAX_HELD) return;
        for (const cell of row.cells.slice(0, row.count).sort((a, b) => a.column - b.column)) {
          if (!wanted.has(row.number, cell.column)) continue;
          const place = { sheet, row: row.number, column: cell.column };
          const value =
            pending.get(keyOf(place)) ??
            fillers.find((filler) => isWithin(place, filler.filled!)) ??
            rawValue(text, cell, entry.name);
          if (value !== null) values.add(sheet, row.number, cell.column, value);
        }
      },
    );
    if (values.count > MAX_HELD) return null;
  }
  await resolveTexts(book, values);
  return values;
}

async function resolveTexts(book: WorkbookPackage, values: CellValues): Promise<void> {
  const wanted = new Set<number>();
  values.resolve((value) => {
    if (value instanceof SharedText) wanted.add(value.index);
    return value;
  });
  const strings = await readSharedStrings(book, wanted);
  values.resolve((value) => (value instanceof SharedText ? (strings[value.index] ?? null) : value));
}
