import type { CacheEntries } from '../docroot/cache.ts';
import type { ListPage } from '../store/list-source.ts';
import {
  type Administrator,
  type AdminServices,
  type ListRequest,
  readList,
  recordChange,
} from './administration.ts';

export interface CacheServices extends AdminServices {
  readonly cache: CacheEntries;
}

/** Expired ones excluded. Throws as `readList`. */
export async function listCache(
  services: CacheServices,
  admin: Administrator,
  request: ListRequest,
): Promise<ListPage> {
  return readList(services, admin, services.cache.list(), request);
}

/** Null: all files. */
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

/** None is no error. */
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
