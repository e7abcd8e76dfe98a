/**
 * A view as an address: everyone who opens it sees the same rows, columns and chart. `q`, `filter`, `sort` and `columns`
 * are parameters of the API, so the page without script understands them too; the others are the grid's own.
 */
import {
  indexNames,
  indexOfName,
  joinNames,
  quoted,
  splitNames,
} from '../../tables/read/name-list.ts';
import type { GridColumn } from './model.ts';

export interface SortStep {
  readonly column: string;
  readonly isDescending: boolean;
}

export interface ChartChoice {
  readonly type: string;
  readonly x: string;
  readonly y: string;
  readonly measure: string;
}

export interface View {
  readonly q: string;
  /** JSON text; `''` for none. May be invalid: the server then says why. */
  readonly filter: string;
  readonly sort: readonly SortStep[];
  /** In the order shown; null: all, in file order. */
  readonly columns: readonly string[] | null;
  readonly pinned: readonly string[];
  readonly hasValues: boolean;
  readonly chart: ChartChoice | null;
  /** The rows as they were: `at` of the API; absent: as they are. */
  readonly then?: string;
}

/** Columns shown unless more are asked for. */
export const MAX_COLUMNS = 60;

const CHARTS: ReadonlySet<string> = new Set(['bar', 'line', 'scatter', 'histogram']);

export function readView(search: string, columns: readonly GridColumn[]): View {
  const query = new URLSearchParams(search);
  const last = (name: string): string => query.getAll(name).at(-1) ?? '';
  const names = (values: readonly string[]): string[] => {
    const indexes = indexNames(columns);
    const found = values.filter((value) => value !== '').flatMap(splitNames);
    const known = found.map((item) => indexOfName(item, indexes));
    return [...new Set(known)].flatMap((index) =>
      index === undefined ? [] : [columns[index]!.name],
    );
  };
  const shown = names(query.getAll('columns'));
  const chart = last('chart');
  const then = last('then');
  return {
    ...(then !== '' && { then }),
    q: last('q'),
    filter: last('filter'),
    sort: readSort(last('sort'), last('order') === 'desc', columns),
    columns: shown.length === 0 ? null : shown,
    pinned: names(query.getAll('pinned')),
    hasValues: last('values') !== '',
    chart: CHARTS.has(chart)
      ? { type: chart, x: last('x'), y: last('y'), measure: last('measure') }
      : null,
  };
}

/** `''` or beginning with `?`. */
export function addressOf(view: View): string {
  const query = rowsQuery({ ...view, then: '' });
  const set = (name: string, value: string): void => {
    if (value !== '') query.set(name, value);
  };
  set('then', view.then ?? '');
  set('columns', joinNames(view.columns ?? []));
  set('pinned', joinNames(view.pinned));
  set('values', view.hasValues ? '1' : '');
  if (view.chart !== null) {
    set('chart', view.chart.type);
    set('x', view.chart.x);
    set('y', view.chart.y);
    set('measure', view.chart.measure);
  }
  return query.size === 0 ? '' : `?${query}`;
}

export function rowsQuery({
  q,
  filter,
  sort,
  then = '',
}: Pick<View, 'q' | 'filter' | 'sort' | 'then'>): URLSearchParams {
  const query = new URLSearchParams();
  if (then !== '') query.set('at', then);
  if (q !== '') query.set('q', q);
  if (filter !== '') query.set('filter', filter);
  if (sort.length > 0) {
    const items = sort.map(
      ({ column, isDescending }) => `${isDescending ? '-' : ''}${quoted(column)}`,
    );
    query.set('sort', items.join(','));
  }
  return query;
}

/** The address shows all rows of the file in their order. */
export function isFileOrder(search: string): boolean {
  return !/[?&](?:sort|filter|q)=/.test(search);
}

export function shownColumns(view: View, columns: readonly GridColumn[]): GridColumn[] {
  const byName = new Map(columns.map((column) => [column.name, column]));
  const names = view.columns ?? columns.slice(0, MAX_COLUMNS).map(({ name }) => name);
  const pinned = new Set(view.pinned);
  const ordered = [
    ...names.filter((name) => pinned.has(name)),
    ...names.filter((name) => !pinned.has(name)),
  ];
  return ordered.flatMap((name) => byName.get(name) ?? []);
}

function readSort(text: string, isDown: boolean, columns: readonly GridColumn[]): SortStep[] {
  const indexes = indexNames(columns);
  return (text === '' ? [] : splitNames(text)).flatMap((item) => {
    const plain = indexOfName(item, indexes);
    if (plain !== undefined) return { column: columns[plain]!.name, isDescending: isDown };
    const bare = item.trim().replace(/^-/, '');
    if (bare === '_row_id') return { column: bare, isDescending: item.trim() !== bare || isDown };
    const index = indexOfName(bare, indexes);
    return index === undefined ? [] : { column: columns[index]!.name, isDescending: true };
  });
}
