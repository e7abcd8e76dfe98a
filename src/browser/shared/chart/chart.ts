/**
 * Charts of a result, the same everywhere: `drawChart` draws rows into an element, with legend, words for the point under the pointer
 * or the keys, and a table of the same figures. Drawn again, what was hidden stays hidden and nothing flickers.
 */
import { make } from '../element.ts';
import { type ChartData, type ChartModel, modelOf } from './data.ts';
import { keyList, keysText, listenToKeys, pointOf, zoomInto } from './keys.ts';
import { axisTexts } from './look.ts';
import type { ChartOptions } from './options.ts';
import { colorsOf, meaningOf, REST_COLOR, type SeriesColor } from './palette.ts';
import type { ChartForm } from './forms.ts';
import type { DrawPicture, Picture } from './picture.ts';
import { drawPie } from './pie.ts';
import { drawPlot } from './plot-picture.ts';
import { drawSingleValues } from './single-value.ts';
import { showTip, swatchOf, tipParts, valuesTable } from './words.ts';

export interface Chart {
  remove(): void;
}

const HEIGHT = 280;

interface Drawn extends Chart {
  readonly hidden: Set<string>;
  readonly isOpen: () => boolean;
}

const drawn = new WeakMap<HTMLElement, Drawn>();

/** Replaces what was drawn in `place` before. */
export function drawChart(place: HTMLElement, data: ChartData, options: ChartOptions): Chart {
  const before = drawn.get(place);
  const hidden = before?.hidden ?? new Set<string>();
  const wasOpen = before?.isOpen() ?? false;
  const hadFocus = place.querySelector('.chart-plot')?.matches(':focus') ?? false;
  before?.remove();
  const model = modelOf(data, options.form);
  const colors = seriesColors(model, options);
  const ended = new AbortController();
  const box = make('div.chart-plot', {
    tabindex: 0,
    role: 'application',
    'aria-label': `${options.label}: ${keysText(options)}`,
    ...(options.key !== undefined && { 'data-key': options.key }),
    'data-keys': keyList(options).join('\n'),
  });
  const tip = make('div.chart-tip', { 'aria-hidden': 'true', hidden: true });
  const said = make('div.visually-hidden', { 'aria-live': 'polite' });
  const legend = make('ul.chart-legend', { 'aria-label': 'Series' });
  const notes = model.notes.map((note) => make('p.fine', note));
  const table = valuesTable(model, options, wasOpen);
  let picture: Picture | null = null;
  let keys = new AbortController();
  // Its key on the page presses it.
  box.addEventListener('click', () => box.focus({ preventScroll: true }));

  const draw = (): void => {
    picture?.remove();
    keys.abort();
    keys = new AbortController();
    box.replaceChildren();
    const kept = [...model.series.keys()].filter((at) => !hidden.has(model.series[at]!.name));
    const shown: ChartModel = { ...model, series: kept.map((at) => model.series[at]!) };
    const { form, height = HEIGHT, isLog = false, min = null, max = null, span } = options;
    const look = {
      ...options,
      form,
      height,
      isLog: isLog && !form.startsWith('stacked'),
      min,
      max,
      thresholds: options.thresholds ?? [],
      colors: kept.map((at) => colors[at]!),
      span: span === undefined ? null : ([+span[0] / 1000, +span[1] / 1000] as const),
      isZoomable: options.zoom !== undefined && model.isTimed,
    };
    tip.hidden = true;
    if (model.xs.length === 0 || shown.series.length === 0) {
      picture = null;
      box.append(make('p.fine.chart-empty', 'Nothing to draw.'));
      return;
    }
    picture = drawingOf(form)(box, shown, look, {
      pointed: (point, left, top) => {
        if (point === null) tip.hidden = true;
        else showTip(tip, box, tipParts(shown, look.colors, point, options), left, top);
      },
      pressed: (point) => options.chosen?.(pointOf(shown, point)),
      dragged: (low, high) => zoomInto(model, options, low, high),
    });
    box.append(tip);
    listenToKeys(box, shown, picture, options, keys.signal, {
      tell: (text, point, words) => {
        said.textContent = text;
        if (point === null) tip.hidden = true;
        else showTip(tip, box, words, ...picture!.placeOf(point));
      },
      partsOf: (point) => tipParts(shown, look.colors, point, options),
    });
  };
  const drawLegend = (): void => {
    legend.replaceChildren(
      ...model.series.map(({ name }, at) => legendEntry(name, colors[at]!, hidden, draw)),
    );
    legend.hidden =
      options.hasLegend === false ||
      options.form === 'single' ||
      options.form === 'heat-map' ||
      model.series.length < 2;
  };
  place.replaceChildren(
    ...[
      options.form === 'heat-map' ? heatScale(model, options) : null,
      box,
      legend,
      ...notes,
      said,
      table,
    ].filter((one) => one !== null),
  );
  draw();
  drawLegend();
  if (hadFocus) box.focus({ preventScroll: true });
  const theme = matchMedia('(prefers-color-scheme: dark)');
  document.addEventListener('svc:theme', draw, { signal: ended.signal });
  theme.addEventListener('change', draw, { signal: ended.signal });
  const one: Drawn = {
    hidden,
    isOpen: () => table instanceof HTMLDetailsElement && table.open,
    remove: () => {
      ended.abort();
      picture?.remove();
      drawn.delete(place);
    },
  };
  drawn.set(place, one);
  return one;
}

function drawingOf(form: ChartForm): DrawPicture {
  if (form === 'pie') return drawPie;
  return form === 'single' ? drawSingleValues : drawPlot;
}

function seriesColors({ series }: ChartModel, { colors = {}, form }: ChartOptions): SeriesColor[] {
  const own = series.filter(({ isRest }) => !isRest);
  // A single series has no others to be told from, unless its name means a colour.
  const [only] = own;
  const isPlain =
    own.length === 1 &&
    form !== 'pie' &&
    meaningOf(only!.name) === null &&
    !Object.hasOwn(colors, only!.name);
  if (isPlain)
    return series.map(({ isRest }) =>
      isRest ? REST_COLOR : { token: '--accent', isHatched: false },
    );
  const given = colorsOf(
    own.map(({ name }) => name),
    colors,
  );
  return series.map((one) => (one.isRest ? REST_COLOR : given[own.indexOf(one)]!));
}

function legendEntry(
  name: string,
  color: SeriesColor,
  hidden: Set<string>,
  draw: () => void,
): HTMLElement {
  const button = make(
    'button.plain',
    { type: 'button', 'aria-pressed': String(!hidden.has(name)), title: 'Show or hide it' },
    swatchOf(color),
    make('span', name),
  );
  button.addEventListener('click', () => {
    if (!hidden.delete(name)) hidden.add(name);
    button.setAttribute('aria-pressed', String(!hidden.has(name)));
    draw();
  });
  return make('li', button);
}

/** What the shades of a heat map stand for. */
function heatScale({ series }: ChartModel, options: ChartOptions): HTMLElement {
  const most = Math.max(0, ...series.flatMap(({ values }) => values.map((one) => one ?? 0)));
  return make(
    'p.fine.heat-scale',
    { 'aria-hidden': 'true' },
    '0',
    make('i'),
    axisTexts([most], options)[0]!,
  );
}
