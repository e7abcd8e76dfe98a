/** Dragging by mouse, finger or keys zooms in, to the edges of whole bars. */
import uPlot from 'uplot';
import { askJson, messageOf } from '../shared/ask.ts';
import { make, quietButton } from '../shared/element.ts';
import { keepInPlace, numberAxis, PLOT_PADDING, timeAxis, widthOf } from '../shared/plot.ts';
import { tokenColor } from '../shared/token-color.ts';
import { isFarFromServer, localNumber, localTime, serverDay } from '../shared/times.ts';

interface Histogram {
  readonly interval: string;
  readonly from: string;
  readonly to: string;
  readonly buckets: readonly { readonly t: string; readonly count: number }[];
  readonly total: number;
  readonly truncated: boolean;
}

type Zoom = (from: Date, to: Date) => void;

const HEIGHT = 128;
/** A shorter drag is a click. */
const MIN_DRAG_PX = 6;
const LABEL =
  'Events over time: the arrow keys go from bar to bar, with Shift they mark a span, Enter zooms into it';
const KEYS = ['←+→ Go over the bars', 'Shift+←+→ Mark a span of time', 'Enter Zoom into it'];

/** Resolves with the number of events; null where it is not known. */
export async function showHistogram(
  place: HTMLElement,
  selection: URLSearchParams,
  zoom: Zoom,
): Promise<number | null> {
  const caption = make('p.fine', { 'aria-live': 'polite' }, 'Counting events over time…');
  place.replaceChildren(caption);
  place.hidden = false;
  try {
    const found = await askJson<Histogram>(`/api/events/histogram?${selection}`);
    if (found.total === 0) place.hidden = true;
    else drawHistogram(place, found, { zoom, caption, timezone: selection.get('timezone') });
    return found.truncated ? null : found.total;
  } catch (error) {
    const again = quietButton('Try again', () => void showHistogram(place, selection, zoom));
    caption.textContent = `The events could not be counted over time: ${messageOf(error)}`;
    place.append(again);
    return null;
  }
}

interface Frame {
  readonly zoom: Zoom;
  readonly caption: HTMLElement;
  readonly timezone: string | null;
}

function drawHistogram(place: HTMLElement, found: Histogram, frame: Frame): void {
  const { zoom, caption, timezone } = frame;
  const starts = found.buckets.map(({ t }) => Date.parse(t) / 1000);
  const counts = found.buckets.map(({ count }) => count);
  /** Seconds. */
  const step = stepOf(starts, found);
  const last = starts.length - 1;
  // Bars of a UTC day or longer are labelled without a time, unless the days are of another zone.
  const isOfDays = /\d(?:d|w|mon|y)$/.test(found.interval) && timezone === null;
  const about = found.truncated ? 'At least ' : '';
  const isFar = isOfDays && isFarFromServer(new Date(found.from));
  const zone = isFar ? ' (UTC)' : timezone === null ? '' : ` (${timezone})`;
  caption.textContent = `${about}${eventsText(found.total)}, each bar ${spanText(found.interval)}${zone}`;

  const nameOf = (bar: number): string => {
    const start = new Date(starts[bar]! * 1000);
    return isOfDays ? serverDay(start) : localTime(start);
  };
  const endOf = (bar: number): Date => new Date((starts[bar + 1] ?? starts[bar]! + step) * 1000);
  const textOf = (low: number, high = low): string => {
    const sum = counts.slice(low, high + 1).reduce((total, count) => total + count, 0);
    const end = isOfDays ? nameOf(high) : localTime(endOf(high));
    return `${nameOf(low)}${low === high ? '' : ` to ${end}`}: ${eventsText(sum)}`;
  };
  // Months differ in length: the nearest start at or before it.
  const barAt = (x: number): number => {
    const seconds = plot.posToVal(x, 'x');
    return Math.max(
      0,
      starts.findLastIndex((start) => start <= seconds),
    );
  };
  const zoomInto = (low: number, high: number): void =>
    zoom(new Date(starts[low]! * 1000), endOf(high));
  const mark = (left: number, width: number): void =>
    plot.setSelect({ left, width, top: 0, height: plot.over.clientHeight }, false);
  /** At the end of a drag; marking by keys has none. */
  const drop = (left: number, width: number): void => {
    if (width >= MIN_DRAG_PX) zoomInto(barAt(left), barAt(left + width - 1));
  };

  const shown = make('span.readout', { 'aria-hidden': 'true' });
  const said = make('div.visually-hidden', { 'aria-live': 'polite' });
  const canvas = make('div.bars', {
    tabindex: 0,
    role: 'application',
    'aria-label': LABEL,
    'data-key': 'h',
    'data-keys': KEYS.join('\n'),
  });
  const head = make('div.histogram-head', caption, shown);
  const [from, to] = [Date.parse(found.from), Date.parse(found.to)];
  const half = Math.max(1000, (to - from) / 2);
  const zoomOut = (): void => zoom(new Date(from - half), new Date(to + half));
  if (!Number.isNaN(half)) head.append(quietButton('Zoom out', zoomOut));
  // The same figures, for screen readers.
  const rows = found.buckets.flatMap(({ count }, bar) =>
    count === 0 ? [] : [make('tr', make('td', nameOf(bar)), make('td', localNumber(count)))],
  );
  const title = make('caption', 'Events over time');
  const table = make('table.visually-hidden', title, make('tbody', rows));
  place.replaceChildren(head, canvas, said, table);

  const highest = Math.max(1, ...counts);
  const plot = new uPlot(
    {
      width: widthOf(canvas),
      height: HEIGHT,
      padding: PLOT_PADDING,
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      scales: {
        x: { range: () => [starts[0]!, starts[last]! + step] },
        y: { range: [0, highest] },
      },
      axes: [timeAxis(), { ...numberAxis(), splits: () => [0, highest] }],
      series: [
        {},
        {
          fill: () => tokenColor('--accent'),
          paths: uPlot.paths.bars!({ size: [0.9, 64], align: 1 }),
          points: { show: false },
        },
      ],
      hooks: {
        setCursor: [
          ({ cursor: { left = -1 } }) => (shown.textContent = left < 0 ? '' : textOf(barAt(left))),
        ],
        setSelect: [({ select }) => drop(select.left, select.width)],
      },
    },
    [starts, counts],
    canvas,
  );
  keepInPlace(plot, canvas, HEIGHT);
  followFinger(plot, mark, drop);

  let at: number | null = null;
  let anchor = 0;
  canvas.addEventListener('click', () => canvas.focus());
  canvas.addEventListener('keydown', (event) => {
    const goal = goalOf(event.key, at, last);
    if (goal !== null) {
      at = goal;
      if (!event.shiftKey) anchor = goal;
      const [low, high] = [Math.min(at, anchor), Math.max(at, anchor)];
      plot.setCursor({ left: -10, top: -10 });
      const left = plot.valToPos(starts[low]!, 'x');
      mark(left, plot.valToPos(starts[high]! + step, 'x') - left);
      shown.textContent = said.textContent = textOf(low, high);
    } else if (event.key === 'Enter' && at !== null) {
      zoomInto(Math.min(at, anchor), Math.max(at, anchor));
    } else if (event.key === 'Escape' && at !== null) {
      at = null;
      mark(0, 0);
    } else return;
    event.preventDefault();
  });
}

/** uPlot handles mouse drags; a finger would scroll the page instead. */
function followFinger(
  plot: uPlot,
  mark: (left: number, width: number) => void,
  drop: (left: number, width: number) => void,
): void {
  const { over } = plot;
  let start: number | null = null;
  const xOf = ({ clientX }: PointerEvent): number => {
    const { left, width } = over.getBoundingClientRect();
    return Math.min(width, Math.max(0, clientX - left));
  };
  over.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse') return;
    start = xOf(event);
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener('pointermove', (event) => {
    if (start === null) return;
    const x = xOf(event);
    mark(Math.min(start, x), Math.abs(x - start));
    plot.setCursor({ left: x, top: 0 });
  });
  over.addEventListener('pointerup', (event) => {
    if (start === null) return;
    const x = xOf(event);
    drop(Math.min(start, x), Math.abs(x - start));
    start = null;
  });
  over.addEventListener('pointercancel', () => {
    start = null;
    mark(0, 0);
  });
}

function goalOf(key: string, at: number | null, last: number): number | null {
  if (key === 'ArrowLeft') return at === null ? last : Math.max(0, at - 1);
  if (key === 'ArrowRight') return at === null ? 0 : Math.min(last, at + 1);
  if (key === 'Home') return 0;
  return key === 'End' ? last : null;
}

function stepOf(starts: readonly number[], { from, to }: Histogram): number {
  if (starts.length > 1) return starts[1]! - starts[0]!;
  return Math.max(1, (Date.parse(to) - Date.parse(from)) / 1000 || 1);
}

const UNITS: Readonly<Record<string, string>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  mon: 'month',
  y: 'year',
};

function spanText(interval: string): string {
  const [, count = '', unit = ''] = /^(\d+)([a-z]+)$/.exec(interval) ?? [];
  const noun = UNITS[unit];
  return noun === undefined ? interval : `${count} ${noun}${count === '1' ? '' : 's'}`;
}

function eventsText(count: number): string {
  return `${localNumber(count)} ${count === 1 ? 'event' : 'events'}`;
}
