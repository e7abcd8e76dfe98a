import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { permissionList } from '../../accounts/rights/permissions.ts';
import { VERBS } from '../../accounts/rights/principal.ts';
import { invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import { integerParameter, wordParameter } from '../../tables/read/list-parameters.ts';
import {
  type AccessQuestion,
  explainAccess,
} from '../../operations/accounts/access-explanations.ts';
import {
  createPermission,
  deletePermission,
  listPermissions,
} from '../../operations/accounts/permissions.ts';
import type { Context } from '../../http/context.ts';
import { jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import {
  explanationModel,
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
    '/explain',
    async ({ ask }) => jsonReply(await explainAccess(ask.services, adminOf(ask), questionOf(ask))),
    {
      describes: {
        summary: 'Explain why a user may or may not do something',
        tag: 'admin',
        parameters: [
          { ...queryParameter('user', 'Username'), required: true },
          {
            ...queryParameter('resource', 'A resource; empty: the document root (upload)'),
            required: true,
          },
          {
            ...queryParameter(
              'action',
              'What he would do',
              Type.Union(VERBS.map((verb) => Type.Literal(verb))),
            ),
            required: true,
          },
          queryParameter('key_id', 'With this API key of his', Type.Integer({ minimum: 1 })),
        ],
        answers: { 200: { description: 'The answer and its reasons', schema: explanationModel } },
        errors: [404, 422],
      },
    },
  );

function questionOf(context: Context): AccessQuestion {
  const issues: ValidationIssue[] = [];
  const required = (name: string): string => {
    const value = context.queryValue(name);
    if (value === null) {
      issues.push({ type: 'missing', loc: ['query', name], msg: 'This parameter is missing' });
    }
    return value ?? '';
  };
  const username = required('user');
  const resource = required('resource');
  required('action');
  const action = wordParameter(context.query, 'action', VERBS, issues) ?? 'read';
  const keyId = integerParameter(context.query, 'key_id', { min: 1 }, issues);
  if (issues.length > 0) throw invalidRequest(...issues);
  return { username, resource, action, ...(keyId !== null && { keyId }) };
}
