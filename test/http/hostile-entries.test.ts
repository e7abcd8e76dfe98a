/**
 * Entries that are small on the wire and large in memory are refused before they are parsed, by every route that takes events,
 * and hold up nobody else (EV-49 to EV-52, EV-65).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { zstdCompressSync } from 'node:zlib';
import { MAX_WHOLE_BYTES } from '../../src/events/intake/wire/json-entries.ts';
import { EventWriter } from './event-writer.ts';
import { eventually } from './eventually.ts';
import { workOf } from './process-memory.ts';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { PASSWORD } from '../support/password.ts';

let svc: Service;
let root: Client;
let writer: EventWriter;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.createSuperuser('root');
  root = svc.withHeaders({ Authorization: `Basic ${btoa(`root:${PASSWORD}`)}` });
  writer = new EventWriter(svc);
  await post('/api/events/', '{"data":"first"}');
});
afterAll(() => svc[Symbol.asyncDispose]());

async function post(path: string, body: string, type = 'application/json') {
  const answer = await root.fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': type, 'Content-Encoding': 'zstd' },
    body: zstdCompressSync(body),
  });
  const text = await answer.text();
  return { status: answer.status, text };
}

const HOSTILE = {
  'objects that fit into a small body': `[${'{},'.repeat(120_000)}{}]`,
  objects: `[${'{},'.repeat(3_000_000)}{}]`,
  'a deep list': '['.repeat(2_000_000) + ']'.repeat(2_000_000),
  digits: '7'.repeat(20_000_000),
  'a fraction': `1.${'7'.repeat(5_000_000)}`,
  'a few more digits than anybody reads': '7'.repeat(1001),
};
const GOOD = 'a good one';

/** A body with a good entry before and after the bad one; how it is answered, and whether the good ones are stored. */
const ROUTES: Record<string, (value: string) => [string, string, string?]> = {
  'an event': (value) => ['/api/events/', `{"data":"x","extracted_fields":{"a":${value}}}`],
  'a large list': (value) => [
    '/api/events/',
    `[${' '.repeat(MAX_WHOLE_BYTES)}{"data":"y"},{"data":"x","extracted_fields":{"a":${value}}}]`,
  ],
  'a list': (value) => [
    '/api/events/',
    `[{"data":"${GOOD}"},{"data":"x","extracted_fields":{"a":${value}}}]`,
  ],
  lines: (value) => [
    '/api/events/',
    `{"data":"${GOOD}"}\n{"data":"x","extracted_fields":{"a":${value}}}\n{"data":"${GOOD}"}\n`,
    'application/x-ndjson',
  ],
  HEC: (value) => [
    '/services/collector',
    `{"event":"${GOOD}"}\n{"event":"x","fields":{"a":${value}}}\n{"event":"${GOOD}"}\n`,
  ],
  _bulk: (value) => [
    '/_bulk',
    `{"index":{}}\n{"m":"${GOOD}"}\n{"index":{}}\n{"a":${value}}\n{"index":{}}\n{"m":"${GOOD}"}\n`,
  ],
  OTLP: (value) => [
    '/v1/logs',
    `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"${GOOD}"}},{"body":{"stringValue":"x"},"attributes":${value}}]}]}]}`,
  ],
  Loki: (value) => [
    '/loki/api/v1/push',
    `{"streams":[{"stream":{},"values":[["1795168800000000000","${GOOD}"],["1795168800000000000","x",${value}]]}]}`,
  ],
};

describe.each(Object.keys(HOSTILE) as (keyof typeof HOSTILE)[])('%s', (kind) => {
  test.each(Object.keys(ROUTES))('in %s', async (route) => {
    const pid = await writer.pid();
    const work = (): number => workOf(svc.pid) + workOf(pid);
    const before = work();
    const { status, text } = await post(...ROUTES[route]!(HOSTILE[kind]));
    const done = work() - before;
    const reason =
      /more than \d+ values|more than 1000 characters|more than \d+ bytes|nest(?:ed|ing) deeper|rejected/i;
    expect([status, text.slice(0, 300)]).toEqual([
      ['lines'].includes(route)
        ? 201
        : ['_bulk', 'OTLP'].includes(route)
          ? expect.any(Number)
          : 400,
      // Attributes without names are none.
      route === 'OTLP' && text.includes('"partialSuccess":{}')
        ? expect.any(String)
        : route === 'HEC'
          ? expect.stringContaining('Invalid data format')
          : expect.stringMatching(reason),
    ]);
    expect(status).toBeLessThan(500);
    // 9 s and more before, most of them in the writer that all others waited for.
    expect(done).toBeLessThan(5_000);
    expect(await writer.pid()).toBe(pid);
  });
});

describe('lists on both sides of the size from which they are cut before they are parsed', () => {
  const sides = [[''], [' '.repeat(MAX_WHOLE_BYTES)]] as const;

  test.each(sides)('tell where they are no JSON (EV-4)', async (space) => {
    const events = `[\n ${space}{"data":"ü","host":"ü"},\n`;
    const wrong = { '{"data":"a" "b"}]': 12, '{"data":"a"} 5]': 13, '{"data":"a"},]': 13, '': 0 };
    for (const [end, column] of Object.entries(wrong)) {
      const { status, text } = await post('/api/events/', events + end);
      const place = `line 3 column ${column + 1} (char ${events.length + column})`;
      expect([status, text]).toEqual([400, expect.stringContaining(place)]);
    }
    const bad = '{"host":"h"}, {"data":"\\u00fc","extracted_fields":{"a":[1.0,[]]}} ]';
    expect(JSON.parse((await post('/api/events/', events + bad)).text)).toEqual([
      {},
      { data: ['This field is required.'] },
      {},
    ]);
    const good = '{"data":"\\u00fc]","extracted_fields":{"a":[1.0,[{}]]}}  ]\n';
    const { status, text } = await post('/api/events/', events + good);
    expect(status).toBe(201);
    expect(text).toContain('"data":"ü]"');
    expect(text).toContain('"extracted_fields":{"a":[1.0,[{}]]}');
  });

  test.each(sides)('of records and streams are read alike', async (space) => {
    const records = `[{"body":{"stringValue":"x"}},${space}{"body":{"intValue":"1"}} , 5]`;
    const otlp = await post(
      '/v1/logs?dry_run=1',
      `{"resourceLogs":[{"resource":{},"scopeLogs":[{"log\\u0052ecords":${records}}]}]}`,
    );
    expect(otlp.status).toBe(200);
    expect(JSON.parse(otlp.text).partialSuccess.rejectedLogRecords).toBe('1');
    expect(JSON.parse(otlp.text).dry_run[1].data).toBe('1');
    const values = `[["1","x"],${space}["2","b",{"k":"v"}],["x","c"]]`;
    const loki = await post(
      '/loki/api/v1/push',
      `{"streams":[{"values":${values},"stream":{"l":"1"}},{"stream":{},"values":[]}]}`,
    );
    expect([loki.status, loki.text]).toEqual([
      400,
      '1 of 3 entries rejected: stream 0 entry 2: the time is no number of nanoseconds\n',
    ]);
  });
});

test('who sends one event does not wait for all that another one has sent', async () => {
  await svc.accounts.user('other');
  await svc.accounts.grant('other', '@events', 'write');
  const other = await svc.as('other');
  const held = await writer.hold();
  const body = `[{"data":"${'y'.repeat(900_000)}"},{"data":"${'y'.repeat(900_000)}"}]`;
  const large = Array.from({ length: 24 }, () =>
    root.fetch('/api/events/?index=many', { method: 'POST', body }),
  );
  const waiting = async () => {
    const { queue } = (await (await root.fetch('/admin/ingest')).json()) as {
      queue: { events: number };
    };
    return queue.events;
  };
  await eventually(async () => expect(await waiting()).toBe(48));
  const one = other.fetch('/api/events/', { method: 'POST', body: '{"data":"one"}' });
  await eventually(async () => expect(await waiting()).toBe(49));
  process.kill(held, 'SIGCONT');
  const { id } = (await (await one).json()) as { id: number };
  const ids: number[] = [];
  for (const answer of await Promise.all(large))
    ids.push(...((await answer.json()) as { id: number }[]).map((event) => event.id));
  expect(ids.filter((later) => later > id).length).toBeGreaterThan(12);
});

describe('what stands once for thousands of entries is not written thousands of times', () => {
  const long = 'x'.repeat(900_000);
  const entries = 5_000;

  test('labels of a stream (EV-75)', async () => {
    const values = Array.from({ length: entries }, () => '["1","a"]').join(',');
    const push = (stream: string) =>
      post('/loki/api/v1/push', `{"streams":[{"stream":${stream},"values":[${values}]}]}`);
    expect((await push(`{"l":"${long}"}`)).status).toBe(413);
    const tooLong = await push(`{"l":"${long}${long}"}`);
    expect([tooLong.status, tooLong.text]).toEqual([
      400,
      expect.stringContaining(
        `${entries} of ${entries} entries rejected: stream 0 entry 0: labels`,
      ),
    ]);
  });

  test('attributes of a resource (EV-74)', async () => {
    const records = Array.from({ length: entries }, () => '{"body":{"stringValue":"a"}}').join(',');
    const send = (text: string) =>
      post(
        '/v1/logs',
        `{"resourceLogs":[{"resource":{"attributes":[{"key":"k","value":{"stringValue":"${text}"}}]},"scopeLogs":[{"logRecords":[${records}]}]}]}`,
      );
    expect((await send(long)).status).toBe(413);
    const tooLong = await send(long + long);
    expect(JSON.parse(tooLong.text).partialSuccess).toMatchObject({
      rejectedLogRecords: String(entries),
    });
  });
});
