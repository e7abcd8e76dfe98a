/** Dragging by mouse, finger or keys zooms in, to the edges of whole bars. */
import uPlot from 'uplot';
import { make, quietButton } from '../grid/element.ts';
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

export async function showHistogram(
  place: HTMLElement,
  selection: URLSearchParams,
  zoom: Zoom,
): Promise<number | null> {
  const caption = make('p', { class: 'fine', 'aria-live': 'polite' }, 'Counting events over time…');
  place.replaceChildren(caption);
  place.hidden = false;
  const found = await countOver(selection);
  if (typeof found === 'string') {
    const again = quietButton('Try again', () => void showHistogram(place, selection, zoom));
    caption.textContent = `The events could not be counted over time: ${found}`;
    place.append(again);
    return null;
  }
  if (found.total === 0) place.hidden = true;
  else new Plot(place, found, zoom, caption, selection.get('timezone'));
  return found.truncated ? null : found.total;
}

async function countOver(selection: URLSearchParams): Promise<Histogram | string> {
  try {
    const response = await fetch(`/api/events/histogram?${selection}`);
    const answer = (await response.json()) as Histogram & { detail?: string; error?: string };
    if (response.ok) return answer;
    return answer.detail ?? answer.error ?? `the server answered ${response.status}`;
  } catch {
    // No response, or one that is not this server's.
    return 'the server does not answer.';
  }
}

class Plot {
  readonly #plot: uPlot;
  readonly #starts: readonly number[];
  readonly #counts: readonly number[];
  /** Seconds. */
  readonly #step: number;
  /** Bars of a UTC day or longer are labelled without a time. */
  readonly #isOfDays: boolean;
  readonly #zoom: Zoom;
  readonly #shown = make('span', { class: 'readout', 'aria-hidden': 'true' });
  readonly #said = make('div', { class: 'visually-hidden', 'aria-live': 'polite' });
  #at: number | null = null;
  #anchor = 0;

  constructor(
    place: HTMLElement,
    found: Histogram,
    zoom: Zoom,
    caption: HTMLElement,
    timezone: string | null,
  ) {
    this.#zoom = zoom;
    this.#starts = found.buckets.map(({ t }) => Date.parse(t) / 1000);
    this.#counts = found.buckets.map(({ count }) => count);
    this.#step = stepOf(this.#starts, found);
    const about = found.truncated ? 'At least ' : '';
    // Days in another zone are labelled by the moment they begin.
    this.#isOfDays = isOfDays(found) && timezone === null;
    const isFar = this.#isOfDays && isFarFromServer(new Date(found.from));
    const zone = isFar ? ' (UTC)' : timezone === null ? '' : ` (${timezone})`;
    caption.textContent = `${about}${eventsText(found.total)}, each bar ${spanText(found.interval)}${zone}`;
    const canvas = make('div', {
      class: 'bars',
      tabindex: 0,
      role: 'application',
      'aria-label': LABEL,
      'data-key': 'h',
      'data-keys': KEYS.join('\n'),
    });
    const head = make('div', { class: 'histogram-head' }, caption, this.#shown);
    const ends = [Date.parse(found.from), Date.parse(found.to)] as const;
    if (ends.every((end) => !Number.isNaN(end))) head.append(this.#zoomOut(...ends));
    place.replaceChildren(head, canvas, this.#said, tableOf(found));
    this.#plot = this.#draw(canvas);
    keepInPlace(this.#plot, canvas, HEIGHT);
    canvas.addEventListener('click', () => canvas.focus());
    canvas.addEventListener('keydown', (event) => this.#press(event));
    this.#follow(this.#plot.over);
  }

  #draw(place: HTMLElement): uPlot {
    const first = this.#starts[0]!;
    const end = this.#starts.at(-1)! + this.#step;
    const highest = Math.max(1, ...this.#counts);
    const options: uPlot.Options = {
      width: widthOf(place),
      height: HEIGHT,
      padding: PLOT_PADDING,
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      scales: {
        x: { range: () => [first, end] },
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
        setCursor: [(plot) => this.#tell(plot)],
        setSelect: [(plot) => this.#drop(plot.select.left, plot.select.width)],
      },
    };
    return new uPlot(options, [[...this.#starts], [...this.#counts]], place);
  }

  #zoomOut(from: number, to: number): HTMLElement {
    const half = Math.max(1000, (to - from) / 2);
    return quietButton('Zoom out', () => this.#zoom(new Date(from - half), new Date(to + half)));
  }

  #tell(plot: uPlot): void {
    const { left = -1 } = plot.cursor;
    this.#shown.textContent = left < 0 ? '' : this.#textOf(this.#barAt(plot.posToVal(left, 'x')));
  }

  /** At the end of a drag; marking by keys has none. */
  #drop(left: number, width: number): void {
    if (width < MIN_DRAG_PX) return;
    const at = (x: number): number => this.#barAt(this.#plot.posToVal(x, 'x'));
    this.#zoomInto(at(left), at(left + width - 1));
  }

  #zoomInto(first: number, last: number): void {
    this.#zoom(new Date(this.#starts[first]! * 1000), this.#endOf(last));
  }

  /** uPlot handles mouse drags; a finger would scroll the page instead. */
  #follow(over: HTMLElement): void {
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
      this.#mark(Math.min(start, x), Math.abs(x - start));
      this.#plot.setCursor({ left: x, top: 0 });
    });
    over.addEventListener('pointerup', (event) => {
      if (start === null) return;
      const x = xOf(event);
      this.#drop(Math.min(start, x), Math.abs(x - start));
      start = null;
    });
    over.addEventListener('pointercancel', () => {
      start = null;
      this.#mark(0, 0);
    });
  }

  #press(event: KeyboardEvent): void {
    const { key } = event;
    const last = this.#starts.length - 1;
    const to = goalOf(key, this.#at, last);
    if (to !== null) {
      this.#at = to;
      if (!event.shiftKey) this.#anchor = to;
      this.#point();
    } else if (key === 'Enter' && this.#at !== null) {
      this.#zoomInto(Math.min(this.#at, this.#anchor), Math.max(this.#at, this.#anchor));
    } else if (key === 'Escape' && this.#at !== null) {
      this.#at = null;
      this.#mark(0, 0);
    } else return;
    event.preventDefault();
  }

  #point(): void {
    const at = this.#at!;
    const [low, high] = [Math.min(at, this.#anchor), Math.max(at, this.#anchor)];
    const x = (seconds: number): number => this.#plot.valToPos(seconds, 'x');
    this.#plot.setCursor({ left: -10, top: -10 });
    const left = x(this.#starts[low]!);
    this.#mark(left, x(this.#starts[high]! + this.#step) - left);
    const counts = this.#counts.slice(low, high + 1);
    const text =
      low === high
        ? this.#textOf(at)
        : `${this.#nameOf(low)} to ${this.#lastOf(high)}: ${eventsText(sum(counts))}`;
    this.#shown.textContent = text;
    this.#said.textContent = text;
  }

  #mark(left: number, width: number): void {
    this.#plot.setSelect({ left, width, top: 0, height: this.#plot.over.clientHeight }, false);
  }

  #barAt(seconds: number): number {
    const bar = Math.floor((seconds - this.#starts[0]!) / this.#step);
    // Months differ in length: take the nearest start at or before it.
    const near = Math.min(this.#starts.length - 1, Math.max(0, bar));
    const later = this.#starts.findLastIndex((start) => start <= seconds);
    return later < 0 ? near : later;
  }

  #nameOf(bar: number): string {
    return startName(new Date(this.#starts[bar]! * 1000), this.#isOfDays);
  }

  #lastOf(bar: number): string {
    return this.#isOfDays ? this.#nameOf(bar) : localTime(this.#endOf(bar));
  }

  #endOf(bar: number): Date {
    return new Date((this.#starts[bar + 1] ?? this.#starts[bar]! + this.#step) * 1000);
  }

  #textOf(bar: number): string {
    return `${this.#nameOf(bar)}: ${eventsText(this.#counts[bar]!)}`;
  }
}

function goalOf(key: string, at: number | null, last: number): number | null {
  switch (key) {
    case 'ArrowLeft':
      return at === null ? last : Math.max(0, at - 1);
    case 'ArrowRight':
      return at === null ? 0 : Math.min(last, at + 1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}

function stepOf(starts: readonly number[], { from, to }: Histogram): number {
  if (starts.length > 1) return starts[1]! - starts[0]!;
  return Math.max(1, (Date.parse(to) - Date.parse(from)) / 1000 || 1);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
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

function isOfDays({ interval }: Histogram): boolean {
  return /\d(?:d|w|mon|y)$/.test(interval);
}

function startName(start: Date, isDay: boolean): string {
  return isDay ? serverDay(start) : localTime(start);
}

function spanText(interval: string): string {
  const [, count = '', unit = ''] = /^(\d+)([a-z]+)$/.exec(interval) ?? [];
  const noun = UNITS[unit];
  return noun === undefined ? interval : `${count} ${noun}${count === '1' ? '' : 's'}`;
}

function eventsText(count: number): string {
  return `${localNumber(count)} ${count === 1 ? 'event' : 'events'}`;
}

/** The same figures as a table, for screen readers. */
function tableOf(found: Histogram): HTMLElement {
  const table = make('table', { class: 'visually-hidden' });
  table.createCaption().textContent = 'Events over time';
  for (const { t, count } of found.buckets) {
    if (count === 0) continue;
    const row = table.insertRow();
    row.insertCell().textContent = startName(new Date(t), isOfDays(found));
    row.insertCell().textContent = localNumber(count);
  }
  return table;
}
