/**
 * What dragging the fill handle writes, as plain data before anything is sent.
 *
 * Only seeds of two or more integers or ISO dates with a constant step are continued, as
 * spreadsheets do. Everything else, and a single value, is copied.
 */
import {
  cellOf,
  type CellValue,
  type GridColumn,
  type GridRow,
  plainText,
} from '../../../pages/grid/model.ts';
import type { CellBlock, Place } from '../table/places.ts';
import { planCells } from './block-plan.ts';
import { type RowEdit, sent } from './row-edits.ts';

export interface Fill {
  readonly source: CellBlock;
  readonly area: CellBlock;
}

interface RowsFrom {
  readonly top: number;
  readonly rows: readonly GridRow[];
}

interface FillPlan {
  readonly edits: readonly RowEdit[];
  readonly goesOn: readonly string[];
}

/**
 * The cells between a block and a place, on the side where it is further away; null for a place
 * within.
 */
export function fillArea(source: CellBlock, { row, column }: Place): CellBlock | null {
  const { top, bottom, left, right } = source;
  const [above, below] = [top - row, row - bottom];
  const [before, after] = [left - column, column - right];
  const furthest = Math.max(above, below, before, after);
  if (furthest <= 0) return null;
  if (below === furthest) return { ...source, top: bottom + 1, bottom: row };
  if (above === furthest) return { ...source, top: row, bottom: top - 1 };
  if (after === furthest) return { ...source, left: right + 1, right: column };
  return { ...source, left: column, right: left - 1 };
}

export function filledBlock({ source, area }: Fill): CellBlock {
  return {
    top: Math.min(source.top, area.top),
    bottom: Math.max(source.bottom, area.bottom),
    left: Math.min(source.left, area.left),
    right: Math.max(source.right, area.right),
  };
}

export function planFillArea(
  { source, area }: Fill,
  { top, rows }: RowsFrom,
  columns: readonly GridColumn[],
  isCopy: boolean,
): FillPlan {
  const isSideways = area.left > source.right || area.right < source.left;
  const valueAt = (row: number, column: number): CellValue =>
    cellOf(rows[row - top]!, columns[column]!.name);
  const goingOn = new Map<number, (steps: number) => CellValue>();
  if (!isSideways && !isCopy) {
    for (let column = source.left; column <= source.right; column++) {
      const seeds = rows
        .slice(source.top - top, source.bottom - top + 1)
        .map((row) => cellOf(row, columns[column]!.name));
      const goOn = seriesOf(seeds, columns[column]!);
      if (goOn !== null) goingOn.set(column, goOn);
    }
  }
  const valueFor = (row: number, column: number): CellValue => {
    if (isSideways) {
      const from = repeated(column, source.left, source.right);
      // As in a paste: the target column may have another type.
      return plainText(valueAt(row, from));
    }
    const goOn = goingOn.get(column);
    if (goOn !== undefined) return goOn(row - source.top);
    return sent(valueAt(repeated(row, source.top, source.bottom), column));
  };
  const edits = planCells(
    rows.slice(area.top - top, area.bottom - top + 1),
    columns.slice(area.left, area.right + 1),
    (row, column) => valueFor(area.top + row, area.left + column),
  );
  return { edits, goesOn: [...goingOn.keys()].map((column) => columns[column]!.name) };
}

/** The source place that a place outside repeats, in either direction. */
function repeated(place: number, first: number, last: number): number {
  const length = last - first + 1;
  return first + ((((place - first) % length) + length) % length);
}

/** A function of the steps from the first seed; null when the seeds are repeated. */
function seriesOf(
  seeds: readonly CellValue[],
  { type }: GridColumn,
): ((steps: number) => CellValue) | null {
  if (seeds.length < 2) return null;
  if (type === 'integer') return integersFrom(seeds);
  return type === 'string' ? datesFrom(seeds) : null;
}

function integersFrom(seeds: readonly CellValue[]): ((steps: number) => CellValue) | null {
  if (!seeds.every((seed): seed is number => Number.isSafeInteger(seed))) return null;
  const [first = 0] = seeds;
  const step = commonStep(seeds);
  return step === null ? null : (steps) => first + steps * step;
}

const DAY_MS = 86_400_000;

function datesFrom(seeds: readonly CellValue[]): ((steps: number) => CellValue) | null {
  const times = seeds.map((seed) => dayOf(seed));
  if (times.some(Number.isNaN)) return null;
  const dates = times.map((time) => new Date(time));
  const first = dates[0]!;
  const months = dates.map((date) => date.getUTCFullYear() * 12 + date.getUTCMonth());
  const isSameDay = dates.every((date) => date.getUTCDate() === first.getUTCDate());
  const byMonths = isSameDay ? commonStep(months) : null;
  if (byMonths !== null) {
    return (steps) => dayOfMonth(months[0]! + steps * byMonths, first.getUTCDate());
  }
  const byDays = commonStep(times.map((time) => time / DAY_MS));
  if (byDays === null) return null;
  return (steps) => dateText(new Date(first.getTime() + steps * byDays * DAY_MS));
}

/** Ms of a date; NaN for any other text or an impossible date. */
function dayOf(value: CellValue): number {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return Number.NaN;
  const time = Date.parse(value);
  return !Number.isNaN(time) && dateText(new Date(time)) === value ? time : Number.NaN;
}

/** Month counted from the year 0; the day is clamped to the month's length. */
function dayOfMonth(month: number, day: number): string {
  const last = new Date(Date.UTC(0, month + 1, 0));
  last.setUTCFullYear(Math.floor(month / 12), (month % 12) + 1, 0);
  last.setUTCDate(Math.min(day, last.getUTCDate()));
  return dateText(last);
}

function dateText(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Null without a single constant step. */
function commonStep(numbers: readonly number[]): number | null {
  const step = numbers[1]! - numbers[0]!;
  const isSteady = numbers.every((one, at) => at === 0 || one - numbers[at - 1]! === step);
  return isSteady && step !== 0 ? step : null;
}
