import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { lifecycle } from '../http/lifecycle.ts';
import { jsonReply } from '../http/reply/reply.ts';
import { readSqlRequest } from '../operations/events/search-request.ts';
import { runSearch, validateSearch } from '../operations/events/searches.ts';
import { FORMATS } from '../tables/read/format.ts';
import { EVENT_ROUTE } from './events/events.ts';
import { searchReply } from './search-reply.ts';
import {
  acceptedFormat,
  answering,
  bodyOf,
  runAnswer,
  SEARCH_FAILURES,
  validation,
} from './searches.ts';

const sqlBody = Type.Object(
  {
    sql: Type.String({
      description:
        'One statement of SQLite that reads. Its tables are the datasets you may read, by name: "sales/orders"',
    }),
    params: Type.Optional(
      Type.Union([Type.Object({}, { additionalProperties: true }), Type.Array(Type.Any())], {
        description: 'Values of :name, @name and $name, or of each ? in turn',
      }),
    ),
    with: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Queries of the search language by the table that their rows are',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, default: 0, description: 'Rows left out before the first' }),
    ),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 100 })),
    timezone: Type.Optional(Type.String({ description: 'Of the queries in `with`' })),
    format: Type.Optional(Type.Union(FORMATS.map((format) => Type.Literal(format)))),
    check: Type.Optional(
      Type.Boolean({ default: false, description: 'Only says what is wrong with it' }),
    ),
  },
  { $id: 'SqlRequest' },
);

export const sqlRoute = new Elysia({ name: 'sql' }).use(lifecycle).post(
  '/api/sql',
  ({ ask }) =>
    answering(async () => {
      const { services, user, origin, request } = ask;
      const body = await bodyOf(ask);
      const order = readSqlRequest(body, acceptedFormat(ask, body), services.config);
      if ((body as { check?: unknown }).check === true)
        return jsonReply(await validateSearch(services, user, order, request.signal));
      return searchReply(ask, await runSearch(services, user, origin, order, request.signal));
    }),
  {
    checks: { ...EVENT_ROUTE, describesFailure: SEARCH_FAILURES, leavesOtherMethods: true },
    describes: {
      summary: 'Read datasets with SQL',
      tag: 'search',
      body: { schema: sqlBody, required: true },
      answers: {
        200: {
          description: 'Rows and what is told beside them; with `check` what is wrong',
          schema: Type.Union([runAnswer, validation]),
        },
      },
      errors: [400, 408, 413, 422, 429, 503],
    },
  },
);
