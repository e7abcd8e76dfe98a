/** @jsxImportSource @kitajs/html */
import type { PropsWithChildren } from '@kitajs/html';
import { Elysia } from 'elysia';
import { createHmac } from 'node:crypto';
import { secretsEqual } from '../../accounts/identity/secret-compare.ts';
import { AppError } from '../../base/errors.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { isSql } from '../../language/syntax/sql-statement.ts';
import { withinTimes } from '../../language/syntax/refine.ts';
import { lackingReaders } from '../../operations/events/saved-search-sources.ts';
import {
  createSavedSearch,
  deleteSavedSearch,
  findReaders,
  getListedSearch,
  getSavedSearch,
  listSavedSearches,
  readersOf,
  type SavedSearchKind,
  type SavedSearchResult,
  type SavedSearchView,
  updateSavedSearch,
} from '../../operations/events/saved-searches.ts';
import { ASK, savedAddress } from './explorer-state.ts';
import { idOf } from '../form-request.ts';
import { addressWith } from '../addresses.ts';
import { pageReply } from '../page-reply.ts';
import { ExportMenu } from '../parts/export-menu.tsx';
import { Choice, PostButton, PostForm, SearchBox } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { UtcTime } from '../parts/values.tsx';
import type { FrameView, Page } from '../frame.tsx';

const NOTICES: Readonly<Record<string, string>> = {
  create: 'The search is saved.',
  update: 'The change is saved.',
  share: 'Those who may see it are noted.',
  clone: 'The copy is yours to change.',
  restore: 'The search is back.',
  'restore-for-fewer':
    'The search is back. Some whom it was shared with have no account any more; they are left out.',
};

/** Does not reveal whether the owner deleted it, was deleted, or stopped sharing it. */
const GONE = 'This saved search is gone, or it is not shared with you any more.';
const SHOWN_AT_ONCE = 50;

export const savedSearchesPageRoute = new Elysia({ name: 'saved-searches-page' })
  .use(lifecycle)
  .guard({ checks: { access: 'user', cacheControl: PRIVATE } })
  .get(
    '/savedsearches',
    ({ ask }) => show(ask, { notice: NOTICES[ask.queryValue('done') ?? ''] ?? null }),
    {
      describes: {
        summary: 'Show the saved searches',
        tag: 'search',
        answers: {
          200: { description: 'A page for people', mediaType: 'text/html', schema: null },
        },
      },
    },
  )
  .post('/savedsearches', ({ ask }) => postForm(ask), {
    describes: {
      summary: 'Take a form of the saved searches',
      tag: 'search',
      body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
      answers: {
        200: {
          description: 'Deleted; the page with a way back',
          mediaType: 'text/html',
          schema: null,
        },
        303: { description: 'Done; back to the page', schema: null },
      },
      errors: [400, 404],
    },
  });

interface Outcome {
  readonly notice?: string | null;
  readonly warnings?: readonly string[];
  readonly problem?: string;
  readonly status?: number;
  readonly refused?: RefusedForm;
  readonly deleted?: ReadonlyMap<string, string>;
}

async function show(context: Context, outcome: Outcome): Promise<Reply> {
  const opened = Number(context.queryValue('id'));
  if (Number.isSafeInteger(opened) && opened > 0) {
    const search = await openedSearch(context, opened);
    if (search !== null) return redirectReply(savedAddress(search), 303);
    return showList(context, { problem: GONE, status: 404 });
  }
  const shared = Number(context.queryValue('shared'));
  if (!Number.isSafeInteger(shared) || shared <= 0) return showList(context, outcome);
  return showList(context, { ...outcome, warnings: await warningsOf(context, shared) });
}

/** Null when it does not exist and the client is a browser; programs get the error. */
async function openedSearch(context: Context, id: number): Promise<SavedSearchView | null> {
  try {
    return await getSavedSearch(context.services, context.user, id);
  } catch (error) {
    if (context.wantsHtml && error instanceof AppError && error.code === 'not-found') return null;
    throw error;
  }
}

/** Readers who will find nothing, or less. */
async function warningsOf({ services, user }: Context, id: number): Promise<string[]> {
  const found = await getListedSearch(services, user, id).catch(() => null);
  if (found === null || !found.isOwn) return [];
  const { query, shared_with: readers } = found.view;
  const lacking = await lackingReaders(services, user, { query, readers });
  const texts = lacking.map(async ({ userId, indexes, datasets, lacksEvents }) => {
    // By the name that its owner typed.
    const view = { ...found.view, shared_with: [userId] };
    const [name] = (await readersOf(services, user, [{ view, isOwn: true }])).get(id) ?? [];
    const what = [
      ...(lacksEvents ? ['any events'] : []),
      ...indexes.map((index) => `the index ${index}`),
      ...datasets.map((name) => `the dataset ${name}`),
    ];
    return `${name} may not read ${what.join(', ')}: the search will find nothing of that for them.`;
  });
  return Promise.all(texts);
}

async function showList(context: Context, outcome: Outcome): Promise<Reply> {
  const { services, user } = context;
  const { search, kind, offset } = placeOf(context);
  const found = await listSavedSearches(
    services,
    user,
    { search, kind: kind === '' ? null : (kind as SavedSearchKind), offset },
    SHOWN_AT_ONCE + 1,
  );
  const shown = found.slice(0, SHOWN_AT_ONCE);
  const readers = await readersOf(services, user, shown);
  const pageAt = (at: number): string => pageAddress({ search, kind, offset: at });
  const view = {
    filter: search,
    kind,
    first: offset + 1,
    address: pageAt(offset),
    dataHref: `/api/savedsearches/${search === '' ? '' : `?${new URLSearchParams({ search })}`}`,
    notice: outcome.notice ?? null,
    warnings: outcome.warnings ?? [],
    problem: outcome.problem ?? null,
    refused: outcome.refused ?? null,
    deleted: outcome.deleted ?? null,
    previousHref: offset === 0 ? null : pageAt(Math.max(0, offset - SHOWN_AT_ONCE)),
    nextHref: found.length > SHOWN_AT_ONCE ? pageAt(offset + SHOWN_AT_ONCE) : null,
    entries: shown.map(({ view: one, isOwn, isShared }) => ({
      id: one.id,
      name: one.name,
      query: one.query,
      isPublic: one.is_public,
      isOwn,
      isShared,
      readers: readers.get(one.id) ?? [],
      updatedAt: one.updated_at,
      openHref: savedAddress(one),
    })),
  };
  return pageReply(context, savedSearchesPage, view, { status: outcome.status });
}

interface Place {
  readonly search: string;
  readonly kind: string;
  readonly offset: number;
}

function placeOf(context: Context): Place {
  const offset = context.queryValue('offset') ?? '';
  const kind = context.queryValue('kind') ?? '';
  return {
    search: context.queryValue('search') ?? '',
    kind: KINDS.some(([value]) => value === kind) ? kind : '',
    offset: /^[0-9]{1,9}$/.test(offset) ? Number(offset) : 0,
  };
}

function pageAddress(place: Place, more: Readonly<Record<string, string>> = {}): string {
  return addressWith('/savedsearches', { ...place, ...more });
}

async function postForm(context: Context): Promise<Reply> {
  const fields = new Map(await context.form());
  const field = (name: string): string => fields.get(name) ?? '';
  if (fields.has('q')) {
    fields.set('query', withinTimes(field('q'), field('earliest'), field('latest')));
  }
  // A comment says that it is SQL where its words might be searched for.
  if (field('language') === 'sql' && !isSql(field('query')))
    fields.set('query', `-- SQL\n${field('query')}`);
  const action = field('action');
  const refused = { action, id: field('id'), fields };
  try {
    if (action === 'delete') return await takeAway(context, idOf(field('id')));
    if (action === 'restore') return await bringBack(context, field, refused);
    const done = await act(context, action, field);
    if (typeof done === 'string') {
      if (!context.wantsHtml) throw new AppError('bad-request', done);
      return await show(context, { problem: done, status: 400, refused });
    }
    if (field('page') !== '')
      return redirectReply(explorerAddress(field('page'), action, done), 303);
    const shared = action === 'share' ? String(done.id) : '';
    return redirectReply(pageAddress(placeOf(context), { done: action, shared }), 303);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    const problem = error.code === 'not-found' ? GONE : error.message;
    return showList(context, { problem, status: error.status, refused });
  }
}

async function takeAway(context: Context, id: number): Promise<Reply> {
  const { services, user, origin } = context;
  const view = await getSavedSearch(services, user, id);
  const { name, query, view: shown, is_public: isPublic } = view;
  const readers = (await readersOf(services, user, [{ view, isOwn: true }])).get(id) ?? [];
  await deleteSavedSearch(services, user, origin, id);
  const deleted = new Map([
    ['id', String(id)],
    ['seal', sealOf(context, id)],
    ['name', name],
    ['query', query],
    ['view', shown],
    ['is_public', String(isPublic)],
    ['readers', readers.join('\n')],
  ]);
  return show(context, { notice: `The search “${name}” is deleted.`, deleted });
}

/** Under its old id: sending it twice makes one search, and its addresses work again. */
async function bringBack(
  context: Context,
  field: (name: string) => string,
  refused: RefusedForm,
): Promise<Reply> {
  const { services, user, origin } = context;
  const id = idOf(field('id'));
  if (!secretsEqual(field('seal'), sealOf(context, id))) {
    throw new AppError('bad-request', 'This search was not deleted here');
  }
  const { ids, named, isWhole } = await readersLeft(context, namesIn(field('readers')));
  const body = {
    name: field('name'),
    query: field('query'),
    view: field('view'),
    is_public: field('is_public') === 'true',
    shared_with: ids,
  };
  const request = { id, body, validate: null, named };
  const problem = problemIn(await createSavedSearch(services, user, origin, request));
  if (problem !== null) return showList(context, { problem, status: 400, refused });
  const done = isWhole ? 'restore' : 'restore-for-fewer';
  return redirectReply(pageAddress(placeOf(context), { done }), 303);
}

async function readersLeft(
  context: Context,
  names: readonly string[],
): Promise<{
  readonly ids: readonly number[];
  readonly named: readonly number[];
  readonly isWhole: boolean;
}> {
  const found = await findReaders(context.services, context.user, names);
  if ('ids' in found) return { ...found, isWhole: true };
  const gone = new Set(found.unknown);
  const left = await readersLeft(
    context,
    names.filter((name) => !gone.has(name)),
  );
  return { ...left, isWhole: false };
}

/** Proves that the user deleted the search with this id. */
function sealOf({ services, user }: Context, id: number): string {
  const text = `deleted saved search ${id} of user ${user.userId}`;
  return createHmac('sha256', services.serverSecret).update(text).digest('base64url');
}

/** The search as it is then, or what is wrong with the form. */
async function act(
  context: Context,
  action: string,
  field: (name: string) => string,
): Promise<SavedSearchView | string> {
  const { services, user, origin } = context;
  const create = async (body: unknown): Promise<SavedSearchView | string> =>
    viewOrProblem(await createSavedSearch(services, user, origin, { body, validate: null }));
  const change = async (
    body: unknown,
    named?: readonly number[],
  ): Promise<SavedSearchView | string> => {
    const request = { id: idOf(field('id')), isPartial: true, validate: null, body, named };
    return viewOrProblem(await updateSavedSearch(services, user, origin, request));
  };
  // The page of saved searches leaves how they are shown as it is.
  const view = field('page') === '' ? {} : { view: field('view') };
  const isPublic = field('is_public') === 'true';
  switch (action) {
    case 'create':
      return create({
        name: field('name'),
        query: field('query'),
        is_public: isPublic,
        ...view,
      });
    case 'update':
      return change({ name: field('name'), query: field('query'), ...view });
    case 'share': {
      const found = await findReaders(services, user, namesIn(field('readers')));
      if ('unknown' in found) return nobodyText(found.unknown);
      return change({ shared_with: found.ids, is_public: isPublic }, found.named);
    }
    case 'clone': {
      const { name, query, view } = await getSavedSearch(services, user, idOf(field('id')));
      return create({ name: `${name.slice(0, 240)} (copy)`, query, view });
    }
    default:
      return 'The form names no action';
  }
}

function viewOrProblem(result: SavedSearchResult): SavedSearchView | string {
  return 'view' in result ? result.view : problemIn(result)!;
}

/** Back to where it was saved from; elsewhere than to a page with queries leads no form. */
function explorerAddress(page: string, action: string, search: SavedSearchView): string {
  const done = action === 'update' ? 'updated' : 'saved';
  const address = `${savedAddress(search)}&done=${done}`;
  if (!/^\/ui\/(?!\/)[^?#\\]*\/$/.test(page)) return address;
  const [, parameters = ''] = address.split('?');
  const query = new URLSearchParams(parameters);
  query.set(ASK, query.get('q') ?? '');
  for (const name of ['q', 'earliest', 'latest']) query.delete(name);
  return `${page}?${query}`;
}

/** One per line: names may contain spaces and commas. */
function namesIn(text: string): string[] {
  const names = text.split(/\r?\n/).map((line) => line.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

function nobodyText(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `“${name}”`);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return `There is no user ${shown.join(', ')}${more}; nothing was changed. Type each name exactly, on a line of its own.`;
}

function problemIn(result: SavedSearchResult): string | null {
  if ('view' in result) return null;
  return Object.entries(result.errors)
    .map(([name, texts]) => {
      const text = [texts].flat().map(String).join(' ');
      return name === 'non_field_errors' ? text : `${name}: ${text}`;
    })
    .join(' ');
}

interface SavedSearchEntry {
  readonly id: number;
  readonly name: string;
  readonly query: string;
  readonly isPublic: boolean;
  readonly isOwn: boolean;
  readonly isShared: boolean;
  /** As far as the viewer may know their names. */
  readonly readers: readonly string[];
  readonly updatedAt: string;
  readonly openHref: string;
}

interface RefusedForm {
  readonly action: string;
  readonly id: string;
  readonly fields: ReadonlyMap<string, string>;
}

interface SavedSearchesView {
  readonly filter: string;
  /** `own`, `shared`, `public`, or `''` for all. */
  readonly kind: string;
  readonly entries: readonly SavedSearchEntry[];
  readonly first: number;
  readonly address: string;
  readonly previousHref: string | null;
  readonly nextHref: string | null;
  readonly dataHref: string;
  readonly notice: string | null;
  readonly warnings: readonly string[];
  readonly problem: string | null;
  readonly refused: RefusedForm | null;
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
      {view.warnings.map((text) => (
        <p class="notice" role="note" safe>
          {text}
        </p>
      ))}
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
        {(entry.isOwn || entry.isShared || entry.isPublic) && (
          <a
            class="button quiet small"
            href={`/ui/alerts/new?${new URLSearchParams({ savedsearch: entry.name, title: entry.name })}`}
            aria-label={`Run ${entry.name} on a schedule, or alert on it`}
          >
            Schedule
          </a>
        )}
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
  /** For screen readers. */
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
