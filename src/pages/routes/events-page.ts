/** Runs the query of the address as `/search2/api/run/` does, with the reader's rights. */
import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { AppError } from '../../base/errors.ts';
import { parseJson } from '../../base/json/json.ts';
import {
  mayReadEvents as mayRead,
  mayWriteEvents as mayWrite,
} from '../../operations/event-access.ts';
import { readSearchRequest } from '../../operations/search-request.ts';
import { runSearch, type SearchResult } from '../../operations/searches.ts';
import type { ToldProblem } from '../../language/syntax/problem.ts';
import { startOf, withinTimes } from '../../language/syntax/refine.ts';
import type { Format } from '../../tables/read/format.ts';
import { askedFormat, formatParameter, formatHrefs } from '../../http/reply/list-file.ts';
import type { Context } from '../../http/context.ts';
import {
  addressOf,
  type Asked,
  askedOf,
  FIRST_SPAN,
  MAX_ROWS,
  wholeQuery,
} from '../explorer/asked.ts';
import { problemOf } from '../explorer/problem-view.ts';
import { formOf } from '../explorer/result-view.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { pageReply } from '../page-reply.ts';
import { eventsPage, type EventsView, type ResultFigures } from '../views/events.tsx';
import type { Reply } from '../../http/reply/reply.ts';
import { door } from '../../http/door.ts';
import { searchReply } from '../../api/search-reply.ts';

/** The page is built in memory; of longer results it shows fewer rows. */
const MAX_SHOWN_BYTES = 1024 * 1024;
/** A single row may be one large event. */
const MAX_ROW_BYTES = 4 * 1024 * 1024;

interface Ran {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly meta: {
    readonly count: number;
    readonly truncated: boolean;
    readonly elapsed_ms: number;
    readonly scanned: number;
    readonly notices: readonly string[];
    readonly columns: readonly { readonly name: string; readonly type: string }[];
  };
}

export const eventsPageRoute = new Elysia({ name: 'events-page' })
  .use(door)
  .get('/events', ({ ask }) => explore(ask), {
    checks: { access: 'user', cacheControl: PRIVATE },
    describes: {
      summary: 'Show the event explorer',
      tag: 'events',
      parameters: [
        { name: 'q', in: 'query', description: 'The query', schema: Type.String() },
        {
          name: 'earliest',
          in: 'query',
          description: 'Only events from then on, such as -24h; empty: all',
          schema: Type.String({ default: FIRST_SPAN }),
        },
        {
          name: 'latest',
          in: 'query',
          description: 'Only events before',
          schema: Type.String(),
        },
        {
          name: 'timezone',
          in: 'query',
          description: 'Zone of days and of times without offset; UTC unless given',
          schema: Type.String(),
        },
        formatParameter,
      ],
      answers: { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } },
    },
  });

async function explore(context: Context): Promise<Reply> {
  const asked = askedOf(context);
  const full = withinTimes(asked.q, asked.earliest, asked.latest);
  const format = askedFormat(context);
  if (format === null) return pageOf(context, asked, full, await run(context, full, asked));
  const result = await runAs(context, full, asked, format);
  return result.kind === 'problem' && context.wantsHtml
    ? pageOf(context, asked, full, result.problem, 400)
    : searchReply(context, result);
}

async function pageOf(
  context: Context,
  asked: Asked,
  full: string,
  outcome: Ran | ToldProblem,
  status = 200,
): Promise<Reply> {
  const { services, user, baseUrl } = context;
  const view = {
    ...viewOf(asked, full, outcome),
    mayReadEvents: await mayRead(services, user),
    sendsTo: (await mayWrite(services, user)) && !services.config.readonly ? baseUrl : null,
    formatHrefs: formatHrefs('/events', wholeQuery(asked)),
    maxFileRows: services.config.events.search.export_max_rows,
  };
  return pageReply(context, eventsPage, view, { status });
}

/** With all rows that the format may have. */
function runAs(
  context: Context,
  query: string,
  { timezone }: Asked,
  format: Format,
): Promise<SearchResult> {
  const { services, user, origin, request } = context;
  const order = readSearchRequest({ query, timezone }, format, services.config);
  return runSearch(services, user, origin, order, request.signal);
}

async function run(
  context: Context,
  query: string,
  { limit, timezone }: Asked,
): Promise<Ran | ToldProblem> {
  const { services, user, origin, request } = context;
  const { max_rows: most } = services.config.events.search;
  for (let rows = Math.min(limit, most); ; rows = Math.ceil(rows / 5)) {
    const order = readSearchRequest({ query, timezone, limit: rows }, 'json', services.config);
    const result = await runSearch(services, user, origin, order, request.signal);
    if (result.kind === 'problem') return result.problem;
    try {
      const text = await boundedText(result.body, rows === 1 ? MAX_ROW_BYTES : MAX_SHOWN_BYTES);
      if (text !== null) return parseJson(text) as Ran;
    } finally {
      await result.leave();
    }
    if (rows === 1) throw new AppError('too-large', 'The answer is too large to be shown');
  }
}

/** Null for more than `maxBytes`. */
async function boundedText(
  body: Uint8Array | ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function viewOf(
  asked: Asked,
  full: string,
  outcome: Ran | ToldProblem,
): Omit<EventsView, 'formatHrefs' | 'maxFileRows' | 'mayReadEvents' | 'sendsTo'> {
  const { q, earliest, latest, timezone, chart } = asked;
  const { first, isSearch, isOnlySearch: isCountable } = startOf(q);
  const terms = isSearch ? first || '*' : null;
  const allTimeHref =
    earliest + latest === '' ? null : addressOf({ ...asked, earliest: '', latest: '' });
  const common = { q, earliest, latest, timezone, chart, full, terms, isCountable, allTimeHref };
  if ('error' in outcome) {
    return {
      ...common,
      problem: problemOf(asked, full, outcome),
      notices: [],
      lines: null,
      isTable: false,
      columns: [],
      rows: [],
      figures: null,
      otherForm: null,
      moreHref: null,
      isChartable: false,
    };
  }
  const { rows, meta } = outcome;
  const columns = meta.columns.map(({ name, type }) => ({ name, type }));
  const names = new Set(columns.map(({ name }) => name));
  const isEvents = ['id', 'data', 'created'].every((name) => names.has(name));
  return {
    ...common,
    problem: null,
    // The summary says it, with a link to more rows.
    notices: meta.notices.filter((notice) => !/^Result cut at \d+ rows$/.test(notice)),
    ...formOf(rows, columns, asked, isEvents),
    figures: figuresOf(meta),
    moreHref:
      meta.truncated && asked.limit < MAX_ROWS
        ? addressOf({ ...asked, limit: Math.min(asked.limit * 5, MAX_ROWS) })
        : null,
    isChartable:
      !isEvents &&
      rows.length > 1 &&
      columns.length > 1 &&
      columns.some(({ type }) => type === 'number'),
  };
}

function figuresOf({ count, truncated, scanned, elapsed_ms: elapsed }: Ran['meta']): ResultFigures {
  return { rows: count, isCut: truncated, scanned, elapsedMs: elapsed };
}
