/** What is found in events of any sourcetype, through every way in, and what counts more (EV-30, EV-40, EV-41, EV-46, EV-59). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';

let svc: Service;
let root: Client;
beforeAll(async () => {
  const extractors = [{ sourcetype: 'till', regex: '^(?<till>\\d+) (?<kind>SALE)' }];
  svc = await startService({ config: { events: { min_free_bytes: 1, extractors } } });
  await svc.accounts.user('root', { superuser: true });
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

interface Stored {
  readonly id: number;
  readonly data: string;
  readonly host: string;
  readonly sourcetype: string;
  readonly extracted_fields: Record<string, unknown>;
}

async function send(path: string, body: string, type = 'application/json'): Promise<Stored[]> {
  const headers = { 'Content-Type': type };
  const answer = await root.fetch(path, { method: 'POST', body, headers });
  expect([path, answer.status < 300, await answer.text()]).toEqual([path, true, expect.anything()]);
  const list = await root.fetch('/api/events/?ordering=-id&limit=1');
  return (await list.json()) as Stored[];
}

const TIME = '2026-11-20T10:00:00.250000Z';
const NGINX =
  '10.0.0.7 - - [20/Nov/2026:10:00:00 +0000] "GET /cart HTTP/1.1" 500 12 "-" "curl/8.5.0"';
const json = (value: unknown): string => JSON.stringify(value);

test.each<[string, string, string, string, object]>([
  [
    'REST',
    '/api/events/',
    json({ sourcetype: 'app', data: json({ ts: 1795168800.25, host: 'alpha', order: 17 }) }),
    'application/json',
    { host: 'alpha', sourcetype: 'app', extracted_fields: { order: 17, event_time: TIME } },
  ],
  [
    'REST in lines',
    '/api/events/',
    `${json({ sourcetype: 'nginx', data: NGINX })}\n`,
    'application/x-ndjson',
    { host: 'default', extracted_fields: { status: 500, uri_path: '/cart' } },
  ],
  [
    'HEC, whose time and fields count more',
    '/services/collector',
    json({ event: `time=${TIME} host=alpha order=17`, time: 1, fields: { order: 'mine' } }),
    'application/json',
    {
      host: 'alpha',
      extracted_fields: { order: 'mine', event_time: '1970-01-01T00:00:01.000000Z' },
    },
  ],
  [
    'HEC raw, whose host counts more',
    '/services/collector/raw?host=beta',
    `<13>1 ${TIME} alpha app - - - {"order":17}\n`,
    'text/plain',
    { host: 'beta', extracted_fields: { hostname: 'alpha', order: 17, event_time: TIME } },
  ],
  [
    'HEC raw from an address',
    '/services/collector/raw',
    `<13>1 ${TIME} alpha app - - - order=17 paid=true\n`,
    'text/plain',
    { host: 'alpha', extracted_fields: { order: 17, paid: true } },
  ],
  [
    '_bulk of a collector',
    '/_bulk',
    `{"create":{}}\n${json({ '@timestamp': TIME, agent: { type: 'filebeat' }, message: NGINX })}\n`,
    'application/x-ndjson',
    { extracted_fields: { message: NGINX, status: 500, event_time: TIME } },
  ],
  [
    '_bulk with another time',
    '/_bulk',
    `{"create":{}}\n${json({ time: TIME, message: 'hello' })}\n`,
    'application/x-ndjson',
    { extracted_fields: { message: 'hello', event_time: TIME } },
  ],
  [
    'OTLP',
    '/v1/logs',
    json({
      resourceLogs: [
        { scopeLogs: [{ logRecords: [{ body: { stringValue: 'level=warn order=17' } }] }] },
      ],
    }),
    'application/json',
    { extracted_fields: { level: 'warn', order: 17 } },
  ],
  [
    'Loki, whose labels count more',
    '/loki/api/v1/push',
    json({
      streams: [
        { stream: { level: 'x' }, values: [['1795168800250000000', 'level=warn order=17']] },
      ],
    }),
    'application/json',
    { extracted_fields: { level: 'x', order: 17, event_time: TIME } },
  ],
])('%s', async (_, path, body, type, expected) => {
  expect(await send(path, body, type)).toMatchObject([expected]);
});

test('an extractor of the sourcetype takes the place of what would be found, but for the time', async () => {
  const data = `17 SALE ${NGINX}`;
  expect(await send('/api/events/', json({ sourcetype: 'till', data }))).toMatchObject([
    { extracted_fields: { till: '17', kind: 'SALE' } },
  ]);
  const [{ extracted_fields: fields } = { extracted_fields: {} }] = await send(
    '/api/events/',
    json({ sourcetype: 'till', data: `17 SALE [20/Nov/2026:10:00:00 +0000] a=1 b=2` }),
  );
  expect(fields).toEqual({ till: '17', kind: 'SALE' });
  const other = await send('/api/events/', json({ sourcetype: 'till', data: 'a=1 b=2' }));
  expect(other[0]!.extracted_fields).toEqual({ a: 1, b: 2 });
});

test('named formats find the time as well, below that of the client', async () => {
  const data = json({ timestamp: TIME, a: 1 });
  expect((await send('/api/events/', json({ sourcetype: 'json', data })))[0]).toMatchObject({
    extracted_fields: { a: 1, event_time: TIME },
  });
  const given = { a: 9, event_time: '2001-01-01T00:00:00Z' };
  const body = json({ sourcetype: 'json', data, extracted_fields: given });
  expect((await send('/api/events/', body))[0]).toMatchObject({
    extracted_fields: { a: 1, event_time: given.event_time },
  });
});

test('fields sent as something else than an object stay', async () => {
  for (const extracted_fields of [null, [7], 'text', 5]) {
    const [event] = await send('/api/events/', json({ data: 'a=1 b=2', extracted_fields }));
    expect(event!.extracted_fields).toEqual(extracted_fields as never);
  }
});

test('a change takes out what was detected, and nothing of the client', async () => {
  const [event] = await send(
    '/api/events/',
    json({ data: `${TIME} level=info a=1`, extracted_fields: { mine: true } }),
  );
  expect(event!.extracted_fields).toEqual({ mine: true, level: 'info', a: 1, event_time: TIME });
  const init = {
    method: 'PATCH',
    body: json({ data: 'no fields here' }),
    headers: { 'Content-Type': 'application/json' },
  };
  const changed = await root.fetch(`/api/events/${event!.id}/`, init);
  expect(((await changed.json()) as Stored).extracted_fields).toEqual({ mine: true });
});

test('columns are those the line before told, for each source its own', async () => {
  const lines = [
    '#Fields: date time c-ip sc-status',
    '2026-11-20 10:00:00 10.0.0.7 200',
    '2026-11-20 10:00:01 10.0.0.8 404',
  ];
  await send('/services/collector/raw?source=iis', `${lines.join('\n')}\n`, 'text/plain');
  const [event] = await send('/services/collector/raw?source=iis', `${lines[2]}\n`, 'text/plain');
  expect(event!.extracted_fields).toMatchObject({ 'c-ip': '10.0.0.8', 'sc-status': 404 });
  const [other] = await send('/services/collector/raw?source=else', `${lines[2]}\n`, 'text/plain');
  expect(other!.extracted_fields).toEqual({ event_time: '2026-11-20T10:00:01.000000Z' });
});

const FIELDS = '#Fields: date time c-ip sc-status';
const LINE = '2026-11-20 10:00:01 10.0.0.8 404';
const COLUMNS = { 'c-ip': '10.0.0.8', 'sc-status': 404 };
const NO_COLUMNS = { event_time: '2026-11-20T10:00:01.000000Z' };

test('columns outlive the process, however it ended', async () => {
  const raw = '/services/collector/raw?index=web&source=w3c';
  await send(raw, FIELDS, 'text/plain');
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await svc.kill(signal);
    await svc.start();
    const [event] = await send(raw, LINE, 'text/plain');
    expect(event!.extracted_fields).toMatchObject(COLUMNS);
  }
  await send(raw, '#Fields: date time cs-host sc-status', 'text/plain');
  await svc.kill('SIGKILL');
  await svc.start();
  const [event] = await send(raw, LINE, 'text/plain');
  expect(event!.extracted_fields).toMatchObject({ 'cs-host': '10.0.0.8' });
});

test('lines that are not stored tell no columns', async () => {
  await svc.accounts.user('guest');
  await svc.accounts.grant('guest', '@events/web', 'write');
  const guest = await svc.as('guest');
  const told = { index: 'closed', source: 'told', data: FIELDS };
  const headers = { 'Content-Type': 'application/json' };
  for (const body of [told, [told], { ...told, data: `${FIELDS}\n` }]) {
    const init = { method: 'POST', body: json(body), headers };
    expect((await guest.fetch('/api/events/', init)).status).toBe(403);
  }
  const lines = { 'Content-Type': 'application/x-ndjson' };
  const mixed = `${json({ index: 'web', data: 'x' })}\n${json(told)}\n`;
  const init = { method: 'POST', body: mixed, headers: lines };
  expect(await (await guest.fetch('/api/events/', init)).json()).toMatchObject({ rejected: 1 });
  const dry = { method: 'POST', body: json(told), headers };
  expect((await root.fetch('/api/events/?dry_run=1', dry)).status).toBe(200);
  const [event] = await send('/api/events/', json({ ...told, data: LINE }));
  expect(event!.extracted_fields).toEqual(NO_COLUMNS);
});
