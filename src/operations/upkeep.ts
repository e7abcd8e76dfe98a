import type { App, AccountsApp } from '../app.ts';
import { type Administrator, listOf } from './administration.ts';
import { record } from './access.ts';
import { cleanStaleLocks, lockList, releaseLock as takeAway } from '../docroot/locks.ts';
import { AppError } from '../base/errors.ts';
import type { RebuildState } from '../fulltext/rebuilds.ts';

/** Expired ones excluded. Throws as `listOf`. */
export const listCache = listOf((services: App) => services.cache.list());

/** Null: all files. */
export async function clearCache(
  services: App,
  admin: Administrator,
  resource: string | null,
): Promise<void> {
  services.cache.clear(resource);
  await record(
    services,
    admin,
    'clear_cache',
    'cache',
    `Cleared cache for resource ${resource ?? 'all'}`,
  );
}

/** None is no error. */
export async function deleteCacheEntry(
  services: App,
  admin: Administrator,
  keys: readonly [string, ...string[]],
  resource: string,
): Promise<void> {
  const found = keys.find((key) => services.cache.delete(key, resource));
  await record(
    services,
    admin,
    'delete_cache_entry',
    'cache',
    `Deleted cache entry ${found ?? keys[0]} for ${resource}`,
  );
}

/** Expired ones included. Throws as `listOf`. */
export const listLocks = listOf(lockList);

/** The holder's write then fails before it changes anything. Throws `not-found`. */
export async function releaseLock(
  services: AccountsApp,
  admin: Administrator,
  lockId: number,
): Promise<void> {
  if (!(await takeAway(services.db, lockId))) throw new AppError('not-found', 'Lock not found');
  const details = `Released lock ${lockId}`;
  await record(services, admin, 'release_lock', 'lock', details);
}

/** Removes locks that have expired or are older than a day; returns how many. */
export async function cleanLocks(services: AccountsApp, admin: Administrator): Promise<number> {
  const released = await cleanStaleLocks(services.db, services.clock.now());
  await record(services, admin, 'clean_stale_locks', 'lock', `Released ${released} stale locks`);
  return released;
}

export interface SearchIndexView {
  readonly documents: number;
  readonly pending: number;
  /** The running rebuild, else the last one since the start of the server. */
  readonly rebuild: RebuildState | null;
}

export function describeIndex({ search }: App, _admin: Administrator): SearchIndexView {
  const { documents, pending, rebuilds } = search;
  return { documents, pending, rebuild: rebuilds.state };
}

/** Reads what changed, or with `isForced` everything; not audited, because it changes nothing that anybody stored. Throws `conflict` while a rebuild runs. */
export function startRebuild({ search }: App, _admin: Administrator, isForced: boolean): void {
  if (search.rebuilds.start(isForced)) return;
  throw new AppError('conflict', 'The search index is being rebuilt already');
}

/** Does nothing when none runs. */
export function stopRebuild({ search }: App, _admin: Administrator): void {
  search.rebuilds.stop();
}
