import { Elysia } from 'elysia';
import { createApiKey, listApiKeys, revokeApiKey } from '../../operations/accounts/api-keys.ts';
import { apiKeysModel, newApiKeyModel, newApiKeyRequestModel } from './account-models.ts';
import { emptyReply, jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';

export const apiKeyRoutes = new Elysia({ name: 'api-keys', prefix: '/api/apikeys' })
  .use(lifecycle)
  .guard({ checks: { access: 'user', refusesScopedKeys: true } })
  .get('', async ({ ask: { services, user } }) => jsonReply(await listApiKeys(services, user)), {
    describes: {
      summary: 'List your API keys',
      tag: 'auth',
      answers: { 200: { description: 'Revoked ones too, by id', schema: apiKeysModel } },
      errors: [403],
    },
  })
  .post(
    '',
    async ({ ask }) => {
      const { services, user, origin } = ask;
      const key = await createApiKey(services, user, origin, await ask.json());
      return jsonReply(key, { status: 201 });
    },
    {
      describes: {
        summary: 'Make an API key',
        tag: 'auth',
        body: { schema: newApiKeyRequestModel },
        answers: {
          201: { description: 'The only time its value is shown', schema: newApiKeyModel },
        },
        errors: [400],
      },
    },
  )
  .delete(
    '/:key_id',
    async ({ ask }) => {
      const { services, user, origin } = ask;
      await revokeApiKey(services, user, origin, ask.intParameter('key_id'));
      return emptyReply();
    },
    {
      describes: {
        summary: 'Revoke one of your API keys',
        tag: 'auth',
        answers: { 204: { description: 'It no longer works', schema: null } },
        errors: [404],
      },
    },
  );
