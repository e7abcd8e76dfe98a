/** @jsxImportSource @kitajs/html */
/**
 * Search results. There are no totals, which would reveal what the caller cannot read.
 */
import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { kindName, TYPE_GROUPS, TYPE_NAMES } from '../api/kind-names.ts';
import type { Context } from '../http/context.ts';
import { lifecycle } from '../http/lifecycle.ts';
import { askedFormat, formatHrefs, formatParameter, listFile } from '../http/reply/list-file.ts';
import { jsonReply, type Reply } from '../http/reply/reply.ts';
import { isSqlStatement } from '../language/syntax/sql-statement.ts';
import { mayReadEvents } from '../operations/events/event-access.ts';
import {
  docrootAnswer,
  type DocrootQuery,
  type DocrootResult,
  type DocrootResults,
  MAX_RESULTS,
  parseDocrootQuery,
  searchDocroot,
} from '../operations/files/search.ts';
import { pageReply } from './page-reply.ts';
import { ExportMenu } from './parts/export-menu.tsx';
import { SearchBox } from './parts/forms.tsx';
import { PageLinks } from './parts/page-links.tsx';
import type { FrameView, Page } from './frame.tsx';
import type { Format } from '../tables/read/format.ts';

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

export const searchRoute = new Elysia({ name: 'search' }).use(lifecycle).get(
  '/search',
  async ({ ask }) => {
    const query = parseDocrootQuery(ask.query);
    const results = await searchDocroot(ask.services, ask.user, query);
    const format = askedFormat(ask);
    if (format !== null && format !== 'json') {
      return listFile(
        'search',
        format,
        docrootAnswer(results, ask.services.config.public_url).results,
      );
    }
    return ask.wantsHtml && format === null
      ? resultsPage(ask, query, results)
      : jsonReply(docrootAnswer(results, ask.services.config.public_url), { headers: VARY });
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
    sqlHref: isSqlStatement(q) ? `/sql?${new URLSearchParams({ q })}` : null,
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

interface ResultItem {
  readonly title: string;
  readonly href: string;
  /** Name of the resource, and the row. */
  readonly place: string;
  readonly kind: string;
  readonly snippet: readonly { readonly text: string; readonly isHit: boolean }[];
  /** The row as JSON; null for a result that is not a row. */
  readonly dataHref: string | null;
}

interface SearchFacet {
  readonly label: string;
  readonly href: string;
  readonly isChosen: boolean;
}

interface SearchView {
  readonly q: string;
  /** Kept by the form; `''`: all. */
  readonly type: string;
  /** Kinds of which the caller may read something; empty when there is no choice. */
  readonly facets: readonly SearchFacet[];
  /** False: nothing was searched yet. */
  readonly hasQuery: boolean;
  /** Position of the first result in the whole list. */
  readonly first: number;
  readonly items: readonly ResultItem[];
  readonly previousHref: string | null;
  readonly nextHref: string | null;
  /** The same search in the events; null for callers who may read none. */
  /** Null for words. */
  readonly sqlHref: string | null;
  readonly eventsHref: string | null;
  readonly files: Readonly<Record<Format, string>>;
  /** Notices about rows that are not searched. */
  readonly leftOut: readonly string[];
}

export const searchPage: Page<SearchView> = {
  name: 'search',
  layout: 'wide',
  title: ({ q, hasQuery }) => (hasQuery ? `Search: ${q.trim().slice(0, 80)}` : 'Search'),
  hasOwnHeading: () => true,
  styles: ['search.css'],
  scripts: ['search.js'],
  content: (view, frame) => (
    <div class="searching">
      <h1>Search</h1>
      <Form view={view} />
      <div class="counted">
        <p class="fine" role="status" id="count" safe>
          {countText(view)}
        </p>
        <div id="share">
          {view.hasQuery && (
            <ExportMenu json={view.files.json} files={view.files} note="the first 100 results" />
          )}
        </div>
      </div>
      <div id="found">
        <Facets facets={view.facets} />
        <Results view={view} />
        <PageLinks previousHref={view.previousHref} nextHref={view.nextHref} />
        <Elsewhere view={view} frame={frame} />
        {view.leftOut.map((text) => (
          <p class="fine" safe>
            {text}
          </p>
        ))}
      </div>
    </div>
  ),
};

function Form({ view }: { view: SearchView }) {
  return (
    <form
      class="filter wide"
      method="get"
      action="/search"
      role="search"
      data-live="found count share"
    >
      <SearchBox
        label="Words to search for"
        name="q"
        value={view.q}
        placeholder="Words in rows, documents and media"
        data-key="/"
        autofocus
      />
      {view.type !== '' && <input type="hidden" name="type" value={view.type} />}
      <button type="submit">Search</button>
    </form>
  );
}

function Facets({ facets }: { facets: readonly SearchFacet[] }) {
  if (facets.length === 0) return '';
  return (
    <nav class="chips" aria-label="Kinds of results">
      {facets.map(({ label, href, isChosen }) => (
        <a {...{ href }} aria-current={isChosen ? 'true' : undefined} safe>
          {label}
        </a>
      ))}
    </nav>
  );
}

function Results({ view }: { view: SearchView }) {
  if (view.items.length === 0) {
    if (!view.hasQuery || view.first > 1) return '';
    return (
      <p class="empty">
        Every word has to occur, the last one may be a beginning. Try fewer or other words
        {view.type !== '' && (
          <>
            {', or '}
            <a href={`/search?${new URLSearchParams({ q: view.q })}`}>search everything</a>
          </>
        )}
        . <a href="/">All resources</a> are listed by name.
      </p>
    );
  }
  return (
    <ol class="results" start={view.first}>
      {view.items.map((item) => (
        <Result item={item} />
      ))}
    </ol>
  );
}

function Result({ item }: { item: ResultItem }) {
  return (
    <li>
      <h2>
        <a href={item.href} safe>
          {item.title}
        </a>
      </h2>
      <p class="fine">
        <span class="kind" safe>
          {item.kind}
        </span>{' '}
        <span safe>{item.place}</span>
        {item.dataHref !== null && (
          <>
            {' · '}
            <a href={item.dataHref}>JSON</a>
          </>
        )}
      </p>
      {item.snippet.length > 0 && (
        <p>
          {item.snippet.map(({ text, isHit }) =>
            isHit ? <mark safe>{text}</mark> : <span safe>{text}</span>,
          )}
        </p>
      )}
    </li>
  );
}

function Elsewhere({ view, frame }: { view: SearchView; frame: FrameView }) {
  if (view.sqlHref !== null)
    return (
      <p class="elsewhere">
        <a href={view.sqlHref}>Run this as SQL</a>
      </p>
    );
  const hasPage = frame.navigation.some(({ href }) => href.startsWith('/events'));
  if (view.eventsHref === null || !view.hasQuery || !hasPage) return '';
  return (
    <p class="elsewhere">
      <a href={view.eventsHref}>Search the events for this</a>
    </p>
  );
}

function countText({ items, first, nextHref, hasQuery }: SearchView): string {
  if (!hasQuery) return 'Finds rows, documents and files by the words in them.';
  if (items.length === 0) return first > 1 ? 'No more results' : 'Nothing found';
  const range = `${first}–${first + items.length - 1}`;
  if (nextHref !== null) return `Results ${range}, and more`;
  if (first > 1) return `Results ${range}`;
  return items.length === 1 ? '1 result' : `${items.length} results`;
}
