import { createApiKey, listApiKeys, revokeApiKey } from '../operations/api-keys.ts';
import { apiKeysModel, newApiKeyModel, newApiKeyRequestModel } from './account-models.ts';
import { emptyReply, jsonReply } from '../http/reply/reply.ts';
import type { Route } from '../http/route-table.ts';

export const apiKeyRoutes: readonly Route[] = [
  {
    pattern: '/api/apikeys',
    access: 'user',
    refusesScopedKeys: true,
    describes: {
      GET: {
        summary: 'List your API keys',
        tag: 'auth',
        answers: { 200: { description: 'Revoked ones too, by id', schema: apiKeysModel } },
        errors: [403],
      },
      POST: {
        summary: 'Make an API key',
        tag: 'auth',
        body: { schema: newApiKeyRequestModel },
        answers: {
          201: { description: 'The only time its value is shown', schema: newApiKeyModel },
        },
        errors: [400],
      },
    },
    methods: {
      GET: async ({ services, user }) => jsonReply(await listApiKeys(services, user)),
      POST: async (context) => {
        const { services, user, origin } = context;
        const key = await createApiKey(services, user, origin, await context.json());
        return jsonReply(key, { status: 201 });
      },
    },
  },
  {
    pattern: '/api/apikeys/{key_id}',
    access: 'user',
    refusesScopedKeys: true,
    describes: {
      DELETE: {
        summary: 'Revoke one of your API keys',
        tag: 'auth',
        answers: { 204: { description: 'It no longer works', schema: null } },
        errors: [404],
      },
    },
    methods: {
      DELETE: async (context) => {
        const { services, user, origin } = context;
        await revokeApiKey(services, user, origin, context.intParameter('key_id'));
        return emptyReply();
      },
    },
  },
];
