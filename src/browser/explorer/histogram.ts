/** Events over time, up to now where the span has no end, split by a field of the reader's choice. */
import { askJson, messageOf } from '../shared/ask.ts';
import { drawChart } from '../shared/chart/chart.ts';
import type { ChartData } from '../shared/chart/data.ts';
import { make, makeSelect, quietButton } from '../shared/element.ts';
import { isFarFromServer, localNumber, localTime, serverDay } from '../shared/times.ts';

interface Histogram {
  readonly interval: string;
  readonly from: string;
  readonly to: string;
  readonly buckets: readonly {
    readonly t: string;
    readonly count: number;
    readonly series?: Readonly<Record<string, number>>;
  }[];
  readonly series?: readonly string[];
  readonly total: number;
  readonly truncated: boolean;
}

interface HistogramView {
  readonly selection: URLSearchParams;
  /** Field whose values the bars are split by; `''`: none. */
  readonly by: string;
  /** Names to choose from. */
  readonly fields: Promise<readonly string[]>;
  /** Null while the bars end with the span asked for. */
  readonly until: Date | null;
  zoom(from: Date, to: Date): void;
  split(field: string): void;
}

const HEIGHT = 128;
/** With `OTHER` and events without the field, as many as there are colours. */
const MAX_VALUES = 8;

/** Resolves with the number of events; null where it is not known. */
export async function showHistogram(
  place: HTMLElement,
  view: HistogramView,
): Promise<number | null> {
  const caption = make('p.fine', { 'aria-live': 'polite' }, 'Counting events over time…');
  if (place.childElementCount === 0) place.replaceChildren(caption);
  place.hidden = false;
  place.setAttribute('aria-busy', 'true');
  try {
    const asked = new URLSearchParams(view.selection);
    if (view.by !== '') {
      asked.set('by', view.by);
      asked.set('limit', String(MAX_VALUES));
    }
    const found = await askJson<Histogram>(`/api/events/histogram?${asked}`);
    if (found.total === 0) place.hidden = true;
    else drawHistogram(place, found, view);
    return found.truncated ? null : found.total;
  } catch (error) {
    const again = quietButton('Try again', () => void showHistogram(place, view));
    caption.textContent = `The events could not be counted over time: ${messageOf(error)}`;
    place.replaceChildren(caption, again);
    return null;
  } finally {
    place.removeAttribute('aria-busy');
  }
}

function drawHistogram(place: HTMLElement, found: Histogram, view: HistogramView): void {
  const { zoom, selection, until, by, fields, split } = view;
  const timezone = selection.get('timezone');
  // Bars of a UTC day or longer are labelled without a time, unless the days are of another zone.
  const isOfDays = /\d(?:d|w|mon|y)$/.test(found.interval) && timezone === null;
  const about = found.truncated ? 'At least ' : '';
  const isFar = isOfDays && isFarFromServer(new Date(found.from));
  const zone = isFar ? ' (UTC)' : timezone === null ? '' : ` (${timezone})`;
  const text = `${about}${eventsText(found.total)}, each bar ${spanText(found.interval)}${zone}`;
  const caption = make('p.fine', { 'aria-live': 'polite' }, text);
  const [from, to] = [Date.parse(found.from), Date.parse(found.to)];
  const half = Math.max(1000, (to - from) / 2);
  const zoomOut = (): void => zoom(new Date(from - half), new Date(to + half));
  const head = make('div.histogram-head', caption);
  void fields.then((names) => {
    const choices = [...new Set([...(by === '' ? [] : [by]), ...names])];
    const options = choices.map((name) => [name, `By ${name}`] as const);
    if (options.length === 0) return;
    caption.after(makeSelect('Split the bars', [['', 'Not split'], ...options], by, split));
  });
  if (!Number.isNaN(half)) head.append(quietButton('Zoom out', zoomOut));
  const bars = place.querySelector<HTMLElement>('.bars') ?? make('div.bars');
  place.replaceChildren(head, bars);
  const span = Number.isNaN(from) ? null : ([new Date(from), until ?? new Date(to)] as const);
  drawChart(bars, dataOf(found), {
    form: 'stacked-bar',
    label: 'Events over time',
    height: HEIGHT,
    key: 'h',
    table: 'hidden',
    sumText: eventsText,
    zoom,
    ...(span !== null && { span }),
    placeText: (seconds) => {
      const start = new Date(seconds * 1000);
      return isOfDays ? serverDay(start) : localTime(start);
    },
  });
}

function dataOf({ buckets, series }: Histogram): ChartData {
  const names = series ?? ['events'];
  return {
    columns: [{ name: 'time', type: 'time' }, ...names.map((name) => ({ name, type: 'number' }))],
    rows: buckets.map(({ t, count, series: counts }) => ({
      ...(counts === undefined
        ? { events: count }
        : Object.fromEntries(names.map((name) => [name, counts[name] ?? 0]))),
      time: t,
    })),
  };
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
