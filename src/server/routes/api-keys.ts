/**
 * A user's own API keys (DS-116).
 */
import { createApiKey, listApiKeys, revokeApiKey } from '../../operations/api-keys.ts';
import { emptyReply, jsonReply } from '../reply.ts';
import type { Route } from '../route-table.ts';

/** `/api/apikeys` and below. */
export const apiKeyRoutes: readonly Route[] = [
  {
    pattern: '/api/apikeys',
    access: 'user',
    refusesScopedKeys: true,
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
    methods: {
      DELETE: async (context) => {
        const { services, user, origin } = context;
        await revokeApiKey(services, user, origin, context.intParameter('key_id'));
        return emptyReply();
      },
    },
  },
];
