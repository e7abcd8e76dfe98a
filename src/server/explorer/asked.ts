/**
 * What the address of a view of the event explorer says: the query, the span of time, and how the result is to be shown.
 */
import type { Context } from '../context.ts';

/** A first look shows the last day. */
export const FIRST_SPAN = '-24h';
const FIRST_ROWS = 100;
/** A page shows at most so many. */
export const MAX_ROWS = 5_000;

/** What a view of the explorer is of. */
export interface Asked {
  readonly q: string;
  readonly earliest: string;
  readonly latest: string;
  readonly limit: number;
  /** Events as a table instead of as lines. */
  readonly isTable: boolean;
  /** `1`: a chart is wanted, `0`: none is, `''`: not said. */
  readonly chart: string;
}

/** What the address of a request asks for; what it leaves out is as in a first look. */
export function askedOf(context: Context): Asked {
  const limit = Number(context.queryValue('limit'));
  return {
    q: (context.queryValue('q') ?? '').replaceAll('\r\n', '\n'),
    ...spanOf(context),
    limit: Number.isInteger(limit) && limit > 0 ? Math.min(limit, MAX_ROWS) : FIRST_ROWS,
    isTable: context.queryValue('form') === 'table',
    chart: /^[01]$/.exec(context.queryValue('chart') ?? '')?.[0] ?? '',
  };
}

/** The two boxes win over the choice, whose value may hold both ends. */
function spanOf(context: Context): Pick<Asked, 'earliest' | 'latest'> {
  const [from, to] = [momentIn(context.queryValue('from')), momentIn(context.queryValue('to'))];
  if (from !== '' || to !== '') return { earliest: from, latest: to };
  const chosen = context.queryValue('earliest') ?? FIRST_SPAN;
  const between = chosen.indexOf('..');
  if (between < 0) return { earliest: chosen, latest: context.queryValue('latest') ?? '' };
  return { earliest: chosen.slice(0, between), latest: chosen.slice(between + 2) };
}

/** What a box for a time holds is UTC unless it says otherwise; browsers leave out seconds that are none. */
function momentIn(text: string | null): string {
  const plain = text ?? '';
  if (/T\d\d:\d\d$/.test(plain)) return `${plain}:00Z`;
  return /T[\d:.]+$/.test(plain) ? `${plain}Z` : plain;
}

/** What decides about the rows, without how many of them a page shows. */
export function wholeQuery({ q, earliest, latest }: Asked): URLSearchParams {
  return new URLSearchParams({ q, earliest, ...(latest !== '' && { latest }) });
}

/** Where the view is. */
export function addressOf({ q, earliest, latest, limit, isTable, chart }: Asked): string {
  const query = new URLSearchParams({ q, earliest });
  if (latest !== '') query.set('latest', latest);
  if (isTable) query.set('form', 'table');
  if (chart !== '') query.set('chart', chart);
  if (limit !== FIRST_ROWS) query.set('limit', String(limit));
  return `/events?${query}`;
}
