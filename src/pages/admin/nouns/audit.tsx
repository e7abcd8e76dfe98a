/** @jsxImportSource @kitajs/html */
import { auditList } from '../../../accounts/audit/audit.ts';
import { timestamp } from '../../../base/clock.ts';
import type { Context } from '../../../http/context.ts';
import { AUDIT_FORMATS, listAudit, listAuditActions } from '../../../operations/accounts/audit.ts';
import { Problem } from '../../parts/messages.tsx';
import { cell, text } from '../../parts/cells.tsx';
import { moment, UserLink } from '../cells.tsx';
import { boxValue, type FilterPart, List, readOwnedListing, type Table } from '../list.tsx';
import { adminPage } from '../page.tsx';
import { ADMIN_PAGES } from '../sections.ts';

interface Entry {
  readonly id: number;
  readonly timestamp: string;
  readonly user_id: number | null;
  /** Null: nobody was signed in, or the account was deleted since. */
  readonly username: string | null;
  readonly action: string;
  readonly resource: string | null;
  readonly details: string | null;
  readonly ip_address: string | null;
}

const table: Table<Entry> = {
  nouns: ['entry', 'entries'],
  filters: [
    { name: 'q', label: 'Contains' },
    { name: 'user', label: 'Who' },
    { name: 'did', label: 'Action', list: 'actions' },
    { name: 'resource', label: 'Resource' },
    { name: 'from', label: 'From', type: 'datetime-local' },
    { name: 'to', label: 'To', type: 'datetime-local' },
  ],
  empty: 'Nothing has happened yet.',
  columns: [
    moment('When', 'timestamp'),
    cell('Who', ({ user_id: id, username }) =>
      id === null || username === null ? (
        <span class="none">nobody</span>
      ) : (
        <UserLink {...{ id, username }} />
      ),
    ),
    cell(
      'Action',
      ({ action }) => (
        <a class="kind" href={`${ADMIN_PAGES}/audit?${new URLSearchParams({ did: action })}`} safe>
          {action}
        </a>
      ),
      'action',
    ),
    text('Resource', 'resource'),
    text('Details', 'details', { isLong: true }),
    text('Address', 'ip_address'),
  ],
};

export const audit = adminPage({
  path: 'audit',
  summary: 'Show the audit',
  title: 'Audit',
  read: async (context, admin) => {
    const { listing, failure } = await readOwnedListing<Entry>(context, table, {
      source: auditList,
      read: listAudit,
      dataPath: '/admin/audit-logs',
      // A part is enough: a file is audited with its extension, which its pages do not show.
      search: { q: ['resource', 'details'], resource: ['resource'] },
      parts: [timePart(context, 'from', '$gte'), timePart(context, 'to', '$lt')],
      exact: { action: boxValue(context, 'did') || undefined },
      exports: AUDIT_FORMATS,
    });
    return { listing, actions: await listAuditActions(context.services, admin), failure };
  },
  content: ({ listing, actions, failure }, around) => (
    <List {...{ table, listing, around }}>
      <datalist id="actions">
        {actions.map((action) => (
          <option value={action} />
        ))}
      </datalist>
      <Problem text={failure} />
    </List>
  ),
});

/** A local time from a box, read as UTC. */
function timePart(
  context: Context,
  name: string,
  operator: '$gte' | '$lt',
): FilterPart | undefined {
  const typed = boxValue(context, name);
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?$/.test(typed)) return undefined;
  const at = Date.parse(`${typed}Z`);
  return Number.isNaN(at) ? undefined : { timestamp: { [operator]: timestamp(at) } };
}
