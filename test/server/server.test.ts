/** The listener: stopping, certificates, ports (DS-21, DS-206). */
import { describe, expect, test } from 'bun:test';
import { jsonReply } from '../../src/http/reply/reply.ts';
import type { TestRoute } from './server-fixture.ts';
import type { TlsPair } from '../../src/http/server.ts';
import { startServer } from '../../src/http/server.ts';
import { temporaryDirectory, testLog } from '../support/database.ts';
import { sendRaw, startFixture } from './server-fixture.ts';

interface Gate {
  readonly route: TestRoute;
  /** Resolves when a request stands at the gate. */
  readonly reached: Promise<void>;
  open(): void;
}

function gate(): Gate {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const GET = async () => {
    reached.resolve();
    await opened.promise;
    return jsonReply({ finished: true });
  };
  const route: TestRoute = { pattern: '/page/gate', access: 'public', methods: { GET } };
  return { route, reached: reached.promise, open: opened.resolve };
}

describe('DS-21: stopping', () => {
  test('refuses new connections and lets running requests finish', async () => {
    const held = gate();
    await using server = await startFixture({ routes: [held.route] });
    const answer = server.fetch('/page/gate');
    await held.reached;
    const stopped = server.server.stop(5000);
    await expect(sendRaw(server.port, 'GET / HTTP/1.1\r\n\r\n')).rejects.toThrow();
    held.open();
    expect(await (await answer).json()).toEqual({ finished: true });
    await stopped;
  });

  test('cuts off what is not done in time', async () => {
    const held = gate();
    await using server = await startFixture({ routes: [held.route] });
    const answer = server.fetch('/page/gate').then(
      () => 'answered',
      () => 'cut off',
    );
    await held.reached;
    await server.server.stop(50);
    expect(await answer).toBe('cut off');
    held.open();
  });
});

test('a port that is taken is refused', async () => {
  await using server = await startFixture();
  const { log } = testLog();
  const { services, port } = server;
  const options = {
    host: '127.0.0.1',
    port,
    services,
    plugins: [],
    files: jsonReply,
    failurePage: jsonReply,
    log,
  };
  expect(() => startServer({ ...options, tls: null })).toThrow(/EADDRINUSE|in use/);
  expect(() => startServer({ ...options, tls: certificate('x') })).toThrow(/EADDRINUSE|in use/);
});

describe('DS-206: with TLS of its own', () => {
  test('the server speaks https only, and its cookies are Secure', async () => {
    await using server = await startFixture({ tls: certificate('first') });
    expect(server.url).toStartWith('https://127.0.0.1:');
    const init: RequestInit & { tls: object } = { tls: { rejectUnauthorized: false } };
    const page = await server.fetch('/', { ...init, headers: { Accept: 'text/html' } });
    expect(page.headers.get('strict-transport-security')).toContain('max-age=31536000');
    expect(page.headers.getSetCookie()[0]).toContain('; Secure;');
    const plain = await sendRaw(server.port, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', 1000);
    expect(plain).not.toContain('200');
  });

  test('a new certificate is served to new connections, while running requests finish', async () => {
    const held = gate();
    await using server = await startFixture({ tls: certificate('first'), routes: [held.route] });
    const running = server.fetch('/page/gate', trusting());
    await held.reached;
    expect(await subject(server.port)).toBe('first');
    await server.server.renewCertificate(certificate('second'));
    // The old listener closes behind the answer to the renewal.
    for (let tries = 0; tries < 100 && (await subject(server.port)) !== 'second'; tries++) continue;
    for (let tries = 0; tries < 20; tries++) expect(await subject(server.port)).toBe('second');
    held.open();
    expect(await (await running).json()).toEqual({ finished: true });
  });
});

function trusting(): RequestInit {
  const init: RequestInit & { tls: object } = { tls: { rejectUnauthorized: false } };
  return init;
}

/** A self-signed certificate with that common name. */
function certificate(name: string): TlsPair {
  using folder = temporaryDirectory();
  const [key, cert] = [`${folder.path}/key.pem`, `${folder.path}/cert.pem`];
  const made = Bun.spawnSync({
    cmd: ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'].concat(
      ['-nodes', '-days', '2', '-subj', `/CN=${name}`, '-keyout', key, '-out', cert],
    ),
    stderr: 'pipe',
  });
  if (!made.success) throw new Error(made.stderr.toString());
  const read = (path: string): string => Bun.spawnSync(['cat', path]).stdout.toString();
  return { cert: read(cert), key: read(key) };
}

/** The common name of the certificate a new connection is shown. */
async function subject(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { connect } = await import('node:tls');
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
    const name = socket.getPeerCertificate().subject?.CN;
    resolve(typeof name === 'string' ? name : '');
    socket.destroy();
  });
  socket.on('error', reject);
  return promise;
}
