/**
 * TLS of the server itself: what is spoken, what a certificate must be, and how a new one takes over (DS-199, DS-205 to
 * DS-207).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { makeCertificate } from '../support/certificate.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { cookiesOf } from './cookies.ts';
import { eventually } from './eventually.ts';
import { RawSocket } from './raw-socket.ts';
import { PASSWORD } from '../support/password.ts';

const insecure: RequestInit & { tls: object } = { tls: { rejectUnauthorized: false } };

let folder: string;
let svc: Service;

const path = (name: string): string => join(folder, name);

/** Puts a pair where the service reads it, in place, as most programs that renew certificates do. */
function install(cert: string, key: string): void {
  copyFileSync(path(cert), path('server.crt'));
  copyFileSync(path(key), path('server.key'));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
  for (const name of ['first', 'second', 'third']) makeCertificate(folder, name);
  install('first.crt', 'first.key');
  svc = await startService({
    files: { 'a.csv': 'n\n1\n' },
    config: { tls_cert: path('server.crt'), tls_key: path('server.key') },
  });
  await svc.accounts.user('ada', { password: PASSWORD });
});
afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Handshake {
  readonly name: string;
  readonly protocol: string | null;
}

/** What a new connection is shown. */
async function handshake(
  versions: { minVersion?: 'TLSv1' | 'TLSv1.2'; maxVersion?: 'TLSv1.1' | 'TLSv1.2' } = {},
): Promise<Handshake> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>();
  const { port } = new URL(svc.url);
  const options = { host: '127.0.0.1', port: Number(port), rejectUnauthorized: false, ...versions };
  const socket = connect(options, () => {
    const { subject } = socket.getPeerCertificate() as PeerCertificate;
    resolve({ name: String(subject?.CN), protocol: socket.getProtocol() });
    socket.destroy();
  });
  socket.on('error', reject);
  return promise;
}

const nameShown = async (): Promise<string> => (await handshake()).name;

/** Sends SIGHUP; resolves when the log says it was handled. */
async function reload(): Promise<string> {
  const before = svc.stderr().length;
  process.kill(svc.pid, 'SIGHUP');
  return eventually(() => {
    const said = svc.stderr().slice(before);
    if (!said.includes('configuration reloaded')) throw new Error('not yet');
    return said;
  });
}

describe('a server with its own certificate', () => {
  test('speaks https, with Secure cookies and HSTS (DS-205, DS-207)', async () => {
    expect(svc.url).toStartWith('https://');
    const response = await svc.fetch('/auth/login', {
      ...insecure,
      method: 'POST',
      body: JSON.stringify({ username: 'ada', password: PASSWORD }),
    });
    expect(response.status).toBe(200);
    expect(cookiesOf(response).length).toBe(2);
    for (const { attributes } of cookiesOf(response)) expect(attributes).toEndWith('; Secure');
    for (const at of ['/', '/health', '/nothing', '/api/a/', '/favicon.ico']) {
      const { headers } = await svc.fetch(at, insecure);
      expect(headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    }
  });

  test('refuses plain HTTP (DS-206)', async () => {
    using socket = await RawSocket.open(svc.url);
    socket.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const head = await socket.head();
    expect(head === null || head.status >= 400).toBe(true);
    expect(socket.received).not.toContain('"status"');
  });

  test('speaks TLS 1.2 and 1.3, and nothing older (DS-206)', async () => {
    expect((await handshake()).protocol).toBe('TLSv1.3');
    expect((await handshake({ maxVersion: 'TLSv1.2' })).protocol).toBe('TLSv1.2');
    const old = handshake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' });
    expect(old).rejects.toThrow();
    await old.catch(() => undefined);
  });
});

describe('a new certificate (DS-199, DS-206)', () => {
  test('is shown after SIGHUP; what cannot be used changes nothing and is named in the log', async () => {
    expect(await nameShown()).toBe('first');
    install('second.crt', 'second.key');
    await reload();
    await eventually(async () => expect(await nameShown()).toBe('second'));

    const broken: [string, () => void][] = [
      ['tls_cert holds no usable certificate', () => writeFileSync(path('server.crt'), 'garbage')],
      ['tls_key holds no usable private key', () => writeFileSync(path('server.key'), 'garbage')],
      ['tls_key does not belong to tls_cert', () => install('first.crt', 'third.key')],
      ['tls_cert cannot be read (ENOENT)', () => rmSync(path('server.crt'))],
    ];
    for (const [reason, spoil] of broken) {
      install('second.crt', 'second.key');
      spoil();
      await reload();
      await eventually(() =>
        expect(svc.stderr()).toContain(
          `the certificate was not renewed, the old one stays: ${reason}`,
        ),
      );
      expect(await nameShown()).toBe('second');
    }
  });

  test('is found without a signal too', async () => {
    install('third.crt', 'third.key');
    await eventually(async () => expect(await nameShown()).toBe('third'), 20_000);
    expect((await svc.fetch('/health', insecure)).status).toBe(200);
  });

  test('of another path is taken from the re-read configuration', async () => {
    const file = join(svc.docroot, '..', 'svc.yaml');
    const yaml = readFileSync(file, 'utf8');
    writeFileSync(file, yaml.replaceAll('server.', 'first.'));
    expect(await reload()).toContain('"applied":["tls_cert","tls_key"]');
    await eventually(async () => expect(await nameShown()).toBe('first'));
  });
});

test.each([
  ['no certificate', 'garbage', 'first.key', 'tls_cert holds no usable certificate'],
  ['no key', 'first.crt', 'garbage', 'tls_key holds no usable private key'],
  ['two that do not belong together', 'first.crt', 'second.key', 'tls_key does not belong'],
  ['a file that is not there', 'nowhere.crt', 'first.key', 'tls_cert cannot be read'],
])('%s at the start: exit 2 with the reason (DS-206)', async (_, cert, key, reason) => {
  writeFileSync(path('garbage'), 'garbage');
  const result = await svc.command([
    ...['serve', svc.docroot, '--port', '0', '--state-dir', path('other-state')],
    ...['--tls-cert', path(cert), '--tls-key', path(key)],
  ]);
  expect(result.exitCode).toBe(2);
  expect(result.stderr).toContain(reason);
});
