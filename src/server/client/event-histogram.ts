/**
 * How many events there are over the time shown; dragging over a part zooms into it.
 */
import uPlot from 'uplot';
import { jsonOf } from './answers.ts';
import { localNumber, localTime } from './times.ts';

interface Histogram {
  readonly interval: string;
  readonly buckets: readonly { readonly t: string; readonly count: number }[];
  readonly total: number;
  readonly truncated: boolean;
}

const HEIGHT = 128;

/** Fetches and draws; the place stays hidden when there is nothing to draw. */
export async function showHistogram(
  place: HTMLElement,
  selection: URLSearchParams,
  zoom: (from: Date, to: Date) => void,
): Promise<void> {
  const found = await jsonOf<Histogram>(await fetch(`/api/events/histogram?${selection}`));
  if (found === null || found.total === 0) return;
  place.hidden = false;
  const caption = document.createElement('p');
  caption.className = 'fine';
  const about = found.truncated ? 'at least ' : '';
  caption.textContent = `${about}${localNumber(found.total)} events, each bar ${found.interval}`;
  place.append(caption, tableOf(found));
  const plot = draw(place, found, zoom);
  document.addEventListener('svc:theme', () => plot.redraw());
  new ResizeObserver(() => {
    plot.setSize({ width: place.clientWidth, height: HEIGHT });
  }).observe(place);
}

function draw(
  place: HTMLElement,
  { buckets }: Histogram,
  zoom: (from: Date, to: Date) => void,
): uPlot {
  const times = buckets.map(({ t }) => Date.parse(t) / 1000);
  const counts = buckets.map(({ count }) => count);
  const color = (name: string): string =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axis = {
    stroke: () => color('--muted'),
    grid: { stroke: () => color('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  };
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false } },
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max)] } },
      axes: [axis, { ...axis, size: 48, space: 32 }],
      series: [
        {},
        {
          fill: () => color('--accent'),
          paths: uPlot.paths.bars!({ size: [0.9, 64], align: 1 }),
          points: { show: false },
        },
      ],
      hooks: {
        setSelect: [
          (plot) => {
            if (plot.select.width < 4) return;
            const at = (x: number): Date => new Date(plot.posToVal(x, 'x') * 1000);
            zoom(at(plot.select.left), at(plot.select.left + plot.select.width));
          },
        ],
      },
    },
    [times, counts],
    place,
  );
}

/** The same figures for those who do not see the bars. */
function tableOf({ buckets }: Histogram): HTMLElement {
  const table = document.createElement('table');
  table.className = 'visually-hidden';
  table.createCaption().textContent = 'Events over time';
  for (const { t, count } of buckets) {
    if (count === 0) continue;
    const row = table.insertRow();
    row.insertCell().textContent = localTime(new Date(t));
    row.insertCell().textContent = localNumber(count);
  }
  return table;
}
