import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { AppError } from '../../base/errors.ts';
import { bulkError, ELASTIC_PRODUCT } from '../../events/intake/dialects/bulk.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import type { DialectAdapter } from './dialect.ts';
import { accepts, DIALECT_RULES, dialectRoute } from './dialect.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { bodyReply, jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import type { OperationDescription } from '../../http/operation-description.ts';

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

const bulk: DialectAdapter = {
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

const rules = {
  ...DIALECT_RULES,
  answersFailure: bulkFailure,
  describesFailure: () => FAILURE_BODIES,
} as const satisfies RouteRules;
/** Answered like Elasticsearch: clients ask before they send. Elysia changes what it is given, so each route gets a copy. */
const probe = {
  checks: { ...rules, leavesOtherMethods: false },
  describes: describesProbe({}),
};
const bulkRoute = dialectRoute(bulk, {
  summary: 'Send events as an Elasticsearch client',
  tag: 'events',
  body: { mediaType: 'application/x-ndjson', schema: null },
  answers: { 200: { description: 'What came of each document', schema: bulkModel } },
});

function describesProbe(more: Partial<OperationDescription>): OperationDescription {
  return {
    summary: 'Answer an Elasticsearch client',
    tag: 'events',
    answers: { 200: { description: 'As Elasticsearch would', schema: Type.Any() } },
    ...more,
  };
}

function answers(body: object): () => Reply {
  return () => jsonReply(body, { headers: ELASTIC_PRODUCT });
}

const probes = new Elysia({ name: 'elastic-probes', prefix: '/elastic' })
  .use(lifecycle)
  .get('', answers(INFO), { ...probe, checks: { ...probe.checks, endsInSlash: true } })
  .get(
    '/_cluster/health',
    answers({ cluster_name: 'svc', status: 'green', timed_out: false, number_of_nodes: 1 }),
    { ...probe },
  )
  .get('/_license', answers({ license: { status: 'active', uid: 'svc', type: 'basic' } }), {
    ...probe,
  })
  .get('/_xpack', answers({ features: {} }), { ...probe })
  .get('/_nodes/*', answers({ nodes: {} }), {
    ...probe,
    checks: { ...probe.checks, rest: 'path' },
  });

/** Templates and the like: clients may send them, nothing is stored. */
const put = describesProbe({ body: { schema: Type.Any(), required: false } });
for (const name of ['_index_template', '_template', '_component_template', '_ilm', '_ingest']) {
  const checks = { ...probe.checks, rest: 'path' };
  probes.get(`/${name}/*`, answers({}), { checks, describes: probe.describes });
  probes.put(`/${name}/*`, answers({ acknowledged: true }), { checks, describes: put });
}

/** Index names begin with other characters: such a path is an API that is not offered. */
function refuseApi({ parameters }: Context): void {
  if (parameters['index']!.startsWith('_')) throw new AppError('not-found', 'Not found.');
}

probes
  .get(
    '/:index',
    ({ ask }) => {
      refuseApi(ask);
      return answers({})();
    },
    { ...probe },
  )
  .put(
    '/:index',
    ({ ask }) => {
      refuseApi(ask);
      return answers({ acknowledged: true })();
    },
    { checks: probe.checks, describes: put },
  );
for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
  probes.route(method, '/*', unknownPath, {
    checks: { ...DIALECT_RULES, answersFailure: bulkFailure, rest: 'path' },
  });
}

function unknownPath(): never {
  throw new AppError('not-found', 'Not found.');
}

export const elasticRoutes = new Elysia({ name: 'elastic' }).use(lifecycle).use(probes);
for (const path of ['/_bulk', '/:index/_bulk', '/elastic/_bulk', '/elastic/:index/_bulk']) {
  elasticRoutes
    .post(path, accepts(bulk), { ...bulkRoute })
    .put(path, accepts(bulk), { ...bulkRoute });
}

function bulkFailure({ status, headers, message, issues }: AppError): Reply {
  const type = ERROR_TYPES[status] ?? 'parse_exception';
  const body = bulkError(status, type, issues?.[0]?.msg ?? message);
  return bodyReply(body, 'application/json', {
    status,
    headers: { ...headers, ...ELASTIC_PRODUCT },
  });
}
