/**
 * A chart of the result table, in the form that the reader chooses: lines over times and bars of names unless told
 * otherwise. Results over time are drawn at once.
 */
import { drawChart } from '../shared/chart/chart.ts';
import type { ChartData } from '../shared/chart/data.ts';
import type { ChartPoint } from '../shared/chart/options.ts';
import { type ChartForm, FORMS } from '../shared/chart/forms.ts';
import { make, makeSelect } from '../shared/element.ts';
import { noteView, viewChoice } from './view-choices.ts';

/** Returns what draws the chart anew when the result is another. */
export function startResultChart(
  explorer: HTMLElement,
  chosen: (point: ChartPoint) => void,
): () => void {
  const button = explorer.querySelector<HTMLButtonElement>('#chart');
  const place = explorer.querySelector<HTMLElement>('#chart-place');
  if (button === null || place === null) return () => {};
  const plot = make('div');
  const draw = (): void => {
    const data = dataIn(explorer);
    if (data === null) return;
    drawChart(plot, data, {
      form: formIn(isOverTime(data)),
      label: 'Chart of the result',
      isLog: viewChoice('log') === '1',
      min: numberIn(viewChoice('min')),
      max: numberIn(viewChoice('max')),
      table: 'none',
      key: 'g',
      chosen,
    });
  };
  const show = (isShown: boolean): void => {
    place.replaceChildren();
    button.setAttribute('aria-pressed', String(isShown));
    button.textContent = isShown ? 'Hide the chart' : 'Chart';
    const data = dataIn(explorer);
    if (!isShown || data === null) return;
    const label = 'Chart of the result; the table below has the same figures';
    const controls = controlsOf(formIn(isOverTime(data)), draw);
    place.append(make('figure.chart', { 'aria-label': label }, controls, plot));
    draw();
  };
  const data = dataIn(explorer);
  if (data === null) return () => {};
  button.hidden = false;
  const asked = viewChoice('chart');
  if (asked === '' ? isOverTime(data) : asked !== '0') show(true);
  button.addEventListener('click', () => {
    const isShown = place.childElementCount === 0;
    noteView('chart', isShown ? '1' : '0');
    show(isShown);
  });
  return () => {
    if (place.childElementCount > 0) draw();
  };
}

function isOverTime({ columns }: ChartData): boolean {
  return columns[0]?.type === 'time';
}

function formIn(isTimed: boolean): ChartForm {
  const asked = viewChoice('chart');
  const known = FORMS.find(([form]) => form === asked);
  return known?.[0] ?? (isTimed ? 'line' : 'bar');
}

/** Chosen anew, the chart is drawn and the address names it. */
function controlsOf(form: ChartForm, draw: () => void): HTMLElement {
  const change = (name: Parameters<typeof noteView>[0], value: string): void => {
    noteView(name, value);
    draw();
  };
  const kind = makeSelect('Kind of chart', FORMS, form, (value) => {
    change('chart', value);
    adapt(value as ChartForm);
  });
  const log = make('input', { type: 'checkbox', checked: viewChoice('log') === '1' });
  log.addEventListener('change', () => change('log', log.checked ? '1' : ''));
  const limit = (name: 'min' | 'max', label: string): HTMLLabelElement => {
    const box = make('input', {
      type: 'number',
      step: 'any',
      value: viewChoice(name),
      placeholder: 'auto',
      'aria-label': `${label} of the axis`,
    });
    box.addEventListener('change', () => change(name, box.value));
    return make('label', label, box);
  };
  const logBox = make('label.check', log, 'Log scale');
  const limits = [limit('min', 'Least'), limit('max', 'Most')];
  const adapt = (chosen: ChartForm): void => {
    logBox.hidden = chosen === 'pie' || chosen === 'single' || chosen.startsWith('stacked');
    for (const one of limits) one.hidden = ['pie', 'single', 'heat-map'].includes(chosen);
  };
  adapt(form);
  return make('div.chart-options', kind, logBox, ...limits);
}

function numberIn(text: string): number | null {
  return text === '' || Number.isNaN(Number(text)) ? null : Number(text);
}

/** Null without a table of figures. */
function dataIn(explorer: HTMLElement): ChartData | null {
  const table = explorer.querySelector<HTMLTableElement>('#result');
  if (table === null) return null;
  const names = [...table.tHead!.rows[0]!.cells].map((cell) => cell.textContent ?? '');
  const body = [...table.tBodies[0]!.rows].map((row) => [...row.cells]);
  const isTime = (at: number): boolean =>
    body.every((cells) => cells[at]!.querySelector('time') !== null);
  const columns = names.map((name, at) => {
    const isNumber = body.some((cells) => cells[at]!.querySelector('data') !== null);
    return { name, type: isTime(at) ? 'time' : isNumber ? 'number' : 'string' };
  });
  if (!columns.some(({ type }) => type === 'number')) return null;
  const rows = body.map((cells) =>
    Object.fromEntries(cells.map((cell, at) => [names[at]!, valueIn(cell)])),
  );
  return { columns, rows };
}

function valueIn(cell: HTMLTableCellElement): unknown {
  const figure = cell.querySelector('data')?.value ?? '';
  if (figure !== '' && !Number.isNaN(Number(figure))) return Number(figure);
  const text = cell.querySelector('time')?.dateTime ?? cell.textContent?.trim() ?? '';
  return text === '' ? null : text;
}
