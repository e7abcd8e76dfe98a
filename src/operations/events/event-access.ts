import type { App } from '../../app.ts';
import type { Grants } from '../../accounts/rights/permissions.ts';
import {
  grantsCoverEvents,
  grantsTouchEvents,
  loadGrants,
} from '../../accounts/rights/permissions.ts';
import type { Principal, Verb } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { type Origin, record } from '../access.ts';

export const NO_EVENT_PERMISSION = 'You do not have permission to perform this action.';

/** With those of `events.default_access`. */
export async function eventGrants(
  services: Pick<App, 'config' | 'db'>,
  caller: Principal,
): Promise<Grants> {
  return withDefaultAccess(services, await loadGrants(services.db, caller));
}

export function withDefaultAccess({ config }: Pick<App, 'config'>, grants: Grants): Grants {
  if (config.events.default_access !== 'read') return grants;
  const { read, write } = grants.patterns;
  return { ...grants, patterns: { read: [...read, '@events'], write } };
}

/** On at least one index. Throws `permission-denied`, audited. */
export async function requireEventRight(
  services: App,
  caller: Principal,
  origin: Origin,
  verb: Verb,
): Promise<Grants> {
  const grants = await eventGrants(services, caller);
  if (grantsTouchEvents(grants, verb)) return grants;
  await auditDenial(services, caller, origin, { verb, index: null });
  throw new AppError('permission-denied', NO_EVENT_PERMISSION);
}

export async function mayReadEvents(
  services: Pick<App, 'config' | 'db'>,
  caller: Principal,
): Promise<boolean> {
  return grantsTouchEvents(await eventGrants(services, caller), 'read');
}

export async function mayWriteEvents(
  services: Pick<App, 'config' | 'db'>,
  caller: Principal,
): Promise<boolean> {
  return grantsTouchEvents(await eventGrants(services, caller), 'write');
}

export async function mayUseEvents(
  services: Pick<App, 'config' | 'db'>,
  caller: Principal,
): Promise<boolean> {
  const grants = await eventGrants(services, caller);
  return grantsTouchEvents(grants, 'read') || grantsTouchEvents(grants, 'write');
}

/** `index` null: any. */
export async function auditDenial(
  services: App,
  caller: Principal,
  origin: Origin,
  { verb, index }: { readonly verb: Verb; readonly index: string | null },
): Promise<void> {
  await record(
    services,
    { user: caller, origin },
    'permission_denied',
    index === null ? '@events' : `@events/${index}`,
    verb,
  );
}

/** With events; null: all present and future ones. */
export function readableIndexes(services: App, grants: Grants): string[] | null {
  // No index has this name: it is longer than allowed.
  if (grantsCoverEvents(grants, 'x'.repeat(256), 'read')) return null;
  return services.events.indexNames().filter((index) => grantsCoverEvents(grants, index, 'read'));
}
