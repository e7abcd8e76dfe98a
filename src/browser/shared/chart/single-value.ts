/** The last figure of each series, large, with its way there and its change. */
import { make } from '../element.ts';
import { localNumber } from '../times.ts';
import type { ChartModel } from './data.ts';
import { figureText, thresholdColor } from './look.ts';
import type { DrawPicture, PictureLook } from './picture.ts';

const WIDTH = 160;
const HEIGHT = 36;
const SVG = 'http://www.w3.org/2000/svg';

export const drawSingleValues: DrawPicture = (box, model, look, events) => {
  const tiles = model.series.map((series, at) => {
    const values = model.isTimed ? series.values : series.values.slice(0, 1);
    const last = values.at(-1) ?? null;
    const color = thresholdColor(look.thresholds, last);
    const text = make('strong.single-figure', last === null ? '–' : figureText(last, look));
    if (color !== null) text.style.color = `var(${color.token})`;
    const name = model.series.length > 1 ? make('span.fine', series.name) : null;
    const tile = make(
      'div.single',
      name,
      text,
      changeOf(values, look),
      trendOf(values, color?.token),
    );
    tile.addEventListener('click', () =>
      events.pressed({ place: model.xs.length - 1, series: at }),
    );
    return tile;
  });
  box.append(make('div.singles', tiles));
  return { placeOf: () => [0, 0], mark: () => {}, remove: () => {} };
};

/** Against the figure before it, which is the last whole one of a series over time. */
function changeOf(
  values: ChartModel['series'][number]['values'],
  look: PictureLook,
): HTMLElement | null {
  const [before = null, last = null] = values.slice(-2);
  if (values.length < 2 || before === null || last === null) return null;
  const change = last - before;
  const percent = before === 0 ? null : (change / Math.abs(before)) * 100;
  const sign = change > 0 ? '▲' : change < 0 ? '▼' : '=';
  const share =
    percent === null ? '' : ` (${localNumber(Number(Math.abs(percent).toPrecision(2)))} %)`;
  const about = change === 0 ? 'unchanged' : `${figureText(Math.abs(change), look)}${share}`;
  return make('span.fine', `${sign} ${about}`);
}

function trendOf(values: readonly (number | null)[], token = '--accent'): SVGElement | null {
  const known = values.flatMap((value, at) => (value === null ? [] : [[at, value] as const]));
  if (known.length < 2) return null;
  const figures = known.map(([, value]) => value);
  const [low, high] = [Math.min(...figures, 0), Math.max(...figures)];
  const x = (at: number): number => (at / (values.length - 1)) * WIDTH;
  const y = (value: number): number =>
    HEIGHT - 2 - ((value - low) / (high - low || 1)) * (HEIGHT - 4);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('class', 'trend');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(SVG, 'polyline');
  line.setAttribute('points', known.map(([at, value]) => `${x(at)},${y(value)}`).join(' '));
  line.style.stroke = `var(${token})`;
  svg.append(line);
  return svg;
}
