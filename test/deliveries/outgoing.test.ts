/** Where requests go, and that they go there and nowhere else. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, checkedUrl } from '../../src/deliveries/outgoing.ts';
import { makeCertificate } from '../support/certificate.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test.each([
  ['https://hooks.example.org/a', ['hooks.example.org'], true],
  ['https://HOOKS.example.org./a', ['hooks.example.org'], true],
  ['https://a.b.example.org/', ['*.example.org'], true],
  ['https://example.org/', ['*.example.org'], false],
  ['https://evil-example.org/', ['*.example.org'], false],
  ['https://hooks.example.org.evil.test/', ['hooks.example.org'], false],
  ['https://user:secret@hooks.example.org/', ['hooks.example.org'], false],
  ['http://10.0.0.7/', ['10.0.0.7'], true],
  ['http://0x0a000007/', ['10.0.0.7'], true],
  ['http://10.0.0.8/', ['10.0.0.7'], false],
  ['http://[::1]/', ['[::1]'], true],
  ['http://[0:0::1]/', ['[::1]'], true],
])('%s with %p is allowed: %p', (url, hosts, isAllowed) => {
  const check = () => checkedUrl(url, { hosts });
  if (isAllowed) expect(check()).toBeInstanceOf(URL);
  else expect(check).toThrow();
});

test.each([
  ['127.0.0.1', [], false],
  ['10.1.2.3', [], false],
  ['10.1.2.3', ['10.1.0.0/16'], true],
  ['10.2.2.3', ['10.1.0.0/16'], false],
  ['169.254.169.254', [], false],
  ['100.64.0.1', [], false],
  ['0.0.0.0', [], false],
  ['::1', [], false],
  ['fd00::1', [], false],
  ['fe80::1%eth0', [], false],
  ['::ffff:127.0.0.1', [], false],
  ['::ffff:a9fe:a9fe', [], false],
  ['64:ff9b::7f00:1', [], false],
  ['64:ff9b:1::a00:1', [], false],
  ['2002:7f00:1::', [], false],
  ['93.184.216.34', [], true],
  ['2606:2800:220:1::1', [], true],
])('a name that leads to %s with %p is reached: %p', async (address, networks, isReached) => {
  const found = addressOf('name.test', { networks, resolve: async () => [address] });
  if (isReached) expect(await found).toBe(address);
  else await expect(found).rejects.toThrow('a private address');
});

test('of several addresses one that may be reached is taken', async () => {
  const resolve = async () => ['10.0.0.1', '93.184.216.34'];
  expect(await addressOf('name.test', { networks: [], resolve })).toBe('93.184.216.34');
});

test('a name is asked once, and the certificate at its address has to be for the name', async () => {
  using folder = temporaryFolder();
  makeCertificate(folder.path, 'good.test', 'DNS:good.test');
  const [cert, key] = ['crt', 'key'].map((ending) =>
    readFileSync(join(folder.path, `good.test.${ending}`), 'utf8'),
  );
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert, key },
    fetch: () => new Response('ok'),
  });
  const sent = async (name: string) => {
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'pinned-request.ts'), String(server.port), name],
      { env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder.path, 'good.test.crt') } },
    );
    return (await child.stdout.text()).trim();
  };
  expect(await sent('good.test')).toBe('200 1');
  expect(await sent('bad.test')).toBe('ERR_TLS_CERT_ALTNAME_INVALID 1');
});
