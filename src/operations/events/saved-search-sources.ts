/** Who a saved search is shared with may lack the right to what it reads, and would find nothing without knowing why. */
import type { App } from '../../app.ts';
import { getUser, principalOf } from '../../accounts/identity/users.ts';
import {
  grantsCover,
  grantsCoverEvents,
  grantsTouchEvents,
  loadGrants,
} from '../../accounts/rights/permissions.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { isSql } from '../../language/syntax/sql-statement.ts';
import { eventGrants, withDefaultAccess } from './event-access.ts';
import { sourcesOfQuery } from './searches.ts';

interface Lacking {
  readonly userId: number;
  readonly indexes: readonly string[];
  readonly datasets: readonly string[];
  /** The search names no index, and the reader may read none. */
  readonly lacksEvents: boolean;
}

/** Those of the readers who lack something, and what of it the caller may read. */
export async function lackingReaders(
  services: App,
  caller: Principal,
  { query, readers }: { readonly query: string; readonly readers: readonly number[] },
): Promise<Lacking[]> {
  const named = await sourcesOfQuery(services, caller, query);
  if (named === null) return [];
  // Events join in by queries of their own.
  const indexes = isSql(query) ? [] : named.indexes;
  const own = await eventGrants(services, caller);
  const known = (indexes ?? []).filter((index) => grantsCoverEvents(own, index, 'read'));
  const found: Lacking[] = [];
  for (const userId of readers) {
    const user = await getUser(services.db, userId);
    if (user === null) continue;
    const grants = await loadGrants(services.db, principalOf(user));
    const events = withDefaultAccess(services, grants);
    const lacking = {
      userId,
      indexes: known.filter((index) => !grantsCoverEvents(events, index, 'read')),
      datasets: named.datasets.filter((name) => !grantsCover(grants, [name], 'read')),
      lacksEvents: indexes === null && !grantsTouchEvents(events, 'read'),
    };
    if (lacking.lacksEvents || lacking.indexes.length + lacking.datasets.length > 0)
      found.push(lacking);
  }
  return found;
}
