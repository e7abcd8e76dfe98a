/**
 * Searches for rare events by callers who may read all indexes, some, one and none, in a store large enough that they are
 * looked for in another way (SL-61, SL-64, EV-99). `EVENTS` makes it larger.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';

const EVENTS = Number(process.env['EVENTS'] ?? 20_100);
const INDEXES = ['web', 'auth', 'app'];

interface Event {
  readonly id: number;
  readonly index: string;
  readonly host: string;
  readonly data: string;
}

const events = Array.from({ length: EVENTS }, (_, at): Event => ({
  id: at + 1,
  index: INDEXES[at % 3]!,
  host: `h${at % 50}`,
  data: at % 7_001 === 7 ? 'ABC' : `x${(at * 7919) % 10_007} line`,
}));

let svc: Service;
const callers = new Map<string, { client: Client; indexes: readonly string[] }>();

beforeAll(async () => {
  svc = await startService({
    config: { events: { min_free_bytes: 1, throttle: { search: '' } } },
  });
  await svc.accounts.user('root', { superuser: true });
  const rights = { root: INDEXES, some: ['web', 'app'], one: ['auth'], none: [] };
  for (const [name, indexes] of Object.entries(rights)) {
    if (name !== 'root') await svc.accounts.user(name);
    if (name !== 'root')
      for (const index of indexes) await svc.accounts.grant(name, `@events/${index}`, 'read');
    callers.set(name, { client: await svc.as(name), indexes });
  }
  for (let from = 0; from < EVENTS; from += 10_000) {
    const sent = await callers.get('root')!.client.fetch('/api/events/', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(events.slice(from, from + 10_000)),
    });
    expect(sent.status).toBe(201);
  }
}, 240_000);
afterAll(() => svc[Symbol.asyncDispose]());

const has = (text: string) => (event: Event) => event.data.toLowerCase().includes(text);
const QUERIES: Readonly<Record<string, (event: Event) => boolean>> = {
  'data=abc': ({ data }) => data === 'ABC',
  'data="*a7*"': () => false,
  'data!=x': () => true,
  'data=ab*': has('ab'),
  'NOT data=abc': ({ data }) => data !== 'ABC',
  'abc index=web': (event) => has('abc')(event) && event.index === 'web',
  'data=abc OR host=h7': ({ data, host }) => data === 'ABC' || host === 'h7',
  'data=abc host=h9': ({ data, host }) => data === 'ABC' && host === 'h9',
  'source=nowhere': () => false,
  'host=H3 data=*': ({ host }) => host === 'h3',
  x77: has('x77'),
  'id>20000 data=*': ({ id }) => id > 20_000,
  nosuchfield: () => false,
  'nosuchfield=1': () => false,
  '': () => false,
};

describe.each(['root', 'some', 'one', 'none'])('%s', (name) => {
  test.each(Object.entries(QUERIES))(
    '%s',
    async (query, matches) => {
      const { client, indexes } = callers.get(name)!;
      const response = await client.fetch('/search2/api/run/', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ query: query && `${query} | table id`, limit: 10_000 }),
      });
      const ids = events
        .filter((event) => indexes.includes(event.index) && matches(event))
        .map(({ id }) => id);
      const { rows, error } = (await response.json()) as {
        rows?: { id: number }[];
        error?: string;
      };
      expect({ status: response.status, error }).toEqual({ status: 200, error: undefined });
      // Newest first; events of one request share their time.
      expect(rows!.map(({ id }) => id)).toEqual(ids.reverse().slice(0, 10_000));
    },
    60_000,
  );
});
