/** Shippers as they are: winston-elasticsearch, Python's SysLogHandler, systemd's journal (EV-10, EV-71, EV-76, EV-110). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { program } from '../support/program.ts';
import { eventually } from './eventually.ts';

let svc: Service;
let root: Client;
let key: string;
beforeAll(async () => {
  const listener = (name: string, protocol: string, user = 'shipper') => ({
    name,
    listen: `${protocol}://127.0.0.1:0`,
    user,
  });
  const syslog = [listener('udp', 'udp'), listener('tcp', 'tcp'), listener('lost', 'tcp', 'gone')];
  svc = await startService({ config: { events: { min_free_bytes: 1, syslog } } });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.grant('shipper', '@events/*', 'write');
  await svc.accounts.grant('other', '@events/web', 'write');
  key = await svc.accounts.apiKey('shipper');
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

interface Stored {
  readonly data: string;
  readonly host: string;
  readonly source: string;
  readonly sourcetype: string;
  readonly extracted_fields: Record<string, unknown>;
}

async function newest(count: number): Promise<Stored[]> {
  const list = await root.fetch(`/api/events/?ordering=-id&limit=${count}`);
  return ((await list.json()) as Stored[]).toReversed();
}

async function ingest(): Promise<any> {
  return (await root.fetch('/admin/ingest')).json();
}

async function portOf(name: string): Promise<number> {
  const { listeners } = await ingest();
  return Number(
    listeners
      .find((one: { name: string }) => one.name === name)
      .listen.split(':')
      .at(-1),
  );
}

test('winston-elasticsearch notes its attempts beside the action', async () => {
  const send = async (action: string) => {
    const body = `${action}\n{"@timestamp":"2026-11-20T10:00:00Z","message":"hi"}\n`;
    const headers = { 'Content-Type': 'application/x-ndjson', Authorization: `ApiKey ${key}` };
    return svc.fetch('/elastic/_bulk', { method: 'POST', body, headers });
  };
  const answer = await send('{"create":{"_index":"web"},"attempts":0}');
  expect([answer.status, await answer.json()]).toMatchObject([200, { errors: false }]);
  for (const action of [
    '{"create":{},"index":{}}',
    '{"attempts":0}',
    '{"create":0}',
    '{"create":{},"other":{}}',
    '[]',
  ])
    expect([action, (await send(action)).status]).toEqual([action, 400]);
});

test("Python's SysLogHandler ends messages with NUL, in datagrams and streams", async () => {
  const udp = createSocket('udp4');
  udp.send(Buffer.from('<14>over udp level=info n=1\0'), await portOf('udp'), '127.0.0.1', () =>
    udp.close(),
  );
  await eventually(async () =>
    expect(await newest(1)).toMatchObject([{ data: '<14>over udp level=info n=1' }]),
  );
  const socket = connect(await portOf('tcp'), '127.0.0.1');
  socket.write('<14>first\0<14>second\0');
  await eventually(async () =>
    expect(await newest(2)).toMatchObject([{ data: '<14>first' }, { data: '<14>second' }]),
  );
  socket.write('<14>with a \0 within\n');
  await eventually(async () =>
    expect(await newest(1)).toMatchObject([{ data: '<14>with a \ufffd within' }]),
  );
  socket.destroy();
});

test('what a listener may not store is counted and listed with its reason', async () => {
  const port = await portOf('lost');
  const socket = connect(port, '127.0.0.1');
  socket.end('<14>one\n<14>two\n');
  await eventually(async () => {
    const { credentials, listeners } = await ingest();
    const counters = credentials.find(({ id }: { id: string }) => id === 'lost');
    expect(counters).toMatchObject({ kind: 'listener', dialect: 'syslog', rejected: 2 });
    expect(listeners.find(({ name }: { name: string }) => name === 'lost').refused).toBe(2);
  });
  const rejects = (await (await root.fetch('/admin/ingest/rejects')).json()) as any[];
  expect(rejects.filter(({ credential }) => credential === 'listener lost')).toMatchObject([
    { dialect: 'syslog', reason: "There is no active user 'gone'", sample: '<14>one' },
  ]);
});

test('a listener whose user does not exist is refused by svc check, and at the start once there are accounts', async () => {
  const child = Bun.spawn(
    [...program, 'check', svc.docroot, '--config', join(dirname(svc.docroot), 'svc.yaml')],
    {
      stdout: 'pipe',
      stderr: 'pipe',
    },
  );
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(1);
  expect(text).toContain("PROBLEM: configuration: events.syslog: there is no user 'gone'");
  await using own = await startService({
    config: { events: { syslog: [{ name: 'x', listen: 'udp://127.0.0.1:0', user: 'late' }] } },
  });
  await own.accounts.user('root', { superuser: true });
  await expect(own.restart()).rejects.toThrow("there is no user 'late'");
});

const JSON_ENTRY = {
  __CURSOR: 's=1',
  __REALTIME_TIMESTAMP: '1795168800123456',
  _HOSTNAME: 'alpha',
  SYSLOG_IDENTIFIER: 'shop',
  PRIORITY: '6',
  MESSAGE: 'level=info order=17',
};

test('journalctl -o json goes to the route for lines as it is', async () => {
  const lines = [
    JSON_ENTRY,
    { ...JSON_ENTRY, MESSAGE: [72, 195, 164] },
    { ...JSON_ENTRY, MESSAGE: null, SYSLOG_IDENTIFIER: undefined, _SYSTEMD_UNIT: 'x.service' },
  ];
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const answer = await root.fetch('/api/events/', { method: 'POST', body, headers });
  expect([answer.status, await answer.json()]).toMatchObject([201, { accepted: 3, rejected: 0 }]);
  const [first, second, third] = await newest(3);
  expect(first).toMatchObject({
    data: 'level=info order=17',
    host: 'alpha',
    source: 'shop',
    sourcetype: 'journald',
    extracted_fields: {
      order: 17,
      PRIORITY: '6',
      event_time: '2026-11-20T10:00:00.123456Z',
    },
  });
  expect(first!.extracted_fields['MESSAGE']).toBeUndefined();
  expect(second!.data).toBe('Hä');
  expect(third).toMatchObject({ source: 'x.service' });
  expect(third!.data).toContain('"_HOSTNAME":"alpha"');
});

function exported(entry: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(entry).map(([name, value]) => {
    if (!value.includes('\n')) return Buffer.from(`${name}=${value}\n`);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(Buffer.byteLength(value)));
    return Buffer.concat([Buffer.from(`${name}\n`), length, Buffer.from(`${value}\n`)]);
  });
  return Buffer.concat([...parts, Buffer.from('\n')]);
}

function upload(body: Bun.BodyInit | ReadableStream, more: Record<string, string> = {}) {
  const headers = {
    'Content-Type': 'application/vnd.fdo.journal',
    Authorization: `Basic ${Buffer.from(`any:${key}`).toString('base64')}`,
    ...more,
  };
  return svc.fetch('/journald/upload', { method: 'POST', body: body as Bun.BodyInit, headers });
}

test('systemd-journal-upload sends entries in their export format, chunked and without a limit', async () => {
  const entries = 40_000;
  const padding = 'p'.repeat(1000);
  let sent = 0;
  const stream = new ReadableStream({
    pull(controller) {
      if (sent === entries) return controller.close();
      const batch = Array.from({ length: 500 }, () =>
        exported({
          ...JSON_ENTRY,
          __CURSOR: `s=${(sent += 1)}`,
          PADDING: padding,
          MESSAGE: sent % 7 === 0 ? `two\n\nlines of ${sent}` : `order=${sent} paid=true`,
        }),
      );
      // Cut where it happens to be.
      const bytes = Buffer.concat(batch);
      controller.enqueue(bytes.subarray(0, 77_777));
      controller.enqueue(bytes.subarray(77_777));
    },
  });
  const before = Number(
    (await root.fetch('/api/events/?limit=1&count=1')).headers.get('x-total-count'),
  );
  // More than a body of events may have otherwise.
  const answer = await upload(stream);
  expect([answer.status, await answer.text()]).toEqual([202, 'OK.\n']);
  const after = Number(
    (await root.fetch('/api/events/?limit=1&count=1')).headers.get('x-total-count'),
  );
  expect(after - before).toBe(entries);
  const [last, ...rest] = (await newest(7)).toReversed();
  expect(last).toMatchObject({
    data: `order=${entries} paid=true`,
    host: 'alpha',
    source: 'shop',
    sourcetype: 'journald',
    extracted_fields: {
      order: entries,
      PRIORITY: '6',
      event_time: '2026-11-20T10:00:00.123456Z',
    },
  });
  expect(rest.some(({ data }) => /^two\n\nlines of \d+$/.test(data))).toBe(true);
}, 60_000);

test('a journal compressed, without its last blank line, and what is none', async () => {
  const one = exported({ ...JSON_ENTRY, MESSAGE: 'compressed' });
  expect((await upload(gzipSync(one), { 'Content-Encoding': 'gzip' })).status).toBe(202);
  expect(await newest(1)).toMatchObject([{ data: 'compressed' }]);
  expect((await upload(exported({ ...JSON_ENTRY, MESSAGE: 'cut' }).subarray(0, -1))).status).toBe(
    202,
  );
  expect(await newest(1)).toMatchObject([{ data: 'cut' }]);
  expect((await upload('')).status).toBe(400);
  expect((await upload('', { 'Content-Type': 'text/plain' })).status).toBe(415);
  expect((await upload(one, { Authorization: 'Basic eDp5' })).status).toBe(401);
  expect((await svc.fetch('/journald/upload', { method: 'POST', body: one })).status).toBe(401);
  const reader = await svc.accounts.apiKey('reader');
  expect((await upload(one, { Authorization: `Bearer ${reader}` })).status).toBe(403);
  // Without __REALTIME_TIMESTAMP it is no entry; the others are stored, so that the client goes on.
  const mixed = Buffer.concat([exported({ MESSAGE: 'no entry' }), one]);
  expect((await upload(mixed)).status).toBe(202);
  const rejects = (await (await root.fetch('/admin/ingest/rejects')).json()) as any[];
  expect(rejects[0]).toMatchObject({ dialect: 'journald', position: 'entry 0' });
  const huge = Buffer.concat([
    Buffer.from('COREDUMP\n'),
    Buffer.alloc(8, 255),
    Buffer.alloc(20_000_000),
  ]);
  expect((await upload(huge)).status).toBe(413);
});
