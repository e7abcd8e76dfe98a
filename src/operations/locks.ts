import { cleanStaleLocks, lockList, releaseLock as takeAway } from '../docroot/locks.ts';
import { AppError } from '../base/errors.ts';
import type { ListPage } from '../store/list-source.ts';
import {
  type Administrator,
  type AdminServices,
  type ListRequest,
  readList,
  recordChange,
} from './administration.ts';

/** Expired ones included. Throws as `readList`. */
export async function listLocks(
  services: AdminServices,
  admin: Administrator,
  request: ListRequest,
): Promise<ListPage> {
  return readList(services, admin, lockList, request);
}

/** The holder's write then fails before it changes anything. Throws `not-found`. */
export async function releaseLock(
  services: AdminServices,
  admin: Administrator,
  lockId: number,
): Promise<void> {
  if (!(await takeAway(services.db, lockId))) throw new AppError('not-found', 'Lock not found');
  const details = `Released lock ${lockId}`;
  await recordChange(services, admin, { action: 'release_lock', resource: 'lock', details });
}

/** Removes locks that have expired or are older than a day; returns how many. */
export async function cleanLocks(services: AdminServices, admin: Administrator): Promise<number> {
  const released = await cleanStaleLocks(services.db, services.clock.now());
  await recordChange(services, admin, {
    action: 'clean_stale_locks',
    resource: 'lock',
    details: `Released ${released} stale locks`,
  });
  return released;
}
