import type { ChartSeries } from '../../../tables/read/chart-series.ts';
import { make, makeSelect, quietButton } from '../element.ts';
import {
  cellOf,
  countText,
  type GridColumn,
  type GridRow,
  plainText,
  shownText,
} from '../../../pages/grid/model.ts';
import { problemOf } from '../table/rows.ts';
import type { ChartChoice } from '../../../pages/grid/view.ts';

export interface ChartDrawing {
  readonly type: string;
  readonly series: ChartSeries;
  readonly xLabel: string;
  readonly yLabel: string;
}

declare global {
  /** Returns a function that removes the chart. */
  var svcDrawChart: ((canvas: HTMLCanvasElement, drawing: ChartDrawing) => () => void) | undefined;
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
  readonly element = make('section', { class: 'chart-panel', 'aria-label': 'Chart' });
  readonly #options: ChartOptions;
  readonly #controls = make('div', { class: 'chart-controls' });
  readonly #note = make('p', { class: 'fine', role: 'status' });
  readonly #canvas = make('canvas', { role: 'img' });
  readonly #table = make('div', {
    class: 'scroll chart-table',
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
    this.element.hidden = true;
    this.element.append(
      this.#controls,
      make('div', { class: 'chart-canvas' }, this.#canvas),
      this.#note,
      make('details', {}, make('summary', {}, 'As a table'), this.#table),
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
    void this.#load();
  }

  refresh(force = false): void {
    if (force) this.#question = '';
    if (this.#choice !== null) void this.#load();
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
    const numeric = columns
      .filter(({ type }) => type === 'integer' || type === 'number')
      .map(({ name }) => [name, name] as const);
    const change = (part: Partial<ChartChoice>) => {
      const next = { ...choice, ...part };
      const needsY =
        next.type === 'scatter' || (next.type !== 'histogram' && next.measure !== 'count');
      if (needsY && next.y === '') next.y = numeric[0]?.[0] ?? '';
      this.#options.chosen(next);
    };
    const labelled = (label: string, select: HTMLElement): HTMLElement =>
      make('label', {}, make('span', {}, label), select);
    const isMeasured = choice.type === 'bar' || choice.type === 'line';
    const hasY = choice.type === 'scatter' || (isMeasured && choice.measure !== 'count');
    const focused = document.activeElement?.getAttribute('aria-label');
    this.#controls.replaceChildren(
      labelled(
        'Chart',
        makeSelect('Kind of chart', TYPES, choice.type, (type) => change({ type })),
      ),
      labelled(
        'of',
        makeSelect('Column across', choice.type === 'histogram' ? numeric : names, choice.x, (x) =>
          change({ x }),
        ),
      ),
      ...(isMeasured
        ? [
            labelled(
              'showing',
              makeSelect('Measure', MEASURES, choice.measure, (measure) => change({ measure })),
            ),
          ]
        : []),
      ...(hasY
        ? [
            labelled(
              'of',
              makeSelect('Column upwards', numeric, choice.y, (y) => change({ y })),
            ),
          ]
        : []),
      quietButton('Close', () => this.#options.chosen(null), { 'aria-label': 'Close the chart' }),
    );
    if (focused) {
      this.#controls.querySelector<HTMLElement>(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  async #load(): Promise<void> {
    const choice = this.#choice!;
    const query = this.#options.restriction();
    query.delete('sort');
    query.set('summary', 'chart');
    query.set('type', choice.type);
    query.set('x', choice.x);
    query.set('measure', choice.measure || 'count');
    const hasY =
      choice.type === 'scatter' || (choice.type !== 'histogram' && choice.measure !== 'count');
    if (hasY && choice.y !== '') query.set('y', choice.y);
    const question = String(query);
    if (question === this.#question) return;
    this.#question = question;
    this.element.setAttribute('aria-busy', 'true');
    this.#note.textContent = 'Drawing…';
    try {
      const [response] = await Promise.all([
        fetch(`${this.#options.page}?${query}`, { headers: { Accept: 'application/json' } }),
        loadScript(this.#options.script),
      ]);
      if (question !== this.#question) return;
      if (!response.ok) throw new Error((await problemOf(response)).message);
      this.#last = { choice, series: (await response.json()) as Series };
      this.#draw();
    } catch (error) {
      if (question !== this.#question) return;
      this.#question = '';
      this.#clear?.();
      this.#clear = null;
      this.#note.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      this.element.removeAttribute('aria-busy');
    }
  }

  #draw(): void {
    if (this.#last === null || this.#choice === null || globalThis.svcDrawChart === undefined)
      return;
    const { choice, series } = this.#last;
    const yLabel = yLabelOf(choice);
    this.#clear?.();
    this.#clear = globalThis.svcDrawChart(this.#canvas, {
      type: choice.type,
      series,
      xLabel: choice.x,
      yLabel,
    });
    this.#canvas.setAttribute(
      'aria-label',
      `${yLabel} by ${choice.x}: ${series.points.length} points, also as a table below`,
    );
    const notes = [
      series.points.length === 0 ? 'Nothing to draw.' : countText(series.rows),
      series.skipped > 0 ? `${countText(series.skipped)} without a value for it left out` : '',
      series.note,
      series.isPartial ? 'Only the first part of the rows: reading all takes too long.' : '',
    ];
    this.#note.textContent = notes.filter((note) => note !== '').join(' · ');
    this.#table.replaceChildren(tableOf(series, choice.x, yLabel));
  }
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
      {},
      make('td', {}, to === undefined ? text(x) : `${text(x)} – ${text(to)}`),
      make('td', { class: 'number' }, shownText(Number(y.toPrecision(12)))),
    ),
  );
  const head = make(
    'tr',
    {},
    make('th', { scope: 'col' }, xLabel),
    make('th', { scope: 'col', class: 'number' }, yLabel),
  );
  return make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows));
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
