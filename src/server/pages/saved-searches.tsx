/**
 * Saved searches: own ones to open, change and delete, those of others to open and copy. Plain forms.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { FrameView, Page } from './frame.tsx';
import { CsrfField } from './frame.tsx';
import { PageLinks } from '../page-parts/page-links.tsx';
import { Notice, Problem } from '../page-parts/messages.tsx';
import { UtcTime } from '../page-parts/utc-time.tsx';

/** A saved search in the list. */
export interface SavedSearchEntry {
  readonly id: number;
  readonly name: string;
  readonly query: string;
  readonly isPublic: boolean;
  readonly isOwn: boolean;
  /** Ids of users, with commas between. */
  readonly sharedWith: string;
  readonly updatedAt: string;
  readonly openHref: string;
}

/** What the page shows. */
export interface SavedSearchesView {
  readonly filter: string;
  readonly entries: readonly SavedSearchEntry[];
  /** Null on the first page. */
  readonly previousHref: string | null;
  /** Null on the last page. */
  readonly nextHref: string | null;
  readonly notice: string | null;
  readonly problem: string | null;
}

/** `/savedsearches`. */
export const savedSearchesPage: Page<SavedSearchesView> = {
  name: 'savedsearches',
  layout: 'wide',
  title: () => 'Saved searches',
  navigation: { label: 'Saved searches', href: '/savedsearches', audience: 'users' },
  styles: ['events.css'],
  content: (view, frame) => (
    <>
      <form class="filter" method="get" action="/savedsearches" role="search">
        <label>
          <span class="visually-hidden">Show searches containing</span>
          <input
            type="search"
            name="search"
            value={view.filter}
            placeholder="Filter by name or query"
          />
        </label>
        <button class="quiet" type="submit">
          Filter
        </button>
      </form>
      <Problem text={view.problem} />
      <Notice text={view.notice} />
      {view.entries.length === 0 ? (
        <p class="empty">
          No saved searches. <a href="/events">Search the events</a> and save what you want to keep.
        </p>
      ) : (
        <ul class="cards">
          {view.entries.map((entry) => (
            <Entry entry={entry} frame={frame} />
          ))}
        </ul>
      )}
      <PageLinks previousHref={view.previousHref} nextHref={view.nextHref} />
    </>
  ),
};

function Entry({ entry, frame }: { entry: SavedSearchEntry; frame: FrameView }) {
  const sharing = entry.isPublic
    ? 'everybody'
    : entry.sharedWith === ''
      ? 'only you'
      : 'some people';
  return (
    <li class="card" id={`search-${entry.id}`}>
      <h2>
        <a href={entry.openHref} safe>
          {entry.name}
        </a>
      </h2>
      <pre class="query-problem" safe>
        {entry.query}
      </pre>
      <p class="fine">
        <span safe>{entry.isOwn ? `Seen by ${sharing}` : 'Shared with you'}</span>
        {' · changed '}
        <UtcTime at={entry.updatedAt} />
      </p>
      <div class="tools">
        <Act frame={frame} action="clone" id={entry.id} label="Copy" name={entry.name} />
        {entry.isOwn ? <Change entry={entry} frame={frame} /> : ''}
      </div>
    </li>
  );
}

function Change({ entry, frame }: { entry: SavedSearchEntry; frame: FrameView }) {
  return (
    <>
      <details>
        <summary class="button quiet small" aria-label={`Change ${entry.name}`}>
          Change
        </summary>
        <form class="stack" method="post" action="/savedsearches">
          <CsrfField frame={frame} />
          <input type="hidden" name="action" value="update" />
          <input type="hidden" name="id" value={String(entry.id)} />
          <label>
            Name
            <input name="name" required maxlength="255" value={entry.name} autocomplete="off" />
          </label>
          <label>
            Query
            <textarea name="query" rows="3" required spellcheck="false" safe>
              {entry.query}
            </textarea>
          </label>
          <label>
            Shared with
            <input
              name="shared_with"
              value={entry.sharedWith}
              placeholder="ids of users, with commas between"
              autocomplete="off"
            />
          </label>
          <label class="check">
            <input type="checkbox" name="is_public" value="true" checked={entry.isPublic} />
            Everybody may see it
          </label>
          <button type="submit">Save the change</button>
        </form>
      </details>
      <details>
        <summary class="button quiet small" aria-label={`Delete ${entry.name}`}>
          Delete
        </summary>
        <p safe>{`Delete the saved search “${entry.name}”? Queries that use it will fail.`}</p>
        <Act frame={frame} action="delete" id={entry.id} label="Delete it" name={entry.name} />
      </details>
    </>
  );
}

interface ActProps {
  readonly frame: FrameView;
  readonly action: string;
  readonly id: number;
  readonly label: string;
  readonly name: string;
}

function Act({ frame, action, id, label, name }: ActProps) {
  return (
    <form method="post" action="/savedsearches">
      <CsrfField frame={frame} />
      <input type="hidden" name="action" value={action} />
      <input type="hidden" name="id" value={String(id)} />
      <button class="quiet small" type="submit" aria-label={`${label}: ${name}`} safe>
        {label}
      </button>
    </form>
  );
}
