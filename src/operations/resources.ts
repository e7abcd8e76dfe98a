/**
 * What the document root publishes, as far as a caller may know (DS-182).
 */
import { loadGrants } from '../auth/permissions.ts';
import type { Caller } from '../auth/principal.ts';
import type { Registry, Resource } from '../docroot/registry.ts';
import type { Database } from '../store/database.ts';
import { mayAccess } from './access.ts';

interface CatalogueServices {
  readonly db: Database;
  readonly registry: Registry;
}

/** The resources a caller may read, by rel in byte order; none for an anonymous one. */
export async function listReadable(
  { db, registry }: CatalogueServices,
  caller: Caller,
): Promise<readonly Resource[]> {
  if (!caller) return [];
  const grants = await loadGrants(db, caller);
  return registry.list().filter((resource) => mayAccess(grants, resource, 'read'));
}
