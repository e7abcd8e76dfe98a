/**
 * After an edit: formulas that depend on changed cells get their new results, in every worksheet. A result that is left
 * to other programs is taken out, so that each of them calculates it.
 */
import { EditedArchive } from '../archive/edited-archive.ts';
import { MAX_FORMULAS, MAX_SHEET_COLUMNS } from '../limits.ts';
import type { WorkbookPackage } from '../xlsx/package.ts';
import { readSharedStrings } from '../xlsx/shared-strings.ts';
import { SheetWindow } from '../xlsx/sheet-window.ts';
import {
  CellError,
  CellValues,
  isHidden,
  MAX_HELD,
  rawValue,
  SharedText,
  WantedCells,
} from './cell-values.ts';
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
type Results = ReadonlyMap<number, ReadonlyMap<number, ReadonlyMap<number, NewResult>>>;

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
  const changed = new Set(
    changes.map(({ sheet, top, left }) => keyOf({ sheet, row: top, column: left })),
  );
  const isMoved = (cell: FormulaCell): boolean =>
    (moved !== null && NUMBERS_ROWS.test(cell.template.text)) ||
    // A formula that was filled down with a new row.
    (!cell.hasValue && changed.has(keyOf(cell)));
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

/** Of the formulas of a worksheet that the file holds no result of, as far as they can be calculated; by cell. */
export async function missingResults(
  book: WorkbookPackage,
  sheet: number,
): Promise<Map<number, string | number | boolean>> {
  const edited = { book, parts: new EditedArchive(book.archive) };
  const scope = await WorkbookScope.of(book, (entry) => edited.parts.textOf(entry));
  const formulas = await formulasOf(edited, scope);
  const missing = new Set(formulas.filter((cell) => cell.sheet === sheet && !cell.hasValue));
  const results = new Map<number, string | number | boolean>();
  const evaluation =
    formulas.length > MAX_FORMULAS ? null : await evaluationOf(edited, formulas, missing);
  if (evaluation === null) return results;
  for (const cell of missing) {
    const result = evaluation.resultOf(cell);
    if (result === undefined) continue;
    const value = result instanceof CellError ? result.text : result;
    results.set(cell.row * MAX_SHEET_COLUMNS + cell.column, value);
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

/** Comparisons of a changed cell with a range; some two seconds. */
const MAX_CHECKS = 40_000_000;
/** Columns of a range that is filed under each of them; wider ones are filed under the sheet. */
const MAX_FILED_COLUMNS = 64;
/** Cells of a change that are looked up one by one. */
const MAX_SINGLE_CELLS = 10_000;

interface Watched {
  readonly area: Area;
  readonly formulas: FormulaCell[];
  isReached: boolean;
}

class Watches {
  /** Formulas that refer to a single cell, by `cellKey`. */
  readonly cells = new Map<number, FormulaCell[]>();
  readonly byColumn = new Map<number, Watched[]>();
  readonly wide: Watched[] = [];
}

function cellKey(row: number, column: number): number {
  return row * MAX_SHEET_COLUMNS + column;
}

/**
 * Those that depend on the changed cells, and those any change may reach. Null when finding them takes too long: then
 * any may depend on them.
 */
function dependents(
  formulas: readonly FormulaCell[],
  changes: Iterable<Area>,
  isReached: (formula: FormulaCell) => boolean = () => false,
): Set<FormulaCell> | null {
  const watches = watchesOf(formulas);
  const reached = new Set<FormulaCell>();
  const waiting: Area[] = [...changes];
  let checks = 0;
  const reach = (formula: FormulaCell): void => {
    if (reached.has(formula)) return;
    reached.add(formula);
    const { sheet, row, column, filled } = formula;
    waiting.push(filled ?? { sheet, top: row, left: column, bottom: row, right: column });
  };
  for (const formula of formulas) if (isReaching(formula) || isReached(formula)) reach(formula);
  for (let area = waiting.pop(); area !== undefined; area = waiting.pop()) {
    const watch = watches.get(area.sheet);
    if (watch === undefined) continue;
    for (const formula of singles(watch, area)) reach(formula);
    for (const list of listsFor(watch, area)) {
      checks += list.length;
      if (checks > MAX_CHECKS) return null;
      for (let index = list.length - 1; index >= 0; index--) {
        const watched = list[index]!;
        if (!watched.isReached && !overlap(watched.area, area)) continue;
        if (!watched.isReached) {
          watched.isReached = true;
          for (const formula of watched.formulas) reach(formula);
        }
        // It need not be looked at again.
        list[index] = list.at(-1)!;
        list.pop();
      }
    }
  }
  return reached;
}

/** A data table says nothing of the cells it depends on. */
function isReaching({ template, filled }: FormulaCell): boolean {
  return template.isReaching || (filled !== null && template.text === '');
}

function watchesOf(formulas: readonly FormulaCell[]): Map<number, Watches> {
  const watches = new Map<number, Watches>();
  const ranges = new Map<string, Watched>();
  for (const formula of formulas) {
    for (const area of areasOfCell(formula)) {
      const { sheet, top, left, bottom, right } = area;
      let watch = watches.get(sheet);
      if (watch === undefined) watches.set(sheet, (watch = new Watches()));
      if (top === bottom && left === right) {
        const key = cellKey(top, left);
        const known = watch.cells.get(key);
        if (known) known.push(formula);
        else watch.cells.set(key, [formula]);
        continue;
      }
      const key = `${sheet}:${top}:${left}:${bottom}:${right}`;
      const known = ranges.get(key);
      if (known) {
        known.formulas.push(formula);
        continue;
      }
      const watched = { area, formulas: [formula], isReached: false };
      ranges.set(key, watched);
      if (right - left >= MAX_FILED_COLUMNS) {
        watch.wide.push(watched);
        continue;
      }
      for (let column = left; column <= right; column++) {
        const list = watch.byColumn.get(column);
        if (list) list.push(watched);
        else watch.byColumn.set(column, [watched]);
      }
    }
  }
  return watches;
}

function* singles({ cells }: Watches, area: Area): Generator<FormulaCell> {
  const { sheet, top, left, bottom, right } = area;
  if ((bottom - top + 1) * (right - left + 1) <= MAX_SINGLE_CELLS) {
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++)
        yield* cells.get(cellKey(row, column)) ?? [];
    }
    return;
  }
  for (const [key, formulas] of cells) {
    const place = {
      sheet,
      row: Math.floor(key / MAX_SHEET_COLUMNS),
      column: key % MAX_SHEET_COLUMNS,
    };
    if (isWithin(place, area)) yield* formulas;
  }
}

function* listsFor({ byColumn, wide }: Watches, { left, right }: Area): Generator<Watched[]> {
  yield wide;
  if (right - left < byColumn.size) {
    for (let column = left; column <= right; column++) yield byColumn.get(column) ?? [];
    return;
  }
  for (const [column, list] of byColumn) if (left <= column && column <= right) yield list;
}

function overlap(a: Area, b: Area): boolean {
  return a.top <= b.bottom && b.top <= a.bottom && a.left <= b.right && b.left <= a.right;
}
