import type { AccountsApp } from '../app.ts';
import { cleanStaleLocks, lockList, releaseLock as takeAway } from '../docroot/locks.ts';
import { AppError } from '../base/errors.ts';
import { type Administrator, listOf } from './administration.ts';
import { record } from './access.ts';

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
