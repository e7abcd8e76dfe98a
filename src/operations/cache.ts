import type { App } from '../app.ts';
import { type Administrator, listOf } from './administration.ts';
import { record } from './access.ts';

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
