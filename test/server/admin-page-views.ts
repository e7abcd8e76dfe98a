/**
 * The pages of administration with the same text in every place that data can reach, for `public-pages.test.ts`.
 */
import type { Listing } from '../../src/pages/admin/list.tsx';
import { apiKeys as apiKeysPage } from '../../src/pages/admin/nouns/api-keys.tsx';
import { audit as auditPage } from '../../src/pages/admin/nouns/audit.tsx';
import { cache as cachePage } from '../../src/pages/admin/nouns/cache.tsx';
import { events as eventsAdminPage } from '../../src/pages/admin/nouns/events.tsx';
import { explain as explainPage } from '../../src/pages/admin/nouns/explain.tsx';
import { group as groupPage } from '../../src/pages/admin/nouns/group.tsx';
import { groups as groupsPage } from '../../src/pages/admin/nouns/groups.tsx';
import { deliveries as deliveriesPage } from '../../src/pages/admin/nouns/deliveries.tsx';
import { locks as locksPage } from '../../src/pages/admin/nouns/locks.tsx';
import { overview as overviewPage } from '../../src/pages/admin/nouns/overview.tsx';
import { permissions as permissionsPage } from '../../src/pages/admin/nouns/permissions.tsx';
import { resources as resourcesPage } from '../../src/pages/admin/nouns/resources.tsx';
import { sessions as sessionsPage } from '../../src/pages/admin/nouns/sessions.tsx';
import { share as sharePage } from '../../src/pages/admin/nouns/share.tsx';
import { links as linksPage } from '../../src/pages/admin/nouns/links.tsx';
import { tokens as tokensPage } from '../../src/pages/admin/nouns/tokens.tsx';
import { user as userPage } from '../../src/pages/admin/nouns/user.tsx';
import { users as usersPage } from '../../src/pages/admin/nouns/users.tsx';
import { type AdminPage, confirmPage } from '../../src/pages/admin/page.tsx';
import { type FrameView, renderPage } from '../../src/pages/frame.tsx';

/** Every page by its name, as HTML. */
export function adminPagesWith(text: string, frame: FrameView): Record<string, string> {
  const state = {
    address: '/x?q=1',
    mayChange: true,
    notice: text,
    problem: text,
    entered: Object.fromEntries(
      ['action', 'username', 'name', 'description', 'resource', 'scopes', 'group'].map((name) => [
        name,
        text,
      ]),
    ),
  };
  const listing = <Item>(...items: Item[]): Listing<Item> => ({
    items,
    total: 3,
    first: 2,
    previousHref: '/p',
    nextHref: '/n',
    sorts: { name: { href: '/s', sorted: 'ascending' } },
    filters: Object.fromEntries(
      ['q', 'user', 'did', 'resource', 'from', 'to'].map((name) => [name, text]),
    ),
    clearHref: '/c',
    dataHref: '/d',
    part: 'part',
    kept: [[text, text]],
    files: { json: '/j', ndjson: '/nd', csv: text, xlsx: '/x', parquet: '/pq' },
  });
  const group = { id: 1, name: text, description: text };
  const user = { id: 1, username: text, is_active: false, is_superuser: true, created_at: text };
  const grant = {
    group_id: 1,
    group: text,
    permission_id: 1,
    resource: text,
    action: 'read' as const,
  };
  const permission = { id: 1, resource: text, action: 'read' as const, description: text };
  const session = {
    id: 1,
    userId: 1,
    createdAt: text,
    lastActiveAt: text,
    expiresAt: text,
    ipAddress: text,
    userAgent: text,
    strength: 'password' as const,
  };
  const key = {
    id: 1,
    keyHash: text,
    userId: 1,
    description: text,
    createdAt: text,
    expiresAt: text,
    lastUsedAt: text,
    isActive: true,
    scopes: [{ verb: 'read' as const, pattern: text }],
  };
  const sums = { requests: 1, accepted: 1, rejected: 1, duplicates: 1, throttled: 1, bytes: 1 };
  const rendered: Record<string, string> = {};
  const render = <Data>({ page }: AdminPage<Data>, data: NoInfer<Data>): void => {
    rendered[page.name] = renderPage(page, { data, state }, frame);
  };
  render(overviewPage, {
    figures: [{ label: text, value: 1, href: '/f' }],
    problems: [{ rel: text, problem: text }],
    problemCount: 2,
    isStateHealthy: false,
    uptimeSeconds: 1,
    version: text,
    searchDocuments: 1,
    searchPending: 1,
    ingest: { queuedEvents: 1, queuedBytes: 1, commitsPerSecond: 1, rejected: 1, problem: text },
  });
  render(usersPage, {
    listing: listing({ ...user, groups: [group] }),
    isNew: true,
    created: text,
  });
  render(userPage, {
    user,
    groups: listing(group),
    sessions: listing(session),
    keys: listing(key),
    hasToken: true,
    hasFactor: true,
    isSelf: false,
    currentSession: null,
    groupNames: [text],
  });
  render(sharePage, {
    resource: text,
    to: text,
    names: [{ name: text, isGroup: true }],
    given: { resource: text, action: 'read', username: text, group: { id: 1, name: text } },
  });
  render(groupsPage, { listing: listing({ ...group, members: 1, permissions: 1 }) });
  render(groupPage, {
    group,
    members: listing(user),
    permissions: listing(permission),
    usernames: [text],
  });
  render(permissionsPage, { listing: listing({ ...permission, groups: [group] }) });
  render(explainPage, {
    user: text,
    resource: text,
    right: 'read',
    key: text,
    explanation: {
      user,
      resource: text,
      action: 'read',
      allowed: true,
      reason: 'group',
      explanation: text,
      exists: true,
      names: [text, text],
      granted_by: [grant],
      scopes: [text],
      notes: [text],
    },
    allowed: {
      resource: text,
      action: 'read',
      exists: true,
      superusers: [user],
      users: [{ id: 1, username: text, granted_by: [grant] }],
      groups: [grant, { ...grant, group_id: 2 }],
      names: [text],
      notes: [text],
      listing: listing({ id: 1, username: text, granted_by: [grant] }),
    },
    failure: text,
    names: [{ name: text, isGroup: true }],
  });
  const keyRow = {
    ...{ id: 1, user_id: 1, username: text, description: text, created_at: text },
    ...{ expires_at: text, last_used_at: text, is_active: true, scopes: [text] },
  };
  render(apiKeysPage, {
    listing: listing(keyRow),
    created: {
      id: 1,
      key: text,
      user_id: 1,
      description: text,
      expires_at: null,
      created_at: text,
    },
  });
  render(linksPage, {
    listing: listing({
      ...{ id: 1, user_id: 1, username: text, kind: 'read' as const, resource: text },
      description: text,
      ...{ view: { columns: [text], filter: text, sort: text, q: text }, has_password: true },
      ...{ max_bytes: null, uploaded_bytes: 0, created_at: text, expires_at: text, uses: 1 },
      ...{ revoked_at: null, last_used_at: text },
    }),
  });
  render(tokensPage, {
    listing: listing({ user_id: 1, username: text, created_at: text, last_used_at: text }),
  });
  render(sessionsPage, {
    listing: listing({
      ...{ id: 1, user_id: 1, username: text, created_at: text, last_active_at: text },
      ...{ ip_address: text, user_agent: text, strength: 'password' as const, isOwn: false },
    }),
  });
  render(auditPage, {
    listing: listing({
      ...{ id: 1, timestamp: text, user_id: 1, username: text, action: text },
      ...{ resource: text, details: text, ip_address: text },
    }),
    actions: [text],
    failure: text,
  });
  render(resourcesPage, {
    listing: listing({ name: text, rel: text, kind: text, href: '/r', problem: text }),
    types: [[text, text]],
    unpublished: listing({ rel: text, text }),
    index: {
      documents: 1,
      pending: 1,
      rebuild: {
        ...{ startedAt: text, endedAt: text, done: 1, total: 2, isForced: true },
        ...{ isStopped: false, counts: null, problem: text },
      },
    },
  });
  render(eventsAdminPage, {
    indexes: listing({
      ...{ index: text, events: 1, bytes: 1, oldest: text, newest: text },
      ...{ max_age_days: 1, max_bytes: 1 },
    }),
    failure: text,
    queue: { events: 1, bytes: 1, capacity_events: 1, capacity_bytes: 1 },
    commits: { per_second: 1, p99_ms: 1 },
    senders: listing({
      ...{ kind: 'api_key' as const, id: text, label: text, dialect: text, ...sums },
      ...{ last_at: text, last_error: text, last_error_at: text },
    }),
    unknown: [{ hash: text, count: 1, last_address: text, last_at: text }],
    listing: listing({
      ...{ at: text, dialect: text, credential: text, position: text },
      ...{ reason: text, sample: text },
    }),
  });
  render(deliveriesPage, {
    listing: listing({
      ...{ id: 1, finding_id: null, subject: text, channel: text, receiver: text, state: 'dead' },
      ...{ attempts: 1, last_error: text, created_at: text },
    }),
  });
  render(locksPage, {
    listing: listing({
      ...{ id: 1, resource: text, owner: text, acquired_at: text },
      ...{ expires_at: text, reason: text },
    }),
  });
  render(cachePage, { listing: listing({ key: text, expires_at: text, resource: text }) });
  rendered[confirmPage.name] = renderPage(
    confirmPage,
    { title: text, effects: [text], button: text, address: '/x', fields: [[text, text]] },
    frame,
  );
  return rendered;
}
