/** @jsxImportSource @kitajs/html */
import type { PropsWithChildren } from '@kitajs/html';
import type { FrameView, Page } from './frame.tsx';
import { Choice, PostButton, PostForm, SearchBox } from '../parts/forms.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { ExportMenu } from '../parts/export-menu.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { UtcTime } from '../parts/values.tsx';

interface SavedSearchEntry {
  readonly id: number;
  readonly name: string;
  readonly query: string;
  readonly isPublic: boolean;
  readonly isOwn: boolean;
  /** Shared with the viewer by somebody else. */
  readonly isShared: boolean;
  /** Users it is shared with, as far as the viewer may know their names. */
  readonly readers: readonly string[];
  readonly updatedAt: string;
  readonly openHref: string;
}

export interface RefusedForm {
  readonly action: string;
  /** Empty for a new search. */
  readonly id: string;
  readonly fields: ReadonlyMap<string, string>;
}

interface SavedSearchesView {
  readonly filter: string;
  /** `own`, `shared`, `public`, or `''` for all. */
  readonly kind: string;
  readonly entries: readonly SavedSearchEntry[];
  /** Counts from 1. */
  readonly first: number;
  /** Path and query of the page: its forms are sent there and come back there. */
  readonly address: string;
  /** Null on the first page. */
  readonly previousHref: string | null;
  /** Null on the last page. */
  readonly nextHref: string | null;
  readonly dataHref: string;
  readonly notice: string | null;
  readonly problem: string | null;
  readonly refused: RefusedForm | null;
  /** A search just deleted, as fields of the form that makes it again. */
  readonly deleted: ReadonlyMap<string, string> | null;
}

const KINDS = [
  ['', 'All that you see'],
  ['own', 'Yours'],
  ['shared', 'Shared with you'],
  ['public', 'For everybody'],
] as const;

interface Around {
  readonly view: SavedSearchesView;
  readonly frame: FrameView;
}

export const savedSearchesPage: Page<SavedSearchesView> = {
  name: 'savedsearches',
  layout: 'wide',
  title: () => 'Saved searches',
  styles: ['events.css'],
  scripts: ['live-forms.js'],
  content: (view, frame) => (
    <>
      <Filter view={view} />
      <Problem text={view.problem} />
      <Notice text={view.notice} />
      {view.deleted !== null && <Undo view={view} frame={frame} deleted={view.deleted} />}
      <NewSearch view={view} frame={frame} />
      <div id="list">
        <div class="counted">
          <p class="fine" aria-live="polite" safe>
            {countText(view)}
          </p>
          <ExportMenu json={view.dataHref} files={{}} />
        </div>
        {view.entries.length === 0 ? (
          <Empty view={view} />
        ) : (
          <ul class="cards">
            {view.entries.map((entry) => (
              <Entry entry={entry} view={view} frame={frame} />
            ))}
          </ul>
        )}
        <PageLinks previousHref={view.previousHref} nextHref={view.nextHref} />
      </div>
    </>
  ),
};

function Filter({ view: { filter, kind } }: { view: SavedSearchesView }) {
  return (
    <form class="filter choice" method="get" action="/savedsearches" role="search" data-live="list">
      <SearchBox
        label="Show searches containing"
        name="search"
        value={filter}
        placeholder="Filter by name or query"
        data-key="f"
      />
      <Choice label="Which" name="kind" choices={KINDS} chosen={kind} />
      <button class="quiet" type="submit">
        Filter
      </button>
    </form>
  );
}

function countText({ entries, first, nextHref, previousHref }: SavedSearchesView): string {
  const noun = entries.length === 1 ? 'search' : 'searches';
  if (previousHref === null && nextHref === null) return `${entries.length} ${noun}`;
  if (entries.length === 0) return 'No more searches';
  return `Searches ${first} to ${first + entries.length - 1}`;
}

function Empty({ view: { filter, kind } }: { view: SavedSearchesView }) {
  if (filter !== '' || kind !== '') {
    return (
      <p class="empty">
        No saved search matches. <a href="/savedsearches">Show all of them</a>
      </p>
    );
  }
  return (
    <p class="empty">
      No saved searches yet. <a href="/events">Search events or files</a> and save what you want to
      ask again, or write the query here with “New search”.
    </p>
  );
}

function Entry({ entry, view, frame }: Around & { entry: SavedSearchEntry }) {
  const around = { entry, view, frame };
  return (
    <li class="card" id={`search-${entry.id}`}>
      <h2>
        <a href={entry.openHref} safe>
          {entry.name}
        </a>{' '}
        {entry.isPublic && <span class="kind">everybody</span>}
      </h2>
      <pre class="query-problem" safe>
        {entry.query}
      </pre>
      <p class="fine">
        <span safe>{sharingText(entry)}</span>
        {' · changed '}
        <UtcTime at={entry.updatedAt} />
      </p>
      <div class="tools">
        <a class="button quiet small" href={entry.openHref} aria-label={`Open ${entry.name}`}>
          Open
        </a>
        <PostButton
          frame={frame}
          to={view.address}
          does="clone"
          fields={[['id', entry.id]]}
          label="Copy"
          name={`Copy: ${entry.name}`}
        />
        {entry.isOwn && <Change {...around} />}
      </div>
    </li>
  );
}

function sharingText({ isOwn, isPublic, isShared, readers }: SavedSearchEntry): string {
  const named = readers.length === 0 ? '' : `shared with ${readers.join(', ')}`;
  if (isOwn) {
    if (isPublic) return `Yours, seen by everybody${named === '' ? '' : `, ${named}`}`;
    return named === '' ? 'Yours, seen only by you' : `Yours, ${named}`;
  }
  if (isShared) return 'Shared with you';
  return isPublic ? 'For everybody' : 'Of somebody else; you see it as a superuser';
}

function Change({ entry, view, frame }: Around & { entry: SavedSearchEntry }) {
  const { name } = entry;
  const form = (action: string) => ({ view, frame, action, id: String(entry.id) });
  const value = (action: string, field: string, otherwise: string): string =>
    refusedOf(view, action, String(entry.id))?.get(field) ?? otherwise;
  const shared = refusedOf(view, 'share', String(entry.id));
  return (
    <>
      <Fold label="Change" about={name} {...form('update')}>
        <NameBox value={value('update', 'name', name)} />
        <QueryBox value={value('update', 'query', entry.query)} />
        <button type="submit">Save the change</button>
      </Fold>
      <Fold label="Share" about={name} {...form('share')}>
        <label>
          Shared with
          <textarea
            name="readers"
            rows={String(Math.min(8, Math.max(2, entry.readers.length + 1)))}
            placeholder="bea"
            spellcheck="false"
            autocapitalize="none"
            safe
          >
            {value('share', 'readers', entry.readers.join('\n'))}
          </textarea>
          <small>
            User names exactly as they are, one a line. They only see it; you change it.
          </small>
        </label>
        <PublicBox
          isChecked={shared === null ? entry.isPublic : shared.get('is_public') === 'true'}
        />
        <button type="submit">Share it so</button>
      </Fold>
      <Fold label="Delete" about={name} isDanger {...form('delete')}>
        <p safe>{`Delete the saved search “${name}”? Queries that use it will fail.`}</p>
        <button class="quiet danger" type="submit" aria-label={`Delete it: ${name}`}>
          Delete it
        </button>
      </Fold>
    </>
  );
}

function NewSearch({ view, frame }: Around) {
  const entered = refusedOf(view, 'create', '');
  return (
    <Fold label="New search" about="" {...{ view, frame, action: 'create', id: '' }}>
      <NameBox value={entered?.get('name') ?? ''} />
      <QueryBox value={entered?.get('query') ?? ''} />
      <PublicBox isChecked={entered?.get('is_public') === 'true'} />
      <button type="submit">Save it</button>
    </Fold>
  );
}

function Undo({ view, frame, deleted }: Around & { deleted: ReadonlyMap<string, string> }) {
  return (
    <PostButton
      class="undo"
      frame={frame}
      to={view.address}
      does="restore"
      fields={deleted}
      label="Undo"
    />
  );
}

function NameBox({ value }: { value: string }) {
  return (
    <label>
      Name
      <input name="name" required maxlength="255" {...{ value }} autocomplete="off" />
    </label>
  );
}

function QueryBox({ value }: { value: string }) {
  return (
    <label>
      Query
      <textarea name="query" rows="3" required spellcheck="false" autocapitalize="none" safe>
        {value}
      </textarea>
    </label>
  );
}

function PublicBox({ isChecked }: { isChecked: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name="is_public" value="true" checked={isChecked} />
      Everybody may see it
    </label>
  );
}

interface FoldProps extends Around {
  readonly label: string;
  /** The object acted on, for screen readers. */
  readonly about: string;
  readonly action: string;
  readonly id: string;
  readonly isDanger?: boolean;
}

function Fold(props: PropsWithChildren<FoldProps>) {
  const { label, about, isDanger = false, view, frame, action, id, children } = props;
  const look = isDanger ? 'button quiet small danger' : 'button quiet small';
  return (
    <details open={refusedOf(view, action, id) !== null}>
      <summary class={look} aria-label={`${label} ${about}`.trim()} safe>
        {label}
      </summary>
      <PostForm
        class="stack"
        frame={frame}
        to={view.address}
        does={action}
        fields={id === '' ? [] : [['id', id]]}
      >
        {children}
      </PostForm>
    </details>
  );
}

function refusedOf(
  { refused }: SavedSearchesView,
  action: string,
  id: string,
): ReadonlyMap<string, string> | null {
  return refused?.action === action && refused.id === id ? refused.fields : null;
}
