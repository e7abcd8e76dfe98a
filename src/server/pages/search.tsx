/**
 * Search results (DS-145, DS-149): one form, one list, plain links between pages of it.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Page } from './frame.tsx';

/** One result. */
export interface ResultItem {
  readonly title: string;
  readonly href: string;
  /** Name of the resource, and the row. */
  readonly place: string;
  readonly type: string;
  readonly snippet: readonly { readonly text: string; readonly isHit: boolean }[];
  /** The row as JSON; null for what has none. */
  readonly dataHref: string | null;
}

/** What the page shows. */
export interface SearchView {
  readonly q: string;
  readonly types: readonly { readonly type: string; readonly isChosen: boolean }[];
  /** False: nothing was asked yet. */
  readonly hasQuery: boolean;
  /** Number of the first result in the whole list. */
  readonly first: number;
  readonly items: readonly ResultItem[];
  readonly previousHref: string | null;
  readonly nextHref: string | null;
  /** Notices about rows that are not searched. */
  readonly leftOut: readonly string[];
}

/** The page of `/search`. */
export const searchPage: Page<SearchView> = {
  name: 'search',
  layout: 'wide',
  title: ({ q, hasQuery }) => (hasQuery ? `Search: ${q.trim().slice(0, 80)}` : 'Search'),
  navigation: { label: 'Search', href: '/search', audience: 'users' },
  content: (view) => (
    <>
      <Form view={view} />
      <Count view={view} />
      <Results view={view} />
      <Paging view={view} />
      {view.leftOut.map((text) => (
        <p class="fine" safe>
          {text}
        </p>
      ))}
    </>
  ),
};

function Form({ view }: { view: SearchView }) {
  return (
    <form class="filter search" method="get" action="/search" role="search">
      <label>
        <span class="visually-hidden">Words to search for</span>
        <input type="search" name="q" value={view.q} placeholder="Search everything" autofocus />
      </label>
      <label>
        <span class="visually-hidden">Type</span>
        <select name="type">
          <option value="">All types</option>
          {view.types.map(({ type, isChosen }) => (
            <option value={type} selected={isChosen} safe>
              {type}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Search</button>
    </form>
  );
}

function Count({ view }: { view: SearchView }) {
  if (!view.hasQuery) {
    return <p class="fine">Finds rows, pages and files by the words in them.</p>;
  }
  return (
    <p class="fine" role="status" safe>
      {countText(view)}
    </p>
  );
}

function Results({ view }: { view: SearchView }) {
  if (view.items.length === 0) return '';
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
          {item.type}
        </span>{' '}
        <span safe>{item.place}</span>
        {item.dataHref === null ? (
          ''
        ) : (
          <>
            {' · '}
            <a href={item.dataHref}>JSON</a>
          </>
        )}
      </p>
      {item.snippet.length === 0 ? (
        ''
      ) : (
        <p>
          {item.snippet.map(({ text, isHit }) =>
            isHit ? <mark safe>{text}</mark> : <span safe>{text}</span>,
          )}
        </p>
      )}
    </li>
  );
}

function Paging({ view }: { view: SearchView }) {
  if (view.previousHref === null && view.nextHref === null) return '';
  return (
    <nav class="paging" aria-label="Pages">
      {view.previousHref === null ? (
        ''
      ) : (
        <a class="button quiet" rel="prev" href={view.previousHref}>
          Previous
        </a>
      )}
      {view.nextHref === null ? (
        ''
      ) : (
        <a class="button quiet" rel="next" href={view.nextHref}>
          Next
        </a>
      )}
    </nav>
  );
}

function countText({ items, first, nextHref }: SearchView): string {
  if (items.length === 0) return first > 1 ? 'No more results' : 'Nothing found';
  const range = `${first}–${first + items.length - 1}`;
  if (nextHref !== null) return `Results ${range}, and more`;
  if (first > 1) return `Results ${range}`;
  return items.length === 1 ? '1 result' : `${items.length} results`;
}
