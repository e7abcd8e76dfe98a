/**
 * A store of events that is wrong on purpose, for the controls: `unsynced` never syncs, `early` answers before it writes.
 *
 * Arguments: state directory, way of being wrong. Prints its address when it listens.
 */
import { join } from 'node:path';
import type { EventDraft } from '../../src/events/event.ts';
import { EventStore } from '../../src/events/store/store.ts';

const [stateDir = '', mode = ''] = process.argv.slice(2);
const LATE_MS = 30;
const store = new EventStore(join(stateDir, 'events.sqlite'));
if (mode === 'unsynced') store.db.run('PRAGMA synchronous = OFF');

let waiting: EventDraft[] = [];

function write(): void {
  if (waiting.length === 0) return;
  store.begin();
  store.insert(waiting, Date.now() * 1000);
  store.commit();
  waiting = [];
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const { data } = (await request.json()) as { data: string };
    const meta = { index: 'default', sourcetype: 'default', source: 'default', host: 'default' };
    waiting.push({ ...meta, data, fields: '{}', eventTime: null });
    if (mode === 'unsynced') write();
    return new Response(null, { status: 201 });
  },
});
if (mode === 'early') setInterval(write, LATE_MS);
console.log(server.url.href);
