/**
 * `/savedsearches`: the page of saved searches and its forms; the same operations as `/api/savedsearches/`.
 */
import { AppError } from '../../base/errors.ts';
import {
  createSavedSearch,
  deleteSavedSearch,
  getSavedSearch,
  listSavedSearches,
  type SavedSearchResult,
  updateSavedSearch,
} from '../../operations/saved-searches.ts';
import { withinTimes } from '../../pipeline/refine.ts';
import type { Context } from '../context.ts';
import { PRIVATE } from '../headers.ts';
import { pageReply } from '../page-reply.ts';
import { savedSearchesPage } from '../pages/saved-searches.tsx';
import { redirectReply, type Reply } from '../reply.ts';
import type { Route } from '../route-table.ts';

const NOTICES: Readonly<Record<string, string>> = {
  create: 'The search is saved.',
  update: 'The change is saved.',
  clone: 'The copy is yours to change.',
  delete: 'The search is deleted.',
};

const SHOWN_AT_ONCE = 50;

/** `/savedsearches`. */
export const savedSearchesPageRoute: Route = {
  pattern: '/savedsearches',
  access: 'user',
  cacheControl: PRIVATE,
  describes: {
    GET: {
      summary: 'Show the saved searches',
      tag: 'search',
      answers: { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } },
    },
    POST: {
      summary: 'Take a form of the saved searches',
      tag: 'search',
      body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
      answers: { 303: { description: 'Done; back to the page', schema: null } },
      errors: [400, 404],
    },
  },
  methods: {
    GET: (context) => show(context, { notice: NOTICES[context.queryValue('done') ?? ''] ?? null }),
    POST: postForm,
  },
};

async function show(
  context: Context,
  told: { readonly notice?: string | null; readonly problem?: string; readonly status?: number },
): Promise<Reply> {
  const { services, user } = context;
  const opened = Number(context.queryValue('id'));
  if (Number.isSafeInteger(opened) && opened > 0) {
    const { query } = await getSavedSearch(services, user, opened);
    return redirectReply(addressOf(query), 303);
  }
  const filter = context.queryValue('search') ?? '';
  const offset = offsetOf(context);
  const found = await listSavedSearches(
    services,
    user,
    { search: filter, offset },
    SHOWN_AT_ONCE + 1,
  );
  const view = {
    filter,
    notice: told.notice ?? null,
    problem: told.problem ?? null,
    previousHref: offset === 0 ? null : pageAt(filter, Math.max(0, offset - SHOWN_AT_ONCE)),
    nextHref: found.length > SHOWN_AT_ONCE ? pageAt(filter, offset + SHOWN_AT_ONCE) : null,
    entries: found.slice(0, SHOWN_AT_ONCE).map(({ view: one, isOwn }) => ({
      id: one.id,
      name: one.name,
      query: one.query,
      isPublic: one.is_public,
      isOwn,
      sharedWith: one.shared_with.join(', '),
      updatedAt: one.updated_at,
      openHref: addressOf(one.query),
    })),
  };
  return pageReply(context, savedSearchesPage, view, { status: told.status });
}

function offsetOf(context: Context): number {
  const text = context.queryValue('offset') ?? '';
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
}

function pageAt(search: string, offset: number): string {
  const query = { ...(search !== '' && { search }), ...(offset > 0 && { offset: String(offset) }) };
  const text = new URLSearchParams(query).toString();
  return text === '' ? '/savedsearches' : `/savedsearches?${text}`;
}

/** The explorer over all time: the search says itself which part of it. */
function addressOf(query: string): string {
  return `/events?${new URLSearchParams({ q: query, earliest: '' })}`;
}

async function postForm(context: Context): Promise<Reply> {
  const fields = new Map(await context.form());
  const field = (name: string): string => fields.get(name) ?? '';
  // The explorer sends what its query form holds: a text and a time.
  if (fields.has('q')) {
    fields.set('query', withinTimes(field('q'), field('earliest'), field('latest')));
  }
  const action = field('action');
  try {
    const problem = await act(context, action, field);
    if (problem === null) return redirectReply(`/savedsearches?done=${action}`, 303);
    if (!context.wantsHtml) throw new AppError('bad-request', problem);
    return await show(context, { problem, status: 400 });
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    return show(context, { problem: error.message, status: error.status });
  }
}

/** What is wrong with the form; null when it is done. */
async function act(
  context: Context,
  action: string,
  field: (name: string) => string,
): Promise<string | null> {
  const { services, user, origin } = context;
  switch (action) {
    case 'create':
      return problemIn(
        await createSavedSearch(services, user, origin, { body: bodyOf(field), validate: null }),
      );
    case 'update': {
      const request = { id: idOf(field('id')), isPartial: false, validate: null };
      const body = { ...bodyOf(field), shared_with: idsOf(field('shared_with')) };
      return problemIn(await updateSavedSearch(services, user, origin, { ...request, body }));
    }
    case 'clone': {
      const { name, query } = await getSavedSearch(services, user, idOf(field('id')));
      const body = { name: `${name.slice(0, 240)} (copy)`, query };
      return problemIn(await createSavedSearch(services, user, origin, { body, validate: null }));
    }
    case 'delete':
      await deleteSavedSearch(services, user, origin, idOf(field('id')));
      return null;
    default:
      return 'The form names no action';
  }
}

function bodyOf(field: (name: string) => string): Record<string, unknown> {
  return { name: field('name'), query: field('query'), is_public: field('is_public') === 'true' };
}

function idsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
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

function idOf(text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw new AppError('bad-request', 'The form names no id');
}
