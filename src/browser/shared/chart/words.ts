/** The points of a chart in words: beside the pointer, for screen readers, and as a table. */
import { make, makeTable, scrollBox } from '../element.ts';
import type { ChartModel } from './data.ts';
import { figureText, placeText } from './look.ts';
import type { ChartOptions } from './options.ts';
import type { SeriesColor } from './palette.ts';
import type { Point } from './picture.ts';
import { sliceText } from './pie.ts';

const MAX_TABLE_ROWS = 500;

export interface TipLine {
  readonly color: SeriesColor | null;
  readonly text: string;
  readonly isChosen: boolean;
}

export function tipParts(
  model: ChartModel,
  colors: readonly SeriesColor[],
  { place, series: chosen }: Point,
  options: ChartOptions,
): TipLine[] {
  const { series } = model;
  if (options.form === 'pie') {
    const total = series.reduce((sum, { values }) => sum + (values[0] ?? 0), 0);
    const { name, values } = series[chosen]!;
    return [
      {
        color: colors[chosen]!,
        text: sliceText(name, values[0] ?? 0, total, options),
        isChosen: true,
      },
    ];
  }
  const head = { color: null, text: placeWords(model, options, place), isChosen: false };
  const known = [...series.keys()].filter((at) => (series[at]!.values[place] ?? null) !== null);
  const isOnly = series.length === 1;
  const lines = (options.form === 'heat-map' ? [chosen].filter((at) => at >= 0) : known).map(
    (at) => {
      const { name, values } = series[at]!;
      const value = values[place] ?? 0;
      const text = isOnly
        ? (options.sumText?.(value) ?? `${name}: ${figureText(value, options)}`)
        : `${name}: ${figureText(value, options)}`;
      return { color: isOnly ? null : colors[at]!, text, isChosen: at === chosen && !isOnly };
    },
  );
  return [head, ...lines];
}

export function showTip(
  tip: HTMLElement,
  box: HTMLElement,
  lines: readonly TipLine[],
  left: number,
  top: number,
): void {
  tip.replaceChildren(
    ...lines.map(({ color, text, isChosen }) =>
      make(isChosen ? 'p.chosen' : 'p', color === null ? null : swatchOf(color), text),
    ),
  );
  tip.hidden = false;
  const room = box.clientWidth - tip.offsetWidth;
  const beside =
    left + 14 + tip.offsetWidth > box.clientWidth ? left - 14 - tip.offsetWidth : left + 14;
  tip.style.left = `${Math.max(0, Math.min(room, beside))}px`;
  tip.style.top = `${Math.max(0, Math.min(box.clientHeight - tip.offsetHeight, top - 8))}px`;
}

function placeWords(
  { labels, xs, isTimed }: ChartModel,
  { placeText: own }: ChartOptions,
  place: number,
): string {
  if (isTimed && own !== undefined) return own(xs[place]!);
  return placeText(labels[place] ?? '', xs[place]!, isTimed);
}

export function spanWords(
  model: ChartModel,
  options: ChartOptions,
  low: number,
  high: number,
): string {
  const sum = model.series.reduce(
    (total, { values }) =>
      values.slice(low, high + 1).reduce<number>((all, one) => all + (one ?? 0), total),
    0,
  );
  const end =
    options.placeText !== undefined
      ? options.placeText(endOf(model, high))
      : placeText('', endOf(model, high), true);
  const figures = options.sumText?.(sum);
  const span = `${placeWords(model, options, low)} to ${end}`;
  return figures === undefined ? span : `${span}: ${figures}`;
}

/** Seconds. */
export function endOf({ xs }: ChartModel, place: number): number {
  const next = xs[place + 1];
  if (next !== undefined) return next;
  return xs[place]! + (xs.length > 1 ? xs.at(-1)! - xs.at(-2)! : 60);
}

export function valuesTable(
  model: ChartModel,
  options: ChartOptions,
  isOpen: boolean,
): HTMLElement | null {
  const { table = 'fold', label } = options;
  if (table === 'none' || model.series.length === 0) return null;
  const isPie = options.form === 'pie';
  const rows = isPie
    ? model.series.map(({ name, values }) => [name, values[0] ?? null] as const)
    : model.xs
        .slice(0, MAX_TABLE_ROWS)
        .map((_, place) => [placeWords(model, options, place), place] as const);
  const figure = (value: number | null): HTMLElement =>
    make('td.number', value === null ? '' : figureText(value, options));
  const heads = isPie ? ['', ''] : ['', ...model.series.map(({ name }) => name)];
  const lines = rows.map(([text, at]) =>
    make(
      'tr',
      make('th', { scope: 'row' }, text),
      isPie ? figure(at) : model.series.map(({ values }) => figure(values[at!] ?? null)),
    ),
  );
  const [first = '', ...names] = heads;
  const made = makeTable(
    [make('td', first), ...names.map((name) => make('th.number', { scope: 'col' }, name))],
    lines,
  );
  if (table === 'hidden') {
    made.prepend(make('caption', label));
    // A table itself would be as wide as its columns.
    return make('div.visually-hidden', made);
  }
  return make(
    'details.chart-values',
    { open: isOpen },
    make('summary', 'As a table'),
    scrollBox(`${label}, as a table`, made),
  );
}

export function swatchOf({ token, isHatched }: SeriesColor): HTMLElement {
  const swatch = make(isHatched ? 'i.swatch.hatched' : 'i.swatch', { 'aria-hidden': 'true' });
  swatch.style.setProperty('--swatch', `var(${token})`);
  return swatch;
}
