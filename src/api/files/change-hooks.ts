import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { deliverySchemas } from '../../deliveries/target.ts';
import { emptyReply, jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import {
  createChangeHook,
  deleteChangeHook,
  listChangeHooks,
} from '../../operations/files/change-hooks.ts';

const resource = Type.String({
  description: 'Name of a file or a folder; empty: everything you may read',
});
const hookModel = Type.Object(
  {
    id: Type.Integer(),
    resource,
    target: deliverySchemas.webhook,
    created_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'ChangeWebhook' },
);

export const changeHookRoutes = new Elysia({ name: 'change-hooks', prefix: '/api/webhooks' })
  .use(lifecycle)
  .guard({ checks: { access: 'user', refusesScopedKeys: true } })
  .get(
    '',
    async ({ ask: { services, user } }) => jsonReply(await listChangeHooks(services, user)),
    {
      describes: {
        summary: 'List your webhooks on changes of files',
        tag: 'system',
        answers: { 200: { description: 'By id', schema: Type.Array(hookModel) } },
        errors: [403],
      },
    },
  )
  .post(
    '',
    async ({ ask }) => {
      const { services, user, origin } = ask;
      const made = await createChangeHook(services, user, origin, await ask.json());
      return jsonReply(made, { status: 201 });
    },
    {
      describes: {
        summary: 'Be told of changes of files by a webhook',
        description:
          'Each change from now on that you may read when it happens, those of one file in their order.',
        tag: 'system',
        body: {
          schema: Type.Object({
            resource: Type.Optional(resource),
            target: deliverySchemas.webhook,
          }),
          required: true,
        },
        answers: { 201: { description: 'It is made', schema: hookModel } },
        errors: [403, 404, 409, 422],
      },
    },
  )
  .delete(
    '/:id',
    async ({ ask }) => {
      await deleteChangeHook(ask.services, ask.user, ask.origin, ask.intParameter('id'));
      return emptyReply();
    },
    {
      describes: {
        summary: 'Remove one of your webhooks on changes',
        tag: 'system',
        answers: { 204: { description: 'It is told nothing more', schema: null } },
        errors: [403, 404],
      },
    },
  );
