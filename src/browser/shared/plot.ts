/** What plots have in common: theme colours, axes in the reader's locale, bars of names. */
import uPlot from 'uplot';
import { tokenColor } from './token-color.ts';

const DAY_SECONDS = 86_400;
const FONT = '12px system-ui';
/** Pixels between ticks of the time axis: the longest label. */
const TIME_SPACE = 72;
/** Pixels: two lines, the time and the date. */
const TIME_SIZE = 42;
/** Pixels that a character takes at most. */
const LETTER = 7;
const LINE = 14;
const NARROW_NAME = 16;
const WIDE_NAME = 32;
const NARROW_WIDTH = 480;
const MAX_BAR = 64;

const year = new Intl.DateTimeFormat(undefined, { year: 'numeric' });
const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const minute = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const second = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export const plainAxis: uPlot.Axis = {
  stroke: () => tokenColor('--muted'),
  grid: { stroke: () => tokenColor('--line'), width: 1 },
  ticks: { show: false },
  font: FONT,
  labelFont: FONT,
  labelSize: 20,
};

/** Moments in seconds, in the reader's zone. */
export function timeAxis(): uPlot.Axis {
  return {
    ...plainAxis,
    space: TIME_SPACE,
    size: TIME_SIZE,
    values: (_, splits, __, ___, step) => timeTexts(splits, step),
  };
}

/** Names of the places 0, 1, 2 …, turned or left out where they have no room. */
export function placeAxis(labels: readonly string[], isUpright = true): uPlot.Axis {
  const most = ({ width }: uPlot): number =>
    isUpright || width < NARROW_WIDTH ? NARROW_NAME : WIDE_NAME;
  const longest = (plot: uPlot): number =>
    Math.min(most(plot), Math.max(...labels.map(({ length }) => length))) * LETTER;
  const room = ({ width, height }: uPlot): number =>
    (isUpright ? width - 80 : height - 64) / labels.length;
  const isTurned = (plot: uPlot): boolean => isUpright && longest(plot) > room(plot);
  return {
    ...plainAxis,
    grid: { show: false },
    splits: (plot) => {
      const step = Math.ceil(LINE / room(plot));
      return [...labels.keys()].filter((at) => at % step === 0);
    },
    values: (plot, splits) => splits.map((at) => shortName(labels[at] ?? '', most(plot))),
    rotate: (plot) => (isTurned(plot) ? -60 : 0),
    size: (plot) => {
      if (!isUpright) return longest(plot) + 2 * LETTER;
      return isTurned(plot) ? longest(plot) * 0.87 + LINE : 2 * LINE;
    },
  };
}

/** Long names often start alike and differ at the end. */
function shortName(name: string, most: number): string {
  if (name.length <= most) return name;
  const tail = Math.floor(most / 3);
  return `${name.slice(0, most - tail - 1).trimEnd()}…${name.slice(-tail).trimStart()}`;
}

/** The bars of one of `count` series that share the places 0, 1, 2 …. */
export function placeBars(index: number, count: number): uPlot.Series.PathBuilder {
  const widthIn = (plot: uPlot): number => {
    const { width, height } = plot.over.getBoundingClientRect();
    const room = (plot.scales['x']!.ori === 1 ? height : width) / plot.data[0].length;
    return Math.min(0.8 / count, MAX_BAR / room);
  };
  const starts = (plot: uPlot): number[] =>
    [...plot.data[0]].map((at) => at + (index - count / 2) * widthIn(plot));
  return uPlot.paths.bars!({
    disp: {
      x0: { unit: 1, values: starts },
      size: { unit: 1, values: (plot) => [widthIn(plot)] },
    },
  });
}

/** Areas and counts start at zero. */
export function rangeFromZero(
  _: uPlot,
  low: number | null,
  high: number | null,
): uPlot.Range.MinMax {
  const [bottom, top] = [Math.min(0, low ?? 0), Math.max(0, high ?? 0)];
  return bottom === top ? [0, 1] : [bottom * 1.05, top * 1.05];
}

/** Half of the last time label stands beyond the plot. */
export const PLOT_PADDING: uPlot.Padding = [null, TIME_SPACE / 2, null, null];

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
