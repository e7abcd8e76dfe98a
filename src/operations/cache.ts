import type { CacheEntries } from '../docroot/cache-entries.ts';
import { type Administrator, type AdminServices, listOf } from './administration.ts';
import { record } from './access.ts';

export interface CacheServices extends AdminServices {
  readonly cache: CacheEntries;
}

/** Expired ones excluded. Throws as `listOf`. */
export const listCache = listOf((services: CacheServices) => services.cache.list());

/** Null: all files. */
export async function clearCache(
  services: CacheServices,
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
  services: CacheServices,
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
