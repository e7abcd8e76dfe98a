/**
 * A chart of the result table: lines over times, else bars by the first column. Results over time
 * are drawn at once.
 */
import uPlot from 'uplot';
import { make } from '../shared/element.ts';
import {
  keepInPlace,
  numberAxis,
  placeAxis,
  placeBars,
  PLOT_PADDING,
  rangeFromZero,
  timeAxis,
  widthOf,
} from '../shared/plot.ts';
import { tokenColor } from '../shared/token-color.ts';
import { localNumber, localTime } from '../shared/times.ts';
import { noteInAddress } from './times.ts';

interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** Name of a CSS colour token. */
  readonly color: string;
}

interface Result {
  readonly labels: readonly string[];
  /** Seconds; null when the first column holds no times. */
  readonly times: readonly number[] | null;
  readonly series: readonly Series[];
}

const HEIGHT = 280;
const COLORS = ['--accent', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];
const COLOR_OF_LEVEL: Readonly<Record<string, string>> = {
  warn: '--series-2',
  warning: '--series-2',
  error: '--series-6',
  critical: '--series-6',
  fatal: '--series-6',
};
const MAX_SERIES = 12;
/** More bars are too thin to tell apart. */
const MAX_BARS = 100;

export function startResultChart(explorer: HTMLElement): void {
  const button = explorer.querySelector<HTMLButtonElement>('#chart');
  const table = explorer.querySelector<HTMLTableElement>('#result');
  if (button === null || table === null) return;
  const result = readResult(table);
  if (result.series.length === 0) return;
  button.hidden = false;
  let place: HTMLElement | null = null;
  const show = (isShown: boolean): void => {
    place?.remove();
    place = null;
    if (isShown) {
      const label = 'Chart of the result; the table below has the same figures';
      place = make('figure.chart', { 'aria-label': label });
      table.closest('.scroll')!.before(place);
      if (result.times === null) drawBars(place, result);
      else drawLines(place, result.times, result.series);
    }
    button.setAttribute('aria-pressed', String(isShown));
    button.textContent = isShown ? 'Hide the chart' : 'Chart';
  };
  const chosen = new URLSearchParams(location.search).get('chart');
  if (chosen === null ? result.times !== null : chosen === '1') show(true);
  button.addEventListener('click', () => {
    show(place === null);
    noteInAddress('chart', place === null ? '0' : '1');
  });
}

function readResult(table: HTMLTableElement): Result {
  const names = [...table.tHead!.rows[0]!.cells].map((cell) => cell.textContent ?? '');
  const rows = [...table.tBodies[0]!.rows].map((row) => [...row.cells]);
  const times = rows.map((cells) => cells[0]!.querySelector('time')?.dateTime ?? '');
  const isTimed = times.every((time) => time !== '');
  const series = names
    .map((name, index) => ({ name, values: rows.map((cells) => numberIn(cells[index]!)) }))
    .slice(1)
    .filter(({ values }) => values.some((value) => value !== null))
    .slice(0, MAX_SERIES);
  const colors = colorsOf(series.map(({ name }) => name));
  return {
    labels: rows.map((cells) => cells[0]!.textContent?.trim() || '(empty)'),
    times: isTimed ? times.map((time) => Date.parse(time) / 1000) : null,
    series: series.map((one, index) => ({ ...one, color: colors[index]! })),
  };
}

function colorsOf(names: readonly string[]): string[] {
  const known = names.map((name) => COLOR_OF_LEVEL[name.toLowerCase()]);
  const others = COLORS.filter((color) => !known.includes(color));
  let next = 0;
  return known.map((color) => color ?? others[next++ % others.length]!);
}

function numberIn(cell: HTMLTableCellElement): number | null {
  const value = cell.querySelector('data')?.value ?? '';
  return value === '' || Number.isNaN(Number(value)) ? null : Number(value);
}

function drawLines(place: HTMLElement, times: readonly number[], all: readonly Series[]): void {
  const points = { show: times.length === 1 };
  plotIn(place, [...times], all, {
    padding: PLOT_PADDING,
    scales: { y: { range: rangeFromZero } },
    axes: [timeAxis(), numberAxis(64)],
    series: [
      { label: 'Time', value: (_, at) => (at === null ? '' : localTime(new Date(at * 1000))) },
      ...all.map(({ color }) => ({ stroke: () => tokenColor(color), width: 2, points })),
    ],
  });
}

function drawBars(place: HTMLElement, { labels: all, series }: Result): void {
  const labels = all.slice(0, MAX_BARS);
  if (all.length > MAX_BARS) {
    place.append(make('figcaption.fine', `The first ${MAX_BARS} rows`));
  }
  const first = series.map((one) => ({ ...one, values: one.values.slice(0, MAX_BARS) }));
  plotIn(place, [...labels.keys()], first, {
    scales: {
      x: { time: false, range: [-0.5, labels.length - 0.5] },
      y: { range: rangeFromZero },
    },
    axes: [placeAxis(labels), numberAxis(64)],
    series: [
      { label: '', value: (_, at) => (at === null ? '' : (labels[at] ?? '')) },
      ...series.map(({ color }, index) => ({
        fill: () => tokenColor(color),
        paths: placeBars(index, series.length),
        points: { show: false },
      })),
    ],
  });
}

function plotIn(
  place: HTMLElement,
  across: number[],
  all: readonly Series[],
  options: Pick<uPlot.Options, 'axes' | 'padding' | 'scales' | 'series'>,
): void {
  const value = (_: uPlot, figure: number | null): string =>
    figure === null ? '' : localNumber(Number(figure.toPrecision(12)));
  const [first = {}, ...series] = options.series;
  const plot = new uPlot(
    {
      width: widthOf(place),
      height: HEIGHT,
      cursor: { y: false, drag: { x: false, y: false } },
      legend: { markers: { width: 0, fill: (_, index) => tokenColor(all[index - 1]!.color) } },
      ...options,
      series: [first, ...series.map((one, at) => ({ label: all[at]!.name, value, ...one }))],
    },
    [across, ...all.map(({ values }) => [...values])],
    place,
  );
  keepInPlace(plot, place, HEIGHT);
  // uPlot sets its legend colours only once.
  document.addEventListener('svc:theme', () => {
    const markers = plot.root.querySelectorAll<HTMLElement>(
      '.u-series:not(:first-child) .u-marker',
    );
    markers.forEach((marker, index) => {
      marker.style.background = tokenColor(all[index]!.color);
    });
  });
}
