import { Type } from '@sinclair/typebox';
import { auditList } from '../../accounts/audit/audit.ts';
import { invalidRequest } from '../../base/errors.ts';
import { contentDisposition } from '../../tables/encode/download-name.ts';
import { formatDetails } from '../../tables/read/format.ts';
import { lockList } from '../../docroot/locks.ts';
import { AUDIT_FORMATS, exportAudit, listAudit } from '../../operations/audit.ts';
import { clearCache, deleteCacheEntry, listCache } from '../../operations/cache.ts';
import { cleanLocks, listLocks, releaseLock } from '../../operations/locks.ts';
import { isStillAdmitted } from '../../http/hooks/admission.ts';
import type { Context } from '../../http/context.ts';
import { bodyReply, jsonReply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route-table.ts';
import { whileAllowed } from '../../http/body/standing-body.ts';
import { auditEntryModel, cacheEntryModel, lockModel } from '../administration-models.ts';
import { describeList, describeChange } from './descriptions.ts';
import { adminDoor, adminOf } from './door.ts';
import { answersList, answersDone, listReply, successReply } from './handlers.ts';
import { queryParameter, userIdParameter, enumParameter, textParameter } from './parameters.ts';

const byResource = queryParameter('resource', 'Only this file (its path)');

export const upkeepRoutes: readonly Route[] = [
  {
    pattern: '/admin/locks',
    ...adminDoor,
    describes: { GET: describeList('List the locks on files', lockModel, lockList) },
    methods: {
      GET: answersList(listLocks),
    },
  },
  {
    pattern: '/admin/locks/clean',
    ...adminDoor,
    describes: {
      POST: describeChange('Remove locks that have expired', [], {
        answer: Type.Object({ released: Type.Integer() }),
      }),
    },
    methods: {
      POST: async (context) =>
        jsonReply({ released: await cleanLocks(context.services, adminOf(context)) }),
    },
  },
  {
    pattern: '/admin/locks/{lock_id}',
    ...adminDoor,
    describes: { DELETE: describeChange('Release a lock', [404, 422]) },
    methods: {
      DELETE: answersDone(releaseLock, 'lock_id'),
    },
  },
  {
    pattern: '/admin/cache',
    ...adminDoor,
    describes: {
      GET: describeList(
        'List what is remembered of files',
        cacheEntryModel,
        { sortable: ['key', 'expires_at', 'resource', 'user'], order: 'asc' },
        [byResource],
      ),
      DELETE: describeChange('Forget what is remembered of files', [], {
        parameters: [byResource],
      }),
    },
    methods: {
      GET: answersList(listCache, (context) => ({ resource: textParameter(context, 'resource') })),
      DELETE: async (context) => {
        const resource = textParameter(context, 'resource') ?? null;
        await clearCache(context.services, adminOf(context), resource);
        return successReply();
      },
    },
  },
  {
    pattern: '/admin/cache/{key:rest}',
    ...adminDoor,
    describes: {
      DELETE: describeChange('Forget one entry', [422], {
        parameters: [{ ...byResource, required: true }],
      }),
    },
    methods: {
      DELETE: async (context) => {
        const resource = context.queryValue('resource');
        if (resource === null) {
          const msg = 'This parameter is missing';
          throw invalidRequest({ type: 'missing', loc: ['query', 'resource'], msg });
        }
        await deleteCacheEntry(context.services, adminOf(context), keysOf(context), resource);
        return successReply();
      },
    },
  },
  {
    pattern: '/admin/audit-logs',
    ...adminDoor,
    describes: {
      GET: describeList('List the audit, newest first', auditEntryModel, auditList, [
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
    methods: {
      GET: async (context) => {
        const exact = {
          user_id: userIdParameter(context),
          action: textParameter(context, 'action'),
          resource: textParameter(context, 'resource'),
        };
        const request = { query: context.query, exact };
        const admin = adminOf(context);
        const format = enumParameter(context, 'format', ['json', ...AUDIT_FORMATS]);
        if (format === undefined || format === 'json') {
          return listReply(context, await listAudit(context.services, admin, request));
        }
        const body = await exportAudit(context.services, admin, request, format);
        const headers = { 'Content-Disposition': contentDisposition('audit', format) };
        const standing = whileAllowed(body, () => isStillAdmitted(context));
        return bodyReply(standing, formatDetails[format].mediaType, { headers });
      },
    },
  },
];

/** The key as sent, then with a trailing slash added or removed. */
function keysOf({ path, parameters }: Context): [string, string] {
  const key = parameters['key'] ?? '';
  return path.endsWith('/') ? [`${key}/`, key] : [key, `${key}/`];
}
