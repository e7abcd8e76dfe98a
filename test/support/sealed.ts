import { EventStore } from '../../src/events/store/store.ts';
import { sealStep } from '../../src/events/parts/sealer.ts';
import { join } from 'node:path';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';

/** Seals what was stored before that time (microseconds), as the server does; how many parts were made. */
export function sealed(
  stateDir: string,
  before: number,
  now = before + 86_400_000_000 * 400,
): number {
  const store = new EventStore(join(stateDir, EVENTS_FILE));
  let parts = 0;
  try {
    for (;;) {
      const made = sealStep({ stateDir, before, now });
      if (made === null) return parts;
      store.begin();
      const problem = store.sealed.seal(made.order, made.ids, now);
      store.commit();
      if (problem !== null) throw new Error(problem);
      parts++;
    }
  } finally {
    store.close();
  }
}
