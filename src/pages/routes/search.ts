import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { mayReadEvents } from '../../operations/event-access.ts';
import {
  type DocrootQuery,
  docrootAnswer,
  type DocrootResult,
  type DocrootResults,
  MAX_RESULTS,
  parseDocrootQuery,
  searchDocroot,
} from '../../operations/search.ts';
import { askedFormat, formatParameter, formatHrefs, listFile } from '../../http/reply/list-file.ts';
import type { Context } from '../../http/context.ts';
import { kindName, TYPE_GROUPS, TYPE_NAMES } from '../../api/kind-names.ts';
import { pageReply } from '../page-reply.ts';
import { type ResultItem, type SearchFacet, searchPage } from '../views/search.tsx';
import type { Reply } from '../../http/reply/reply.ts';
import { jsonReply } from '../../http/reply/reply.ts';
import { door } from '../../http/door.ts';

const VARY = { Vary: 'Accept' };
const TYPES = Object.keys(TYPE_NAMES);

const searchResult = Type.Object(
  {
    resource: Type.String({ description: 'Canonical name' }),
    type: Type.String({ description: `One of ${TYPES.join(', ')}` }),
    title: Type.String({ description: 'Plain text' }),
    snippet: Type.String({ description: 'HTML: escaped text with hits in <mark>' }),
    score: Type.Number({ description: 'Higher is better' }),
    ui_url: Type.String(),
    api_url: Type.Optional(Type.String({ description: 'Of a row: returns exactly it' })),
    row_id: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { $id: 'SearchResult' },
);

const searchResults = Type.Object(
  {
    query: Type.String(),
    count: Type.Integer({ minimum: 0, description: 'Results on this page' }),
    has_more: Type.Boolean(),
    results: Type.Array(searchResult),
  },
  { $id: 'SearchResults' },
);

export const searchRoute = new Elysia({ name: 'search' }).use(door).get(
  '/search',
  async ({ ask }) => {
    const query = parseDocrootQuery(ask.query);
    const results = await searchDocroot(ask.services, ask.user, query);
    const format = askedFormat(ask);
    if (format !== null && format !== 'json') {
      return listFile('search', format, docrootAnswer(results).results);
    }
    return ask.wantsHtml && format === null
      ? resultsPage(ask, query, results)
      : jsonReply(docrootAnswer(results), { headers: VARY });
  },
  {
    checks: { access: 'user' },
    describes: {
      summary: 'Search everything you may read',
      tag: 'search',
      parameters: [
        {
          name: 'q',
          in: 'query',
          description: 'Words that all must occur; the last one may be a beginning',
          schema: Type.String(),
        },
        {
          name: 'limit',
          in: 'query',
          description: 'Most results of the page',
          schema: Type.Integer({ minimum: 1, maximum: MAX_RESULTS, default: 20 }),
        },
        {
          name: 'offset',
          in: 'query',
          description: 'Results to leave out first',
          schema: Type.Integer({ minimum: 0, default: 0 }),
        },
        {
          name: 'type',
          in: 'query',
          description: `Comma list of ${TYPES.join(', ')}`,
          schema: Type.String(),
        },
        formatParameter,
      ],
      answers: { 200: { description: 'A page of results, best first', schema: searchResults } },
      errors: [422, 503, 504],
    },
  },
);

async function resultsPage(
  context: Context,
  query: DocrootQuery,
  found: DocrootResults,
): Promise<Reply> {
  const { services, user } = context;
  const { q, offset, limit } = query;
  const view = {
    q,
    type: (context.queryValue('type') ?? '').trim(),
    facets: await facetsOf(context),
    eventsHref: (await mayReadEvents(services, user)) ? eventsHref(q) : null,
    hasQuery: q.trim() !== '',
    first: offset + 1,
    items: found.results.map(itemOf),
    previousHref: offset > 0 ? hrefOf(context, Math.max(0, offset - limit)) : null,
    nextHref: found.hasMore ? hrefOf(context, offset + limit) : null,
    files: formatHrefs('/search', firstResults(context)),
    leftOut: found.leftOut.map(
      ({ resource, rows }) => `${resource}: ${rows.toLocaleString('en')} rows are not searched`,
    ),
  };
  return pageReply(context, searchPage, view, { headers: VARY });
}

function firstResults(context: Context): URLSearchParams {
  const query = new URLSearchParams(context.linkQuery);
  for (const name of ['offset', 'format']) query.delete(name);
  query.set('limit', String(MAX_RESULTS));
  return query;
}

/** A row links to the page of its dataset, positioned at the row. */
function itemOf({ resource, rel, type, title, snippet, uiUrl, row }: DocrootResult): ResultItem {
  return {
    title: title.trim() === '' ? resource : title,
    href: row === null ? uiUrl : `${uiUrl}/?at=${row.id}`,
    place: row === null ? resource : `${resource}, row ${row.id}`,
    kind: kindName({ type, rel }),
    snippet,
    dataHref: row?.apiUrl ?? null,
  };
}

/** All, and the kinds of which the caller may read something; empty for one kind. */
async function facetsOf(context: Context): Promise<SearchFacet[]> {
  const { resources } = await context.services.listReadable(context.caller);
  const readable = new Set<string>(resources.map(({ type }) => type));
  const chosen = (context.queryValue('type') ?? '').trim();
  const kinds = TYPE_GROUPS.filter(([, types]) => types.some((type) => readable.has(type)));
  if (kinds.length < 2) return [];
  return [['Everything', []] as const, ...kinds].map(([label, types]) => {
    const type = types.join(',');
    return { label, href: facetHref(context, type), isChosen: type === chosen };
  });
}

function facetHref(context: Context, type: string): string {
  const query = new URLSearchParams(context.linkQuery);
  query.delete('offset');
  query.delete('type');
  if (type !== '') query.set('type', type);
  return query.size === 0 ? '/search' : `/search?${query}`;
}

/** As quoted phrases of the search language, so that the words are literal. */
function eventsHref(q: string): string {
  const words = q.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return `/events?q=${encodeURIComponent(words.map((word) => `"${word}"`).join(' '))}`;
}

function hrefOf(context: Context, offset: number): string {
  const query = new URLSearchParams(context.linkQuery);
  if (offset === 0) query.delete('offset');
  else query.set('offset', String(offset));
  return `/search?${query}`;
}
