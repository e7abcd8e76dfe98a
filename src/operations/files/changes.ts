/** Changes of files for those who may read them, from a cursor on. Rights are asked for each change, as they are now. */
import type { App } from '../../app.ts';
import { type Grants, grantsCover, loadGrants } from '../../accounts/rights/permissions.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { withoutEndSlashes } from '../../base/paths.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { FeedEntry } from '../../feed/change-feed.ts';
import type { Subscription } from '../../feed/subscribers.ts';
import { mayAccess, type Origin, permissionNames, requireAccess } from '../access.ts';
import { shownRows } from './history.ts';

/** Of which files: one, those of a folder (with its slash), all. */
export type FeedScope = { readonly resource: Resource } | { readonly folder: string };

export interface ShownEntry {
  readonly cursor: string;
  readonly at: string;
  readonly name: string;
  readonly family: FeedEntry['family'];
  readonly action: string;
  readonly user: string | null;
  readonly count: number;
  readonly row_ids: readonly number[];
  /** Of one dataset: the cells as the change left them; null for a row that is gone. */
  readonly rows?: readonly { readonly _row_id: number; readonly values: unknown }[];
}

/** Looked at for one answer: where others change files, pages may be empty. */
const MAX_EXAMINED = 5_000;
const AT_ONCE = 500;
const MAX_ROWS = 100;
const RIGHTS_MS = 3_000;
const HEARTBEAT_MS = 15_000;
const LIFE_MS = 30 * 60_000;
const RETRY_SECONDS = '5';

/** A folder is what files are in that the caller may read. Throws as `requireAccess`. */
export async function feedScope(
  services: App,
  caller: Principal,
  origin: Origin,
  asked: string,
): Promise<{ readonly scope: FeedScope; readonly folder: string }> {
  const name = withoutEndSlashes(asked);
  if (name === '') return { scope: { folder: '' }, folder: '' };
  const { registry } = services;
  const resource = registry.lookup('dataset', name) ?? registry.lookup('content', name);
  const folder = `${name}/`;
  const grants = await loadGrants(services.db, caller);
  const isFolder =
    resource === null &&
    registry
      .list()
      .some((one) => one.canonical.startsWith(folder) && mayAccess(grants, one, 'read'));
  if (isFolder) return { scope: { folder }, folder };
  const found = await requireAccess(services, caller, origin, { name, resource, verb: 'read' });
  return { scope: { resource: found }, folder: found.canonical };
}

/** Null: from now on; `0`: from the oldest kept. Throws `gone` with where to go on. */
export async function feedPlace({ feed }: App, cursor: string | null): Promise<number> {
  await feed.settled();
  const asked =
    cursor === null ? await feed.newest() : cursor === '0' ? await feed.first() : cursor;
  const place = await feed.placeOf(asked);
  if (place !== null) return place;
  const [newest, oldest] = [await feed.newest(), await feed.first()];
  throw new AppError(
    'gone',
    `Changes after '${asked.slice(0, 40)}' are not kept any more: read the files anew and go on from '${newest}', or from the oldest change with '${oldest}'`,
  );
}

/** `next`: the place after what was looked at, changes or none. */
async function readFeed(
  services: App,
  caller: Principal,
  scope: FeedScope,
  after: number,
  limit: number,
): Promise<{ readonly changes: readonly ShownEntry[]; readonly next: number }> {
  const { feed } = services;
  const grants = await loadGrants(services.db, caller);
  const changes: ShownEntry[] = [];
  const slice = new TimeSlice();
  let next = after;
  for (let examined = 0; examined < MAX_EXAMINED; examined += AT_ONCE) {
    const entries = await feed.after(next, AT_ONCE);
    for (const entry of entries) {
      if (slice.isOver) await slice.rest();
      if (changes.length >= limit) return { changes, next };
      next = entry.id;
      if (isWithin(entry, scope) && mayReadEntry(services, grants, entry))
        changes.push(await shownEntry(services, scope, entry));
    }
    if (entries.length < AT_ONCE) break;
  }
  return { changes, next };
}

/** The newest first, for those who only look. */
export async function latestChanges(
  services: App,
  caller: Principal,
  scope: FeedScope,
  limit: number,
): Promise<readonly ShownEntry[]> {
  const grants = await loadGrants(services.db, caller);
  const shown: ShownEntry[] = [];
  const slice = new TimeSlice();
  let before: number | null = null;
  for (let examined = 0; examined < MAX_EXAMINED; examined += AT_ONCE) {
    const entries: readonly FeedEntry[] = await services.feed.before(before, AT_ONCE);
    for (const entry of entries) {
      if (slice.isOver) await slice.rest();
      before = entry.id;
      if (!isWithin(entry, scope) || !mayReadEntry(services, grants, entry)) continue;
      shown.push(await shownEntry(services, { folder: '' }, entry));
      if (shown.length === limit) return shown;
    }
    if (entries.length < AT_ONCE) break;
  }
  return shown;
}

function isWithin({ rel, sheet, names }: FeedEntry, scope: FeedScope): boolean {
  if ('folder' in scope) return names[0].startsWith(scope.folder);
  const { resource } = scope;
  return rel === resource.rel && sheet === resource.sheet;
}

export function mayReadEntry(
  { registry }: App,
  grants: Grants,
  { rel, sheet, names }: FeedEntry,
): boolean {
  const resource = registry.get(rel, sheet);
  return grantsCover(grants, resource === null ? [...names] : permissionNames(resource), 'read');
}

export async function shownEntry(
  services: App,
  scope: FeedScope,
  { id, at, names, family, action, username, rowCount, rowIds, changeId }: FeedEntry,
): Promise<ShownEntry> {
  const cursor = services.feed.cursorOf(id);
  const shown = { cursor, at, name: names[0], family, action, user: username, count: rowCount };
  const entry = { ...shown, row_ids: rowIds ?? [] };
  if (changeId === null || !('resource' in scope)) return entry;
  const rows = await shownRows(services, scope.resource, changeId, MAX_ROWS);
  if (rows === null) return entry;
  return {
    ...entry,
    rows: rows.map(({ _row_id, after }) => ({ _row_id, values: after })),
  };
}

/** Throws `throttled`. */
export function subscribe(
  services: App,
  { userId, username }: Principal,
  signal: AbortSignal,
  place: string | null,
): Subscription {
  const found = services.subscribers.subscribe({ userId, username, place, signal });
  if (found !== null) return found;
  const headers = { 'Retry-After': RETRY_SECONDS };
  throw new AppError('throttled', 'Too many requests wait for changes.', { headers });
}

/** Waits until there is something, for so long at most. */
export async function awaitFeed(
  services: App,
  caller: Principal,
  scope: FeedScope,
  order: {
    readonly after: number;
    readonly limit: number;
    readonly waitMs: number;
    readonly signal: AbortSignal;
    readonly isAlive: () => Promise<boolean>;
  },
): ReturnType<typeof readFeed> {
  const until = performance.now() + order.waitMs;
  let found = await readFeed(services, caller, scope, order.after, order.limit);
  if (found.changes.length > 0 || order.waitMs === 0) return found;
  using subscription = subscribe(services, caller, order.signal, null);
  for (;;) {
    found = await readFeed(services, caller, scope, found.next, order.limit);
    const left = until - performance.now();
    if (found.changes.length > 0 || left <= 0 || subscription.hasEnded) return found;
    await subscription.next(Math.min(left, RIGHTS_MS));
    if (!(await order.isAlive())) return { changes: [], next: order.after };
  }
}

/** As server-sent events, for half an hour at most; whoever lost the connection goes on with `Last-Event-ID`. */
export async function* feedEvents(
  services: App,
  caller: Principal,
  scope: FeedScope,
  order: {
    readonly after: number;
    readonly subscription: Subscription;
    readonly isAlive: () => Promise<boolean>;
  },
): AsyncGenerator<string> {
  using subscription = order.subscription;
  const until = performance.now() + LIFE_MS;
  let place = order.after;
  let told = performance.now();
  let looked = told;
  let people = '';
  yield `id: ${services.feed.cursorOf(place)}\n\n`;
  while (!subscription.hasEnded && performance.now() < until) {
    const present = JSON.stringify(subscription.others() ?? []);
    if (subscription.others() !== null && present !== people) {
      people = present;
      yield `event: people\ndata: ${present}\n\n`;
    }
    const { changes, next } = await readFeed(services, caller, scope, place, MAX_ROWS);
    const isBehind = next !== place && changes.length > 0;
    const now = performance.now();
    if (changes.length > 0 || now - looked >= RIGHTS_MS) {
      looked = now;
      if (!(await order.isAlive())) return;
    }
    if (changes.length > 0) {
      told = now;
      yield changes
        .map((one) => `id: ${one.cursor}\nevent: change\ndata: ${JSON.stringify(one)}\n\n`)
        .join('');
    } else if (now - told >= HEARTBEAT_MS) {
      told = now;
      yield `: hb\nid: ${services.feed.cursorOf(next)}\n\n`;
    }
    place = next;
    if (!isBehind) await subscription.next(RIGHTS_MS);
  }
}
