/**
 * Categorical bar charts of results, drawn with Chart.js. A separate script, fetched only when
 * somebody opens such a chart.
 */
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  Legend,
  LinearScale,
  Tooltip,
} from 'chart.js';
import { tokenColor } from './shared/token-color.ts';
import type { BarDrawing } from './explorer/result-chart.ts';
import { localNumber } from './shared/times.ts';

Chart.register(BarController, BarElement, CategoryScale, Legend, LinearScale, Tooltip);

Chart.defaults.font.family = 'system-ui, sans-serif';
Chart.defaults.font.size = 12;

const MAX_LABEL = 24;

globalThis.svcDrawBars = (canvas: HTMLCanvasElement, drawing: BarDrawing): (() => void) => {
  const chart = new Chart(canvas, configurationOf(drawing));
  return () => chart.destroy();
};

function configurationOf({ labels, series }: BarDrawing): ConstructorParameters<typeof Chart>[1] {
  const [ink, muted, line, surface] = ['--ink', '--muted', '--line', '--surface'].map(tokenColor);
  const axis = { grid: { color: line! }, border: { color: line! } };
  const short = (label: string): string =>
    label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label;
  return {
    type: 'bar',
    data: {
      labels: [...labels],
      datasets: series.map(({ name, values, color }) => ({
        label: name,
        data: [...values],
        backgroundColor: tokenColor(color),
        borderRadius: 3,
        maxBarThickness: 64,
      })),
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      color: muted!,
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: {
          ...axis,
          grid: { display: false },
          ticks: {
            color: muted!,
            maxRotation: 60,
            callback: (_, index) => short(labels[index] ?? ''),
          },
        },
        y: {
          ...axis,
          beginAtZero: true,
          ticks: { color: muted!, callback: (value) => localNumber(Number(value)) },
        },
      },
      plugins: {
        legend: {
          display: series.length > 1,
          labels: { color: ink!, boxWidth: 12, boxHeight: 12 },
        },
        tooltip: {
          backgroundColor: ink!,
          titleColor: surface!,
          bodyColor: surface!,
          callbacks: {
            label: ({ dataset, parsed }) =>
              ` ${dataset.label ?? ''}: ${localNumber(Number((parsed.y ?? 0).toPrecision(12)))}`,
          },
        },
      },
    },
  };
}
