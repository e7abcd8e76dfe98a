import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { userList } from '../../accounts/identity/users.ts';
import {
  createUser,
  deleteUser,
  listUsers,
  resetPassword,
  setUserStatus,
} from '../../operations/accounts/users.ts';
import { resetFactorsOf } from '../../operations/accounts/second-factors.ts';
import { jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import {
  passwordResetModel,
  userModel,
  userCreateModel,
  userStatusUpdateModel,
} from '../administration-models.ts';
import { describeList, describeChange } from './descriptions.ts';
import { adminChecks, adminOf, answersList, answersNew, answersDone } from './handlers.ts';

export const userRoutes = new Elysia({ name: 'users', prefix: '/admin/users' })
  .use(lifecycle)
  .guard({ checks: adminChecks })
  .get('', answersList(listUsers), {
    describes: describeList('List the users', userModel, userList),
  })
  .post('', answersNew(createUser), {
    describes: describeChange('Create a user', [400, 422], {
      body: userCreateModel,
      answer: userModel,
    }),
  })
  .delete('/:user_id', answersDone(deleteUser, 'user_id'), {
    describes: describeChange('Delete a user', [400, 404, 422]),
  })
  .put(
    '/:user_id/password',
    async ({ ask }) => {
      const id = ask.intParameter('user_id');
      await resetPassword(ask.services, adminOf(ask), id, () => ask.json());
      return jsonReply({ success: true, sessions_revoked: true });
    },
    {
      describes: describeChange('Give a user a new password', [400, 404, 422], {
        body: passwordResetModel,
        answer: Type.Object({ success: Type.Literal(true), sessions_revoked: Type.Literal(true) }),
      }),
    },
  )
  .delete('/:user_id/second-factors', answersDone(resetFactorsOf, 'user_id'), {
    describes: describeChange('Remove all second factors of a user', [400, 404, 422]),
  })
  .put(
    '/:user_id/status',
    async ({ ask }) => {
      const id = ask.intParameter('user_id');
      const status = await setUserStatus(ask.services, adminOf(ask), id, () => ask.json());
      return jsonReply({ success: true, ...status });
    },
    {
      describes: describeChange('Activate or deactivate a user', [400, 404, 422], {
        body: userStatusUpdateModel,
        answer: Type.Object({
          success: Type.Literal(true),
          is_active: Type.Boolean(),
          sessions_revoked: Type.Integer({ description: 'Sessions that ended' }),
        }),
      }),
    },
  );
