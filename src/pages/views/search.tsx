/** @jsxImportSource @kitajs/html */
/**
 * Search results. There are no totals, which would reveal what the caller cannot read.
 */
import type { Format } from '../../tables/read/format.ts';
import type { FrameView, Page } from './frame.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { SearchBox } from '../parts/forms.tsx';
import { ExportMenu } from '../parts/export-menu.tsx';

export interface ResultItem {
  readonly title: string;
  readonly href: string;
  /** Name of the resource, and the row. */
  readonly place: string;
  readonly kind: string;
  readonly snippet: readonly { readonly text: string; readonly isHit: boolean }[];
  /** The row as JSON; null for a result that is not a row. */
  readonly dataHref: string | null;
}

export interface SearchFacet {
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
        <Events view={view} frame={frame} />
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

function Events({ view, frame }: { view: SearchView; frame: FrameView }) {
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
