/**
 * Draws the dataset chart with Chart.js. A separate script, fetched only when somebody opens a
 * chart.
 */
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  ScatterController,
  Tooltip,
} from 'chart.js';
import type { ChartSeries } from '../tables/read/chart-series.ts';
import { axisText, markNumbers, markTimes, namesOf, timeText } from './grid/chart/axes.ts';
import type { ChartDrawing } from './grid/chart/panel.ts';
import { tokenColor } from './shared/token-color.ts';
import { shownText } from '../pages/grid/model.ts';

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  ScatterController,
  Tooltip,
);

Chart.defaults.font.family = 'system-ui, sans-serif';
Chart.defaults.font.size = 12;

const DAY_MS = 86_400_000;
const LONG_NAME = 12;
const LYING_BAR = 22;
const LYING_REST = 64;

interface Form {
  readonly kind: 'bar' | 'line' | 'scatter';
  readonly isPlace: boolean;
  readonly isLying: boolean;
  readonly labels: readonly string[];
}

globalThis.svcDrawChart = (canvas: HTMLCanvasElement, drawing: ChartDrawing): (() => void) => {
  const form = formOf(drawing);
  const box = canvas.parentElement!;
  const bars = drawing.series.points.length;
  box.style.height = form.isLying ? `${bars * LYING_BAR + LYING_REST}px` : '';
  const chart = new Chart(canvas, configurationOf(drawing, form));
  return () => chart.destroy();
};

function formOf({ type, series }: ChartDrawing): Form {
  const { points, axis } = series;
  const textOf = placeTextOf(series);
  const labels = points.map(({ x, to }) =>
    to === undefined || to === x ? textOf(x) : `${textOf(x)} – ${textOf(to)}`,
  );
  const isHistogram = type === 'histogram';
  // A single bar has no width on a scale.
  const isPlace = axis === 'text' || (isHistogram && points.length === 1);
  const kind = isHistogram || type === 'bar' ? 'bar' : type === 'line' ? 'line' : 'scatter';
  const hasLong = labels.some((label) => label.length > LONG_NAME);
  return { kind, isPlace, labels, isLying: type === 'bar' && hasLong && labels.length > 2 };
}

function dataOf({ series }: ChartDrawing, { isPlace }: Form): unknown[] {
  if (isPlace) return series.points.map(({ y }) => y);
  return series.points.map(({ x, to, y }) => ({
    x: to === undefined ? Number(x) : (Number(x) + to) / 2,
    y,
  }));
}

function configurationOf(drawing: ChartDrawing, form: Form): ChartConfiguration {
  const { type, series, yLabel } = drawing;
  const { kind, labels, isLying, isPlace } = form;
  const colours = coloursOf();
  return {
    type: kind,
    data: {
      ...(isPlace && { labels }),
      datasets: [
        {
          label: yLabel,
          data: dataOf(drawing, form) as number[],
          backgroundColor: kind === 'line' ? colours.tint : colours.accent,
          borderColor: colours.accent,
          borderWidth: kind === 'line' ? 2 : 0,
          ...(kind === 'bar' && { borderRadius: 3 }),
          ...(kind === 'bar' && isPlace && { maxBarThickness: 64 }),
          ...(type === 'histogram' && { barPercentage: 1, categoryPercentage: 0.96 }),
          pointRadius: kind === 'scatter' ? 3 : series.points.length > 60 ? 0 : 2,
          pointHitRadius: 8,
          pointBackgroundColor: colours.accent,
        },
      ],
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      color: colours.muted,
      indexAxis: isLying ? 'y' : 'x',
      interaction: { mode: 'nearest', intersect: false, axis: isLying ? 'y' : 'x' },
      scales: scalesOf(drawing, form, colours),
      plugins: {
        tooltip: {
          backgroundColor: colours.ink,
          titleColor: colours.surface,
          bodyColor: colours.surface,
          displayColors: false,
          callbacks: {
            title: ([item]) => (item === undefined ? '' : (labels[item.dataIndex] ?? '')),
            label: ({ dataIndex }) => {
              const y = series.points[dataIndex]?.y ?? 0;
              return `${yLabel}: ${shownText(Number(y.toPrecision(12)))}`;
            },
          },
        },
      },
    },
  } as ChartConfiguration;
}

type Colours = ReturnType<typeof coloursOf>;

function scalesOf(drawing: ChartDrawing, form: Form, colours: Colours): Record<'x' | 'y', object> {
  const { series, type, xLabel, yLabel } = drawing;
  const { points } = series;
  const axis = (text: string) => ({
    title: { display: true, text, color: colours.muted },
    grid: { color: colours.line },
    border: { color: colours.line },
  });
  const measured = {
    ...axis(yLabel),
    beginAtZero: form.kind === 'bar',
    ticks: {
      color: colours.muted,
      callback: axisText,
      ...(points.every(({ y }) => Number.isInteger(y)) && { precision: 0 }),
    },
  };
  const across = form.isPlace
    ? {
        ...axis(xLabel),
        type: 'category',
        ticks: { color: colours.muted, maxRotation: 60, callback: namesOf(form.labels) },
      }
    : {
        ...axis(xLabel),
        type: 'linear',
        bounds: 'data',
        offset: false,
        ...(type === 'histogram' && { min: Number(points[0]?.x), max: points.at(-1)?.to }),
        afterBuildTicks: series.axis === 'time' ? markTimes(points) : markNumbers(points),
        ticks: {
          color: colours.muted,
          maxRotation: 0,
          autoSkip: false,
          callback: series.axis === 'time' ? timeText : axisText,
        },
      };
  return form.isLying ? { x: measured, y: across } : { x: across, y: measured };
}

function placeTextOf(series: ChartSeries): (x: string | number) => string {
  if (series.axis !== 'time') return (x) => (typeof x === 'number' ? shownText(x) : x);
  const isDays = series.points.every(({ x }) => Number(x) % DAY_MS === 0);
  const format = new Intl.DateTimeFormat(undefined, {
    timeZone: 'UTC',
    dateStyle: 'medium',
    ...(!isDays && { timeStyle: 'short' }),
  });
  return (x) => format.format(Number(x));
}

function coloursOf(): Record<'ink' | 'muted' | 'line' | 'accent' | 'tint' | 'surface', string> {
  const token = (name: string): string => tokenColor(`--${name}`);
  return {
    ink: token('ink'),
    muted: token('muted'),
    line: token('line'),
    accent: token('accent'),
    tint: token('tint'),
    surface: token('surface'),
  };
}
