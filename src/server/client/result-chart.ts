/**
 * A chart of the result table: lines over a column of times, else bars by the first column.
 */
import uPlot from 'uplot';

const HEIGHT = 280;
const COLORS = ['--accent', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];
const MAX_SERIES = 12;

/** Makes the button work, where there is one. */
export function startResultChart(explorer: HTMLElement): void {
  const button = explorer.querySelector<HTMLButtonElement>('#chart');
  const table = explorer.querySelector<HTMLTableElement>('#result');
  if (button === null || table === null) return;
  button.hidden = false;
  let place: HTMLElement | null = null;
  button.addEventListener('click', () => {
    if (place !== null) {
      place.remove();
      place = null;
      button.setAttribute('aria-pressed', 'false');
      return;
    }
    place = document.createElement('figure');
    place.className = 'chart';
    place.setAttribute('aria-label', 'Chart of the result; the table below has the same figures');
    table.closest('.scroll')!.before(place);
    draw(place, table);
    button.setAttribute('aria-pressed', 'true');
  });
}

function draw(place: HTMLElement, table: HTMLTableElement): void {
  const names = [...table.tHead!.rows[0]!.cells].map((cell) => cell.textContent ?? '');
  const rows = [...table.tBodies[0]!.rows].map((row) => [...row.cells]);
  const times = rows.map((cells) => cells[0]!.querySelector('time')?.dateTime ?? '');
  const isTimed = times.every((time) => time !== '');
  const numbers = names
    .map((name, index) => ({ name, values: rows.map((cells) => numberIn(cells[index]!)) }))
    .slice(1)
    .filter(({ values }) => values.some((value) => value !== null))
    .slice(0, MAX_SERIES);
  const labels = rows.map((cells) => cells[0]!.textContent ?? '');
  const color = (index: number): string =>
    getComputedStyle(document.documentElement)
      .getPropertyValue(COLORS[index % COLORS.length]!)
      .trim();
  const muted = (): string =>
    getComputedStyle(document.documentElement).getPropertyValue('--muted').trim();
  const axis = { stroke: muted, grid: { stroke: muted, width: 0.2 }, font: '12px system-ui' };
  const x = rows.map((_, index) => (isTimed ? Date.parse(times[index]!) / 1000 : index));
  const bars = uPlot.paths.bars!({ size: [0.7, 64] });
  const plot = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      scales: { x: { time: isTimed } },
      axes: [
        isTimed ? axis : { ...axis, values: (_, at) => at.map((index) => labels[index] ?? '') },
        { ...axis, size: 64 },
      ],
      series: [
        isTimed ? {} : { value: (_, index) => labels[index] ?? '' },
        ...numbers.map(({ name }, index) => ({
          label: name,
          stroke: () => color(index),
          ...(isTimed ? { width: 2 } : { fill: () => color(index), paths: bars }),
          points: { show: false },
        })),
      ],
    },
    [x, ...numbers.map(({ values }) => values)],
    place,
  );
  document.addEventListener('svc:theme', () => plot.redraw());
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT })).observe(
    place,
  );
}

function numberIn(cell: HTMLTableCellElement): number | null {
  const text = cell.textContent ?? '';
  const value = Number(text);
  return text === '' || Number.isNaN(value) ? null : value;
}
