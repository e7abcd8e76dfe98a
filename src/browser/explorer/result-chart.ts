/**
 * A chart of the result table: lines over times, else bars by the first column. Results over time
 * are drawn at once.
 */
import uPlot from 'uplot';
import { make } from '../shared/element.ts';
import { keepInPlace, numberAxis, PLOT_PADDING, timeAxis, widthOf } from '../shared/plot.ts';
import { tokenColor } from '../shared/token-color.ts';
import { localNumber, localTime } from '../shared/times.ts';

export interface BarDrawing {
  readonly labels: readonly string[];
  readonly series: readonly Series[];
}

interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** Name of a CSS colour token. */
  readonly color: string;
}

declare global {
  /** Returns a function that removes the chart. */
  var svcDrawBars: ((canvas: HTMLCanvasElement, drawing: BarDrawing) => () => void) | undefined;
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
    place = isShown ? placeOf(result) : null;
    if (place !== null) {
      table.closest('.scroll')!.before(place);
      draw(place, result, button.dataset['script'] ?? '');
    }
    button.setAttribute('aria-pressed', String(isShown));
    button.textContent = isShown ? 'Hide the chart' : 'Chart';
  };
  const chosen = new URLSearchParams(location.search).get('chart');
  if (chosen === null ? result.times !== null : chosen === '1') show(true);
  button.addEventListener('click', () => {
    show(place === null);
    const address = new URL(location.href);
    address.searchParams.set('chart', place === null ? '0' : '1');
    history.replaceState(history.state, '', address);
  });
}

interface Result {
  readonly labels: readonly string[];
  /** Seconds; null when the first column holds no times. */
  readonly times: readonly number[] | null;
  readonly series: readonly Series[];
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

function placeOf({ labels, times }: Result): HTMLElement {
  const place = make('figure', {
    class: 'chart',
    'aria-label': 'Chart of the result; the table below has the same figures',
  });
  if (times === null && labels.length > MAX_BARS) {
    place.append(make('figcaption', { class: 'fine' }, `The first ${MAX_BARS} rows`));
  }
  return place;
}

function draw(place: HTMLElement, result: Result, script: string): void {
  if (result.times !== null) drawLines(place, result.times, result.series);
  else void drawBars(place, result, script);
}

function drawLines(place: HTMLElement, times: readonly number[], all: readonly Series[]): void {
  const plot = new uPlot(
    {
      width: widthOf(place),
      height: HEIGHT,
      padding: PLOT_PADDING,
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { y: { range: (_, low, high) => rangeOf(low, high) } },
      axes: [timeAxis(), numberAxis(64)],
      legend: { markers: { width: 0, fill: (_, index) => tokenColor(all[index - 1]!.color) } },
      series: [
        { label: 'Time', value: (_, at) => (at === null ? '' : localTime(new Date(at * 1000))) },
        ...all.map(({ name, color }) => ({
          label: name,
          stroke: () => tokenColor(color),
          width: 2,
          points: { show: times.length === 1 },
          value: (_: uPlot, value: number | null) => (value === null ? '' : localNumber(value)),
        })),
      ],
    },
    [[...times], ...all.map(({ values }) => [...values])],
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

/** Areas and counts start at zero. */
function rangeOf(low: number, high: number): [number, number] {
  const [bottom, top] = [Math.min(0, low ?? 0), Math.max(0, high ?? 0)];
  return bottom === top ? [0, 1] : [bottom * 1.05, top * 1.05];
}

async function drawBars(
  place: HTMLElement,
  { labels, series }: Result,
  script: string,
): Promise<void> {
  const canvas = make('canvas', { role: 'img', 'aria-label': 'Bars of the result' });
  const box = make('div', { class: 'bars-box' }, canvas);
  place.append(box);
  try {
    await import(script);
  } catch {
    // No connection; the table still has the figures.
    box.replaceChildren(
      make('p', { class: 'fine', role: 'status' }, 'The chart could not be fetched.'),
    );
    return;
  }
  const drawing = {
    labels: labels.slice(0, MAX_BARS),
    series: series.map((one) => ({ ...one, values: one.values.slice(0, MAX_BARS) })),
  };
  let clear = globalThis.svcDrawBars!(canvas, drawing);
  document.addEventListener('svc:theme', () => {
    if (!canvas.isConnected) return;
    clear();
    clear = globalThis.svcDrawBars!(canvas, drawing);
  });
}
