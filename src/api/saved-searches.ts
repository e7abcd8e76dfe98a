import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import type { SavedSearchRequest } from '../operations/events/saved-search-request.ts';
import {
  type ListedSavedSearch,
  type SavedSearchResult,
  type SavedSearchView,
  countSavedSearches,
  createSavedSearch,
  deleteSavedSearch,
  eachSavedSearch,
  getSavedSearch,
  listSavedSearches,
  requireScope,
  updateSavedSearch,
} from '../operations/events/saved-searches.ts';
import type { Context, RouteRules } from '../http/context.ts';
import { checkSavedQuery } from '../operations/events/searches.ts';
import { eventErrorReply } from '../http/reply/errors.ts';
import { eventJsonBody } from './events/body.ts';
import { eventFailureBodies } from './events/models.ts';
import { nextLink } from '../http/link-query.ts';
import { type Reply, bodyReply, emptyReply, jsonReply } from '../http/reply/reply.ts';
import { lifecycle } from '../http/lifecycle.ts';
import { requireChangeable, requireFormat } from './events/events.ts';
import { createHash } from 'node:crypto';
import type { SavedSearchPlace } from '../events/saved-searches.ts';
import type { FieldErrors } from '../events/intake/validation.ts';
import { type Read, readWhole } from './events/query.ts';

const model = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({ maxLength: 255 }),
    query: Type.String(),
    view: Type.String({
      description: 'Parameters of the page that shows it, such as `chart=line&log=1`',
    }),
    shared_with: Type.Array(Type.Integer({ description: 'Id of a user' })),
    is_public: Type.Boolean(),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'SavedSearch' },
);
const newModel = Type.Object(
  {
    name: Type.String({ maxLength: 255 }),
    query: Type.String(),
    view: Type.Optional(Type.String({ maxLength: 2048 })),
    shared_with: Type.Optional(Type.Array(Type.Integer())),
    is_public: Type.Optional(Type.Boolean()),
  },
  { $id: 'NewSavedSearch' },
);
const one = { description: 'The saved search', schema: model };
const validate = {
  name: 'validate',
  in: 'query',
  description: '1: refuse a query that does not parse',
  schema: Type.String(),
} as const;

const MAX_LIMIT = 1_000;
const query = { in: 'query' } as const;

/** The parameters, as the API describes them. */
const savedSearchListParameters = [
  { ...query, name: 'search', description: 'Terms in name or query', schema: Type.String() },
  {
    ...query,
    name: 'limit',
    description: 'Most searches; all of them without it',
    schema: Type.Integer({ minimum: 1, maximum: MAX_LIMIT }),
  },
  {
    ...query,
    name: 'offset',
    description: 'Searches passed over',
    schema: Type.Integer({ minimum: 0 }),
  },
  {
    ...query,
    name: 'cursor',
    description: 'Where the page before ended, from its `Link` header',
    schema: Type.String(),
  },
  {
    ...query,
    name: 'count',
    description: '1: tell the number of all in `X-Total-Count`',
    schema: Type.String(),
  },
] as const;

/** Longer lists are streamed. */
const AT_ONCE = 64;

const SHARED = {
  access: 'user',
  hasJsonErrors: true,
  answersFailure: eventErrorReply,
  describesFailure: eventFailureBodies,
  isExemptFromReadOnly: true,
  repeats: (context: Context) => {
    requireScope(context.user, 'write');
    requireChangeable(context);
  },
} as const;

const checks = { ...SHARED, endsInSlash: true } as const satisfies RouteRules;

const oneChecks = { ...SHARED, endsInSlash: true, hasNumbers: true } as const satisfies RouteRules;

export const savedSearchRoutes = new Elysia({
  name: 'saved-searches',
  prefix: '/api/savedsearches',
})
  .use(lifecycle)
  .get('', ({ ask }) => list(ask), {
    checks,
    describes: {
      summary: 'List saved searches',
      tag: 'events',
      parameters: savedSearchListParameters,
      answers: {
        200: { description: 'Own, shared and public ones, by name', schema: Type.Array(model) },
      },
      errors: [400],
    },
  })
  .post(
    '',
    async ({ ask }) => {
      const { services, user, origin } = ask;
      return resultReply(
        await createSavedSearch(services, user, origin, await requestOf(ask)),
        201,
      );
    },
    {
      checks,
      describes: {
        summary: 'Save a search',
        tag: 'events',
        parameters: [validate],
        body: { schema: newModel },
        answers: { 201: one },
        errors: [400, 415],
      },
    },
  )
  .get(
    '/:id',
    async ({ ask }) => {
      const { services, user } = ask;
      requireScope(user, 'read');
      requireFormat(ask);
      return jsonReply(await getSavedSearch(services, user, ask.idParameter()));
    },
    {
      checks: oneChecks,
      describes: {
        summary: 'Read a saved search',
        tag: 'events',
        answers: { 200: one },
        errors: [404],
      },
    },
  )
  .put('/:id', ({ ask }) => change(ask, false), {
    checks: oneChecks,
    describes: {
      summary: 'Replace a saved search',
      tag: 'events',
      parameters: [validate],
      body: { schema: newModel },
      answers: { 200: one },
      errors: [400, 404, 415],
    },
  })
  .patch('/:id', ({ ask }) => change(ask, true), {
    checks: oneChecks,
    describes: {
      summary: 'Change parts of a saved search',
      tag: 'events',
      parameters: [validate],
      body: { schema: Type.Partial(newModel, { $id: 'SavedSearchChange' }) },
      answers: { 200: one },
      errors: [400, 404, 415],
    },
  })
  .delete(
    '/:id',
    async ({ ask }) => {
      const { services, user, origin } = ask;
      requireScope(user, 'write');
      requireChangeable(ask);
      requireFormat(ask);
      await deleteSavedSearch(services, user, origin, ask.idParameter());
      return emptyReply();
    },
    {
      checks: oneChecks,
      describes: {
        summary: 'Delete a saved search',
        tag: 'events',
        answers: { 204: { description: 'It is gone', schema: null } },
        errors: [404],
      },
    },
  );

async function list(context: Context): Promise<Reply> {
  const { services, user } = context;
  requireScope(user, 'read');
  requireFormat(context);
  const query = readSavedSearchQuery(context);
  if ('reply' in query) return query.reply;
  const { limit, counts, cursorAfter, ...which } = query.value;
  const total = counts ? await countSavedSearches(services, user, which.search) : null;
  const headers = { ...(total !== null && { 'X-Total-Count': String(total) }) };
  const first = await listSavedSearches(services, user, which, (limit ?? AT_ONCE) + 1);
  const shown = first.slice(0, limit ?? AT_ONCE).map(({ view }) => view);
  const last = shown.at(-1);
  if (first.length === shown.length || last === undefined) return jsonReply(shown, { headers });
  if (limit !== null)
    return jsonReply(shown, { headers: { ...headers, ...nextLink(context, cursorAfter(last)) } });
  const rest = eachSavedSearch(services, user, { search: which.search, after: last });
  return bodyReply(arrayText(shown, rest), 'application/json', { headers });
}

async function* arrayText(
  first: readonly SavedSearchView[],
  rest: AsyncIterable<ListedSavedSearch>,
): AsyncGenerator<string> {
  yield JSON.stringify(first).slice(0, -1);
  for await (const { view } of rest) yield `,${JSON.stringify(view)}`;
  yield ']';
}

async function change(context: Context, isPartial: boolean): Promise<Reply> {
  const { services, user, origin } = context;
  const id = context.idParameter();
  const request = await requestOf(context);
  return resultReply(
    await updateSavedSearch(services, user, origin, { ...request, id, isPartial }),
    200,
  );
}

async function requestOf(context: Context): Promise<SavedSearchRequest> {
  requireScope(context.user, 'write');
  requireChangeable(context);
  requireFormat(context);
  const body = await eventJsonBody(context, ['shared_with']);
  const wantsCheck = context.queryValue('validate') === '1';
  if (!wantsCheck) return { body, validate: null };
  const { services, user } = context;
  return { body, validate: (query, name) => checkSavedQuery(services, user, { query, name }) };
}

function resultReply(result: SavedSearchResult, status: number): Reply {
  return 'errors' in result
    ? jsonReply(result.errors, { status: 400 })
    : jsonReply(result.view, { status });
}

/** What a list of saved searches shows. */
interface SavedSearchQuery {
  readonly search: string;
  /** Null: all. */
  readonly limit: number | null;
  readonly offset: number;
  readonly after: SavedSearchPlace | null;
  readonly counts: boolean;
  /** Makes the cursor that goes on behind a search. */
  readonly cursorAfter: (last: SavedSearchPlace) => string;
}

/** The parameters of a request. */
function readSavedSearchQuery(context: Context): Read<SavedSearchQuery> {
  const errors: FieldErrors = {};
  const search = context.queryValue('search') ?? '';
  const limit = readWhole(context, 'limit', { min: 1, max: MAX_LIMIT, otherwise: null }, errors);
  const offset =
    readWhole(context, 'offset', { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0 }, errors) ??
    0;
  const cursor = context.queryValue('cursor') || null;
  const after = cursor === null ? null : placeOf(cursor, search);
  if (after === undefined || (cursor !== null && context.queryValue('offset') !== null))
    errors['cursor'] = ['Invalid cursor.'];
  if (Object.keys(errors).length > 0) return { reply: jsonReply(errors, { status: 400 }) };
  return {
    value: {
      search,
      limit,
      offset,
      after: after ?? null,
      counts: context.queryValue('count') === '1',
      cursorAfter: ({ name, id }) =>
        Buffer.from(JSON.stringify([name, id, tieOf(search)])).toString('base64url'),
    },
  };
}

/** Ties a cursor to its filter. */
function tieOf(search: string): string {
  return createHash('sha256').update(search).digest('base64url').slice(0, 16);
}

function placeOf(cursor: string, search: string): SavedSearchPlace | undefined {
  try {
    const [name, id, tie] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof name !== 'string' || !Number.isSafeInteger(id) || tie !== tieOf(search))
      return undefined;
    return { name, id: id as number };
  } catch {
    // Not one of ours.
    return undefined;
  }
}
