import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import {
  BadSearchRequest,
  readCheckRequest,
  readSearchRequest,
} from '../operations/events/search-request.ts';
import { describeLanguage, runSearch, validateSearch } from '../operations/events/searches.ts';
import { type Format, formatDetails, FORMATS } from '../tables/read/format.ts';
import { askedFormat } from '../http/reply/list-file.ts';
import type { Context } from '../http/context.ts';
import { AppError } from '../base/errors.ts';
import { decodeUtf8, JsonParseError, parseEventJson } from '../events/intake/json-text.ts';
import { eventBody, joined, MAX_SMALL_BODY_BYTES } from './events/body.ts';
import { preferredType } from '../http/reply/negotiate.ts';
import { jsonReply, type Reply } from '../http/reply/reply.ts';
import { lifecycle } from '../http/lifecycle.ts';
import { searchReply } from './search-reply.ts';
import { EVENT_ROUTE, requireAccepted, requireFormat } from './events/events.ts';
import type { FailureBodies } from '../http/operation-description.ts';

const ACCEPTED: Readonly<Record<string, Format>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
  [formatDetails.xlsx.mediaType]: 'xlsx',
  [formatDetails.parquet.mediaType]: 'parquet',
};

const searchProblem = Type.Object(
  {
    error: Type.String(),
    code: Type.String(),
    stage: Type.Integer({ minimum: 1 }),
    command: Type.String(),
    offset: Type.Integer({ minimum: 0, description: 'In code points of the query' }),
    length: Type.Integer({ minimum: 1 }),
    suggestion: Type.Optional(Type.String()),
    allowed: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'SearchProblem' },
);

export const SEARCH_FAILURES: FailureBodies = (status) =>
  status === 400 || status === 408 || status === 422
    ? [
        {
          schema: Type.Union([
            searchProblem,
            Type.Object({ error: Type.String(), code: Type.String() }),
            Type.Object({ detail: Type.String() }),
          ]),
        },
      ]
    : null;

const runMeta = Type.Object(
  {
    count: Type.Integer({ minimum: 0 }),
    truncated: Type.Boolean(),
    elapsed_ms: Type.Integer({ minimum: 0 }),
    scanned: Type.Integer({ minimum: 0, description: 'Rows read from sources' }),
    notices: Type.Array(Type.String()),
    columns: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
    plan: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { $id: 'SearchRunMeta' },
);

export const runAnswer = Type.Object(
  { rows: Type.Array(Type.Object({}, { additionalProperties: true })), meta: runMeta },
  { $id: 'SearchRun' },
);

const runBody = Type.Object(
  {
    query: Type.String(),
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 100 })),
    timezone: Type.Optional(
      Type.String({
        description: 'UTC, an offset such as +02:00, or a name such as Europe/Vienna',
      }),
    ),
    params: Type.Optional(Type.Object({}, { additionalProperties: true })),
    format: Type.Optional(Type.Union(FORMATS.map((format) => Type.Literal(format)))),
    explain: Type.Optional(Type.Boolean()),
    max_age: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 300,
        default: 0,
        description:
          'Seconds: an answer so old is good enough; the header `Age` says how old it is',
      }),
    ),
  },
  { $id: 'SearchRunRequest' },
);

export const validation = Type.Object(
  {
    valid: Type.Boolean(),
    errors: Type.Array(searchProblem),
    notices: Type.Array(Type.String()),
    stages: Type.Array(Type.Object({}, { additionalProperties: true })),
    columns: Type.Union([Type.Array(Type.String()), Type.Null()]),
    parameters: Type.Array(Type.String()),
    canonical: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'SearchValidation' },
);

export const searchLanguageRoutes = new Elysia({ name: 'searches', prefix: '/search2/api' })
  .use(lifecycle)
  .post(
    '/run',
    ({ ask }) =>
      answering(async () => {
        const { services } = ask;
        const body = await bodyOf(ask);
        const request = readSearchRequest(body, acceptedFormat(ask, body), services.config);
        const result = await runSearch(services, ask.user, ask.origin, request, ask.request.signal);
        return searchReply(ask, result);
      }),
    {
      checks: { ...EVENT_ROUTE, describesFailure: SEARCH_FAILURES, endsInSlash: true },
      describes: {
        summary: 'Run a query',
        tag: 'search',
        body: { schema: runBody, required: true },
        answers: { 200: { description: 'Rows and what is told beside them', schema: runAnswer } },
        errors: [400, 413, 429, 503],
      },
    },
  )
  .post(
    '/validate',
    ({ ask }) =>
      answering(async () => {
        const { services, user, request } = ask;
        requireFormat(ask);
        const order = readCheckRequest(await bodyOf(ask), services.config);
        return jsonReply(await validateSearch(services, user, order, request.signal));
      }),
    {
      checks: { ...EVENT_ROUTE, describesFailure: SEARCH_FAILURES, endsInSlash: true },
      describes: {
        summary: 'Check a query without running it',
        tag: 'search',
        body: {
          schema: Type.Object({
            query: Type.String(),
            params: Type.Optional(Type.Object({}, { additionalProperties: true })),
          }),
          required: true,
        },
        answers: {
          200: { description: 'What is wrong with it, and its parts', schema: validation },
        },
        errors: [400, 413, 503],
      },
    },
  )
  .get(
    '/commands',
    async ({ ask }) => {
      requireFormat(ask);
      return jsonReply(await describeLanguage(ask.services, ask.user));
    },
    {
      checks: { ...EVENT_ROUTE, endsInSlash: true },
      describes: {
        summary: 'Describe the search language',
        tag: 'search',
        answers: {
          200: {
            description: 'Commands, functions, lookups and sources',
            schema: Type.Object({}, { additionalProperties: true }),
          },
        },
      },
    },
  );

/** The members of a body in any accepted format. Throws `bad-request` for invalid JSON. */
export async function bodyOf(context: Context): Promise<unknown> {
  const { pieces, form } = await eventBody(context, {
    takesLines: false,
    maxBytes: MAX_SMALL_BODY_BYTES,
  });
  try {
    const body = parseEventJson(
      decodeUtf8(joined(pieces)),
      context.services.config.events.limits.max_depth,
    );
    return form === 'fields' ? withParsedParameters(body) : body;
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error;
    throw new AppError('bad-request', error.message, { cause: error });
  }
}

/** Form fields are texts: `params` is parsed as JSON, numbers and booleans as spelled. */
function withParsedParameters(body: unknown): unknown {
  const {
    params,
    with: queries,
    limit,
    offset,
    timeout_ms: timeout,
    explain,
    max_age: maxAge,
    ...rest
  } = body as Record<string, string>;
  return {
    ...rest,
    ...(queries !== undefined && { with: parseEventJson(queries, 2) }),
    ...(offset !== undefined && { offset: Number(offset) }),
    ...(params !== undefined && { params: parseEventJson(params, 2) }),
    ...(limit !== undefined && { limit: Number(limit) }),
    ...(timeout !== undefined && { timeout_ms: Number(timeout) }),
    ...(maxAge !== undefined && { max_age: Number(maxAge) }),
    ...(explain !== undefined && { explain: explain === 'true' || explain === '1' }),
  };
}

/** Reports an invalid request in the format of an invalid query. */
export async function answering(work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BadSearchRequest)) throw error;
    return jsonReply({ error: error.message, code: error.code }, { status: 400 });
  }
}

/** From the query string or `Accept`; a `format` in the body wins over both. Throws as `requireFormat`. */
export function acceptedFormat(context: Context, body: unknown): Format {
  const asked = askedFormat(context);
  if (asked !== null) return asked;
  const accept = context.request.headers.get('accept');
  const named = preferredType(accept, Object.keys(ACCEPTED));
  if (named !== null) return ACCEPTED[named]!;
  const isChosen = typeof body === 'object' && body !== null && 'format' in body;
  if (!isChosen) requireAccepted(context, Object.keys(ACCEPTED));
  return 'json';
}
