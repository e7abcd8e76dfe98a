/**
 * What the plots of the explorer have in common: the colours of the look, axes in the reader's zone and way of writing, and a
 * width that follows the page, paper too.
 */
import type uPlot from 'uplot';
import { localNumber } from './times.ts';

const DAY_SECONDS = 86_400;
const FONT = '12px system-ui';
/** Between two places of the axis of times: as wide as the longest text of a moment. */
const TIME_SPACE = 72;
/** Of the axis of times: two lines, the time and the day. */
const TIME_SIZE = 42;

const year = new Intl.DateTimeFormat(undefined, { year: 'numeric' });
const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const minute = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const second = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** The present value of a colour token such as `--accent`. */
export function tokenColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const look: uPlot.Axis = {
  stroke: () => tokenColor('--muted'),
  grid: { stroke: () => tokenColor('--line'), width: 1 },
  ticks: { show: false },
  font: FONT,
};

/** An axis of times, in seconds; the day stands below the first time of each. */
export function timeAxis(): uPlot.Axis {
  return {
    ...look,
    space: TIME_SPACE,
    size: TIME_SIZE,
    values: (_, splits, __, ___, step) => timeTexts(splits, step),
  };
}

/** An axis of numbers. */
export function numberAxis(size = 56): uPlot.Axis {
  return { ...look, size, values: (_, splits) => splits.map((value) => localNumber(value)) };
}

/** Room beside the plot: the last text of an axis of times stands half behind its end. */
export const PLOT_PADDING: uPlot.Padding = [null, TIME_SPACE / 2, null, null];

/** Keeps the plot as wide as its place and in the colours of the look. */
export function keepInPlace(plot: uPlot, place: HTMLElement, height: number): void {
  const fit = (): void => plot.setSize({ width: widthOf(place), height });
  document.addEventListener('svc:theme', () => {
    fit();
    plot.redraw();
  });
  new ResizeObserver(fit).observe(place);
}

/** The room inside of a place. */
export function widthOf(place: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(place);
  return Math.max(1, place.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight));
}

function timeTexts(splits: readonly number[], step: number): string[] {
  const dates = splits.map((seconds) => new Date(seconds * 1000));
  if (step >= 365 * DAY_SECONDS) return dates.map((date) => year.format(date));
  if (step >= 28 * DAY_SECONDS) return dates.map((date) => month.format(date));
  if (step >= DAY_SECONDS) return dates.map((date) => day.format(date));
  let before = '';
  return dates.map((date) => {
    const text = (step < 60 ? second : minute).format(date);
    const today = day.format(date);
    const isNew = today !== before;
    before = today;
    return isNew ? `${text}\n${today}` : text;
  });
}
