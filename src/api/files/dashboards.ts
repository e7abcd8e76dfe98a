import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { invalidRequest } from '../../base/errors.ts';
import type { Verb } from '../../accounts/rights/principal.ts';
import { type DashboardPatch, dashboardSchema, patchSchema } from '../../docroot/dashboard.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { jsonReply, type Reply } from '../../http/reply/reply.ts';
import { readOnlyMode } from '../../http/route.ts';
import {
  changeDashboard,
  findDashboard,
  listDashboards,
  readDashboard,
  type ShownDashboard,
} from '../../operations/files/dashboards.ts';
import { ifMatch, ifMatchOf } from './companions.ts';

const queryModel = Type.Object({
  query: Type.String({ description: 'Up to the terms of the time range' }),
  rest: Type.Union([Type.String(), Type.Null()], {
    description: 'What comes after those terms; null: it has no range',
  }),
  is_sql: Type.Boolean({ description: 'For /api/sql' }),
  problem: Type.Union([Type.String(), Type.Null()], { description: 'Why the caller sees nothing' }),
});
const shownModel = Type.Object(
  {
    resource: Type.String({ description: 'Its name' }),
    file_name: Type.String({ description: 'Its file in the folder' }),
    may_write: Type.Boolean({ description: 'Whether the caller may change it' }),
    version: Type.String({ description: 'Of the file, also its `ETag`' }),
    dashboard: dashboardSchema,
    texts: Type.Record(Type.String(), Type.String(), {
      description: 'HTML of the panels that are Markdown, by row and place: `0/1`',
    }),
    queries: Type.Record(Type.String(), queryModel, {
      description: 'What panels run for the caller, by row and place; of choices by `variables/0`',
    }),
  },
  { $id: 'ShownDashboard' },
);
const listModel = Type.Object(
  {
    dashboards: Type.Array(
      Type.Object({
        resource: Type.String(),
        file_name: Type.String(),
        may_write: Type.Boolean(),
        problem: Type.Union([Type.String(), Type.Null()], {
          description: 'Why it cannot be shown, with the line',
        }),
      }),
    ),
  },
  { $id: 'Dashboards' },
);
const answers = { 200: { description: 'What the file holds, with an `ETag`', schema: shownModel } };
const parameters = [
  {
    name: 'name',
    in: 'path',
    required: true,
    description: 'Name of the dashboard',
    schema: Type.String(),
  },
] as const;

export const dashboardRoutes = new Elysia({ name: 'dashboards' })
  .use(lifecycle)
  .get(
    '/_svc/dashboards',
    async ({ ask: { services, user } }) => {
      const found = await listDashboards(services, user);
      return jsonReply({
        dashboards: found.map(({ resource, mayWrite }) => ({
          resource: resource.canonical,
          file_name: resource.rel,
          may_write: mayWrite,
          problem: resource.problem,
        })),
      });
    },
    {
      checks: { access: 'user', hasJsonErrors: true },
      describes: {
        summary: 'List the dashboards you may read',
        tag: 'system',
        answers: { 200: { description: 'By file name', schema: listModel } },
      },
    },
  )
  .guard({
    checks: { access: 'user', rest: 'name', hasJsonErrors: true, decidesReadOnly: true },
  })
  .get(
    '/_svc/dashboards/*',
    async ({ ask }) => {
      const resource = await dashboardOf(ask, 'read');
      return reply(await readDashboard(ask.services, ask.user, resource));
    },
    {
      describes: {
        summary: 'Read a dashboard',
        tag: 'system',
        parameters,
        answers,
        errors: [404, 422],
      },
    },
  )
  .patch(
    '/_svc/dashboards/*',
    async ({ ask }) => {
      const resource = await dashboardOf(ask, 'write');
      const change = {
        patch: patchOf(await ask.json()),
        ifMatch: ifMatchOf(ask),
        isDryRun: /^(?:true|1)$/i.test(ask.queryValue('dry_run') ?? ''),
      };
      return reply(await changeDashboard(ask.services, ask.user, ask.origin, resource, change));
    },
    {
      describes: {
        summary: 'Change a dashboard (JSON Patch); comments in its file stay',
        tag: 'system',
        parameters: [
          ...parameters,
          ifMatch,
          {
            name: 'dry_run',
            in: 'query',
            description: 'Answers what it would be, and changes nothing',
            schema: Type.Boolean({ default: false }),
          },
        ],
        body: { schema: patchSchema, required: true },
        answers,
        errors: [404, 409, 412, 413, 422, 507],
      },
    },
  );

async function dashboardOf(context: Context, verb: Verb): Promise<Resource> {
  const { services, caller, origin, parameters: named } = context;
  const name = (named['name'] ?? '').replace(/\/$/, '');
  const resource = await findDashboard(services, caller, origin, name, verb);
  if (verb === 'write' && services.config.readonly) throw readOnlyMode();
  return resource;
}

function reply(shown: ShownDashboard): Reply {
  return jsonReply(shown, { etag: shown.version });
}

function patchOf(body: unknown): DashboardPatch {
  const [first] = Value.Errors(patchSchema, body);
  if (first === undefined) return body as DashboardPatch;
  const loc = first.path.split('/').slice(1);
  throw invalidRequest({
    type: 'value_error',
    loc: ['body', ...loc],
    msg: `A JSON Patch is a list of operations with op, path, and value or from: ${first.message} at /${loc.join('/')}`,
  });
}
