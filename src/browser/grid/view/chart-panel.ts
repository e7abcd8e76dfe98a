import type { ChartSeries } from '../../../tables/read/chart-series.ts';
import {
  cellOf,
  countText,
  type GridColumn,
  type GridRow,
  plainText,
  shownText,
} from '../../../pages/grid/model.ts';
import type { ChartChoice } from '../../../pages/grid/view.ts';
import { askJson, messageOf } from '../../shared/ask.ts';
import { make, makeSelect, makeTable, quietButton, scrollBox } from '../../shared/element.ts';
import { isNumeric } from '../table/cells.ts';

export interface ChartDrawing {
  readonly type: string;
  readonly series: ChartSeries;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Called with the point under the pointer in words; `''` for none. */
  told(text: string): void;
}

declare global {
  /** Returns a function that removes the chart. */
  var svcDrawChart: ((box: HTMLElement, drawing: ChartDrawing) => () => void) | undefined;
}

interface ChartOptions {
  readonly page: string;
  readonly script: string;
  readonly columns: readonly GridColumn[];
  rows(): readonly GridRow[];
  restriction(): URLSearchParams;
  chosen(choice: ChartChoice | null): void;
}

type Series = ChartSeries & { readonly isPartial: boolean };

const TYPES = [
  ['bar', 'Bars'],
  ['line', 'Line'],
  ['scatter', 'Scatter'],
  ['histogram', 'Histogram'],
] as const;
const MEASURES = [
  ['count', 'Number of rows'],
  ['sum', 'Sum'],
  ['mean', 'Mean'],
  ['min', 'Least'],
  ['max', 'Greatest'],
] as const;

export function makeChartPanel(options: ChartOptions) {
  const { page, script, columns, rows, restriction, chosen } = options;
  const controls = make('div.chart-controls');
  const note = make('p.fine', { role: 'status' });
  const box = make('div.chart-canvas', { role: 'img' });
  const readout = make('p.fine', { 'aria-hidden': 'true' });
  const table = scrollBox('The chart as a table');
  table.classList.add('chart-table');
  const element = make(
    'section.chart-panel',
    { 'aria-label': 'Chart', hidden: true },
    controls,
    box,
    make('div.tool-group', note, readout),
    make('details', make('summary', 'As a table'), table),
  );
  let choice: ChartChoice | null = null;
  let clear: (() => void) | null = null;
  let last: { choice: ChartChoice; series: Series } | null = null;
  let asked = '';

  const drawControls = (shown: ChartChoice): void => {
    const names = columns.map(({ name }) => [name, name] as const);
    const numeric = columns.filter(isNumeric).map(({ name }) => [name, name] as const);
    const change = (part: Partial<ChartChoice>): void => {
      const next = { ...shown, ...part };
      const y = hasY(next) && next.y === '' ? (numeric[0]?.[0] ?? '') : next.y;
      chosen({ ...next, y });
    };
    const select = (
      before: string,
      label: string,
      choices: Parameters<typeof makeSelect>[1],
      name: keyof ChartChoice,
    ): HTMLElement => {
      const one = makeSelect(label, choices, shown[name], (value) => change({ [name]: value }));
      return make('label', make('span', before), one);
    };
    const across = shown.type === 'histogram' ? numeric : names;
    const isMeasured = shown.type === 'bar' || shown.type === 'line';
    const focused = document.activeElement?.getAttribute('aria-label');
    const selects = [
      select('Chart', 'Kind of chart', TYPES, 'type'),
      select('of', 'Column across', across, 'x'),
      isMeasured ? select('showing', 'Measure', MEASURES, 'measure') : null,
      hasY(shown) ? select('of', 'Column upwards', numeric, 'y') : null,
      quietButton('Close', () => chosen(null), { 'aria-label': 'Close the chart' }),
    ];
    controls.replaceChildren(...selects.filter((one) => one !== null));
    if (focused)
      controls.querySelector<HTMLElement>(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  };
  const load = async (wanted: ChartChoice): Promise<void> => {
    const query = restriction();
    query.delete('sort');
    query.set('summary', 'chart');
    query.set('type', wanted.type);
    query.set('x', wanted.x);
    query.set('measure', wanted.measure || 'count');
    if (hasY(wanted) && wanted.y !== '') query.set('y', wanted.y);
    const question = String(query);
    if (question === asked) return;
    asked = question;
    element.setAttribute('aria-busy', 'true');
    note.textContent = 'Drawing…';
    try {
      const [series] = await Promise.all([askJson<Series>(`${page}?${query}`), loadScript(script)]);
      if (question !== asked) return;
      last = { choice: wanted, series };
      draw();
    } catch (error) {
      if (question !== asked) return;
      asked = '';
      clear?.();
      clear = null;
      note.textContent = messageOf(error);
    } finally {
      element.removeAttribute('aria-busy');
    }
  };
  const draw = (): void => {
    const { svcDrawChart } = globalThis;
    if (last === null || choice === null || svcDrawChart === undefined) return;
    const { series } = last;
    const { points, skipped, isPartial } = series;
    const [xLabel, yLabel] = [last.choice.x, yLabelOf(last.choice)];
    const told = (text: string): void => void (readout.textContent = text && `· ${text}`);
    clear?.();
    clear = svcDrawChart(box, { type: last.choice.type, series, xLabel, yLabel, told });
    const label = `${yLabel} by ${xLabel}: ${points.length} points, also as a table below`;
    box.setAttribute('aria-label', label);
    const notes = [
      points.length === 0 ? 'Nothing to draw.' : countText(series.rows),
      skipped > 0 ? `${countText(skipped)} without a value for it left out` : '',
      series.note,
      isPartial ? 'Only the first part of the rows: reading all takes too long.' : '',
    ];
    note.textContent = notes.filter((one) => one !== '').join(' · ');
    table.replaceChildren(tableOf(series, xLabel, yLabel));
  };
  document.addEventListener('svc:theme', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  return {
    element,
    toggle: (): void => chosen(choice === null ? firstChoice(columns, rows()) : null),
    show(shown: ChartChoice | null): void {
      choice = shown;
      element.hidden = shown === null;
      if (shown === null) asked = '';
      else {
        drawControls(shown);
        void load(shown);
      }
    },
    refresh(): void {
      asked = '';
      if (choice !== null) void load(choice);
    },
  };
}

function firstChoice(columns: readonly GridColumn[], rows: readonly GridRow[]): ChartChoice {
  // Bars over a column of unique codes would say nothing.
  const repeats = ({ name }: GridColumn): boolean => {
    const values = rows.map((row) => plainText(cellOf(row, name)));
    return values.length === 0 || new Set(values).size <= values.length / 2;
  };
  const numeric =
    columns.find(({ type }) => type === 'number') ?? columns.find(({ type }) => type === 'integer');
  const texts = columns.filter(({ type }) => type === 'string' || type === 'boolean');
  const text = texts.find(repeats) ?? texts[0];
  const date =
    columns.find(({ format }) => format !== undefined) ??
    columns.find(({ name, type }) => type === 'string' && /date|time|day/i.test(name));
  const y = numeric?.name ?? '';
  if (date !== undefined && y !== '') return { type: 'line', x: date.name, y, measure: 'mean' };
  if (text !== undefined) return { type: 'bar', x: text.name, y: '', measure: 'count' };
  return { type: 'histogram', x: y, y: '', measure: 'count' };
}

function hasY({ type, measure }: ChartChoice): boolean {
  return type === 'scatter' || (type !== 'histogram' && measure !== 'count');
}

function yLabelOf({ type, y, measure }: ChartChoice): string {
  if (type === 'scatter') return y;
  if (type === 'histogram' || measure === 'count' || measure === '') return 'rows';
  return `${measure} of ${y}`;
}

function tableOf(series: Series, xLabel: string, yLabel: string): HTMLTableElement {
  const text = (x: string | number): string =>
    series.axis === 'time' ? new Date(x).toISOString().replace('T00:00:00.000Z', '') : shownText(x);
  const rows = series.points.map(({ x, y, to }) =>
    make(
      'tr',
      make('td', to === undefined ? text(x) : `${text(x)} – ${text(to)}`),
      make('td.number', shownText(Number(y.toPrecision(12)))),
    ),
  );
  return makeTable([xLabel, make('th.number', { scope: 'col' }, yLabel)], rows);
}

let loading: Promise<void> | null = null;

function loadScript(src: string): Promise<void> {
  loading ??= new Promise((resolve, reject) => {
    const script = make('script', { src });
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', () => {
      loading = null;
      reject(new Error('The chart library could not be fetched.'));
    });
    document.head.append(script);
  });
  return loading;
}
