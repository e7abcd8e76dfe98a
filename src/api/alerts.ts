/** Alerts for programs: definitions, runs, and what a definition would have found. */
import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { alertSchema } from '../alerts/definition.ts';
import { ALERT_STATES, RUN_KINDS } from '../alerts/store.ts';
import { invalidRequest, type ValidationIssue } from '../base/errors.ts';
import type { Context, RouteRules } from '../http/context.ts';
import { nextLink } from '../http/link-query.ts';
import { lifecycle } from '../http/lifecycle.ts';
import { emptyReply, jsonReply, type Reply } from '../http/reply/reply.ts';
import { readOnlyMode } from '../http/route.ts';
import {
  type AlertView,
  approveAlert,
  createAlert,
  deleteAlert,
  getAlert,
  lastRowsOf,
  listAlertRuns,
  listAlerts,
  readDefinition,
  requireAllRights,
  runAlert,
  switchAlert,
  updateAlert,
} from '../operations/alerts/alerts.ts';
import { previewAlert } from '../operations/alerts/preview.ts';
import { integerParameter } from '../tables/read/list-parameters.ts';

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(
  schema: T,
  description = '',
) => Type.Union([schema, Type.Null()], description === '' ? {} : { description });
const time = Type.String({ format: 'date-time' });
const count = Type.Integer({ minimum: 0 });
const words = (values: readonly string[], description = '') =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    description === '' ? {} : { description },
  );

const runModel = Type.Object(
  {
    id: Type.Integer(),
    alert_id: Type.Integer(),
    slot: Type.String({ format: 'date-time', description: 'The time for which it ran' }),
    kind: words(RUN_KINDS, 'late: the last one of those that passed meanwhile'),
    state: words(['waiting', 'running', 'done', 'failed']),
    attempt: Type.Integer({ description: 'More than 1: the server ended while it ran' }),
    started_at: nullable(time),
    ended_at: nullable(time),
    duration_ms: nullable(count),
    row_count: nullable(count),
    fired: Type.Integer({ description: 'Findings that it made or counted' }),
    resolved: Type.Integer({ description: 'Findings that ended with it' }),
    quiet: Type.Integer({
      description: 'Values for which it held while it was throttled or muted',
    }),
    missed: Type.Integer({ description: 'Times before it at which nobody ran it' }),
    error: nullable(Type.String()),
  },
  { $id: 'AlertRun' },
);
const alertModel = Type.Object(
  {
    id: Type.Integer(),
    title: Type.String(),
    source: nullable(Type.String(), 'Its file in the folder; null: it is kept by the server'),
    owner: nullable(Type.String(), 'With whose rights it runs'),
    definition: nullable(alertSchema),
    state: words(
      ALERT_STATES.filter((state) => state !== 'gone'),
      'stopped: its owner lost the rights it needs; unapproved, broken: of a file',
    ),
    problem: nullable(Type.String()),
    next_run: nullable(time),
    missed: Type.Integer({ description: 'Times that nobody ran, since it was made' }),
    last_run: nullable(runModel),
    hash: nullable(Type.String(), 'SHA-256 of the file, which an approval names'),
    may_change: Type.Boolean(),
    created_at: time,
    updated_at: time,
    version: Type.Integer({ description: 'Also its `ETag`' }),
  },
  { $id: 'Alert' },
);
const rowsModel = Type.Object(
  {
    columns: Type.Array(Type.String()),
    rows: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    row_count: count,
  },
  { $id: 'AlertRows' },
);
const previewModel = Type.Object(
  {
    runs: Type.Integer({ description: 'In the last week' }),
    looked_at: Type.Integer({ description: 'The newest of them' }),
    from: nullable(time),
    to: nullable(time),
    fired: count,
    resolved: count,
    quiet: count,
    failed: count,
    error: nullable(Type.String()),
    limit: nullable(Type.String(), 'Why not all were looked at'),
    firings: Type.Array(Type.Object({ at: time, key: Type.String(), rows: count }), {
      description: 'The newest 100',
    }),
  },
  { $id: 'AlertPreview' },
);

const MAX_RUNS = 100;
const one = { description: 'The alert', schema: alertModel };
const checks = {
  access: 'user',
  hasJsonErrors: true,
  endsInSlash: true,
  // After the rights: a preview changes nothing.
  decidesReadOnly: true,
} as const satisfies RouteRules;
const oneChecks = { ...checks, hasNumbers: true } as const satisfies RouteRules;
const definitionBody = { schema: alertSchema, required: true };

export const alertRoutes = new Elysia({ name: 'alerts', prefix: '/api/alerts' })
  .use(lifecycle)
  .get('', ({ ask }) => list(ask), {
    checks,
    describes: {
      summary: 'List alerts',
      tag: 'events',
      parameters: [
        {
          name: 'cursor',
          in: 'query',
          description: 'Where the page before ended, from its `Link` header',
          schema: Type.String(),
        },
      ],
      answers: {
        200: {
          description: 'Own ones, and those in files that may be read, by title; 200 at a time',
          schema: Type.Object({ alerts: Type.Array(alertModel) }, { $id: 'Alerts' }),
        },
      },
      errors: [422],
    },
  })
  .post(
    '',
    async ({ ask }) => {
      requireChangeable(ask);
      const { services, user, origin } = ask;
      const view = await createAlert(services, user, origin, await ask.json());
      return oneReply(view, 201);
    },
    {
      checks,
      describes: {
        summary: 'Create an alert, or a search on a schedule',
        tag: 'events',
        body: definitionBody,
        answers: { 201: one },
        errors: [400, 413, 415, 422],
      },
    },
  )
  .post(
    '/preview',
    async ({ ask }) => {
      const { services, user, request } = ask;
      requireAllRights(user);
      const definition = await readDefinition(services, user, await ask.json());
      return jsonReply(await previewAlert(services, user, definition, request.signal));
    },
    {
      checks,
      describes: {
        summary: 'Tell how often a definition would have fired in the last week',
        tag: 'events',
        body: definitionBody,
        answers: {
          200: {
            description: 'Looks for 15 seconds at most, at the newest runs',
            schema: previewModel,
          },
        },
        errors: [413, 415, 422, 429],
      },
    },
  )
  .get(
    '/:id',
    async ({ ask }) => oneReply(await getAlert(ask.services, ask.user, ask.idParameter())),
    {
      checks: oneChecks,
      describes: { summary: 'Read an alert', tag: 'events', answers: { 200: one }, errors: [404] },
    },
  )
  .put(
    '/:id',
    async ({ ask }) => {
      requireChangeable(ask);
      const { services, user, origin } = ask;
      const body = await ask.json();
      const change = { id: ask.idParameter(), body, version: versionOf(ask) };
      return oneReply(await updateAlert(services, user, origin, change));
    },
    {
      checks: oneChecks,
      describes: {
        summary: 'Replace the definition of an alert',
        tag: 'events',
        parameters: [
          {
            name: 'If-Match',
            in: 'header',
            description: 'Refuse when it has changed since',
            schema: Type.String(),
          },
        ],
        body: definitionBody,
        answers: { 200: one },
        errors: [404, 409, 412, 413, 415, 422],
      },
    },
  )
  .delete(
    '/:id',
    async ({ ask }) => {
      requireChangeable(ask);
      await deleteAlert(ask.services, ask.user, ask.origin, ask.idParameter());
      return emptyReply();
    },
    {
      checks: oneChecks,
      describes: {
        summary: 'Delete an alert; what it found stays',
        tag: 'events',
        answers: { 204: { description: 'It is gone', schema: null } },
        errors: [404, 409],
      },
    },
  )
  .post('/:id/enable', ({ ask }) => switched(ask, true), {
    checks: oneChecks,
    describes: {
      summary: 'Turn an alert on, also one that was stopped',
      tag: 'events',
      answers: { 200: one },
      errors: [404, 409],
    },
  })
  .post('/:id/disable', ({ ask }) => switched(ask, false), {
    checks: oneChecks,
    describes: {
      summary: 'Turn an alert off',
      tag: 'events',
      answers: { 200: one },
      errors: [404, 409],
    },
  })
  .post(
    '/:id/approve',
    async ({ ask }) => {
      requireChangeable(ask);
      const { services, user, origin } = ask;
      const hash = (await ask.json()) as { hash?: unknown } | null;
      if (typeof hash?.hash !== 'string') {
        throw invalidRequest({
          type: 'value_error',
          loc: ['body', 'hash'],
          msg: "'hash' must be that of the alert, so that nothing else is approved",
        });
      }
      const request = { id: ask.idParameter(), hash: hash.hash };
      return oneReply(await approveAlert(services, user, origin, request));
    },
    {
      checks: oneChecks,
      describes: {
        summary: "Let a file's alert run with your rights, as long as the file stays as it is",
        tag: 'events',
        body: { schema: Type.Object({ hash: Type.String() }), required: true },
        answers: { 200: one },
        errors: [404, 409, 415, 422],
      },
    },
  )
  .post(
    '/:id/run',
    async ({ ask }) => {
      requireChangeable(ask);
      const { services, user, origin } = ask;
      const run = await runAlert(services, user, origin, ask.idParameter());
      return jsonReply(run, { status: run.ended_at === null ? 202 : 200 });
    },
    {
      checks: oneChecks,
      describes: {
        summary: 'Run an alert now; counts as any other run',
        tag: 'events',
        answers: {
          200: { description: 'The run', schema: runModel },
          202: { description: 'It has not ended within 30 seconds', schema: runModel },
        },
        errors: [404, 409],
      },
    },
  )
  .get(
    '/:id/runs',
    async ({ ask }) => {
      const { services, user, query } = ask;
      const issues: ValidationIssue[] = [];
      const limit = integerParameter(query, 'limit', { min: 1, max: MAX_RUNS }, issues) ?? MAX_RUNS;
      const before = integerParameter(query, 'before', { min: 1 }, issues);
      if (issues.length > 0) throw invalidRequest(...issues);
      const runs = await listAlertRuns(services, user, ask.idParameter(), { before, limit });
      return jsonReply({ runs });
    },
    {
      checks: oneChecks,
      describes: {
        summary: 'List the runs of an alert, newest first; the last 100 are kept',
        tag: 'events',
        parameters: [
          {
            name: 'limit',
            in: 'query',
            description: 'Most runs',
            schema: Type.Integer({ minimum: 1, maximum: MAX_RUNS }),
          },
          {
            name: 'before',
            in: 'query',
            description: 'Only those before the run of this id',
            schema: Type.Integer({ minimum: 1 }),
          },
        ],
        answers: {
          200: {
            description: 'The runs',
            schema: Type.Object({ runs: Type.Array(runModel) }, { $id: 'AlertRuns' }),
          },
        },
        errors: [404, 422],
      },
    },
  )
  .get(
    '/:id/rows',
    async ({ ask }) => jsonReply(await lastRowsOf(ask.services, ask.user, ask.idParameter())),
    {
      checks: oneChecks,
      describes: {
        summary: 'Read the last rows of a search on a schedule',
        tag: 'events',
        answers: {
          200: {
            description:
              'At most 100; null before its first run, for alerts, and for others than its owner',
            schema: nullable(rowsModel),
          },
        },
        errors: [404],
      },
    },
  );

function requireChangeable({ services, user }: Context): void {
  requireAllRights(user);
  if (services.config.readonly) throw readOnlyMode();
}

async function list(context: Context): Promise<Reply> {
  const { services, user } = context;
  const cursor = context.queryValue('cursor');
  const { alerts, isMore } = await listAlerts(
    services,
    user,
    cursor === null ? null : placeOf(cursor),
  );
  const last = alerts.at(-1);
  const headers = isMore && last !== undefined ? nextLink(context, cursorOf(last)) : {};
  return jsonReply({ alerts }, { headers });
}

function cursorOf({ title, id }: AlertView): string {
  return Buffer.from(JSON.stringify([title, id])).toString('base64url');
}

function placeOf(cursor: string): { readonly title: string; readonly id: number } {
  try {
    const [title, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof title === 'string' && Number.isSafeInteger(id)) return { title, id: id as number };
  } catch {
    // Not one of ours.
  }
  throw invalidRequest({ type: 'value_error', loc: ['query', 'cursor'], msg: 'Invalid cursor' });
}

async function switched(context: Context, isOn: boolean): Promise<Reply> {
  requireChangeable(context);
  const { services, user, origin } = context;
  const id = context.idParameter();
  return oneReply(await switchAlert(services, user, origin, { id, isOn }));
}

function oneReply(view: AlertView, status = 200): Reply {
  return jsonReply(view, { status, etag: String(view.version) });
}

/** Null: any. */
function versionOf({ request }: Context): number | null {
  const tag = request.headers.get('if-match');
  if (tag === null || tag.trim() === '*') return null;
  const version = Number(/^"(\d{1,15})"$/.exec(tag.trim())?.[1] ?? '-1');
  return version;
}
