/**
 * Seals all events of a state folder, makes parts of small parts and deletes some sealed ones: what the recipe of
 * sealing kills. `careless` deletes the rows before the part that has them is listed.
 */
import { join } from 'node:path';
import { STRATEGY } from '../../src/events/limits.ts';
import { addPart } from '../../src/events/parts/manifest.ts';
import { type Sealing, sealStep } from '../../src/events/parts/sealer.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { EventStore } from '../../src/events/store/store.ts';

const [stateDir = '', mode] = process.argv.slice(2);
Object.assign(STRATEGY, { partEvents: 24, partGroupEvents: 5, sealEvents: 6, mergedParts: 2 });
const now = Date.now() * 1000;
const store = new EventStore(join(stateDir, EVENTS_FILE));
store.sealed.recover(now);

function take({ order, ids }: Sealing): void {
  if (mode !== 'careless') {
    store.begin();
    store.sealed.seal(order, ids, now);
    store.commit();
    return;
  }
  const list = JSON.stringify(ids);
  store.begin();
  store.db.query('DELETE FROM events WHERE id IN (SELECT value FROM json_each(?))').run(list);
  store.commit();
  store.begin();
  addPart(store.db, order.part);
  store.commit();
}

for (const partEvents of [8, 24]) {
  STRATEGY.partEvents = partEvents;
  for (;;) {
    const made = sealStep({ stateDir, before: now + 1, now: now * 2 });
    if (made === null) break;
    take(made);
    if (mode === 'careless' && made.order.replaces.length > 0) break;
  }
}
store.close();
console.log('done');
