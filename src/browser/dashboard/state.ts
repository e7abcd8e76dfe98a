/** What the page was given, and what its address says: range of time, variables, how often it refreshes. */
import type { Dashboard, DashboardPanel, DashboardVariable } from '../../docroot/dashboard.ts';

export interface PanelQuery {
  readonly query: string;
  readonly rest: string | null;
  readonly is_sql: boolean;
  readonly problem: string | null;
}

export interface Shown {
  readonly resource: string;
  readonly version: string;
  readonly may_write: boolean;
  readonly dashboard: Dashboard;
  readonly texts: Readonly<Record<string, string>>;
  readonly queries: Readonly<Record<string, PanelQuery>>;
}

/** A panel with what is run for it. */
export interface Place {
  readonly panel: DashboardPanel;
  readonly query: PanelQuery | null;
  readonly html: string | null;
}

export interface Span {
  readonly earliest: string;
  readonly latest: string;
}

export function placeIn({ dashboard, queries, texts }: Shown, row: number, at: number): Place {
  const key = `${row}/${at}`;
  const panel = dashboard.rows[row]!.panels[at]!;
  return { panel, query: queries[key] ?? null, html: texts[key] ?? null };
}

export function spanOf(text: string): Span {
  const between = text.indexOf('..');
  return between < 0
    ? { earliest: text, latest: '' }
    : { earliest: text.slice(0, between), latest: text.slice(between + 2) };
}

export function spanText({ earliest, latest }: Span): string {
  return latest === '' || latest === 'now' ? earliest : `${earliest}..${latest}`;
}

function firstValue({ type, default: first = '' }: DashboardVariable): string {
  if (typeof first !== 'object') return String(first);
  return type === 'time' ? spanText({ earliest: '', latest: '', ...first }) : '';
}

/** What readers chose, over what the file says. */
export class Choices {
  readonly #dashboard: Dashboard;
  span: Span;
  refresh: string;
  timezone: string;
  values: Record<string, string>;

  constructor(dashboard: Dashboard) {
    this.#dashboard = dashboard;
    const query = new URLSearchParams(location.search);
    const first = { earliest: '-24h', latest: '', ...dashboard.time };
    const [earliest, latest] = [query.get('earliest'), query.get('latest')];
    this.span =
      earliest === null && latest === null
        ? first
        : { earliest: earliest ?? '', latest: latest ?? '' };
    this.refresh = query.get('refresh') ?? dashboard.refresh ?? 'off';
    this.timezone = query.get('timezone') ?? 'UTC';
    const variables = dashboard.variables ?? [];
    this.values = Object.fromEntries(
      variables.map((one) => [one.name, query.get(one.name) ?? firstValue(one)]),
    );
  }

  /** Those of the panel's own variable of time, else of the page. */
  spanFor({ time }: DashboardPanel): Span {
    return time === undefined || time === 'none' ? this.span : spanOf(this.values[time] ?? '');
  }

  /** `isStep`: the browser's Back leads to the choice before. */
  keep(isStep: boolean): void {
    const address = new URL(location.href);
    const set = (name: string, value: string, first: string): void => {
      if (value === first) address.searchParams.delete(name);
      else address.searchParams.set(name, value);
    };
    const { time = {}, refresh = 'off', variables = [] } = this.#dashboard;
    const isFirst = spanText(this.span) === spanText({ earliest: '-24h', latest: '', ...time });
    for (const name of ['earliest', 'latest'] as const) {
      if (isFirst) address.searchParams.delete(name);
      else address.searchParams.set(name, this.span[name]);
    }
    if (this.span.latest === '') address.searchParams.delete('latest');
    set('refresh', this.refresh, refresh);
    for (const one of variables) set(one.name, this.values[one.name] ?? '', firstValue(one));
    if (address.href === location.href) return;
    if (isStep) history.pushState(null, '', address);
    else history.replaceState(history.state, '', address);
  }
}
