import type { App } from '../../app.ts';
import { grantsCoverEvents, grantsTouchEvents } from '../../accounts/rights/permissions.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import type { TailOrder } from '../../events/tail/tail-stream.ts';
import type { Origin } from '../access.ts';
import { eventGrants, requireEventRight } from './event-access.ts';

const RETRY_SECONDS = '5';

/**
 * Null when `isRefused`, which is only asked after the right to read was checked. `isAlive` tells whether the
 * caller's credential is still valid. Throws `permission-denied`, `throttled`.
 */
export async function openTail(
  services: App,
  caller: Principal,
  origin: Origin,
  request: {
    readonly order: Pick<TailOrder, 'selection' | 'lastId' | 'backlog' | 'query'>;
    readonly isRefused: boolean;
    readonly isAlive: () => Promise<boolean>;
  },
): Promise<ReadableStream<Uint8Array> | null> {
  await requireEventRight(services, caller, origin, 'read');
  if (request.isRefused) return null;
  await services.events.open();
  const stream = await services.tails.open({
    ...request.order,
    userId: caller.userId,
    mostOfUser: services.config.events.tail_per_user,
    rights: async () => {
      if (!(await request.isAlive())) return null;
      const grants = await eventGrants(services, caller);
      if (!grantsTouchEvents(grants, 'read')) return null;
      return (index) => grantsCoverEvents(grants, index, 'read');
    },
  });
  if (stream !== null) return stream;
  const headers = { 'Retry-After': RETRY_SECONDS };
  throw new AppError('throttled', 'Too many tail streams.', { headers });
}
