/**
 * `/admin/groups` and below: groups, members, and the permissions groups hold (DS-135).
 */
import { Type } from '@sinclair/typebox';
import { groupList } from '../../../auth/groups.ts';
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
} from '../../../operations/groups.ts';
import { jsonReply } from '../../reply.ts';
import type { Route } from '../../route-table.ts';
import {
  groupModel,
  groupCreateModel,
  groupWithUsersModel,
  permissionModel,
} from '../../administration-models.ts';
import {
  adminDoor,
  adminOf,
  describeChange,
  describeList,
  listReply,
  successReply,
} from './admin-list.ts';

/** Groups. */
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
      GET: async (context) =>
        listReply(
          context,
          await listGroups(context.services, adminOf(context), { query: context.query }),
        ),
      POST: async (context) => {
        const body = await context.json();
        return jsonReply(await createGroup(context.services, adminOf(context), body));
      },
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
      GET: async (context) =>
        jsonReply(
          await readGroup(context.services, adminOf(context), context.intParameter('group_id')),
        ),
      DELETE: async (context) => {
        await deleteGroup(context.services, adminOf(context), context.intParameter('group_id'));
        return successReply();
      },
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
      POST: async (context) => {
        const [group, user] = [context.intParameter('group_id'), context.intParameter('user_id')];
        await addMember(context.services, adminOf(context), group, user);
        return successReply();
      },
      DELETE: async (context) => {
        const [group, user] = [context.intParameter('group_id'), context.intParameter('user_id')];
        await removeMember(context.services, adminOf(context), group, user);
        return successReply();
      },
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
      GET: async (context) =>
        jsonReply(
          await listPermissionsOfGroup(
            context.services,
            adminOf(context),
            context.intParameter('group_id'),
          ),
        ),
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
      POST: async (context) => {
        const [group, right] = [context.intParameter('group_id'), context.intParameter('perm_id')];
        await grantToGroup(context.services, adminOf(context), group, right);
        return successReply();
      },
      DELETE: async (context) => {
        const [group, right] = [context.intParameter('group_id'), context.intParameter('perm_id')];
        await revokeFromGroup(context.services, adminOf(context), group, right);
        return successReply();
      },
    },
  },
];
