import type { Database } from '../store/database.ts';
import { IngestCounters } from './intake/counters.ts';
import type { EventsOptions } from './events.ts';
import { Events } from './events.ts';
import type { ListenerViews } from './tail/listener-view.ts';
import { RateLimiter } from './intake/rate.ts';
import { Tails } from './tail/tail.ts';

export interface EventParts {
  readonly events: Events;
  readonly ingestCounters: IngestCounters;
  readonly tails: Tails;
  /** Filled by the listeners. */
  readonly listeners: ListenerViews;
  readonly rates: { readonly ingest: RateLimiter; readonly search: RateLimiter };
}

/** Opens nothing before `events.open` or the first request. `db` is the state database. */
export function openEvents(options: EventsOptions & { readonly db: Database }): EventParts {
  const { clock, db, log } = options;
  const events = new Events(options);
  return {
    events,
    ingestCounters: new IngestCounters({ db, clock, log }),
    tails: new Tails(events),
    listeners: new Map(),
    rates: { ingest: new RateLimiter(clock), search: new RateLimiter(clock) },
  };
}

/** Call after the last request. */
export async function closeEvents({ events, ingestCounters, tails }: EventParts): Promise<void> {
  tails.close();
  await events.close();
  await ingestCounters.flush();
}
