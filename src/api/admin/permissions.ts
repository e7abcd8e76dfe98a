import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { permissionList } from '../../accounts/rights/permissions.ts';
import { VERBS } from '../../accounts/rights/principal.ts';
import { invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import { integerParameter, wordParameter } from '../../tables/read/list-parameters.ts';
import {
  type AccessQuestion,
  explainAccess,
  listAllowed,
} from '../../operations/accounts/access-explanations.ts';
import {
  createPermission,
  deletePermission,
  listPermissions,
} from '../../operations/accounts/permissions.ts';
import { giveAccess } from '../../operations/accounts/sharing.ts';
import type { Context } from '../../http/context.ts';
import { jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import {
  accessCreateModel,
  allowedUsersModel,
  explanationModel,
  givenAccessModel,
  permissionModel,
  permissionCreateModel,
} from '../administration-models.ts';
import { describeList, describeChange, queryParameter } from './descriptions.ts';
import {
  repeatableAdminChecks,
  adminOf,
  answersList,
  answersNew,
  answersDone,
} from './handlers.ts';

const targetParameters = [
  {
    ...queryParameter('resource', 'A resource, a folder, or empty: the document root (upload)'),
    required: true,
  },
  {
    ...queryParameter(
      'action',
      'What would be done',
      Type.Union(VERBS.map((verb) => Type.Literal(verb))),
    ),
    required: true,
  },
];

export const permissionRoutes = new Elysia({ name: 'permissions', prefix: '/admin' })
  .use(lifecycle)
  .guard({ checks: repeatableAdminChecks })
  .get('/permissions', answersList(listPermissions), {
    describes: describeList('List the permissions', permissionModel, permissionList),
  })
  .post('/permissions', answersNew(createPermission), {
    describes: describeChange('Create a permission', [400, 422], {
      body: permissionCreateModel,
      answer: permissionModel,
    }),
  })
  .delete('/permissions/:perm_id', answersDone(deletePermission, 'perm_id'), {
    describes: describeChange('Delete a permission', [404, 422]),
  })
  .get(
    '/access',
    async ({ ask }) => jsonReply(await listAllowed(ask.services, adminOf(ask), targetOf(ask))),
    {
      describes: {
        summary: 'List who may read or write something, and why',
        tag: 'admin',
        parameters: targetParameters,
        answers: { 200: { description: 'Users, groups, superusers', schema: allowedUsersModel } },
        errors: [422],
      },
    },
  )
  .post('/access', answersNew(giveAccess), {
    describes: describeChange('Give a user or group a right in one step', [400, 404, 422], {
      body: accessCreateModel,
      answer: givenAccessModel,
    }),
  })
  .get(
    '/explain',
    async ({ ask }) => jsonReply(await explainAccess(ask.services, adminOf(ask), questionOf(ask))),
    {
      describes: {
        summary: 'Explain why a user may or may not do something',
        tag: 'admin',
        parameters: [
          { ...queryParameter('user', 'Username'), required: true },
          ...targetParameters,
          queryParameter('key_id', 'With this API key of his', Type.Integer({ minimum: 1 })),
        ],
        answers: { 200: { description: 'The answer and its reasons', schema: explanationModel } },
        errors: [404, 422],
      },
    },
  );

function targetOf(context: Context): Pick<AccessQuestion, 'resource' | 'action'> {
  return targetIn(context, []);
}

function questionOf(context: Context): AccessQuestion {
  const issues: ValidationIssue[] = [];
  if (context.queryValue('user') === null) issues.push(missing('user'));
  const keyId = integerParameter(context.query, 'key_id', { min: 1 }, issues);
  const target = targetIn(context, issues);
  const username = context.queryValue('user') ?? '';
  return { username, ...target, ...(keyId !== null && { keyId }) };
}

function missing(name: string): ValidationIssue {
  return { type: 'missing', loc: ['query', name], msg: 'This parameter is missing' };
}

/** Throws `invalid-request` with `issues` too. */
function targetIn(
  context: Context,
  issues: ValidationIssue[],
): Pick<AccessQuestion, 'resource' | 'action'> {
  for (const name of ['resource', 'action']) {
    if (context.queryValue(name) === null) issues.push(missing(name));
  }
  const action = wordParameter(context.query, 'action', VERBS, issues) ?? 'read';
  if (issues.length > 0) throw invalidRequest(...issues);
  return { resource: context.queryValue('resource') ?? '', action };
}
