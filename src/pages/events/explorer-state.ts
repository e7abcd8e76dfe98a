/** The state of an explorer view, of events, of one dataset or in SQL, as its address holds it. */
import { encodePath } from '../../base/paths.ts';
import { TimeZone } from '../../base/time-zone.ts';
import { namedParameters } from '../../language/sql/statement.ts';
import type { Context } from '../../http/context.ts';
import { timesOf } from '../../language/syntax/refine.ts';
import { isSql } from '../../language/syntax/sql-statement.ts';
import { printSourceName } from '../../language/syntax/source-name.ts';

/** Span of the first view. */
export const FIRST_SPAN = '-24h';
const FIRST_ROWS = 100;
/** Parameter that turns a dataset's page into its questions. */
export const ASK = 'ask';
export const MAX_ROWS = 5_000;

export interface Asked {
  /** Then without a span of time; null for events. */
  readonly dataset: string | null;
  /** A statement over all datasets, without a span of time. */
  readonly isSql: boolean;
  /** Values of its parameters, by their names with the sign before them. */
  readonly values: Readonly<Record<string, string>>;
  readonly offset: number;
  readonly q: string;
  readonly earliest: string;
  readonly latest: string;
  /** For dates and for times without offset. */
  readonly timezone: string;
  readonly limit: number;
  readonly isTable: boolean;
  /** How the result is shown, by the parameters below; without those that are not said. */
  readonly view: Readonly<Record<string, string>>;
}

/** Choices of the page's script, which go along with every further search. */
const VIEW: Readonly<Record<string, RegExp>> = {
  /** A form of chart; `1`: what suits the result, `0`: none. */
  chart: /^(?:[01]|[a-z-]{3,16})$/,
  log: /^1$/,
  min: /^-?[\d.e+-]{1,32}$/,
  max: /^-?[\d.e+-]{1,32}$/,
  /** The field that the histogram is split by. */
  by: /^[^\0]{1,256}$/,
  /** Fields beside the text of each event. */
  columns: /^[^\0]{1,1024}$/,
  /** Id of the saved search that this one began as. */
  saved: /^\d{1,15}$/,
  /** Seconds between searches. */
  refresh: /^\d{1,5}$/,
};

export function askedOf(context: Context, dataset: string | null, isSql = false): Asked {
  const limit = Number(context.queryValue('limit'));
  const offset = Number(context.queryValue('offset'));
  const typed = context.queryValue(dataset === null ? 'q' : ASK) ?? '';
  const parameters = isSql ? new Set(namedParameters(typed)) : [];
  return {
    dataset,
    isSql,
    values: Object.fromEntries(
      [...parameters].map((name) => [name, context.queryValue(`:${name}`) ?? '']),
    ),
    offset: isSql && Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
    q:
      dataset !== null && typed.trim() === '' ? beginning(dataset) : typed.replaceAll('\r\n', '\n'),
    ...(dataset === null && !isSql ? spanOf(context) : { earliest: '', latest: '' }),
    timezone: TimeZone.named(context.queryValue('timezone') ?? '')?.name ?? 'UTC',
    limit: Number.isInteger(limit) && limit > 0 ? Math.min(limit, MAX_ROWS) : FIRST_ROWS,
    isTable: context.queryValue('form') === 'table',
    view: Object.fromEntries(
      Object.entries(VIEW).flatMap(([name, pattern]) => {
        const value = context.queryValue(name) ?? '';
        return pattern.test(value) ? [[name, value]] : [];
      }),
    ),
  };
}

/** What a question about a dataset begins with; alone it is all of its rows. */
export function beginning(dataset: string): string {
  return `from ${printSourceName({ text: dataset, place: { at: 0, length: 0 } })} | `;
}

/** A span that was pressed wins, then the number, then the two boxes; `earliest` may hold both ends. */
function spanOf(context: Context): Pick<Asked, 'earliest' | 'latest'> {
  const value = (name: string): string => context.queryValue(name) ?? '';
  const pressed = context.queryValue('span');
  if (pressed !== null) return endsOf(pressed === 'all' ? '' : pressed, '');
  const last = /^\d{1,4}[mhdw]$/.exec(value('last') + value('unit'))?.[0];
  if (last !== undefined) return { earliest: `-${last}`, latest: '' };
  const [from, to] = [momentIn(value('from')), momentIn(value('to'))];
  if (from !== '' || to !== '') return { earliest: from, latest: to };
  return endsOf(context.queryValue('earliest') ?? FIRST_SPAN, value('latest'));
}

function endsOf(earliest: string, latest: string): Pick<Asked, 'earliest' | 'latest'> {
  const between = earliest.indexOf('..');
  if (between < 0) return { earliest, latest };
  return { earliest: earliest.slice(0, between), latest: earliest.slice(between + 2) };
}

/** Times without a zone are UTC; browsers omit seconds of zero. */
function momentIn(text: string): string {
  if (/T\d\d:\d\d$/.test(text)) return `${text}:00Z`;
  return /T[\d:.]+$/.test(text) ? `${text}Z` : text;
}

/** Without the limit of rows. */
export function wholeQuery({
  q,
  isSql,
  values,
  earliest,
  latest,
  timezone,
}: Asked): URLSearchParams {
  const named = Object.entries(values).map(([name, value]) => [`:${name}`, value]);
  return new URLSearchParams({
    q,
    ...Object.fromEntries(named),
    ...(!isSql && { earliest }),
    ...(latest !== '' && { latest }),
    ...(timezone !== 'UTC' && { timezone }),
  });
}

export function addressOf(asked: Asked): string {
  const { dataset, q, timezone, limit, offset, isTable, view } = asked;
  const query =
    dataset === null
      ? wholeQuery(asked)
      : new URLSearchParams({ [ASK]: q, ...(timezone !== 'UTC' && { timezone }) });
  if (isTable) query.set('form', 'table');
  for (const [name, value] of Object.entries(view)) query.set(name, value);
  if (limit !== FIRST_ROWS) query.set('limit', String(limit));
  if (offset > 0) query.set('offset', String(offset));
  return `${pathOf(asked)}?${query}`;
}

/** A saved search with its own time, and shown as it was when it was saved. */
export function savedAddress({
  id,
  query,
  view,
}: {
  readonly id: number;
  readonly query: string;
  readonly view: string;
}): string {
  const address = new URLSearchParams({ saved: String(id) });
  const shown = new URLSearchParams(view);
  for (const name of [...Object.keys(VIEW), 'form', 'timezone']) {
    const value = shown.get(name);
    if (value !== null && name !== 'saved') address.set(name, value);
  }
  if (isSql(query)) {
    address.set('q', query);
    return `/sql?${address}`;
  }
  const { query: q, earliest, latest } = timesOf(query);
  address.set('q', q);
  address.set('earliest', earliest);
  if (latest !== '') address.set('latest', latest);
  return `/events?${address}`;
}

export function pathOf({ dataset, isSql }: Pick<Asked, 'dataset' | 'isSql'>): string {
  if (isSql) return '/sql';
  return dataset === null ? '/events' : datasetAddress(dataset);
}

export function datasetAddress(dataset: string): string {
  return `/ui/${encodePath(dataset)}/`;
}
