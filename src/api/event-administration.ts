import { Type } from '@sinclair/typebox';
import { listIndexes } from '../operations/event-indexes.ts';
import {
  describeIngest,
  listRejects,
  readIngestSettings,
  replaceIngestSettings,
} from '../operations/ingest-settings.ts';
import type { Context } from '../http/context.ts';
import { eventErrorReply } from '../http/reply/event-errors.ts';
import { eventJsonBody } from './event-json.ts';
import { ingestSettingsModel } from './event-models.ts';
import type { Reply } from '../http/reply/reply.ts';
import { jsonReply } from '../http/reply/reply.ts';
import type { Route } from '../http/route-table.ts';
import { requireFormat } from './events.ts';

const settings = { description: 'The settings', schema: ingestSettingsModel };

export const eventAdministrationRoutes: readonly Route[] = [
  {
    pattern: '/api',
    endsInSlash: true,
    access: 'user',
    answersFailure: eventErrorReply,
    describes: {
      GET: {
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
    methods: {
      GET: (context) => {
        requireFormat(context);
        const { baseUrl } = context;
        return jsonReply({
          events: `${baseUrl}/api/events/`,
          savedsearches: `${baseUrl}/api/savedsearches/`,
        });
      },
    },
  },
  settingsRoute('/api/apikeys/{key_id}/ingest', false),
  settingsRoute('/admin/api-keys/{key_id}/ingest', true),
  {
    pattern: '/admin/ingest',
    access: 'superuser',
    refusesScopedKeys: true,
    describes: {
      GET: {
        summary: 'Show what is coming in',
        tag: 'admin',
        answers: { 200: { description: 'Queue, commits and credentials', schema: Type.Any() } },
      },
    },
    methods: { GET: async ({ services }) => jsonReply(await describeIngest(services)) },
  },
  {
    pattern: '/admin/ingest/rejects',
    access: 'superuser',
    refusesScopedKeys: true,
    describes: {
      GET: {
        summary: 'List entries that were not stored',
        tag: 'admin',
        answers: { 200: { description: 'Newest first', schema: Type.Array(Type.Any()) } },
      },
    },
    methods: { GET: ({ services }) => jsonReply(listRejects(services)) },
  },
  {
    pattern: '/admin/events/indexes',
    access: 'superuser',
    refusesScopedKeys: true,
    describes: {
      GET: {
        summary: 'List the event indexes',
        tag: 'admin',
        answers: { 200: { description: 'By name', schema: Type.Array(Type.Any()) } },
        errors: [503],
      },
    },
    methods: { GET: async ({ services }) => jsonReply(await listIndexes(services)) },
  },
];

function settingsRoute(pattern: string, anyOwner: boolean): Route {
  return {
    pattern,
    access: anyOwner ? 'superuser' : 'user',
    refusesScopedKeys: true,
    describes: {
      GET: {
        summary: 'Read the ingest settings of a key',
        tag: anyOwner ? 'admin' : 'auth',
        answers: { 200: settings },
        errors: [404],
      },
      PUT: {
        summary: 'Replace the ingest settings of a key',
        tag: anyOwner ? 'admin' : 'auth',
        body: { schema: ingestSettingsModel },
        answers: { 200: settings },
        errors: [400, 404],
      },
    },
    methods: {
      GET: async (context) => {
        const { services, user } = context;
        return jsonReply(
          await readIngestSettings(services, user, context.intParameter('key_id'), { anyOwner }),
        );
      },
      PUT: (context) => replace(context, anyOwner),
    },
  };
}

async function replace(context: Context, anyOwner: boolean): Promise<Reply> {
  const { services, user, origin } = context;
  const keyId = context.intParameter('key_id');
  await readIngestSettings(services, user, keyId, { anyOwner });
  const body = await eventJsonBody(context);
  const result = await replaceIngestSettings(services, user, origin, keyId, { anyOwner, body });
  return 'errors' in result ? jsonReply(result.errors, { status: 400 }) : jsonReply(result.view);
}
