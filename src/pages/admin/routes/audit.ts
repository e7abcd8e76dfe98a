import { auditList } from '../../../accounts/audit/audit.ts';
import { timestamp } from '../../../base/clock.ts';
import { AUDIT_FORMATS, listAudit, listAuditActions } from '../../../operations/audit.ts';
import type { Context } from '../../../http/context.ts';
import { auditPage, type AuditRow } from '../audit.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import {
  boxValue,
  containing,
  dataAddress,
  type FilterPart,
  listQuery,
  readListing,
} from './page-list.ts';
import { userFilter, withNames } from './user-filter.ts';

const DATA_PATH = '/admin/audit-logs';

export const auditRoute: Route = adminPageRoute({
  path: 'audit',
  summary: 'Show the audit',
  page: auditPage,
  read: async (context, admin) => {
    const { services } = context;
    const actor = await userFilter(context, admin);
    const parts = [
      containing(boxValue(context, 'q'), 'resource', 'details'),
      // A part is enough: a file is audited with its extension, which its pages do not show.
      containing(boxValue(context, 'resource'), 'resource'),
      timePart(context, 'from', '$gte'),
      timePart(context, 'to', '$lt'),
    ];
    const exact = {
      user_id: actor.id,
      action: boxValue(context, 'did') || undefined,
    };
    const request = {
      boxes: ['q', 'user', 'did', 'resource', 'from', 'to'],
      parts,
      exact,
      source: auditList,
      dataPath: DATA_PATH,
    };
    const listing = await readListing<Omit<AuditRow, 'username'>>(context, request, (asked) =>
      listAudit(services, admin, asked),
    );
    const named = await withNames(context, admin, listing);
    const query = listQuery(context, parts, auditList);
    const exports = Object.fromEntries(
      AUDIT_FORMATS.map((format) => [format, dataAddress(DATA_PATH, query, exact, { format })]),
    );
    return {
      listing: { ...named, files: { ...named.files, ...exports } },
      actions: await listAuditActions(services, admin),
      failure: actor.failure,
    };
  },
});

/** A local time from a box, read as UTC. */
function timePart(
  context: Context,
  name: string,
  operator: '$gte' | '$lt',
): FilterPart | undefined {
  const text = boxValue(context, name);
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?$/.test(text)) return undefined;
  const at = Date.parse(`${text}Z`);
  return Number.isNaN(at) ? undefined : { timestamp: { [operator]: timestamp(at) } };
}
