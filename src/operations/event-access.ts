/**
 * Rights on events: which indexes a caller may read or write (EV-20 to EV-25).
 */
import type { Audit } from '../auth/audit.ts';
import type { Grants } from '../auth/permissions.ts';
import { grantsCoverEvents, grantsTouchEvents, loadGrants } from '../auth/permissions.ts';
import type { Principal, Verb } from '../auth/principal.ts';
import { AppError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../config/schema.ts';
import type { IngestCounters } from '../events/counters.ts';
import type { Events } from '../events/events.ts';
import type { ListenerViews } from '../events/listener-view.ts';
import type { RateLimiter } from '../events/rate.ts';
import type { Tails } from '../events/tail.ts';
import type { Searches } from '../pipeline/searches.ts';
import type { Database } from '../store/database.ts';
import type { Origin } from './access.ts';

/** What the operations on events work with. */
export interface EventServices {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly events: Events;
  readonly ingestCounters: IngestCounters;
  readonly tails: Tails;
  readonly listeners: ListenerViews;
  readonly rates: { readonly ingest: RateLimiter; readonly search: RateLimiter };
  /** Turns of users who look at many events at once (EV-98). */
  readonly searches: Pick<Searches, 'enter'>;
}

/** 403 of the event contract. */
export const NO_EVENT_PERMISSION = 'You do not have permission to perform this action.';

/** The caller's grants, with what `events.default_access` adds. */
export async function eventGrants(
  services: Pick<EventServices, 'config' | 'db'>,
  caller: Principal,
): Promise<Grants> {
  return withDefaultAccess(services, await loadGrants(services.db, caller));
}

/** The grants with what `events.default_access` adds. */
export function withDefaultAccess(
  { config }: Pick<EventServices, 'config'>,
  grants: Grants,
): Grants {
  if (config.events.default_access !== 'read') return grants;
  const { read, write } = grants.patterns;
  return { ...grants, patterns: { read: [...read, '@events'], write } };
}

/** The grants of a caller who may do this with some index at least. Throws `permission-denied`, audited (EV-23, EV-24). */
export async function requireEventRight(
  services: EventServices,
  caller: Principal,
  origin: Origin,
  verb: Verb,
): Promise<Grants> {
  const grants = await eventGrants(services, caller);
  if (grantsTouchEvents(grants, verb)) return grants;
  await auditDenial(services, caller, origin, { verb, index: null });
  throw new AppError('permission-denied', NO_EVENT_PERMISSION);
}

/** Whether the caller may read some index, for pages that only offer what can be opened. */
export async function mayReadEvents(
  services: Pick<EventServices, 'config' | 'db'>,
  caller: Principal,
): Promise<boolean> {
  return grantsTouchEvents(await eventGrants(services, caller), 'read');
}

/** Whether the caller may send events to some index. */
export async function mayWriteEvents(
  services: Pick<EventServices, 'config' | 'db'>,
  caller: Principal,
): Promise<boolean> {
  return grantsTouchEvents(await eventGrants(services, caller), 'write');
}

/** Whether the caller has any right on events, for the description of what can be called (EV-11). */
export async function mayUseEvents(
  services: Pick<EventServices, 'config' | 'db'>,
  caller: Principal,
): Promise<boolean> {
  const grants = await eventGrants(services, caller);
  return grantsTouchEvents(grants, 'read') || grantsTouchEvents(grants, 'write');
}

/** Notes that somebody was refused; `index` null: any. */
export async function auditDenial(
  services: EventServices,
  caller: Principal,
  origin: Origin,
  { verb, index }: { readonly verb: Verb; readonly index: string | null },
): Promise<void> {
  await services.audit.record({
    userId: caller.userId,
    action: 'permission_denied',
    resource: index === null ? '@events' : `@events/${index}`,
    details: verb,
    ipAddress: origin.clientAddress,
  });
}

/** The indexes that hold events and may be read; null: all there are and will be. */
export function readableIndexes(services: EventServices, grants: Grants): string[] | null {
  // No index can have this name: it is longer than an index may be.
  if (grantsCoverEvents(grants, 'x'.repeat(256), 'read')) return null;
  return services.events.indexNames().filter((index) => grantsCoverEvents(grants, index, 'read'));
}
