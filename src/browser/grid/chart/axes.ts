/** Neighbouring ticks never read the same, and all have room. */
import type { Scale, Tick } from 'chart.js';
import type { ChartSeries } from '../../../tables/read/chart-series.ts';
import { shownText } from '../../../pages/grid/model.ts';
import { numberTicks } from './number-ticks.ts';
import { type TimeTicks, timeTicks } from './time-ticks.ts';

const TIME_SPACE = 88;
const NUMBER_SPACE = 72;
const NARROW_NAME = 16;
const WIDE_NAME = 32;
const NARROW_WIDTH = 480;
/** From here on numbers are abbreviated: `12M`. */
const LARGE = 1_000_000;

const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 2 });

type Points = ChartSeries['points'];

export function markTimes(points: Points): (scale: Scale) => void {
  return (scale) => {
    const { ticks } = timesOn(scale);
    // With a single value, the padding Chart.js adds around it gets no ticks.
    scale.ticks = (onlyPlace(points) ?? ticks).map((value) => ({ value }));
  };
}

export function markNumbers(points: Points): (scale: Scale) => void {
  const isWhole = points.every(({ x }) => Number.isInteger(x));
  return (scale) => {
    const { min, max, chart } = scale;
    const ticks = onlyPlace(points) ?? numberTicks(min, max, chart.width / NUMBER_SPACE, isWhole);
    scale.ticks = ticks.map((value) => ({ value }));
  };
}

export function timeText(
  this: Scale,
  value: string | number,
  _index: number,
  ticks: Tick[],
): string | string[] {
  const { textOf } =
    ticks.length === 1 ? timeTicks(ticks[0]!.value, ticks[0]!.value, 2) : timesOn(this);
  return textOf(Number(value)).split('\n');
}

export function axisText(value: string | number, _index: number, ticks: readonly Tick[]): string {
  const numbers = ticks.map((tick) => tick.value);
  const isLarge = numbers.some((number) => Math.abs(number) >= LARGE);
  const texts = new Set(numbers.map((number) => short.format(number)));
  if (isLarge && texts.size === numbers.length) return short.format(Number(value));
  // Drops digits that come only from adding up float steps.
  return shownText(Number(Number(value).toPrecision(12)));
}

export function namesOf(
  labels: readonly string[],
): (this: Scale, value: unknown, index: number) => string {
  return function (_value, index) {
    const label = labels[index] ?? '';
    const isUpright = this.axis === 'x';
    const most = isUpright || this.chart.width < NARROW_WIDTH ? NARROW_NAME : WIDE_NAME;
    if (label.length <= most) return label;
    // Long names often start alike and differ at the end.
    const tail = Math.floor(most / 3);
    return `${label.slice(0, most - tail - 1).trimEnd()}…${label.slice(-tail).trimStart()}`;
  };
}

function timesOn({ min, max, chart }: Scale): TimeTicks {
  return timeTicks(min, max, chart.width / TIME_SPACE);
}

function onlyPlace(points: Points): number[] | null {
  const [first] = points;
  if (first === undefined || first.to !== undefined) return null;
  return points.every(({ x }) => x === first.x) ? [Number(first.x)] : null;
}
