import type { Administrator } from '../../operations/administration.ts';
import { administratorOf } from '../../operations/administration.ts';
import type { Context } from '../../http/context.ts';

export const adminDoor = { access: 'superuser', refusesScopedKeys: true } as const;

export function adminOf({ caller, origin }: Context): Administrator {
  return administratorOf(caller, origin);
}
