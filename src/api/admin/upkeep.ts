import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { auditList } from '../../accounts/audit/audit.ts';
import { invalidRequest } from '../../base/errors.ts';
import { contentDisposition } from '../../tables/encode/download-name.ts';
import { formatDetails } from '../../tables/read/format.ts';
import { lockList } from '../../docroot/locks.ts';
import { AUDIT_FORMATS, exportAudit, listAudit } from '../../operations/accounts/audit.ts';
import {
  clearCache,
  deleteCacheEntry,
  listCache,
  cleanLocks,
  listLocks,
  releaseLock,
} from '../../operations/upkeep.ts';
import { isStillAdmitted } from '../../http/hooks/admission.ts';
import type { Context } from '../../http/context.ts';
import { bodyReply, jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { whileAllowed } from '../../http/reply/outgoing-stream.ts';
import { auditEntryModel, cacheEntryModel, lockModel } from '../administration-models.ts';
import {
  describeList,
  describeChange,
  queryParameter,
  userIdParameter,
  enumParameter,
  textParameter,
} from './descriptions.ts';
import {
  adminChecks,
  adminOf,
  answersList,
  answersDone,
  listReply,
  successReply,
} from './handlers.ts';

const byResource = queryParameter('resource', 'Only this file (its path)');

export const upkeepRoutes = new Elysia({ name: 'upkeep', prefix: '/admin' })
  .use(lifecycle)
  .get('/locks', answersList(listLocks), {
    checks: adminChecks,
    describes: describeList('List the locks on files', lockModel, lockList),
  })
  .post(
    '/locks/clean',
    async ({ ask }) => jsonReply({ released: await cleanLocks(ask.services, adminOf(ask)) }),
    {
      checks: adminChecks,
      describes: describeChange('Remove locks that have expired', [], {
        answer: Type.Object({ released: Type.Integer() }),
      }),
    },
  )
  .delete('/locks/:lock_id', answersDone(releaseLock, 'lock_id'), {
    checks: adminChecks,
    describes: describeChange('Release a lock', [404, 422]),
  })
  .get(
    '/cache',
    answersList(listCache, (context) => ({ resource: textParameter(context, 'resource') })),
    {
      checks: adminChecks,
      describes: describeList(
        'List what is remembered of files',
        cacheEntryModel,
        { sortable: ['key', 'expires_at', 'resource', 'user'], order: 'asc' },
        [byResource],
      ),
    },
  )
  .delete(
    '/cache',
    async ({ ask }) => {
      const resource = textParameter(ask, 'resource') ?? null;
      await clearCache(ask.services, adminOf(ask), resource);
      return successReply();
    },
    {
      checks: adminChecks,
      describes: describeChange('Forget what is remembered of files', [], {
        parameters: [byResource],
      }),
    },
  )
  .delete(
    '/cache/*',
    async ({ ask }) => {
      const resource = ask.queryValue('resource');
      if (resource === null) {
        const msg = 'This parameter is missing';
        throw invalidRequest({ type: 'missing', loc: ['query', 'resource'], msg });
      }
      await deleteCacheEntry(ask.services, adminOf(ask), keysOf(ask), resource);
      return successReply();
    },
    {
      checks: { ...adminChecks, rest: 'key' },
      describes: describeChange('Forget one entry', [422], {
        parameters: [{ ...byResource, required: true }],
      }),
    },
  )
  .get(
    '/audit-logs',
    async ({ ask }) => {
      const exact = {
        user_id: userIdParameter(ask),
        action: textParameter(ask, 'action'),
        resource: textParameter(ask, 'resource'),
      };
      const request = { query: ask.query, exact };
      const admin = adminOf(ask);
      const format = enumParameter(ask, 'format', ['json', ...AUDIT_FORMATS]);
      if (format === undefined || format === 'json') {
        return listReply(ask, await listAudit(ask.services, admin, request));
      }
      const body = await exportAudit(ask.services, admin, request, format);
      const headers = { 'Content-Disposition': contentDisposition('audit', format) };
      const standing = whileAllowed(body, () => isStillAdmitted(ask));
      return bodyReply(standing, formatDetails[format].mediaType, { headers });
    },
    {
      checks: adminChecks,
      describes: describeList('List the audit, newest first', auditEntryModel, auditList, [
        queryParameter('user_id', 'Only what this user did', Type.Integer({ minimum: 1 })),
        queryParameter('action', 'Only this action'),
        queryParameter('resource', 'Only what was done to this'),
        queryParameter(
          'format',
          'All that match, as a download; ndjson or csv',
          Type.Union(AUDIT_FORMATS.map((format) => Type.Literal(format))),
        ),
      ]),
    },
  );

/** The key as sent, then with a trailing slash added or removed. */
function keysOf({ path, parameters }: Context): [string, string] {
  const key = parameters['key'] ?? '';
  return path.endsWith('/') ? [`${key}/`, key] : [key, `${key}/`];
}
