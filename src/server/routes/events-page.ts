/**
 * `/events`: the explorer. The query of the address runs as `/search2/api/run/` runs it, with the reader's rights.
 */
import { Type } from '@sinclair/typebox';
import { AppError } from '../../base/errors.ts';
import { JsonNumber, parseJson } from '../../base/json.ts';
import { parseTime, timeText } from '../../events/event-time.ts';
import {
  mayReadEvents as mayRead,
  mayWriteEvents as mayWrite,
} from '../../operations/event-access.ts';
import { readSearchRequest } from '../../operations/search-request.ts';
import { runSearch, type SearchResult } from '../../operations/searches.ts';
import type { ToldProblem } from '../../pipeline/problem.ts';
import {
  fieldTerm,
  isOnlySearch,
  startOf,
  termsAdder,
  withinTimes,
} from '../../pipeline/refine.ts';
import type { Format } from '../../dataset/format.ts';
import { askedFormat, formatParameter } from '../asked-format.ts';
import type { Context } from '../context.ts';
import { PRIVATE } from '../headers.ts';
import { formatHrefs } from '../list-file.ts';
import { pageReply } from '../page-reply.ts';
import { eventsPage, type EventsView, type ResultFigures } from '../pages/events.tsx';
import type { QueryProblem } from '../page-parts/event-query-problem.tsx';
import type { EventField, EventLine, ResultCell } from '../page-parts/event-results.tsx';
import type { Reply } from '../reply.ts';
import type { Route } from '../route-table.ts';
import { searchReply } from '../search-reply.ts';

/** A first look shows the last day. */
const FIRST_SPAN = '-24h';
const FIRST_ROWS = 100;
const MAX_ROWS = 5_000;
/** The page is made at once: of longer answers it shows fewer rows. */
const MAX_SHOWN_BYTES = 1024 * 1024;
/** A single row may be one large event. */
const MAX_ROW_BYTES = 4 * 1024 * 1024;
/** Each field has links that repeat the query; fields behind so many characters of them go without. */
const MAX_LINK_CHARACTERS = 512 * 1024;
/** Of fields that few events have there can be any number. */
const MAX_FIELD_COLUMNS = 20;
/** Members of an event that have a place of their own in its line. */
const SHOWN_MEMBERS = ['id', 'data', 'extracted_fields', 'created', 'updated'];

interface Asked {
  readonly q: string;
  readonly earliest: string;
  readonly latest: string;
  readonly limit: number;
  /** Events as a table instead of as lines. */
  readonly isTable: boolean;
  /** `1`: a chart is wanted, `0`: none is, `''`: not said. */
  readonly chart: string;
}

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

/** `/events`. */
export const eventsPageRoute: Route = {
  pattern: '/events',
  access: 'user',
  cacheControl: PRIVATE,
  describes: {
    GET: {
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
        formatParameter,
      ],
      answers: { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } },
    },
  },
  methods: { GET: explore },
};

async function explore(context: Context): Promise<Reply> {
  const asked = askedOf(context);
  const full = withinTimes(asked.q, asked.earliest, asked.latest);
  const format = askedFormat(context);
  if (format === null) return pageOf(context, asked, full, await run(context, full, asked.limit));
  const result = await runAs(context, full, format);
  return result.kind === 'problem' && context.wantsHtml
    ? pageOf(context, asked, full, result.problem, 400)
    : searchReply(result);
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

/** The result itself: all rows that an answer of the format may have, not only those a page shows. */
function runAs(context: Context, query: string, format: Format): Promise<SearchResult> {
  const { services, user, origin, request } = context;
  const order = readSearchRequest({ query }, format, services.config);
  return runSearch(services, user, origin, order, request.signal);
}

function askedOf(context: Context): Asked {
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

async function run(context: Context, query: string, limit: number): Promise<Ran | ToldProblem> {
  const { services, user, origin, request } = context;
  const { max_rows: most } = services.config.events.search;
  for (let rows = Math.min(limit, most); ; rows = Math.ceil(rows / 5)) {
    const order = readSearchRequest({ query, limit: rows }, 'json', services.config);
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
  // Leaving the loop cancels what is still to come.
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** What decides about the rows, without how many of them a page shows. */
function wholeQuery({ q, earliest, latest }: Asked): URLSearchParams {
  return new URLSearchParams({ q, earliest, ...(latest !== '' && { latest }) });
}

function viewOf(
  asked: Asked,
  full: string,
  outcome: Ran | ToldProblem,
): Omit<EventsView, 'formatHrefs' | 'maxFileRows' | 'mayReadEvents' | 'sendsTo'> {
  const { q, earliest, latest, chart } = asked;
  const { first, isSearch } = startOf(q);
  const terms = isSearch ? first || '*' : null;
  const isCountable = isOnlySearch(q);
  const allTimeHref =
    earliest + latest === '' ? null : addressOf({ ...asked, earliest: '', latest: '' });
  const common = { q, earliest, latest, chart, full, terms, isCountable, allTimeHref };
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
    // What is left out stands in the summary, with a way to more.
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

/** Events as lines or as a table, as the reader wants them; other rows are always a table. */
function formOf(
  rows: readonly ResultRow[],
  columns: readonly { readonly name: string; readonly type: string }[],
  asked: Asked,
  isEvents: boolean,
): Pick<EventsView, 'lines' | 'isTable' | 'columns' | 'rows' | 'otherForm'> {
  const { isTable } = asked;
  const otherForm =
    isEvents && rows.length > 0
      ? {
          label: isTable ? 'As lines' : 'As a table',
          href: addressOf({ ...asked, isTable: !isTable }),
        }
      : null;
  if (isEvents && isTable) return { lines: null, isTable, otherForm, ...eventTable(rows, asked) };
  return {
    lines: isEvents || rows.length === 0 ? linesOf(rows, asked) : null,
    isTable,
    otherForm,
    columns: columns.map(({ name, type }) => ({ name, isNumeric: type === 'number' })),
    rows: rows.map((row) => columns.map(({ name, type }) => cellOf(row[name], type))),
  };
}

/** A column for each field of the events, those that most of them have first; the text is last. */
function eventTable(
  rows: readonly ResultRow[],
  asked: Asked,
): Pick<EventsView, 'columns' | 'rows'> {
  const refine = refinerOf(asked);
  const lines = rows.map((row) => lineOf(row, () => null));
  const counts = new Map<string, number>();
  for (const { fields } of lines) {
    for (const { name } of fields) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const names = [...counts]
    .filter(([name]) => name !== '_time' && name !== 'event_time')
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_FIELD_COLUMNS)
    .map(([name]) => name);
  const cellWith = (text: string): ResultCell => ({ text, kind: text === '' ? 'blank' : 'text' });
  const fieldCell = (name: string, value: string | undefined): ResultCell =>
    value === undefined
      ? cellWith('')
      : { ...cellWith(value), includeHref: refine(fieldTerm(name, value, false)) };
  return {
    columns: ['_time', ...names, 'data'].map((name) => ({ name, isNumeric: false })),
    rows: lines.map((line) => {
      const values = new Map(line.fields.map(({ name, value }) => [name, value]));
      const cells = names.map((name) => fieldCell(name, values.get(name)));
      return [{ text: line.time, kind: 'time' as const }, ...cells, cellWith(line.text)];
    }),
  };
}

function figuresOf({ count, truncated, scanned, elapsed_ms: elapsed }: Ran['meta']): ResultFigures {
  return { rows: count, isCut: truncated, scanned, elapsedMs: elapsed };
}

type ResultRow = Readonly<Record<string, unknown>>;
/** The address of the view with more terms; null once the page has enough links. */
type Refine = (terms: string) => string | null;

function linesOf(rows: readonly ResultRow[], asked: Asked): EventLine[] {
  const refine = refinerOf(asked);
  return rows.map((row) => lineOf(row, refine));
}

function refinerOf(asked: Asked): Refine {
  const withTerms = termsAdder(asked.q);
  let left = MAX_LINK_CHARACTERS;
  return (terms) => {
    if (left <= 0) return null;
    const address = addressOf({ ...asked, q: withTerms(terms) });
    left -= address.length;
    return address;
  };
}

function lineOf(row: ResultRow, refine: Refine): EventLine {
  const fields = row['extracted_fields'];
  const members = Object.entries(row).filter(([name]) => !SHOWN_MEMBERS.includes(name));
  const extracted = isObject(fields) ? Object.entries(fields) : [];
  return {
    id: textOf(row['id']),
    time: textOf(row['_time'] ?? eventTimeIn(fields) ?? row['created']),
    source: [row['host'], row['sourcetype'] ?? row['source'], row['index']]
      .map(textOf)
      .filter((text) => text !== '')
      .slice(0, 2)
      .join(' · '),
    text: textOf(row['data']),
    fields: [...members, ...extracted]
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => fieldOf(name, value, refine)),
  };
}

/** The time the event itself tells, when it is one (SL-44). */
function eventTimeIn(fields: unknown): string | null {
  const told = isObject(fields) ? fields['event_time'] : null;
  const micros = typeof told === 'string' ? parseTime(told) : null;
  return micros === null ? null : timeText(micros);
}

function fieldOf(name: string, value: unknown, refine: Refine): EventField {
  const plain = value instanceof JsonNumber ? textOf(value) : value;
  return {
    name,
    value: textOf(value),
    includeHref: refine(fieldTerm(name, plain, false)),
    excludeHref: refine(fieldTerm(name, plain, true)),
  };
}

function addressOf({ q, earliest, latest, limit, isTable, chart }: Asked): string {
  const query = new URLSearchParams({ q, earliest });
  if (latest !== '') query.set('latest', latest);
  if (isTable) query.set('form', 'table');
  if (chart !== '') query.set('chart', chart);
  if (limit !== FIRST_ROWS) query.set('limit', String(limit));
  return `/events?${query}`;
}

function cellOf(value: unknown, type: string): ResultCell {
  if (value === null || value === undefined) return { text: '', kind: 'blank' };
  const kind = type === 'time' ? 'time' : isNumber(value) ? 'number' : 'text';
  return { text: textOf(value), kind };
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof JsonNumber;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.source;
  if (typeof value !== 'object') return String(value);
  return JSON.stringify(value, (_, member: unknown) => {
    if (member instanceof JsonNumber) return member.value;
    return typeof member === 'bigint' ? String(member) : member;
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The place of a problem is told in code points of the query with its times; shown is the query as it was typed. */
function problemOf(asked: Asked, full: string, problem: ToldProblem): QueryProblem {
  const { length, suggestion = null, allowed = [] } = problem;
  const [told = problem.error] = problem.error.split('\n');
  const typed = placeIn(asked.q, full, problem);
  const points = [...(typed === null ? full : asked.q)];
  const offset = typed ?? problem.offset;
  const before = points.slice(0, offset).join('');
  const wrong = points.slice(offset, offset + length).join('');
  const after = points.slice(offset + length).join('');
  // The column is one of the query with its times; the place is underlined anyway.
  const message = told.replace(/ \[stage \d+, column \d+\]$/, '');
  const isWord = suggestion !== null && [suggestion, wrong].every((text) => /^[\w.-]+$/.test(text));
  return {
    before,
    wrong,
    after,
    message,
    suggestion: isWord || !message.includes(suggestion ?? message) ? suggestion : null,
    suggestionHref:
      isWord && typed !== null ? addressOf({ ...asked, q: before + suggestion + after }) : null,
    allowed,
  };
}

/** Where the place of a problem is in the query without its times; null when it is in them. */
function placeIn(q: string, full: string, { offset, length }: ToldProblem): number | null {
  const [typed, ran] = [[...q], [...full]];
  let same = 0;
  while (same < typed.length && typed[same] === ran[same]) same++;
  if (offset + length <= same) return offset;
  const moved = offset - (ran.length - typed.length);
  const isSame = (index: number): boolean => typed[moved + index] === ran[offset + index];
  return moved >= 0 &&
    moved + length <= typed.length &&
    ran.slice(offset).every((_, i) => isSame(i))
    ? moved
    : null;
}
