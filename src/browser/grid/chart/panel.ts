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
import { make, makeSelect, makeTable, quietButton } from '../../shared/element.ts';
import { isNumeric } from '../table/cells.ts';

export interface ChartDrawing {
  readonly type: string;
  readonly series: ChartSeries;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Called with the point under the pointer in words; a space for none. */
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

export class ChartPanel {
  readonly element = make('section.chart-panel', { 'aria-label': 'Chart', hidden: true });
  readonly #options: ChartOptions;
  readonly #controls = make('div.chart-controls');
  readonly #note = make('p.fine', { role: 'status' });
  readonly #box = make('div.chart-canvas', { role: 'img' });
  readonly #readout = make('p.fine', { 'aria-hidden': 'true' }, '\u00a0');
  readonly #table = make('div.scroll.chart-table', {
    tabindex: 0,
    role: 'region',
    'aria-label': 'The chart as a table',
  });
  #choice: ChartChoice | null = null;
  #clear: (() => void) | null = null;
  #last: { choice: ChartChoice; series: Series } | null = null;
  #question = '';

  constructor(options: ChartOptions) {
    this.#options = options;
    this.element.append(
      this.#controls,
      this.#box,
      this.#readout,
      this.#note,
      make('details', make('summary', 'As a table'), this.#table),
    );
    document.addEventListener('svc:theme', () => this.#draw());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw());
  }

  toggle(): void {
    this.#options.chosen(this.#choice === null ? this.#firstChoice() : null);
  }

  show(choice: ChartChoice | null): void {
    this.#choice = choice;
    this.element.hidden = choice === null;
    if (choice === null) {
      this.#question = '';
      return;
    }
    this.#drawControls(choice);
    void this.#load(choice);
  }

  refresh(): void {
    this.#question = '';
    if (this.#choice !== null) void this.#load(this.#choice);
  }

  #firstChoice(): ChartChoice {
    const { columns } = this.#options;
    const numeric =
      columns.find(({ type }) => type === 'number') ??
      columns.find(({ type }) => type === 'integer');
    const texts = columns.filter(({ type }) => type === 'string' || type === 'boolean');
    const text = texts.find((column) => this.#repeats(column)) ?? texts[0];
    const date = columns.find(({ name, type }) => type === 'string' && /date|time|day/i.test(name));
    const y = numeric?.name ?? '';
    if (date !== undefined && y !== '') return { type: 'line', x: date.name, y, measure: 'mean' };
    if (text !== undefined) return { type: 'bar', x: text.name, y: '', measure: 'count' };
    return { type: 'histogram', x: y, y: '', measure: 'count' };
  }

  /** Bars over a column of unique codes would say nothing. */
  #repeats({ name }: GridColumn): boolean {
    const values = this.#options.rows().map((row) => plainText(cellOf(row, name)));
    return values.length === 0 || new Set(values).size <= values.length / 2;
  }

  #drawControls(choice: ChartChoice): void {
    const { columns } = this.#options;
    const names = columns.map(({ name }) => [name, name] as const);
    const numeric = columns.filter(isNumeric).map(({ name }) => [name, name] as const);
    const change = (part: Partial<ChartChoice>): void => {
      const next = { ...choice, ...part };
      const y = hasY(next) && next.y === '' ? (numeric[0]?.[0] ?? '') : next.y;
      this.#options.chosen({ ...next, y });
    };
    const select = (
      before: string,
      label: string,
      options: Parameters<typeof makeSelect>[1],
      name: keyof ChartChoice,
    ): HTMLElement => {
      const box = makeSelect(label, options, choice[name], (value) => change({ [name]: value }));
      return make('label', make('span', before), box);
    };
    const across = choice.type === 'histogram' ? numeric : names;
    const isMeasured = choice.type === 'bar' || choice.type === 'line';
    const focused = document.activeElement?.getAttribute('aria-label');
    const controls = [
      select('Chart', 'Kind of chart', TYPES, 'type'),
      select('of', 'Column across', across, 'x'),
      isMeasured ? select('showing', 'Measure', MEASURES, 'measure') : null,
      hasY(choice) ? select('of', 'Column upwards', numeric, 'y') : null,
      quietButton('Close', () => this.#options.chosen(null), { 'aria-label': 'Close the chart' }),
    ];
    this.#controls.replaceChildren(...controls.filter((one) => one !== null));
    if (focused) {
      this.#controls.querySelector<HTMLElement>(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  async #load(choice: ChartChoice): Promise<void> {
    const { page, script, restriction } = this.#options;
    const query = restriction();
    query.delete('sort');
    query.set('summary', 'chart');
    query.set('type', choice.type);
    query.set('x', choice.x);
    query.set('measure', choice.measure || 'count');
    if (hasY(choice) && choice.y !== '') query.set('y', choice.y);
    const question = String(query);
    if (question === this.#question) return;
    this.#question = question;
    this.element.setAttribute('aria-busy', 'true');
    this.#note.textContent = 'Drawing…';
    try {
      const [series] = await Promise.all([askJson<Series>(`${page}?${query}`), loadScript(script)]);
      if (question !== this.#question) return;
      this.#last = { choice, series };
      this.#draw();
    } catch (error) {
      if (question !== this.#question) return;
      this.#question = '';
      this.#clear?.();
      this.#clear = null;
      this.#note.textContent = messageOf(error);
    } finally {
      this.element.removeAttribute('aria-busy');
    }
  }

  #draw(): void {
    const { svcDrawChart } = globalThis;
    if (this.#last === null || this.#choice === null || svcDrawChart === undefined) return;
    const { choice, series } = this.#last;
    const { points, rows, skipped, note, isPartial } = series;
    const [xLabel, yLabel] = [choice.x, yLabelOf(choice)];
    this.#clear?.();
    const told = (text: string): void => void (this.#readout.textContent = text);
    this.#clear = svcDrawChart(this.#box, { type: choice.type, series, xLabel, yLabel, told });
    const label = `${yLabel} by ${xLabel}: ${points.length} points, also as a table below`;
    this.#box.setAttribute('aria-label', label);
    const notes = [
      points.length === 0 ? 'Nothing to draw.' : countText(rows),
      skipped > 0 ? `${countText(skipped)} without a value for it left out` : '',
      note,
      isPartial ? 'Only the first part of the rows: reading all takes too long.' : '',
    ];
    this.#note.textContent = notes.filter((one) => one !== '').join(' · ');
    this.#table.replaceChildren(tableOf(series, xLabel, yLabel));
  }
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
