/** The backlog of a tail among many events: the newest matches, wherever they lie (EV-78). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';

const EVENTS = 45_000;

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.accounts.user('root', { superuser: true });
  root = await svc.as('root');
  // Rare ones lie behind what is looked at first.
  for (let from = 0; from < EVENTS; from += 15_000) {
    const batch = Array.from({ length: 15_000 }, (_, at) => {
      const id = from + at + 1;
      return { index: id % 10_000 === 7 ? 'rare' : 'web', data: `n=${id} odd=${id % 2 === 1}` };
    });
    const headers = { Prefer: 'return=minimal' };
    const body = JSON.stringify(batch);
    expect((await root.fetch('/api/events/', { method: 'POST', body, headers })).status).toBe(201);
  }
}, 60_000);
afterAll(() => svc[Symbol.asyncDispose]());

/** The ids that come first; with `gap` where something was left out. */
async function idsOf(parameters: string, count: number): Promise<(number | 'gap')[]> {
  const answer = await root.fetch(`/api/events/tail?${parameters}`);
  const ids: (number | 'gap')[] = [];
  let text = '';
  for await (const chunk of answer.body!) {
    text += Buffer.from(chunk).toString();
    const messages = text.split('\n\n');
    text = messages.pop()!;
    for (const message of messages) {
      if (message.includes('event: gap')) ids.push('gap');
      if (message.includes('event: event')) ids.push(Number(/^id: (\d+)/m.exec(message)![1]));
    }
    if (ids.length >= count) break;
  }
  return ids.slice(0, count);
}

test.each<[string, (number | 'gap')[]]>([
  ['backlog=2', [EVENTS - 1, EVENTS]],
  ['backlog=3&index=rare', [20_007, 30_007, 40_007]],
  ['backlog=9&index=rare', [7, 10_007, 20_007, 30_007, 40_007]],
  ['backlog=2&query=where%20odd%3Dtrue', [EVENTS - 3, EVENTS - 1]],
  ['backlog=2&index=rare&query=where%20odd%3Dtrue', [30_007, 40_007]],
  ['last_event_id=44998', [44_999, 45_000]],
  ['last_event_id=5', ['gap', 35_001, 35_002]],
  ['last_event_id=8&index=rare', [10_007, 20_007, 30_007, 40_007]],
])('%s', async (parameters, expected) => {
  expect(await idsOf(parameters, expected.length)).toEqual(expected);
});
