import { Type } from '@sinclair/typebox';
import { userList } from '../../accounts/identity/users.ts';
import {
  createUser,
  deleteUser,
  listUsers,
  resetPassword,
  setUserStatus,
} from '../../operations/users.ts';
import { jsonReply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route-table.ts';
import {
  passwordResetModel,
  userModel,
  userCreateModel,
  userStatusUpdateModel,
} from '../administration-models.ts';
import { describeList, describeChange } from './descriptions.ts';
import { adminDoor, adminOf } from './door.ts';
import { answersList, answersNew, answersDone } from './handlers.ts';

export const userRoutes: readonly Route[] = [
  {
    pattern: '/admin/users',
    ...adminDoor,
    describes: {
      GET: describeList('List the users', userModel, userList),
      POST: describeChange('Create a user', [400, 422], {
        body: userCreateModel,
        answer: userModel,
      }),
    },
    methods: {
      GET: answersList(listUsers),
      POST: answersNew(createUser),
    },
  },
  {
    pattern: '/admin/users/{user_id}',
    ...adminDoor,
    describes: { DELETE: describeChange('Delete a user', [400, 404, 422]) },
    methods: {
      DELETE: answersDone(deleteUser, 'user_id'),
    },
  },
  {
    pattern: '/admin/users/{user_id}/password',
    ...adminDoor,
    describes: {
      PUT: describeChange('Give a user a new password', [400, 404, 422], {
        body: passwordResetModel,
        answer: Type.Object({ success: Type.Literal(true), sessions_revoked: Type.Literal(true) }),
      }),
    },
    methods: {
      PUT: async (context) => {
        const id = context.intParameter('user_id');
        await resetPassword(context.services, adminOf(context), id, () => context.json());
        return jsonReply({ success: true, sessions_revoked: true });
      },
    },
  },
  {
    pattern: '/admin/users/{user_id}/status',
    ...adminDoor,
    describes: {
      PUT: describeChange('Activate or deactivate a user', [400, 404, 422], {
        body: userStatusUpdateModel,
        answer: Type.Object({
          success: Type.Literal(true),
          is_active: Type.Boolean(),
          sessions_revoked: Type.Integer({ description: 'Sessions that ended' }),
        }),
      }),
    },
    methods: {
      PUT: async (context) => {
        const id = context.intParameter('user_id');
        const status = await setUserStatus(context.services, adminOf(context), id, () =>
          context.json(),
        );
        return jsonReply({ success: true, ...status });
      },
    },
  },
];
