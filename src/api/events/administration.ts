import { type AnyElysia, Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { listIndexes } from '../../operations/events/indexes.ts';
import {
  describeIngest,
  listRejects,
  readIngestSettings,
  replaceIngestSettings,
} from '../../operations/events/ingest-settings.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import { eventErrorReply } from '../../http/reply/errors.ts';
import { eventJsonBody } from './body.ts';
import { ingestSettingsModel } from './models.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { requireFormat } from './events.ts';

const settings = { description: 'The settings', schema: ingestSettingsModel };

const checks = { access: 'superuser', refusesScopedKeys: true } as const satisfies RouteRules;

export const eventAdministrationRoutes = new Elysia({ name: 'event-administration' })
  .use(lifecycle)
  .use(settingsRoutes('/api/apikeys/:key_id/ingest', false))
  .use(settingsRoutes('/admin/api-keys/:key_id/ingest', true))
  .get(
    '/api',
    ({ ask }) => {
      requireFormat(ask);
      const { baseUrl } = ask;
      return jsonReply({
        events: `${baseUrl}/api/events/`,
        savedsearches: `${baseUrl}/api/savedsearches/`,
      });
    },
    {
      checks: { endsInSlash: true, access: 'user', answersFailure: eventErrorReply },
      describes: {
        summary: 'List the event services',
        tag: 'events',
        answers: {
          200: {
            description: 'Their addresses',
            schema: Type.Object(
              { events: Type.String(), savedsearches: Type.String() },
              { $id: 'EventServices' },
            ),
          },
        },
      },
    },
  )
  .get(
    '/admin/ingest',
    async ({ ask: { services } }) => jsonReply(await describeIngest(services)),
    {
      checks,
      describes: {
        summary: 'Show what is coming in',
        tag: 'admin',
        answers: { 200: { description: 'Queue, commits and credentials', schema: Type.Any() } },
      },
    },
  )
  .get('/admin/ingest/rejects', ({ ask: { services } }) => jsonReply(listRejects(services)), {
    checks,
    describes: {
      summary: 'List entries that were not stored',
      tag: 'admin',
      answers: { 200: { description: 'Newest first', schema: Type.Array(Type.Any()) } },
    },
  })
  .get(
    '/admin/events/indexes',
    async ({ ask: { services } }) => jsonReply(await listIndexes(services)),
    {
      checks,
      describes: {
        summary: 'List the event indexes',
        tag: 'admin',
        answers: { 200: { description: 'By name', schema: Type.Array(Type.Any()) } },
        errors: [503],
      },
    },
  );

function settingsRoutes(path: string, anyOwner: boolean): AnyElysia {
  const checks = { access: anyOwner ? 'superuser' : 'user', refusesScopedKeys: true } as const;
  const tag = anyOwner ? 'admin' : 'auth';
  return new Elysia({ name: `ingest-settings-${tag}` })
    .use(lifecycle)
    .get(
      path,
      async ({ ask }) => {
        const { services, user } = ask;
        const keyId = ask.intParameter('key_id');
        return jsonReply(await readIngestSettings(services, user, keyId, { anyOwner }));
      },
      {
        checks,
        describes: {
          summary: 'Read the ingest settings of a key',
          tag,
          answers: { 200: settings },
          errors: [404],
        },
      },
    )
    .put(path, ({ ask }) => replace(ask, anyOwner), {
      checks,
      describes: {
        summary: 'Replace the ingest settings of a key',
        tag,
        body: { schema: ingestSettingsModel },
        answers: { 200: settings },
        errors: [400, 404],
      },
    });
}

async function replace(context: Context, anyOwner: boolean): Promise<Reply> {
  const { services, user, origin } = context;
  const keyId = context.intParameter('key_id');
  await readIngestSettings(services, user, keyId, { anyOwner });
  const body = await eventJsonBody(context);
  const result = await replaceIngestSettings(services, user, origin, keyId, { anyOwner, body });
  return 'errors' in result ? jsonReply(result.errors, { status: 400 }) : jsonReply(result.view);
}
