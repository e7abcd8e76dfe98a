/** A result in the form of its panel. */
import type { DashboardPanel } from '../../docroot/dashboard.ts';
import { shownText } from '../../pages/grid/model.ts';
import { make, makeTable, scrollBox } from '../shared/element.ts';
import { drawChart } from '../shared/chart/chart.ts';
import type { ChartData } from '../shared/chart/data.ts';
import type { ChartForm } from '../shared/chart/forms.ts';
import type { ChartPoint } from '../shared/chart/options.ts';
import { colorIn, figureText, thresholdColor } from '../shared/chart/look.ts';
import { type ColorName, isColorName, meaningOf } from '../shared/chart/palette.ts';
import { localTime, serverMoment } from '../shared/times.ts';
import type { Result } from './run.ts';

/** A clicked value; of a chart over time with the span of its place. */
export interface Clicked {
  readonly field: string;
  readonly value: string;
  readonly series: string | null;
  readonly span: { readonly earliest: string; readonly latest: string } | null;
}

interface Drawing {
  readonly panel: DashboardPanel;
  readonly result: Result;
  readonly title: string;
  /** Null: nothing can be clicked. */
  readonly chosen: ((clicked: Clicked) => void) | null;
}

const MAX_CELLS = 300;

export function drawResult(place: HTMLElement, drawing: Drawing): void {
  const { panel, result } = drawing;
  const { form = 'table' } = panel;
  if (form === 'table' || form === 'events' || form === 'text') {
    place.replaceChildren(
      form === 'events' ? eventList(drawing) : tableOf(drawing),
      ...(result.isCut ? [make('p.fine', 'There are more rows than are shown.')] : []),
    );
    return;
  }
  const { options = {} } = panel;
  const { unit, decimals, thresholds = [], log = false, min, max } = options;
  const { chosen } = drawing;
  const data = form === 'bar' || form === 'stacked-bar' || form === 'pie' ? named(result) : result;
  const room = place.clientHeight;
  const draw = (height: number): void =>
    void drawChart(place, data, {
      form: form as ChartForm,
      label: drawing.title,
      height: Math.max(72, height),
      table: 'hidden',
      unit,
      decimals,
      thresholds,
      isLog: log,
      min: min ?? null,
      max: max ?? null,
      colors: seriesColors(options.colors ?? {}),
      ...(chosen !== null && { chosen: (point) => chosen(clickedPoint(point)) }),
    });
  draw(room - (form === 'single' ? 0 : 32));
  // A legend may take several lines.
  const legend = place.querySelector<HTMLElement>('.chart-legend:not([hidden])');
  const over = legend === null ? 0 : legend.offsetTop + legend.offsetHeight - room;
  if (over > 0 && room > 0) draw(room - 32 - over);
}

/** Bars stand for the values of the first column, also where those are numbers such as a status. */
function named(result: Result): ChartData {
  const { columns, rows } = result;
  const [first] = columns;
  if (
    first === undefined ||
    columns.length < 2 ||
    !columns.every(({ type }) => type === 'number' || type === 'integer')
  )
    return result;
  return {
    columns: [{ ...first, type: 'string' }, ...columns.slice(1)],
    rows: rows.map((row) => ({ ...row, [first.name]: String(row[first.name] ?? '') })),
  };
}

/** Words such as `error` are colours of the palette by their meaning. */
function seriesColors(colors: Readonly<Record<string, string>>): Record<string, ColorName> {
  return Object.fromEntries(
    Object.entries(colors).flatMap(([name, color]) => {
      const found = isColorName(color) ? color : meaningOf(color);
      return found === null ? [] : [[name, found]];
    }),
  );
}

function clickedPoint({ column, place, until, series }: ChartPoint): Clicked {
  return until === null
    ? { field: column, value: column === '' ? series : place, series, span: null }
    : { field: '', value: series, series, span: { earliest: place, latest: until } };
}

function tableOf({ panel, result, title, chosen }: Drawing): HTMLElement {
  const { columns, rows } = result;
  if (rows.length === 0) return make('p.fine.chart-empty', 'No rows.');
  const heads = columns.map(({ name, type }) =>
    make(type === 'number' || type === 'integer' ? 'th.number' : 'th', { scope: 'col' }, name),
  );
  const lines = rows.map((row) =>
    make(
      'tr',
      columns.map(({ name, type }) => cellOf(row[name], name, type, panel, chosen)),
    ),
  );
  return scrollBox(title, makeTable(heads, lines, { class: 'rows' }));
}

function cellOf(
  value: unknown,
  field: string,
  type: string,
  { options = {} }: DashboardPanel,
  chosen: Drawing['chosen'],
): HTMLElement {
  const isNumber = typeof value === 'number';
  const text = isNumber ? figureText(value, options) : wordsOf(value, type);
  const cell = make(isNumber ? 'td.number' : 'td', { title: text.length > 40 ? text : null });
  const color = isNumber
    ? thresholdColor(options.thresholds ?? [], value)
    : colorIn(options.colors?.[String(value)] ?? '');
  if (color !== null) {
    const mark = make('i.swatch', { 'aria-hidden': 'true' });
    mark.style.setProperty('--swatch', `var(${color.token})`);
    cell.append(mark);
  }
  if (chosen === null || isNumber || text === '') cell.append(text);
  else {
    const clicked = { field, value: String(value), series: null, span: null };
    cell.append(
      make('button.plain.value', { type: 'button', onclick: () => chosen(clicked) }, text),
    );
  }
  return cell;
}

function wordsOf(value: unknown, type: string): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return shownText(value as never);
  const moment = type === 'time' && value.length > 10 ? serverMoment(value) : null;
  return moment === null ? value : localTime(moment);
}

/** Newest first as they come: the time, what is known of the sender, the text. */
function eventList({ result: { rows, columns }, title }: Drawing): HTMLElement {
  if (rows.length === 0) return make('p.fine.chart-empty', 'No events.');
  const known = new Set(columns.map(({ name }) => name));
  const first = (names: readonly string[]): string => names.find((name) => known.has(name)) ?? '';
  const [time, text] = [first(['_time', 'created']), first(['data', '_raw', 'message'])];
  const beside = ['level', 'host'].filter((name) => known.has(name));
  const items = rows.map((row) => {
    const moment = serverMoment(String(row[time] ?? ''));
    const told = beside.map((name) => wordsOf(row[name], '')).filter((one) => one !== '');
    const level = colorIn(meaningOf(String(row['level'] ?? '')) ?? '');
    const item = make(
      'li',
      make('time', { datetime: moment?.toISOString() }, moment === null ? '' : localTime(moment)),
      ' ',
      told.length > 0 ? make('span.fine', `${told.join(' · ')} `) : null,
      make('span', clipped(row[text] ?? row)),
    );
    if (level !== null) item.style.setProperty('--swatch', `var(${level.token})`);
    return item;
  });
  return scrollBox(title, make('ol.event-lines', items));
}

function clipped(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_CELLS ? `${text.slice(0, MAX_CELLS)}…` : text;
}

/** Sanitised by the server, which made it from Markdown. */
export function drawText(place: HTMLElement, html: string): void {
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  const box = make('div.document.text', { tabindex: 0, role: 'region', 'aria-label': 'Text' });
  box.append(...body.childNodes);
  place.replaceChildren(box);
}
