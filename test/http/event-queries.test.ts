/**
 * Queries that choose among events, for live tails, counts over time and fields (EV-77, EV-80, EV-81, SL-62).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { answered } from '../support/send.ts';

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1, tail_per_user: 20 } } });
  await svc.createSuperuser('root');
  root = await svc.as('root');
  await post(
    Array.from({ length: 700 }, (_, at) => ({
      sourcetype: 'json',
      host: `h${at % 2}`,
      data: JSON.stringify({
        status: at % 10 === 0 ? 500 : 200,
        n: at,
        event_time: new Date(Date.UTC(2026, 10, 20, 10, 0, at)).toISOString(),
      }),
    })),
  );
});
afterAll(() => svc[Symbol.asyncDispose]());

async function post(body: unknown): Promise<void> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  expect((await root.fetch('/api/events/', init)).status).toBe(201);
}

const ask = (path: string, client = root) => answered(client, 'GET', path);

const encoded = encodeURIComponent;

describe('histogram and fields', () => {
  test.each([
    ['where status >= 500', 70],
    ['host=h1', 350],
    ['500 | where n < 10', 1],
    ["search --filter='host=h0' | where n >= 600", 50],
    ['* | eval late = n * 2 | where late >= 1300', 50],
    ['rex "status.:(?<code>[0-9]+)" | where code == "500"', 70],
    ['|', 700],
  ])('count what remains of %s', async (query, count) => {
    const { status, body } = await ask(`/api/events/histogram?query=${encoded(query)}&interval=1h`);
    expect([status, body['total']]).toEqual([200, count]);
    const fields = await ask(`/api/events/fields?query=${encoded(query)}`);
    expect(fields.body['sampled']).toBe(count);
  });

  test('split what remains by a member, beside the other filters', async () => {
    const query = encoded('where status == 500');
    const { body } = await ask(
      `/api/events/histogram?query=${query}&host=h0&by=status&interval=1h`,
    );
    expect(body).toMatchObject({ total: 70, series: ['500'] });
    expect(body['buckets'][0].series).toEqual({ '500': 70 });
  });

  test.each([
    ['stats count by host', 'stats', 'bad_request'],
    ['search --limit 5', 'search', 'bad_request'],
    ['head 5', 'head', 'bad_request'],
    ['from audit', 'from', 'bad_request'],
    ['hed 5 | nonsense', 'nonsense', 'unknown_command'],
    ['where missing_column(', 'where', 'syntax'],
  ])('refuse %s in the shape of the search', async (query, _word, code) => {
    for (const path of ['histogram', 'fields', 'tail']) {
      const { status, body } = await ask(`/api/events/${path}?query=${encoded(query)}`);
      expect([path, status, body['code']]).toEqual([path, 400, code]);
      expect(typeof body['error']).toBe('string');
    }
  });

  test('nobody without a right learns anything of a query', async () => {
    const stranger = await svc.as('stranger');
    for (const path of ['histogram', 'fields', 'tail']) {
      expect((await ask(`/api/events/${path}?query=stats`, stranger)).status).toBe(403);
    }
  });

  test.each([
    ['earliest=2026-11-20T10:10:00Z', 100],
    ['earliest=2026-11-20T10:00:00Z&latest=2026-11-20T10:01:00Z', 60],
    [`earliest=${Date.UTC(2026, 10, 20, 10, 11) / 1000}`, 40],
    ['latest=-100y@y', 0],
    ['latest=now', 700],
  ])('%s bounds the event time', async (bounds, count) => {
    const { body } = await ask(`/api/events/histogram?${bounds}&interval=1d&search=status`);
    expect(body['total']).toBe(count);
  });
});

test('a tail with a query sends what was missed, then what comes, and nothing else', async () => {
  const stop = new AbortController();
  const query = encoded('where status >= 500');
  const { body, status } = await root.fetch(`/api/events/tail?query=${query}&backlog=2`, {
    signal: stop.signal,
  });
  expect(status).toBe(200);
  let text = '';
  const reading = (async () => {
    for await (const chunk of body!) text += new TextDecoder().decode(chunk as Uint8Array);
  })().catch(() => undefined);
  const seen = () => [...text.matchAll(/"extracted_fields":\{"status":(\d+),"n":(\d+)/g)];
  await eventually(() => expect(seen().map(([, , n]) => n)).toEqual(['680', '690']));
  const event = (status: number, n: number) => ({
    sourcetype: 'json',
    data: JSON.stringify({ status, n }),
  });
  await post([event(200, 1000), event(503, 1001)]);
  await post(event(504, 1002));
  await eventually(() =>
    expect(seen().map(([, , n]) => n)).toEqual(['680', '690', '1001', '1002']),
  );
  stop.abort();
  await reading;
});
