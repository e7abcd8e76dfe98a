import { Elysia } from 'elysia';
import { createHmac } from 'node:crypto';
import { secretsEqual } from '../../accounts/identity/secret-compare.ts';
import { AppError } from '../../base/errors.ts';
import {
  createSavedSearch,
  deleteSavedSearch,
  findReaders,
  getSavedSearch,
  listSavedSearches,
  readersOf,
  restoreSavedSearch,
  type SavedSearchKind,
  type SavedSearchResult,
  updateSavedSearch,
} from '../../operations/saved-searches.ts';
import { withinTimes } from '../../language/syntax/refine.ts';
import type { Context } from '../../http/context.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { idOf } from '../form-request.ts';
import { pageReply } from '../page-reply.ts';
import { type RefusedForm, savedSearchesPage } from '../views/saved-searches.tsx';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { door } from '../../http/door.ts';
import type { RouteRules } from '../../http/route.ts';

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
const KINDS: ReadonlySet<string> = new Set<SavedSearchKind>(['own', 'shared', 'public']);

const checks = { access: 'user', cacheControl: PRIVATE } as const satisfies RouteRules;

export const savedSearchesPageRoute = new Elysia({ name: 'saved-searches-page' })
  .use(door)
  .get(
    '/savedsearches',
    ({ ask }) => show(ask, { notice: NOTICES[ask.queryValue('done') ?? ''] ?? null }),
    {
      checks,
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
    checks,
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

interface Told {
  readonly notice?: string | null;
  readonly problem?: string;
  readonly status?: number;
  readonly refused?: RefusedForm;
  readonly deleted?: ReadonlyMap<string, string>;
}

async function show(context: Context, told: Told): Promise<Reply> {
  const opened = Number(context.queryValue('id'));
  if (Number.isSafeInteger(opened) && opened > 0) {
    const query = await queryOf(context, opened);
    if (query !== null) return redirectReply(addressOf(query), 303);
    return showList(context, { problem: GONE, status: 404 });
  }
  return showList(context, told);
}

/** Null when it does not exist and the client is a browser; programs get the error. */
async function queryOf(context: Context, id: number): Promise<string | null> {
  try {
    return (await getSavedSearch(context.services, context.user, id)).query;
  } catch (error) {
    if (context.wantsHtml && error instanceof AppError && error.code === 'not-found') return null;
    throw error;
  }
}

async function showList(context: Context, told: Told): Promise<Reply> {
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
    notice: told.notice ?? null,
    problem: told.problem ?? null,
    refused: told.refused ?? null,
    deleted: told.deleted ?? null,
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
      openHref: addressOf(one.query),
    })),
  };
  return pageReply(context, savedSearchesPage, view, { status: told.status });
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
    kind: KINDS.has(kind) ? kind : '',
    offset: /^[0-9]{1,9}$/.test(offset) ? Number(offset) : 0,
  };
}

function pageAddress(
  { search, kind, offset }: Place,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({
    ...(search !== '' && { search }),
    ...(kind !== '' && { kind }),
    ...(offset > 0 && { offset: String(offset) }),
    ...more,
  });
  return query.size === 0 ? '/savedsearches' : `/savedsearches?${query}`;
}

/** Without time bounds: the search names its own. */
function addressOf(query: string): string {
  return `/events?${new URLSearchParams({ q: query, earliest: '' })}`;
}

async function postForm(context: Context): Promise<Reply> {
  const fields = new Map(await context.form());
  const field = (name: string): string => fields.get(name) ?? '';
  if (fields.has('q')) {
    fields.set('query', withinTimes(field('q'), field('earliest'), field('latest')));
  }
  const action = field('action');
  const refused = { action, id: field('id'), fields };
  try {
    if (action === 'delete') return await takeAway(context, idOf(field('id')));
    if (action === 'restore') return await bringBack(context, field, refused);
    const problem = await act(context, action, field);
    if (problem === null)
      return redirectReply(pageAddress(placeOf(context), { done: action }), 303);
    if (!context.wantsHtml) throw new AppError('bad-request', problem);
    return await show(context, { problem, status: 400, refused });
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    const problem = error.code === 'not-found' ? GONE : error.message;
    return showList(context, { problem, status: error.status, refused });
  }
}

async function takeAway(context: Context, id: number): Promise<Reply> {
  const { services, user, origin } = context;
  const view = await getSavedSearch(services, user, id);
  const { name, query, is_public: isPublic } = view;
  const readers = (await readersOf(services, user, [{ view, isOwn: true }])).get(id) ?? [];
  await deleteSavedSearch(services, user, origin, id);
  const deleted = new Map([
    ['id', String(id)],
    ['seal', sealOf(context, id)],
    ['name', name],
    ['query', query],
    ['is_public', String(isPublic)],
    ['readers', readers.join('\n')],
  ]);
  return show(context, { notice: `The search “${name}” is deleted.`, deleted });
}

/** Restores a deleted search under its old id: sending it twice makes one search, and its addresses work again. */
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
    is_public: field('is_public') === 'true',
    shared_with: ids,
  };
  const request = { id, body, validate: null, named };
  const problem = problemIn(await restoreSavedSearch(services, user, origin, request));
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

/** HMAC that proves the user deleted the search with this id, so that nobody can claim the id of another's search. */
function sealOf({ services, user }: Context, id: number): string {
  const text = `deleted saved search ${id} of user ${user.userId}`;
  return createHmac('sha256', services.serverSecret).update(text).digest('base64url');
}

/** What is wrong with the form; null when it is done. */
async function act(
  context: Context,
  action: string,
  field: (name: string) => string,
): Promise<string | null> {
  const { services, user, origin } = context;
  const create = async (body: unknown, named?: readonly number[]): Promise<string | null> =>
    problemIn(await createSavedSearch(services, user, origin, { body, validate: null, named }));
  const change = async (body: unknown, named?: readonly number[]): Promise<string | null> => {
    const request = { id: idOf(field('id')), isPartial: true, validate: null, body, named };
    return problemIn(await updateSavedSearch(services, user, origin, request));
  };
  const isPublic = field('is_public') === 'true';
  switch (action) {
    case 'create':
      return create({ name: field('name'), query: field('query'), is_public: isPublic });
    case 'update':
      return change({ name: field('name'), query: field('query') });
    case 'share': {
      const found = await findReaders(services, user, namesIn(field('readers')));
      if ('unknown' in found) return nobodyText(found.unknown);
      return change({ shared_with: found.ids, is_public: isPublic }, found.named);
    }
    case 'clone': {
      const { name, query } = await getSavedSearch(services, user, idOf(field('id')));
      return create({ name: `${name.slice(0, 240)} (copy)`, query });
    }
    default:
      return 'The form names no action';
  }
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
