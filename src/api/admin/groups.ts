import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { groupList } from '../../accounts/rights/groups.ts';
import {
  addMember,
  createGroup,
  deleteGroup,
  grantToGroup,
  listGroups,
  listPermissionsOfGroup,
  readGroup,
  removeMember,
  revokeFromGroup,
} from '../../operations/accounts/groups.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import {
  groupModel,
  groupCreateModel,
  groupWithUsersModel,
  permissionModel,
} from '../administration-models.ts';
import { describeList, describeChange } from './descriptions.ts';
import {
  repeatableAdminChecks,
  answersList,
  answersNew,
  answersOne,
  answersDone,
} from './handlers.ts';

export const groupRoutes = new Elysia({ name: 'groups', prefix: '/admin/groups' })
  .use(lifecycle)
  .guard({ checks: repeatableAdminChecks })
  .get('', answersList(listGroups), {
    describes: describeList('List the groups', groupModel, groupList),
  })
  .post('', answersNew(createGroup), {
    describes: describeChange('Create a group', [400, 422], {
      body: groupCreateModel,
      answer: groupModel,
    }),
  })
  .get('/:group_id', answersOne(readGroup, 'group_id'), {
    describes: {
      summary: 'Read a group with its members',
      tag: 'admin',
      answers: { 200: { description: 'The group', schema: groupWithUsersModel } },
      errors: [404, 422],
    },
  })
  .delete('/:group_id', answersDone(deleteGroup, 'group_id'), {
    describes: describeChange('Delete a group', [404, 422]),
  })
  .post('/:group_id/users/:user_id', answersDone(addMember, 'group_id', 'user_id'), {
    describes: describeChange('Make a user a member of a group', [404, 422]),
  })
  .delete('/:group_id/users/:user_id', answersDone(removeMember, 'group_id', 'user_id'), {
    describes: describeChange('Take a user out of a group', [404, 422]),
  })
  .get('/:group_id/permissions', answersOne(listPermissionsOfGroup, 'group_id'), {
    describes: {
      summary: 'List the permissions a group holds',
      tag: 'admin',
      answers: { 200: { description: 'All of them', schema: Type.Array(permissionModel) } },
      errors: [404, 422],
    },
  })
  .post('/:group_id/permissions/:perm_id', answersDone(grantToGroup, 'group_id', 'perm_id'), {
    describes: describeChange('Give a permission to a group', [404, 422]),
  })
  .delete('/:group_id/permissions/:perm_id', answersDone(revokeFromGroup, 'group_id', 'perm_id'), {
    describes: describeChange('Take a permission from a group', [404, 422]),
  });
