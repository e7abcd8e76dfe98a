import { Type } from '@sinclair/typebox';
import { AppError } from '../base/errors.ts';
import { bulkError, ELASTIC_PRODUCT } from '../events/intake/dialects/bulk.ts';
import type { Context } from '../http/context.ts';
import type { DialectDoor } from './dialect-route.ts';
import { DIALECT_ROUTE, dialectRoute } from './dialect-route.ts';
import type { Reply } from '../http/reply/reply.ts';
import { bodyReply, jsonReply } from '../http/reply/reply.ts';
import type { Handler, Route } from '../http/route-table.ts';

const bulkModel = Type.Object(
  { took: Type.Integer(), errors: Type.Boolean(), items: Type.Array(Type.Any()) },
  { $id: 'BulkAnswer' },
);
const FAILURE_BODIES = [
  {
    schema: Type.Object(
      {
        error: Type.Object({ type: Type.String(), reason: Type.String() }),
        status: Type.Integer(),
      },
      { $id: 'BulkFailure' },
    ),
  },
];
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'security_exception',
  403: 'security_exception',
  404: 'resource_not_found_exception',
  405: 'method_not_allowed_exception',
  413: 'content_too_long_exception',
  415: 'media_type_header_exception',
  429: 'es_rejected_execution_exception',
  500: 'exception',
  503: 'es_rejected_execution_exception',
};

const door: DialectDoor = {
  dialect: 'bulk',
  mode: () => '',
  mark: '\n',
  failure: bulkFailure,
  failureBodies: FAILURE_BODIES,
};

const INFO = {
  name: 'svc',
  cluster_name: 'svc',
  cluster_uuid: 'svc',
  version: {
    number: '8.17.0',
    build_flavor: 'default',
    lucene_version: '9.12.0',
    minimum_wire_compatibility_version: '7.17.0',
    minimum_index_compatibility_version: '7.0.0',
  },
  tagline: 'You Know, for Search',
};

const anyAnswer = { 200: { description: 'As Elasticsearch would', schema: Type.Any() } };

export const elasticRoutes: readonly Route[] = [
  ...['/_bulk', '/{index}/_bulk', '/elastic/_bulk', '/elastic/{index}/_bulk'].map((pattern) =>
    dialectRoute(pattern, ['POST', 'PUT'], door, {
      summary: 'Send events as an Elasticsearch client',
      tag: 'events',
      body: { mediaType: 'application/x-ndjson', schema: null },
      answers: { 200: { description: 'What came of each document', schema: bulkModel } },
    }),
  ),
  { ...probe('/elastic', INFO), endsInSlash: true },
  probe('/elastic/_cluster/health', {
    cluster_name: 'svc',
    status: 'green',
    timed_out: false,
    number_of_nodes: 1,
  }),
  probe('/elastic/_license', { license: { status: 'active', uid: 'svc', type: 'basic' } }),
  probe('/elastic/_xpack', { features: {} }),
  probe('/elastic/_nodes/{path:rest}', { nodes: {} }),
  ...['_index_template', '_template', '_component_template', '_ilm', '_ingest'].map((name) =>
    setupProbe(`/elastic/${name}/{path:rest}`),
  ),
  setupProbe('/elastic/{index}', refuseApi),
  unknownPath('/elastic/{path:rest}'),
];

function probe(pattern: string, answer: object): Route {
  return {
    ...DIALECT_ROUTE,
    pattern,
    leavesOtherMethods: false,
    answersFailure: bulkFailure,
    describesFailure: () => FAILURE_BODIES,
    describes: {
      GET: { summary: 'Answer an Elasticsearch client', tag: 'events', answers: anyAnswer },
    },
    methods: { GET: () => jsonReply(answer, { headers: ELASTIC_PRODUCT }) },
  };
}

/** Index names begin with other characters: such a path is an API that is not offered. */
function refuseApi({ parameters }: Context): void {
  if (parameters['index']!.startsWith('_')) throw new AppError('not-found', 'Not found.');
}

/** Templates and the like: clients may send them, nothing is stored. */
function setupProbe(pattern: string, check: (context: Context) => void = () => undefined): Route {
  const describes = { summary: 'Answer an Elasticsearch client', tag: 'events' } as const;
  return {
    ...probe(pattern, {}),
    describes: {
      GET: { ...describes, answers: anyAnswer },
      PUT: { ...describes, body: { schema: Type.Any(), required: false }, answers: anyAnswer },
    },
    methods: {
      GET: (context) => {
        check(context);
        return jsonReply({}, { headers: ELASTIC_PRODUCT });
      },
      PUT: (context) => {
        check(context);
        return jsonReply({ acknowledged: true }, { headers: ELASTIC_PRODUCT });
      },
    },
  };
}

function unknownPath(pattern: string): Route {
  const handler: Handler = () => {
    throw new AppError('not-found', 'Not found.');
  };
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
  return {
    ...DIALECT_ROUTE,
    pattern,
    answersFailure: bulkFailure,
    methods: Object.fromEntries(methods.map((method) => [method, handler])),
  };
}

function bulkFailure({ status, headers, message, issues }: AppError): Reply {
  const type = ERROR_TYPES[status] ?? 'parse_exception';
  const body = bulkError(status, type, issues?.[0]?.msg ?? message);
  return bodyReply(body, 'application/json', {
    status,
    headers: { ...headers, ...ELASTIC_PRODUCT },
  });
}
