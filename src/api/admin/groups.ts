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
} from '../../operations/groups.ts';
import type { Route } from '../../http/route-table.ts';
import {
  groupModel,
  groupCreateModel,
  groupWithUsersModel,
  permissionModel,
} from '../administration-models.ts';
import { describeList, describeChange } from './descriptions.ts';
import { adminDoor } from './door.ts';
import { answersList, answersNew, answersOne, answersDone } from './handlers.ts';

export const groupRoutes: readonly Route[] = [
  {
    pattern: '/admin/groups',
    ...adminDoor,
    describes: {
      GET: describeList('List the groups', groupModel, groupList),
      POST: describeChange('Create a group', [400, 422], {
        body: groupCreateModel,
        answer: groupModel,
      }),
    },
    methods: {
      GET: answersList(listGroups),
      POST: answersNew(createGroup),
    },
  },
  {
    pattern: '/admin/groups/{group_id}',
    ...adminDoor,
    describes: {
      GET: {
        summary: 'Read a group with its members',
        tag: 'admin',
        answers: { 200: { description: 'The group', schema: groupWithUsersModel } },
        errors: [404, 422],
      },
      DELETE: describeChange('Delete a group', [404, 422]),
    },
    methods: {
      GET: answersOne(readGroup, 'group_id'),
      DELETE: answersDone(deleteGroup, 'group_id'),
    },
  },
  {
    pattern: '/admin/groups/{group_id}/users/{user_id}',
    ...adminDoor,
    describes: {
      POST: describeChange('Make a user a member of a group', [404, 422]),
      DELETE: describeChange('Take a user out of a group', [404, 422]),
    },
    methods: {
      POST: answersDone(addMember, 'group_id', 'user_id'),
      DELETE: answersDone(removeMember, 'group_id', 'user_id'),
    },
  },
  {
    pattern: '/admin/groups/{group_id}/permissions',
    ...adminDoor,
    describes: {
      GET: {
        summary: 'List the permissions a group holds',
        tag: 'admin',
        answers: { 200: { description: 'All of them', schema: Type.Array(permissionModel) } },
        errors: [404, 422],
      },
    },
    methods: {
      GET: answersOne(listPermissionsOfGroup, 'group_id'),
    },
  },
  {
    pattern: '/admin/groups/{group_id}/permissions/{perm_id}',
    ...adminDoor,
    describes: {
      POST: describeChange('Give a permission to a group', [404, 422]),
      DELETE: describeChange('Take a permission from a group', [404, 422]),
    },
    methods: {
      POST: answersDone(grantToGroup, 'group_id', 'perm_id'),
      DELETE: answersDone(revokeFromGroup, 'group_id', 'perm_id'),
    },
  },
];
