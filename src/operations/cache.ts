/**
 * What the server remembers of files, as administrators see and clear it (section 16).
 */
import type { CacheEntries } from '../docroot/cache.ts';
import type { ListPage } from '../store/list-source.ts';
import {
  type Administrator,
  type AdminServices,
  type ListRequest,
  readList,
  recordChange,
} from './administration.ts';

/** What administering the cache needs. */
export interface CacheServices extends AdminServices {
  readonly cache: CacheEntries;
}

/** Entries that have not expired. Throws as `readList`. */
export async function listCache(
  services: CacheServices,
  admin: Administrator,
  request: ListRequest,
): Promise<ListPage> {
  return readList(services, admin, services.cache.list(), request);
}

/** Forgets everything about one file (its rel), or with null about all. */
export async function clearCache(
  services: CacheServices,
  admin: Administrator,
  resource: string | null,
): Promise<void> {
  services.cache.clear(resource);
  await recordChange(services, admin, {
    action: 'clear_cache',
    resource: 'cache',
    details: `Cleared cache for resource ${resource ?? 'all'}`,
  });
}

/** Forgets one entry, the first of these keys that there is; no entry is no failure (DS-144). */
export async function deleteCacheEntry(
  services: CacheServices,
  admin: Administrator,
  keys: readonly [string, ...string[]],
  resource: string,
): Promise<void> {
  const found = keys.find((key) => services.cache.delete(key, resource));
  await recordChange(services, admin, {
    action: 'delete_cache_entry',
    resource: 'cache',
    details: `Deleted cache entry ${found ?? keys[0]} for ${resource}`,
  });
}
