/**
 * Draws a chart of the dataset page with Chart.js, in the colours of the look. A script of its own, fetched only when somebody
 * opens a chart.
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
import type { ChartSeries } from '../../dataset/chart-series.ts';
import type { ChartDrawing } from './grid/chart-panel.ts';
import { shownText } from './grid/model.ts';

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

globalThis.svcDrawChart = (canvas: HTMLCanvasElement, drawing: ChartDrawing): (() => void) => {
  const chart = new Chart(canvas, configurationOf(drawing));
  return () => chart.destroy();
};

function configurationOf({ type, series, xLabel, yLabel }: ChartDrawing): ChartConfiguration {
  const colours = coloursOf();
  const isPlace = series.axis === 'text' || type === 'histogram';
  const kind =
    type === 'histogram' || type === 'bar' ? 'bar' : type === 'line' ? 'line' : 'scatter';
  const textOf = placeTextOf(series);
  const labels = series.points.map(({ x, to }) =>
    to === undefined ? textOf(x) : `${textOf(x)} – ${textOf(to)}`,
  );
  const data = isPlace
    ? series.points.map(({ y }) => y)
    : series.points.map(({ x, y }) => ({ x: Number(x), y }));
  const axis = (title: string) => ({
    title: { display: true, text: title, color: colours.muted },
    grid: { color: colours.line },
    border: { color: colours.line },
  });
  return {
    type: kind,
    data: {
      ...(isPlace && { labels }),
      datasets: [
        {
          label: yLabel,
          data: data as number[],
          backgroundColor: kind === 'line' ? colours.tint : colours.accent,
          borderColor: colours.accent,
          borderWidth: kind === 'line' ? 2 : 0,
          ...(type === 'histogram' && { barPercentage: 1, categoryPercentage: 0.96 }),
          ...(kind === 'bar' && { borderRadius: 3, maxBarThickness: 64 }),
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
      interaction: { mode: 'nearest', intersect: false, axis: 'x' },
      scales: {
        x: {
          ...axis(xLabel),
          type: isPlace ? 'category' : 'linear',
          ...(!isPlace && { bounds: 'data' }),
          ticks: {
            color: colours.muted,
            maxRotation: 60,
            autoSkip: true,
            ...(!isPlace && { callback: (value: string | number) => textOf(Number(value)) }),
            ...(isPlace && {
              callback: (_value: string | number, index: number) => {
                const label = labels[index] ?? '';
                return label.length > 18 ? `${label.slice(0, 17)}…` : label;
              },
            }),
          },
        },
        y: {
          ...axis(yLabel),
          beginAtZero: kind === 'bar',
          ticks: {
            color: colours.muted,
            callback: (value) => shownText(Number(value)),
            ...(series.points.every(({ y }) => Number.isInteger(y)) && { precision: 0 }),
          },
        },
      },
      plugins: {
        tooltip: {
          backgroundColor: colours.ink,
          titleColor: colours.surface,
          bodyColor: colours.surface,
          displayColors: false,
          callbacks: {
            title: ([item]) => (item === undefined ? '' : (labels[item.dataIndex] ?? '')),
            label: ({ parsed }) =>
              `${yLabel}: ${shownText(Number((parsed.y ?? 0).toPrecision(12)))}`,
          },
        },
      },
    },
  } as ChartConfiguration;
}

/** Places on the axis as people read them; days without an hour when all of them are days. */
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
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: token('ink'),
    muted: token('muted'),
    line: token('line'),
    accent: token('accent'),
    tint: token('tint'),
    surface: token('surface'),
  };
}
