/**
 * Syslog over UDP and TCP with real senders (EV-76): `logger`, `rsyslogd`, and bare sockets for what those never do.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

const LOGGER = Bun.which('logger');
const RSYSLOGD = Bun.which('rsyslogd') ?? Bun.which('/usr/sbin/rsyslogd');
if (LOGGER === null) console.log('logger is not installed: its tests are skipped');
if (RSYSLOGD === null) console.log('rsyslogd is not installed: its test is skipped');

interface View {
  readonly name: string;
  readonly listen: string;
  readonly connections: number;
  readonly received: number;
  readonly dropped: number;
  readonly cut: number;
  readonly refused: number;
  readonly turned_away: number;
}

let svc: Service;
let root: Client;
beforeAll(async () => {
  const listener = (name: string, protocol: string, more = {}) => ({
    name,
    listen: `${protocol}://127.0.0.1:0`,
    user: 'shipper',
    index: 'net',
    ...more,
  });
  svc = await startService({
    config: {
      events: {
        min_free_bytes: 1,
        syslog: [
          listener('udp', 'udp'),
          listener('tcp', 'tcp', { max_message_bytes: 500 }),
          listener('far', 'udp', { allow: ['10.0.0.0/8'] }),
          listener('stranger', 'tcp', { user: 'nobody' }),
        ],
      },
    },
  });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.grant('shipper', '@events/net', 'write');
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

async function ingest(): Promise<{ credentials: Record<string, unknown>[]; listeners: View[] }> {
  return (await (await root.fetch('/admin/ingest')).json()) as never;
}

async function view(name: string): Promise<View> {
  const { listeners } = await ingest();
  return listeners.find((one) => one.name === name)!;
}

async function portOf(name: string): Promise<number> {
  return Number((await view(name)).listen.split(':').at(-1));
}

async function eventsWith(term: string): Promise<Record<string, any>[]> {
  const query = new URLSearchParams({ index: 'net', search: `"${term}"` });
  return (await (await root.fetch(`/api/events/?${query}`)).json()) as Record<string, any>[];
}

/** The events with a term, once there are so many. */
function found(term: string, count: number): Promise<Record<string, any>[]> {
  return eventually(async () => {
    const events = await eventsWith(term);
    expect(events).toHaveLength(count);
    return events;
  });
}

async function run(...command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' });
  const [code, stderr] = await Promise.all([child.exited, child.stderr.text()]);
  if (code !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
}

describe.skipIf(LOGGER === null)('logger', () => {
  test.each([
    ['udp', ['--udp', '--rfc5424'], 'syslog:udp'],
    ['udp', ['--udp', '--rfc3164'], 'syslog:udp'],
    ['tcp', ['--tcp', '--rfc5424', '--octet-count'], 'syslog:tcp'],
    ['tcp', ['--tcp', '--rfc5424'], 'syslog:tcp'],
    ['tcp', ['--tcp', '--rfc3164'], 'syslog:tcp'],
  ])('%s %j', async (name, options, source) => {
    const text = `logger says ${crypto.randomUUID()} häh`;
    const port = String(await portOf(name));
    const target = ['--server', '127.0.0.1', '--port', port, '--priority', 'local4.warning'];
    await run(LOGGER!, ...options, ...target, '--tag', 'shop', '--id=42', text);
    const [event] = await found(text, 1);
    expect(event).toMatchObject({
      index: 'net',
      sourcetype: 'syslog',
      source,
      extracted_fields: {
        facility: 20,
        severity_name: 'warning',
        appname: 'shop',
        procid: '42',
      },
    });
    expect(event!['extracted_fields'].message).toContain(text);
    expect(event!['host']).toBe(event!['extracted_fields'].hostname);
    const time = Date.parse(event!['extracted_fields'].event_time);
    // RFC 3164 times have no zone: they are read in the zone of the configuration.
    expect(Math.abs(Date.now() - time)).toBeLessThan(15 * 3_600_000);
  });
});

test.skipIf(RSYSLOGD === null || LOGGER === null)(
  'rsyslogd forwards over TCP with counts and lines, and over UDP',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-rsyslog-'));
    const [tcp, udp] = [await portOf('tcp'), await portOf('udp')];
    const forward = (template: string, protocol: string, port: number, more = '') =>
      `*.* action(type="omfwd" target="127.0.0.1" port="${port}" protocol="${protocol}" ${more} template="${template}")`;
    writeFileSync(
      join(folder, 'rsyslog.conf'),
      [
        `global(workDirectory="${folder}")`,
        'module(load="imuxsock" SysSock.Use="off")',
        `input(type="imuxsock" Socket="${folder}/log" CreatePath="on")`,
        forward('RSYSLOG_SyslogProtocol23Format', 'tcp', tcp, 'TCP_Framing="octet-counted"'),
        forward('RSYSLOG_TraditionalForwardFormat', 'tcp', tcp),
        forward('RSYSLOG_SyslogProtocol23Format', 'udp', udp),
        '',
      ].join('\n'),
    );
    const daemon = Bun.spawn(
      [RSYSLOGD!, '-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')],
      { stdout: 'ignore', stderr: 'pipe' },
    );
    try {
      const id = crypto.randomUUID();
      // What it is told while it starts, it may forget.
      await eventually(async () => {
        await run(LOGGER!, '-u', `${folder}/log`, '-t', 'probe', `are you up, ${id}?`);
        expect((await eventsWith(`are you up, ${id}?`)).length).toBeGreaterThanOrEqual(3);
      });
      for (let number = 0; number < 20; number += 1) {
        await run(LOGGER!, '-u', `${folder}/log`, '-t', 'shop', `rsyslog ${id} number ${number}.`);
      }
      const events = await found(`rsyslog ${id}`, 60);
      for (const event of events) {
        expect(event['extracted_fields']).toMatchObject({
          appname: 'shop',
          severity_name: 'notice',
        });
        expect(event['data']).toContain(`rsyslog ${id}`);
      }
      expect(await eventsWith(`${id} number 7.`)).toHaveLength(3);
    } finally {
      daemon.kill();
      await daemon.exited;
      rmSync(folder, { recursive: true });
    }
  },
);

/** Sends pieces over one connection; resolves when it is closed. */
async function sendOver(port: number, pieces: readonly (string | Uint8Array)[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => resolve());
  socket.on('close', () => resolve());
  for (const piece of pieces) await new Promise((written) => socket.write(piece, written));
  socket.end();
  await promise;
}

test('hostile streams: too long, no UTF-8, NUL, escape sequences, no framing, an end in the middle', async () => {
  const port = await portOf('tcp');
  const id = crypto.randomUUID();
  await sendOver(port, [
    `<13>1 - alpha app - - - ${id} long ${'x'.repeat(100_000)}\n`,
    Buffer.from(`<13>${id} bytes \xff\xfe \0 \x1b[31m\u2028\r\n`, 'latin1'),
    `\n\n${id} no priority\n<999>${id} no such priority\n`,
    `<13>${id} without an end`,
  ]);
  await sendOver(port, [`6 <13>abGET / HTTP/1.1\r\n\r\n`]);
  await sendOver(port, [`99 <13>${id} an end in the middle`]);
  const events = await found(id, 6);
  const long = events.find(({ data }) => data.includes('long'));
  expect([Buffer.byteLength(long!['data']), long!['host']]).toEqual([500, 'alpha']);
  const bytes = events.find(({ data }) => data.includes('bytes'));
  expect(bytes!['data']).toStartWith(`<13>${id} bytes \ufffd\ufffd \ufffd \u001b[31m`);
  expect(bytes!['host']).toBe('127.0.0.1');
  const { cut, turned_away: turnedAway, connections } = await view('tcp');
  expect({ cut, turnedAway }).toEqual({ cut: 2, turnedAway: 1 });
  expect(connections).toBeLessThan(10);
});

test('a message whose connection is reset is stored as far as it came, and counted as cut', async () => {
  const port = await portOf('tcp');
  const id = crypto.randomUUID();
  const { cut } = await view('tcp');
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  // One packet: what follows the line end has come as well when the line is there.
  socket.write(`<13>${id} whole\n<13>${id} half of a mes`);
  await found(id, 1);
  socket.resetAndDestroy();
  const events = await found(id, 2);
  expect(events.map(({ data }) => data)).toEqual([`<13>${id} whole`, `<13>${id} half of a mes`]);
  await eventually(async () => expect((await view('tcp')).cut).toBe(cut + 1));
});

test('peers outside of allow, and users without the right, store nothing and are counted', async () => {
  const socket = createSocket('udp4');
  const id = crypto.randomUUID();
  const far = await portOf('far');
  await eventually(async () => {
    socket.send(`<13>${id}`, far, '127.0.0.1');
    expect((await view('far')).turned_away).toBeGreaterThan(0);
  });
  socket.close();
  await sendOver(await portOf('stranger'), [`<13>${id}\n`]);
  await eventually(async () => expect((await view('stranger')).refused).toBe(1));
  expect(await eventsWith(id)).toEqual([]);
});

test('a flood of datagrams loses some at most, and what is received is stored or counted', async () => {
  const port = await portOf('udp');
  const before = await view('udp');
  const id = crypto.randomUUID();
  const socket = createSocket('udp4');
  const keptSoFar = async (): Promise<number> => {
    const after = await view('udp');
    return after.received - before.received - (after.dropped - before.dropped);
  };
  // A server that has no turn while they come finds no more of them than fit into the buffer of its socket.
  await eventually(async () => {
    for (let number = 0; number < 20_000; number += 1) {
      socket.send(`<13>1 - alpha app - - - flood ${id} ${number}`, port, '127.0.0.1');
      if (number % 500 === 0) await Bun.sleep(1);
    }
    expect(await keptSoFar()).toBeGreaterThan(1_000);
  });
  await eventually(async () => {
    const kept = await keptSoFar();
    const response = await root.fetch(`/api/events/?index=net&search=${id}&count=1&limit=1`);
    expect(Number(response.headers.get('x-total-count'))).toBe(kept);
  }, 15_000);
  socket.close();
  expect((await root.fetch('/health')).status).toBe(200);
  const { credentials } = await ingest();
  expect(credentials).toContainEqual(
    expect.objectContaining({ kind: 'listener', id: 'udp', dialect: 'syslog', label: 'shipper' }),
  );
});

test('the end of the server stores what was received', async () => {
  const id = crypto.randomUUID();
  const lines = Array.from({ length: 3_000 }, (_, number) => `<13>${id} ${number}\n`);
  await sendOver(await portOf('tcp'), [lines.join('')]);
  // Once there are accounts, a listener without its user would end the start.
  await svc.accounts.user('nobody');
  await svc.restart();
  const response = await root.fetch(`/api/events/?index=net&search=${id}&count=1&limit=1`);
  expect(Number(response.headers.get('x-total-count'))).toBe(3_000);
});

test('EV-54 read-only mode closes the listeners', async () => {
  await using small = await startService({
    config: {
      events: {
        min_free_bytes: 1,
        syslog: [{ name: 'tcp', listen: 'tcp://127.0.0.1:0', user: 'root' }],
      },
    },
    args: ['--readonly'],
  });
  await small.accounts.user('root', { superuser: true });
  const client = await small.as('root');
  const { listeners } = (await (await client.fetch('/admin/ingest')).json()) as {
    listeners: View[];
  };
  expect(listeners).toEqual([]);
});

test.each([
  [[{ name: 'a', listen: 'tcp://127.0.0.1:0' }], 'needs a user'],
  [[{ name: 'a', listen: 'http://127.0.0.1:0', user: 'u' }], 'needs listen'],
  [[{ name: 'a', listen: 'tcp://127.0.0.1:70000', user: 'u' }], 'needs listen'],
  [[{ name: 'a', listen: 'udp://127.0.0.1:0', user: 'u', allow: ['x'] }], 'allow'],
  [[{ name: 'a', listen: 'udp://127.0.0.1:0', user: 'u', port: 1 }], "unknown key 'port'"],
  [[{ name: 'a', listen: 'tls://127.0.0.1:0', user: 'u' }], 'tls_cert'],
])('%j is a configuration error', async (syslog, text) => {
  const failure = await startService({ config: { events: { syslog } } }).then(
    async (service) => {
      await service[Symbol.asyncDispose]();
      return new Error('it started');
    },
    (error: unknown) => error as Error,
  );
  expect(failure.message).toContain(text);
});
