/**
 * Who gets to the routes of administration (DS-118, DS-132).
 */
import type { Administrator } from '../../../operations/administration.ts';
import { administratorOf } from '../../../operations/administration.ts';
import type { Context } from '../../context.ts';

/** What every route of administration has (DS-118, DS-132). */
export const adminDoor = { access: 'superuser', refusesScopedKeys: true } as const;

/** The caller as an administrator. */
export function adminOf({ caller, origin }: Context): Administrator {
  return administratorOf(caller, origin);
}
