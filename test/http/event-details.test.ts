/**
 * Details of the event contract that no other family has: times that are none, encoded forms, redirects, where a tail starts.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { PASSWORD } from '../support/password.ts';

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.createSuperuser('root');
  root = svc.withHeaders({ Authorization: `Basic ${btoa(`root:${PASSWORD}`)}` });
});
afterAll(() => svc[Symbol.asyncDispose]());

async function posted(body: string | Uint8Array, headers: Record<string, string> = {}) {
  const answer = await root.fetch('/api/events/', { method: 'POST', body, headers });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test.each([
  [
    '<165>1 2026-02-30T10:00:00Z host app 1 ID - text',
    { appname: 'app', procid: '1', msgid: 'ID' },
  ],
  ['<165>1 tomorrow host app 1 ID - text', { appname: 'app', procid: '1', msgid: 'ID' }],
  ['1 2026-13-01T10:00:00Z host app 1 ID - text', { appname: 'app', procid: '1', msgid: 'ID' }],
  ['<165>Feb 30 10:00:00 host app[1]: text', { appname: 'app', procid: '1' }],
  ['<165>Foo 12 10:00:00 host app[1]: text', { appname: 'app', procid: '1' }],
  ['Feb 30 25:00:00 host app[1]: text', { appname: 'app', procid: '1' }],
])('EV-44 a time that is none leaves the other members: %s', async (data, members) => {
  const { body } = await posted(JSON.stringify({ data, sourcetype: 'syslog' }));
  const priority = { facility: 20, severity: 5, severity_name: 'notice' };
  expect(body['extracted_fields']).toEqual({
    ...(data.startsWith('<') && priority),
    ...members,
    hostname: 'host',
    message: 'text',
  });
});

test.each(['Foo 12 10:00:00 host app: text', '1 a b c d e -'])(
  'EV-44 other text is no syslog: %s',
  async (data) => {
    const { body } = await posted(JSON.stringify({ data, sourcetype: 'syslog' }));
    expect(body['extracted_fields']).toEqual({});
  },
);

test('EV-7 an encoded form is a form', async () => {
  const form = new FormData();
  form.set('data', 'x'.repeat(1000));
  form.set('extracted_fields', '{"a":1}');
  const plain = new Response(form);
  const type = plain.headers.get('content-type')!;
  const bytes = gzipSync(await plain.bytes());
  const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip' };
  expect(await posted(bytes, headers)).toMatchObject({
    status: 201,
    body: { data: 'x'.repeat(1000), extracted_fields: { a: 1 } },
  });
  expect((await posted(bytes, { ...headers, 'Content-Encoding': 'br' })).status).toBe(415);
});

test('EV-6 a multipart form repeats the name of a list', async () => {
  await svc.accounts.user('one');
  await svc.accounts.user('two');
  const users = (await (await root.fetch('/admin/users')).json()) as { id: number }[];
  const ids = users.map(({ id }) => id).toSorted((a, b) => a - b);
  const form = new FormData();
  form.set('name', 'n');
  form.set('query', '*');
  for (const id of ids) form.append('shared_with', String(id));
  const answer = await root.fetch('/api/savedsearches/', { method: 'POST', body: form });
  expect([
    answer.status,
    ((await answer.json()) as Record<string, unknown>)['shared_with'],
  ]).toEqual([201, ids]);
});

test.each(['/api/events/', '/api/savedsearches/'])(
  'EV-5 browsers are sent to sign in from a GET of %s, not from a POST',
  async (path) => {
    const ask = async (method: string) => {
      const headers = { Accept: 'text/html' };
      const answer = await svc.fetch(path, { method, headers, redirect: 'manual' });
      return [answer.status, answer.headers.has('www-authenticate')];
    };
    expect(await ask('GET')).toEqual([302, false]);
    expect(await ask('POST')).toEqual([401, true]);
  },
);

test('EV-78 a tail begins with the id it starts behind', async () => {
  const { body } = await posted('{"data":"last"}');
  const start = async (query: string) => {
    const answer = await root.fetch(`/api/events/tail${query}`);
    const reader = answer.body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return Buffer.from(value!).toString();
  };
  expect(await start('')).toBe(`id: ${Number(body['id'])}\n\n`);
  expect(await start('?host=nobody')).toBe(`id: ${Number(body['id'])}\n\n`);
  expect(await start('?last_event_id=0')).toBe('id: 0\n\n');
  const { body: newer } = await posted('{"data":"newer"}');
  expect(await start('?backlog=1')).toStartWith(`id: ${Number(newer['id']) - 1}\n\n`);
  expect(await start('?backlog=1&host=nobody')).toBe(`id: ${Number(newer['id'])}\n\n`);
});

test('EV-81 the zone moves the days of both ends and of the query', async () => {
  const hour = new Date().getUTCHours();
  // A zone in which the day began this hour, and one in which it will begin with the next.
  const [begun, ending] = [-hour, 23 - hour].map(
    (offset) => `${offset < 0 ? '-' : '+'}${String(Math.abs(offset)).padStart(2, '0')}:00`,
  );
  const long = new Date(Date.now() - 3 * 3_600_000).toISOString();
  await posted(
    JSON.stringify({
      host: 'zoned',
      data: JSON.stringify({ event_time: long }),
      sourcetype: 'json',
    }),
  );
  const sampled = async (parameters: Readonly<Record<string, string>>) => {
    const asked = new URLSearchParams({ host: 'zoned', ...parameters });
    const answer = await root.fetch(`/api/events/fields?${asked}`);
    return answer.status === 200
      ? ((await answer.json()) as { sampled: number }).sampled
      : ((await answer.json()) as object);
  };
  for (const bound of [{ earliest: '@d' }, { query: 'earliest=@d' }] as Record<string, string>[]) {
    expect(await sampled({ ...bound, timezone: begun! })).toBe(0);
    expect(await sampled({ ...bound, timezone: ending! })).toBe(1);
  }
  expect(await sampled({ timezone: 'Nowhere/None' })).toEqual({
    timezone: ['Enter UTC, an offset such as +02:00, or a name such as Europe/Vienna.'],
  });
});

test('EV-107 unknown keys at any depth are told with what was meant', async () => {
  const config = {
    throtle: { ingest: '' },
    syslog: [{ nam: 'x' }],
    extractors: [{ sourcetyp: 'x' }],
    retention: { indexes: { a: { max_age_day: 1 } } },
  };
  await Bun.write(`${svc.docroot}/../wrong.yaml`, JSON.stringify({ events: config }));
  const { exitCode, stderr } = await svc.command([
    ...['check', svc.docroot, '--config', `${svc.docroot}/../wrong.yaml`],
  ]);
  expect(exitCode).toBe(2);
  for (const name of ['events.throttle', 'name', 'sourcetype', 'max_age_days'])
    expect(stderr).toContain(`did you mean '${name}'?`);
});
