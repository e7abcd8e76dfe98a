/**
 * Shared by the explorer's plots: theme colours, axes in the reader's zone and locale, width that
 * follows the page, also on paper.
 */
import { tokenColor } from './token-color.ts';
import type uPlot from 'uplot';
import { localNumber } from './times.ts';

const DAY_SECONDS = 86_400;
const FONT = '12px system-ui';
/** Pixels between ticks of the time axis: the longest label. */
const TIME_SPACE = 72;
/** Pixels: two lines, the time and the date. */
const TIME_SIZE = 42;

const year = new Intl.DateTimeFormat(undefined, { year: 'numeric' });
const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const minute = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const second = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

const look: uPlot.Axis = {
  stroke: () => tokenColor('--muted'),
  grid: { stroke: () => tokenColor('--line'), width: 1 },
  ticks: { show: false },
  font: FONT,
};

export function timeAxis(): uPlot.Axis {
  return {
    ...look,
    space: TIME_SPACE,
    size: TIME_SIZE,
    values: (_, splits, __, ___, step) => timeTexts(splits, step),
  };
}

export function numberAxis(size = 56): uPlot.Axis {
  return { ...look, size, values: (_, splits) => splits.map((value) => localNumber(value)) };
}

/** Half of the last time label stands beyond the plot. */
export const PLOT_PADDING: uPlot.Padding = [null, TIME_SPACE / 2, null, null];

/** Resizes with its place and follows the theme. */
export function keepInPlace(plot: uPlot, place: HTMLElement, height: number): void {
  const fit = (): void => plot.setSize({ width: widthOf(place), height });
  document.addEventListener('svc:theme', () => {
    fit();
    plot.redraw();
  });
  new ResizeObserver(fit).observe(place);
}

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
