/** The arrow keys go from place to place and from series to series of a chart; with Shift they mark a span of time. */
import type { ChartModel } from './data.ts';
import type { ChartOptions, ChartPoint } from './options.ts';
import type { Picture, Point } from './picture.ts';
import { endOf, spanWords, type TipLine } from './words.ts';

interface Teller {
  tell(text: string, point: Point | null, lines: readonly TipLine[]): void;
  partsOf(point: Point): readonly TipLine[];
}

export function listenToKeys(
  box: HTMLElement,
  model: ChartModel,
  picture: Picture,
  options: ChartOptions,
  signal: AbortSignal,
  { tell, partsOf }: Teller,
): void {
  const isPie = options.form === 'pie';
  const last = (isPie ? model.series.length : model.xs.length) - 1;
  const canMark = options.zoom !== undefined && model.isTimed;
  let at: number | null = null;
  let anchor = 0;
  let series = -1;
  const pointAt = (): Point =>
    isPie
      ? { place: 0, series: at! }
      : { place: at!, series: model.series.length === 1 ? 0 : series };
  const show = (): void => {
    const [low, high] = [Math.min(at!, anchor), Math.max(at!, anchor)];
    const point = pointAt();
    picture.mark(isPie ? null : [low, high]);
    if (low < high && !isPie) return tell(spanWords(model, options, low, high), null, []);
    const lines = partsOf(point);
    const words =
      point.series < 0 || model.series.length === 1 || isPie
        ? lines
        : [lines[0]!, ...lines.filter(({ isChosen }) => isChosen)];
    tell(saidOf(words.map(({ text }) => text)), point, lines);
  };
  const onKey = (event: KeyboardEvent): void => {
    const goal = goalOf(event.key, at, last, isPie);
    if (goal !== null) {
      at = goal;
      if (!event.shiftKey || !canMark) anchor = goal;
      show();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && at !== null && !isPie) {
      const count = model.series.length;
      const step = event.key === 'ArrowDown' ? 1 : -1;
      series = count === 1 ? -1 : ((series + 1 + step + count + 1) % (count + 1)) - 1;
      show();
    } else if (event.key === 'Enter' && at !== null) {
      if (canMark && (at !== anchor || options.chosen === undefined)) {
        zoomInto(model, options, Math.min(at, anchor), Math.max(at, anchor));
      } else options.chosen?.(pointOf(model, pointAt()));
    } else if (event.key === 'Escape' && at !== null) {
      at = null;
      picture.mark(null);
      tell('', null, []);
    } else return;
    event.preventDefault();
  };
  box.addEventListener('keydown', onKey, { signal });
}

function goalOf(key: string, at: number | null, last: number, isPie: boolean): number | null {
  const isBack = key === 'ArrowLeft' || (isPie && key === 'ArrowUp');
  const isOn = key === 'ArrowRight' || (isPie && key === 'ArrowDown');
  if (isBack) return at === null ? last : Math.max(0, at - 1);
  if (isOn) return at === null ? 0 : Math.min(last, at + 1);
  if (key === 'Home') return 0;
  return key === 'End' ? last : null;
}

function saidOf([head = '', ...rest]: readonly string[]): string {
  return rest.length === 0 ? head : `${head}: ${rest.join(', ')}`;
}

export function zoomInto(
  model: ChartModel,
  { zoom }: ChartOptions,
  low: number,
  high: number,
): void {
  zoom?.(new Date(model.xs[low]! * 1000), new Date(endOf(model, high) * 1000));
}

export function pointOf(model: ChartModel, { place, series: at }: Point): ChartPoint {
  const one = model.series[at];
  return {
    column: model.xName,
    // A slice of a pie is a place of its own.
    place: model.labels[place] || (one?.name ?? ''),
    until: model.isTimed ? new Date(endOf(model, place) * 1000).toISOString() : null,
    series: one?.name ?? '',
    value: one?.values[place] ?? null,
  };
}

export function keyList({ zoom, chosen }: ChartOptions): string[] {
  return [
    '←+→ Go over the chart',
    ...(zoom === undefined ? [] : ['Shift+←+→ Mark a span of time']),
    ...(zoom === undefined && chosen === undefined
      ? []
      : [`Enter ${zoom === undefined ? 'Open it' : 'Zoom into it'}`]),
  ];
}

export function keysText({ zoom, chosen }: ChartOptions): string {
  const marks = zoom === undefined ? '' : ', with Shift they mark a span';
  const enter =
    zoom !== undefined ? ', Enter zooms into it' : chosen !== undefined ? ', Enter opens it' : '';
  return `the arrow keys go from point to point${marks}${enter}`;
}
