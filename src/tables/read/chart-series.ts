/**
 * The points of a chart: a few hundred, from any number of rows. Texts that are dates, or all begin like an ISO date,
 * make a time axis. Rows past MAX_VALUES are left out, and the answer says so.
 */
import { type FactValue, histogramOf, rangeOf, roundWidth } from './column-facts.ts';
import { instantOf } from '../values/instant.ts';

export const CHART_TYPES = ['bar', 'line', 'scatter', 'histogram'] as const;
/** Applied to the y values at one place; `count` needs none. */
export const CHART_MEASURES = ['count', 'sum', 'mean', 'min', 'max'] as const;

type ChartType = (typeof CHART_TYPES)[number];
type ChartMeasure = (typeof CHART_MEASURES)[number];

export interface ChartOrder {
  readonly type: ChartType;
  readonly measure: ChartMeasure;
}

export interface ChartSeries {
  /** Times are ms since 1970 UTC. */
  readonly axis: 'text' | 'number' | 'time';
  /** `to` is the end of a histogram bar. */
  readonly points: readonly {
    readonly x: string | number;
    readonly y: number;
    readonly to?: number;
  }[];
  readonly rows: number;
  /** Rows left out: blanks, and texts where numbers are needed. */
  readonly skipped: number;
  /** For the reader; may be empty. */
  readonly note: string;
}

const MAX_BARS = 30;
const MAX_HISTOGRAM_BARS = 30;
const MAX_LINE_POINTS = 300;
const MAX_SCATTER_POINTS = 2_000;
/** Takes 32 MB for pairs of numbers. */
const MAX_VALUES = 2_000_000;
const ISO_START = /^\d{4}-\d{2}-\d{2}(?:$|[T ])/;

export class ChartCollector {
  readonly #order: ChartOrder;
  /** Of a text across; what it is itself where it is no date of its column. */
  readonly #isoOf: (text: string) => string;
  readonly #xs: (string | number)[] = [];
  readonly #ys: number[] = [];
  #skipped = 0;
  #isFull = false;

  /** `isoOf` reads the dates of the column across, as it spells them. */
  constructor(order: ChartOrder, isoOf: (text: string) => string | null = (text) => text) {
    this.#order = order;
    this.#isoOf = (text) => isoOf(text) ?? text;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  add(x: FactValue, y: FactValue): void {
    const needsY = this.#needsY;
    if (x === null || x === '' || (needsY && typeof y !== 'number')) {
      this.#skipped++;
      return;
    }
    if (this.#xs.length >= MAX_VALUES) {
      this.#isFull = true;
      return;
    }
    // Bars are named as the file spells them.
    const isPlaced = typeof x === 'string' && this.#order.type !== 'bar';
    this.#xs.push(typeof x === 'boolean' ? String(x) : isPlaced ? this.#isoOf(x) : x);
    if (needsY) this.#ys.push(y as number);
  }

  series(): ChartSeries {
    const { type } = this.#order;
    if (type === 'histogram') return this.#histogram();
    if (type === 'scatter') return this.#scatter();
    return type === 'line' ? this.#line() : this.#bars();
  }

  get #needsY(): boolean {
    const { type, measure } = this.#order;
    return type === 'scatter' || (type !== 'histogram' && measure !== 'count');
  }

  #histogram(): ChartSeries {
    const { numbers, skipped } = this.#numbers();
    const bars = histogramOf(numbers, MAX_HISTOGRAM_BARS);
    const range = rangeOf(numbers);
    const points =
      bars.length === 0 && range !== null
        ? [{ x: range.min, to: range.max, y: numbers.length }]
        : bars.map(({ from, to, rows }) => ({ x: from, to, y: rows }));
    return this.#answer('number', points, skipped, '');
  }

  #scatter(): ChartSeries {
    const positions = this.#positions();
    if (positions.axis === 'text') {
      const note = 'A scatter chart needs numbers or dates on both axes.';
      return this.#answer('number', [], this.#xs.length, note);
    }
    const step = Math.max(1, Math.ceil(positions.xs.length / MAX_SCATTER_POINTS));
    const points: { x: number; y: number }[] = [];
    for (let index = 0; index < positions.xs.length; index += step) {
      const x = positions.xs[index]!;
      if (!Number.isNaN(x)) points.push({ x, y: this.#ys[index]! });
    }
    const note = step === 1 ? '' : `One row of ${step} is drawn.`;
    return this.#answer(positions.axis, points, positions.skipped, note);
  }

  #line(): ChartSeries {
    const positions = this.#positions();
    if (positions.axis === 'text') return this.#bars(true);
    const range = rangeOf(positions.xs.filter((x) => !Number.isNaN(x)));
    if (range === null) return this.#answer(positions.axis, [], positions.skipped, '');
    const distinct = new Set(positions.xs).size;
    const isWhole = distinct <= MAX_LINE_POINTS;
    const width = isWhole
      ? 0
      : positions.axis === 'time'
        ? roundDuration((range.max - range.min) / MAX_LINE_POINTS)
        : roundWidth((range.max - range.min) / MAX_LINE_POINTS);
    const groups = new Map<number, Measured>();
    positions.xs.forEach((x, index) => {
      if (Number.isNaN(x)) return;
      measure(groups, isWhole ? x : Math.floor(x / width) * width, this.#ys[index]);
    });
    const points = this.#measured(groups).sort((a, b) => a.x - b.x);
    const note = isWhole
      ? ''
      : `${points.length} points, one for all rows within a step of the axis.`;
    return this.#answer(positions.axis, points, positions.skipped, note);
  }

  #bars(inOrderOfText = false): ChartSeries {
    const groups = new Map<string | number, Measured>();
    this.#xs.forEach((x, index) => measure(groups, x, this.#ys[index]));
    const all = this.#measured(groups);
    const limit = inOrderOfText ? MAX_LINE_POINTS : MAX_BARS;
    const placeOf = (x: string | number): string | number =>
      typeof x === 'string' ? this.#isoOf(x) : x;
    const byPlace = (a: { x: string | number }, b: { x: string | number }): number =>
      byPosition({ x: placeOf(a.x) }, { x: placeOf(b.x) });
    const sorted = all.sort(inOrderOfText ? byPlace : (a, b) => b.y - a.y || byPlace(a, b));
    const which = inOrderOfText ? 'first' : 'largest';
    const note = sorted.length > limit ? `The ${which} ${limit} of ${sorted.length} values.` : '';
    const shown = sorted.slice(0, limit);
    // Days and years go in order; only names are sorted by bar.
    const isPlaced = ({ x }: { x: string | number }): boolean =>
      typeof x === 'number' || ISO_START.test(this.#isoOf(x));
    if (shown.every(isPlaced)) shown.sort(byPlace);
    const points = shown.map(({ x, y }) => ({ x: String(x), y }));
    return this.#answer('text', points, 0, note);
  }

  #measured<X>(groups: ReadonlyMap<X, Measured>): { x: X; y: number }[] {
    return [...groups].map(([x, group]) => ({ x, y: valueOf(group, this.#order.measure) }));
  }

  /** Numbers as they are; NaN for the others. */
  #positions(): { axis: ChartSeries['axis']; xs: number[]; skipped: number } {
    const texts = this.#xs.filter((x): x is string => typeof x === 'string');
    if (texts.length === 0) return { axis: 'number', xs: this.#xs as number[], skipped: 0 };
    const isTime = texts.length === this.#xs.length && texts.every((x) => ISO_START.test(x));
    if (isTime) {
      const xs = texts.map(momentOf);
      return { axis: 'time', xs, skipped: xs.filter(Number.isNaN).length };
    }
    // A few odd texts do not turn a column of numbers into texts.
    if (texts.length * 10 > this.#xs.length) return { axis: 'text', xs: [], skipped: 0 };
    const xs = this.#xs.map((x) => (typeof x === 'number' ? x : Number.NaN));
    return { axis: 'number', xs, skipped: texts.length };
  }

  #numbers(): { numbers: number[]; skipped: number } {
    const numbers = this.#xs.filter((x): x is number => typeof x === 'number');
    return { numbers, skipped: this.#xs.length - numbers.length };
  }

  #answer(
    axis: ChartSeries['axis'],
    points: ChartSeries['points'],
    skipped: number,
    note: string,
  ): ChartSeries {
    const rows = this.#xs.length - skipped;
    return { axis, points, rows, skipped: this.#skipped + skipped, note };
  }
}

interface Measured {
  rows: number;
  sum: number;
  min: number;
  max: number;
}

function measure<X>(groups: Map<X, Measured>, x: X, y: number | undefined): void {
  let group = groups.get(x);
  if (group === undefined) {
    group = { rows: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
    groups.set(x, group);
  }
  group.rows++;
  if (y === undefined) return;
  group.sum += y;
  if (y < group.min) group.min = y;
  if (y > group.max) group.max = y;
}

function valueOf({ rows, sum, min, max }: Measured, wanted: ChartMeasure): number {
  return { count: rows, sum, mean: sum / rows, min, max }[wanted];
}

function byPosition(a: { x: string | number }, b: { x: string | number }): number {
  if (typeof a.x === 'number' && typeof b.x === 'number') return a.x - b.x;
  return String(a.x) < String(b.x) ? -1 : 1;
}

const DAY_MS = 86_400_000;
const DURATIONS = [
  1,
  10,
  100,
  1_000,
  10_000,
  60_000,
  600_000,
  3_600_000,
  21_600_000,
  DAY_MS,
  7 * DAY_MS,
  30 * DAY_MS,
  91 * DAY_MS,
  365 * DAY_MS,
];

function roundDuration(ms: number): number {
  return DURATIONS.find((one) => one >= ms) ?? Math.ceil(ms / (365 * DAY_MS)) * 365 * DAY_MS;
}

/** Ms since 1970; NaN for other text. */
function momentOf(text: string): number {
  // Ten times faster for the common case of a date alone.
  if (text.length === 10) return Date.parse(text);
  const instant = instantOf(text);
  return instant === null ? Number.NaN : Date.parse(`${instant.slice(0, 23)}Z`);
}
