/** Draws the dataset chart. A separate script, fetched only when somebody opens a chart. */
import uPlot from 'uplot';
import type { ChartSeries } from '../tables/read/chart-series.ts';
import { shownText } from '../pages/grid/model.ts';
import type { ChartDrawing } from './grid/view/chart-panel.ts';
import { timeTicks, numberTicks } from './grid/view/ticks.ts';
import { placeAxis, placeBars, plainAxis, rangeFromZero } from './shared/plot.ts';
import { tokenColor } from './shared/token-color.ts';

const DAY_MS = 86_400_000;
/** Pixels between ticks. */
const TIME_SPACE = 88;
const NUMBER_SPACE = 72;
const LINE_SPACE = 32;
const LONG_NAME = 12;
const LYING_BAR = 22;
const LYING_REST = 64;
/** From here on numbers are abbreviated: `12M`. */
const LARGE = 1_000_000;

const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 2 });

globalThis.svcDrawChart = (box: HTMLElement, drawing: ChartDrawing): (() => void) => {
  const { type, series, yLabel, told } = drawing;
  // A scale needs its values in order.
  const points =
    type === 'scatter'
      ? series.points.toSorted((a, b) => Number(a.x) - Number(b.x))
      : series.points;
  const textOf = placeTextOf(series);
  const labels = points.map(({ x, to }) =>
    to === undefined || to === x ? textOf(x) : `${textOf(x)} – ${textOf(to)}`,
  );
  // A single bar has no width on a scale.
  const isPlace =
    type === 'bar' || series.axis === 'text' || (type === 'histogram' && points.length === 1);
  const hasLong = labels.some((label) => label.length > LONG_NAME);
  const isLying = type === 'bar' && hasLong && labels.length > 2;
  box.style.height = isLying ? `${labels.length * LYING_BAR + LYING_REST}px` : '';
  const xs = points.map(({ x, to }, index) =>
    isPlace ? index : to === undefined ? Number(x) : (Number(x) + to) / 2,
  );
  const ys = points.map(({ y }) => y);
  const across = isPlace ? placeAxis(labels, !isLying) : scaleAxis(series);
  const isWhole = ys.every(Number.isInteger);
  const upwards: uPlot.Axis = {
    ...plainAxis,
    splits: (plot, _, min, max) =>
      numberTicks(
        min,
        max,
        isLying ? plot.width / NUMBER_SPACE : plot.height / LINE_SPACE,
        isWhole,
      ),
    values: (_, splits) => axisTexts(splits),
    size: (_, values) => (isLying ? 28 : sizeOf(values)),
  };
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height: box.clientHeight,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        x: {
          time: false,
          ori: isLying ? 1 : 0,
          dir: isLying ? -1 : 1,
          range: isPlace ? [-0.5, labels.length - 0.5] : () => endsOf(series),
        },
        y: {
          ori: isLying ? 0 : 1,
          ...(type === 'bar' || type === 'histogram' ? { range: rangeFromZero } : {}),
        },
      },
      axes: [
        { ...across, label: drawing.xLabel, side: isLying ? 3 : 2 },
        { ...upwards, label: yLabel, side: isLying ? 2 : 3 },
      ],
      series: [{}, lookOf(type, isPlace, points.length)],
      hooks: {
        setCursor: [
          ({ cursor: { idx } }) => {
            const y = ys[idx ?? -1];
            const text = shownText(Number((y ?? 0).toPrecision(12)));
            told(y === undefined ? '' : `${labels[idx!]} · ${yLabel}: ${text}`);
          },
        ],
      },
    },
    [xs, ys],
    box,
  );
  const observer = new ResizeObserver(() => {
    plot.setSize({ width: box.clientWidth, height: box.clientHeight });
  });
  observer.observe(box);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
};

function lookOf(type: string, isPlace: boolean, count: number): uPlot.Series {
  const stroke = tokenColor('--accent');
  const dots = (size: number): uPlot.Series.Points => ({
    show: true,
    size,
    fill: stroke,
    width: 0,
  });
  if (type === 'scatter') return { stroke, paths: () => null, points: dots(6) };
  if (type === 'line') {
    return { stroke, width: 2, points: count > 60 ? { show: false } : dots(5) };
  }
  const paths = isPlace ? placeBars(0, 1) : uPlot.paths.bars!({ size: [0.96, Infinity] });
  return { fill: stroke, paths, points: { show: false } };
}

/** First and last value across; a single one gets room around it. */
function endsOf({ points }: ChartSeries): [number, number] {
  const values = points.flatMap(({ x, to = x }) => [Number(x), Number(to)]);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  return min === max ? [min - 1, max + 1] : [min, max];
}

/** Neighbouring ticks never read the same, and all have room. */
function scaleAxis({ axis, points }: ChartSeries): uPlot.Axis {
  const isWhole = points.every(({ x }) => Number.isInteger(x));
  const [first] = points;
  const isOne =
    first !== undefined && first.to === undefined && points.every(({ x }) => x === first.x);
  const ticksOf = ({ width }: uPlot, min: number, max: number): number[] => {
    if (isOne) return [Number(first.x)];
    if (axis === 'time') return [...timeTicks(min, max, width / TIME_SPACE).ticks];
    return numberTicks(min, max, width / NUMBER_SPACE, isWhole);
  };
  const textsOf = ({ width }: uPlot, splits: readonly number[]): string[] => {
    if (axis !== 'time') return axisTexts(splits);
    const [min = 0, max = min] = isOne ? splits : endsOf({ points } as ChartSeries);
    return splits.map(timeTicks(min, max, width / TIME_SPACE).textOf);
  };
  return {
    ...plainAxis,
    size: (_, texts) => (texts?.some((text) => text.includes('\n')) ? 42 : 28),
    splits: (plot, _, min, max) => ticksOf(plot, min, max),
    values: textsOf,
  };
}

function axisTexts(numbers: readonly number[]): string[] {
  const texts = numbers.map((number) => short.format(number));
  const isLarge = numbers.some((number) => Math.abs(number) >= LARGE);
  if (isLarge && new Set(texts).size === numbers.length) return texts;
  // Drops digits that come only from adding up float steps.
  return numbers.map((number) => shownText(Number(number.toPrecision(12))));
}

function sizeOf(texts: readonly string[] | null): number {
  return Math.max(40, 16 + 7 * Math.max(0, ...(texts ?? []).map(({ length }) => length)));
}

function placeTextOf({ axis, points }: ChartSeries): (x: string | number) => string {
  if (axis !== 'time') return (x) => (typeof x === 'number' ? shownText(x) : x);
  const isDays = points.every(({ x }) => Number(x) % DAY_MS === 0);
  const format = new Intl.DateTimeFormat(undefined, {
    timeZone: 'UTC',
    dateStyle: 'medium',
    ...(!isDays && { timeStyle: 'short' }),
  });
  return (x) => format.format(Number(x));
}
