/**
 * What a chart shows of a result: places across, which are times or names, and up to ten series. A second column of names splits
 * the first column of numbers; a single row is drawn as one bar for each of its numbers.
 */
import { levelNamed, rankOf } from '../../../base/text/level-names.ts';
import type { ChartForm } from './forms.ts';

export interface ChartData {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface ChartSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** The sum of series that have no colour of their own. */
  readonly isRest: boolean;
}

export interface ChartModel {
  readonly xName: string;
  readonly isTimed: boolean;
  /** Seconds of each place, or 0, 1, 2 … */
  readonly xs: readonly number[];
  readonly labels: readonly string[];
  readonly series: readonly ChartSeries[];
  /** What is not shown, in words. */
  readonly notes: readonly string[];
}

const MAX_SERIES = 10;
/** More bars of names are too thin to tell apart. */
const MAX_PLACES = 100;
const REST = /^(?:OTHER|others)$/;
/** Series of `timechart … by` for events without the field. */
const NONE = 'NULL';

type Columns = ChartData['columns'];
type Row = ChartData['rows'][number];

/** `sumsRest`: what is beyond ten series is one series more; otherwise it is left out, which the notes say. */
function chartModel(
  { columns, rows }: ChartData,
  { sumsRest, most = MAX_PLACES }: { readonly sumsRest: boolean; readonly most?: number },
): ChartModel {
  const numbers = columns.filter(({ name, type }) => isNumeric(rows, name, type));
  // Of several rows of numbers only, the first says what the others are of, such as status codes.
  const isNamedByNumber =
    numbers.length === columns.length && numbers.length > 1 && rows.length > 1;
  const numeric = isNamedByNumber ? numbers.slice(1) : numbers;
  const named = columns.filter((column) => !numeric.includes(column));
  const time = named.find(
    ({ name, type }) => type === 'time' && rows.some((row) => secondsOf(row[name]) !== null),
  );
  const across = time ?? named[0];
  if (across === undefined) return ofNumbers(numeric, rows, sumsRest);
  const names = named.filter((column) => column !== across);
  const keyOf = (row: Row): string => textOf(row[across.name]);
  const isRepeated = new Set(rows.map(keyOf)).size < rows.length;
  const splitting = isRepeated ? names[0] : undefined;
  const labelOf = (row: Row): string =>
    time !== undefined || splitting !== undefined
      ? keyOf(row)
      : [across, ...names].map(({ name }) => textOf(row[name])).join(' · ');
  const figures = numeric.map(({ name }) => name);
  // Without a second name each row is a place, also where times or names repeat.
  const places = new Map<string | Row, { label: string; values: Map<string, number | null> }>();
  const weights = new Map<string, number>();
  for (const row of rows) {
    if (time !== undefined && secondsOf(row[time.name]) === null) continue;
    const key = splitting === undefined ? row : keyOf(row);
    const place = places.get(key) ?? { label: labelOf(row), values: new Map() };
    places.set(key, place);
    const { values } = place;
    for (const figure of figures) {
      const series = seriesName(row, splitting?.name, figure, figures.length);
      const value = numberOf(row[figure]);
      const before = values.get(series);
      values.set(series, before === undefined || before === null ? value : before + (value ?? 0));
      weights.set(series, (weights.get(series) ?? 0) + Math.abs(value ?? 0));
    }
  }
  const inOrder = [...places.values()];
  const sorted =
    time === undefined
      ? inOrder
      : inOrder.toSorted((a, b) => secondsOf(a.label)! - secondsOf(b.label)!);
  const shown = time === undefined ? sorted.slice(0, most) : sorted;
  const all = [...weights.keys()].map((name) => ({
    name,
    weight: weights.get(name)!,
    values: shown.map(({ values }) => values.get(name) ?? null),
  }));
  const { series, notes } = chosenSeries(all, sumsRest);
  return {
    xName: across.name,
    isTimed: time !== undefined,
    xs: time === undefined ? [...shown.keys()] : shown.map(({ label }) => secondsOf(label)!),
    labels: shown.map(({ label }) => label || '(empty)'),
    series,
    notes:
      shown.length < sorted.length
        ? [`The first ${most} of ${sorted.length} rows.`, ...notes]
        : notes,
  };
}

function ofNumbers(numeric: Columns, rows: readonly Row[], sumsRest: boolean): ChartModel {
  const [first] = rows;
  const labels =
    rows.length === 1 ? numeric.map(({ name }) => name) : rows.map((_, at) => String(at + 1));
  const all =
    rows.length === 1
      ? [{ name: 'value', weight: 1, values: numeric.map(({ name }) => numberOf(first![name])) }]
      : numeric.map(({ name }) => ({
          name,
          weight: 1,
          values: rows.map((row) => numberOf(row[name])),
        }));
  const { series, notes } = chosenSeries(all, sumsRest);
  return { xName: '', isTimed: false, xs: [...labels.keys()], labels, series, notes };
}

interface Weighed {
  readonly name: string;
  readonly weight: number;
  readonly values: readonly (number | null)[];
}

function chosenSeries(
  all: readonly Weighed[],
  sumsRest: boolean,
): Pick<ChartModel, 'series' | 'notes'> {
  const rest = all.filter(({ name }) => REST.test(name));
  const own = all.filter(({ name }) => !REST.test(name));
  const largest = new Set(
    own
      .toSorted((a, b) => Number(a.name === NONE) - Number(b.name === NONE) || b.weight - a.weight)
      .slice(0, MAX_SERIES),
  );
  const beyond = own.filter((one) => !largest.has(one));
  const ranks = new Map(own.map(({ name }) => [name, rankOfName(name)]));
  const areLevels =
    own.length > 0 && own.every(({ name }) => name === NONE || ranks.get(name) !== null);
  const kept = own.filter((one) => largest.has(one));
  const ordered = areLevels
    ? kept.toSorted((a, b) => (ranks.get(a.name) ?? 99) - (ranks.get(b.name) ?? 99))
    : kept;
  const summed = sumsRest ? [...rest, ...beyond] : rest;
  const series = ordered.map(({ name, values }) => ({ name, values, isRest: false }));
  const sum = (at: number): number =>
    summed.reduce((total, { values }) => total + (values[at] ?? 0), 0);
  const restValues = (summed[0]?.values ?? []).map((_, at) => sum(at));
  const name = beyond.length > 0 && sumsRest ? `${beyond.length} others` : 'others';
  return {
    series: summed.length === 0 ? series : [...series, { name, values: restValues, isRest: true }],
    notes:
      beyond.length === 0 || sumsRest
        ? []
        : [`The ${MAX_SERIES} largest of ${own.length}; the table has all.`],
  };
}

/** Null for what is no level. */
function rankOfName(name: string): number | null {
  const level = levelNamed(name);
  return level === null ? null : rankOf(level);
}

function seriesName(
  row: Row,
  splitting: string | undefined,
  figure: string,
  figures: number,
): string {
  if (splitting === undefined) return figure;
  const text = textOf(row[splitting]) || '(empty)';
  return figures === 1 ? text : `${text}: ${figure}`;
}

function isNumeric(rows: readonly Row[], name: string, type: string): boolean {
  if (type === 'time') return false;
  const values = rows
    .map((row) => row[name])
    .filter((value) => value !== null && value !== undefined && value !== '');
  return values.length > 0 && values.every((value) => typeof value === 'number');
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function secondsOf(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? null : ms / 1000;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A pie has one place and a slice for each name; the other forms show the data as they are. */
export function modelOf(data: ChartData, form: ChartForm): ChartModel {
  const isSummed = form !== 'line' && form !== 'area' && form !== 'bar' && form !== 'single';
  if (form !== 'pie') return chartModel(data, { sumsRest: isSummed });
  const whole = chartModel(data, { sumsRest: true, most: Infinity });
  const sum = ({ values }: ChartSeries): number =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const parts =
    whole.isTimed || whole.series.length > 1
      ? whole.series.map((one) => ({ name: one.name, value: sum(one), isRest: one.isRest }))
      : whole.labels.map((name, at) => ({
          name,
          value: whole.series[0]?.values[at] ?? 0,
          isRest: /^(?:OTHER|others)$/.test(name),
        }));
  const sorted = parts.filter(({ value }) => value > 0).toSorted((a, b) => b.value - a.value);
  const own = sorted.filter(({ isRest }) => !isRest);
  const rest = [...sorted.filter(({ isRest }) => isRest), ...own.slice(MAX_SERIES)];
  const slices = own.slice(0, MAX_SERIES);
  if (rest.length > 0) {
    const value = rest.reduce((total, one) => total + one.value, 0);
    slices.push({
      name: `${rest.length === 1 ? '' : `${rest.length} `}others`,
      value,
      isRest: true,
    });
  }
  return {
    xName: whole.isTimed || whole.series.length > 1 ? '' : whole.xName,
    isTimed: false,
    xs: slices.length === 0 ? [] : [0],
    labels: [''],
    series: slices.map(({ name, value, isRest }) => ({ name, values: [value], isRest })),
    notes: [],
  };
}
