/**
 * Connections of syslog listeners: how many, how long, and TLS with a certificate that is renewed (EV-76, DS-206).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import { makeCertificate } from '../support/certificate.ts';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

const RSYSLOGD = Bun.which('rsyslogd') ?? Bun.which('/usr/sbin/rsyslogd');
const GTLS = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64'].some(
  (path) => existsSync(`${path}/rsyslog/lmnsd_gtls.so`),
);
if (RSYSLOGD === null || !GTLS)
  console.log('rsyslogd with gtls is not installed: its test is skipped');

interface View {
  readonly name: string;
  readonly listen: string;
  readonly connections: number;
  readonly received: number;
  readonly turned_away: number;
  readonly timed_out: number;
}

let folder: string;
let svc: Service;
let root: Client;
const path = (name: string): string => join(folder, name);

function install(name: string): void {
  copyFileSync(path(`${name}.crt`), path('server.crt'));
  copyFileSync(path(`${name}.key`), path('server.key'));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-syslog-'));
  for (const name of ['first', 'second']) makeCertificate(folder, name);
  install('first');
  const listener = (name: string, protocol: string, more = {}) => ({
    name,
    listen: `${protocol}://127.0.0.1:0`,
    user: 'root',
    index: 'net',
    ...more,
  });
  svc = await startService({
    config: {
      tls_cert: path('server.crt'),
      tls_key: path('server.key'),
      events: {
        min_free_bytes: 1,
        syslog: [
          listener('idle', 'tcp', { idle_seconds: 1 }),
          listener('few', 'tcp', { max_connections: 3, max_connections_per_address: 2 }),
          listener('tls', 'tls', { max_connections: 4 }),
        ],
      },
    },
  });
  await svc.accounts.user('root', { superuser: true });
  const client = await svc.as('root');
  root = {
    fetch: (at, init) =>
      client.fetch(at, { ...init, tls: { rejectUnauthorized: false } } as RequestInit),
  };
});
afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function view(name: string): Promise<View> {
  const { listeners } = (await (await root.fetch('/admin/ingest')).json()) as {
    listeners: View[];
  };
  return listeners.find((one) => one.name === name)!;
}

async function portOf(name: string): Promise<number> {
  return Number((await view(name)).listen.split(':').at(-1));
}

async function found(text: string, count = 1): Promise<void> {
  await eventually(async () => {
    const query = new URLSearchParams({ index: 'net', search: `"${text}"` });
    expect(await (await root.fetch(`/api/events/?${query}`)).json()).toHaveLength(count);
  });
}

interface Peer {
  readonly socket: Socket;
  readonly isClosed: () => boolean;
}

/** A connection of 127.0.0.1 or another address of this machine. */
function peer(port: number, localAddress = '127.0.0.1'): Promise<Peer> {
  const { promise, resolve, reject } = Promise.withResolvers<Peer>();
  const socket = connect({ port, host: '127.0.0.1', localAddress }, () =>
    resolve({ socket, isClosed: () => isClosed }),
  );
  let isClosed = false;
  socket.on('error', (error) => {
    isClosed = true;
    reject(error);
  });
  socket.on('data', () => undefined);
  socket.on('close', () => (isClosed = true));
  return promise;
}

describe('connections', () => {
  test('one that says nothing for long is closed, one that speaks is not', async () => {
    const port = await portOf('idle');
    let pairs = 0;
    // On a machine that stands still for a second both say nothing for long.
    const { talking, id, lines } = await eventually(async () => {
      const [quiet, talking] = [await peer(port), await peer(port)];
      pairs += 1;
      const id = crypto.randomUUID();
      let lines = 0;
      await eventually(async () => {
        talking.socket.write(`<13>${id} ${(lines += 1)}\n`);
        await Bun.sleep(100);
        expect(quiet.isClosed()).toBe(true);
      });
      expect(talking.isClosed()).toBe(false);
      return { talking, id, lines };
    });
    await found(id, lines);
    await eventually(() => expect(talking.isClosed()).toBe(true));
    const { connections, timed_out: timedOut } = await view('idle');
    expect([connections, timedOut]).toEqual([0, 2 * pairs]);
  });

  test('only so many are open at once, and of one address; the others go on', async () => {
    const port = await portOf('few');
    const first = [await peer(port), await peer(port)];
    const third = await peer(port);
    await eventually(() => expect(third.isClosed()).toBe(true));
    const elsewhere = await peer(port, '127.0.0.2');
    const tooMany = await peer(port, '127.0.0.3');
    await eventually(() => expect(tooMany.isClosed()).toBe(true));
    const id = crypto.randomUUID();
    for (const { socket } of [...first, elsewhere]) socket.write(`<13>${id}\n`);
    await found(id, 3);
    expect(await view('few')).toMatchObject({ connections: 3, turned_away: 2 });
    // A place that is given up can be had.
    first[0]!.socket.destroy();
    await eventually(async () => expect((await view('few')).connections).toBe(2));
    const next = await peer(port);
    next.socket.write(`<13>${id}\n`);
    await found(id, 4);
    for (const { socket } of [...first, elsewhere, next]) socket.destroy();
  });
});

/** A TLS connection that takes any certificate. */
function secure(port: number): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () =>
    resolve(socket),
  );
  socket.on('error', reject);
  return promise;
}

const nameOf = (socket: TLSSocket): string =>
  String((socket.getPeerCertificate() as PeerCertificate).subject?.CN);

describe('TLS', () => {
  test('openssl s_client delivers lines, counted ones too', async () => {
    const port = await portOf('tls');
    const id = crypto.randomUUID();
    for (const input of [
      `<13>1 - alpha app - - - ${id} line\n`,
      `${id.length + 12} <13>${id} counted`,
    ]) {
      const client = Bun.spawn(
        [
          'openssl',
          's_client',
          '-quiet',
          '-CAfile',
          path('first.crt'),
          '-verify_return_error',
        ].concat(['-connect', `127.0.0.1:${port}`]),
        { stdin: new Blob([input]), stdout: 'ignore', stderr: 'ignore' },
      );
      await found(input.includes('line') ? `${id} line` : `${id} counted`);
      client.kill();
      await client.exited;
    }
  });

  test.skipIf(RSYSLOGD === null || !GTLS)('rsyslog delivers over gtls', async () => {
    const at = mkdtempSync(join(tmpdir(), 'svc-rsyslog-'));
    const port = await portOf('tls');
    writeFileSync(
      join(at, 'rsyslog.conf'),
      [
        `global(workDirectory="${at}" defaultNetstreamDriverCAFile="${path('first.crt')}")`,
        'module(load="imuxsock" SysSock.Use="off")',
        `input(type="imuxsock" Socket="${at}/log" CreatePath="on")`,
        `*.* action(type="omfwd" target="127.0.0.1" port="${port}" protocol="tcp"`,
        ' TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format"',
        ' StreamDriver="gtls" StreamDriverMode="1" StreamDriverAuthMode="x509/certvalid"',
        ' action.resumeRetryCount="-1" action.resumeInterval="1")',
        '',
      ].join('\n'),
    );
    const daemon = Bun.spawn(
      [RSYSLOGD!, '-n', '-f', join(at, 'rsyslog.conf'), '-i', join(at, 'pid')],
      { stdout: 'ignore', stderr: 'ignore' },
    );
    try {
      const id = crypto.randomUUID();
      // What it is told while it starts, it may forget.
      await eventually(async () => {
        const logger = Bun.spawn(['logger', '-u', `${at}/log`, '-t', 'shop', id], {
          stderr: 'ignore',
        });
        expect(await logger.exited).toBe(0);
        await Bun.sleep(200);
        const query = new URLSearchParams({ index: 'net', search: id });
        const events = (await (await root.fetch(`/api/events/?${query}`)).json()) as unknown[];
        expect(events.length).toBeGreaterThan(0);
      }, 20_000);
    } finally {
      daemon.kill();
      await daemon.exited;
      rmSync(at, { recursive: true });
    }
  });

  test('whoever speaks no TLS is turned away, whoever says nothing counts as a connection', async () => {
    const port = await portOf('tls');
    const before = await view('tls');
    const plain = await peer(port);
    plain.socket.write('<13>1 - alpha app - - - in the clear\n');
    await eventually(() => expect(plain.isClosed()).toBe(true));
    const silent = [await peer(port), await peer(port)];
    await eventually(async () =>
      expect(await view('tls')).toMatchObject({
        connections: before.connections + 2,
        received: before.received,
        turned_away: before.turned_away + 1,
      }),
    );
    for (const { socket } of silent) socket.destroy();
    await eventually(async () => expect((await view('tls')).connections).toBe(before.connections));
  });

  test('SIGHUP gives new connections the new certificate, open ones go on', async () => {
    const port = await portOf('tls');
    const id = crypto.randomUUID();
    const old = await secure(port);
    expect(nameOf(old)).toBe('first');
    install('second');
    process.kill(svc.pid, 'SIGHUP');
    await eventually(async () => {
      const fresh = await secure(port);
      const name = nameOf(fresh);
      if (name === 'second') fresh.write(`<13>${id} fresh\n`);
      // Only so many may be open at once.
      const closed = once(fresh, 'close');
      fresh.end();
      await closed;
      expect(name).toBe('second');
    });
    old.write(`<13>${id} old\n`);
    await found(`${id} old`);
    await found(`${id} fresh`);
    old.destroy();
    // A pair that is none changes nothing.
    writeFileSync(path('server.crt'), 'no certificate');
    const said = svc.stderr().length;
    process.kill(svc.pid, 'SIGHUP');
    await eventually(() => expect(svc.stderr().slice(said)).toContain('was not renewed'));
    const last = await secure(port);
    expect(nameOf(last)).toBe('second');
    last.destroy();
  });
});
