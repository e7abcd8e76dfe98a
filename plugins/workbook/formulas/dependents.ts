/** Which formulas a change reaches, directly or through other formulas. */
import { areasOfCell, type FormulaCell } from './formula-cells.ts';
import { type Area, isWithin } from './scope.ts';
import { MAX_SHEET_COLUMNS } from '../limits.ts';

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
  /** Formulas that refer to a single cell, by `keyOf`. */
  readonly cells = new Map<number, FormulaCell[]>();
  readonly byColumn = new Map<number, Watched[]>();
  readonly wide: Watched[] = [];
}

function keyOf(row: number, column: number): number {
  return row * MAX_SHEET_COLUMNS + column;
}

/**
 * Those that depend on the changed cells, and those any change may reach. Null when finding them takes too long: then
 * any may depend on them.
 */
export function dependents(
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
        const key = keyOf(top, left);
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
      for (let column = left; column <= right; column++) yield* cells.get(keyOf(row, column)) ?? [];
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
