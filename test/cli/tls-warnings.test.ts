import { afterAll, beforeAll, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tlsWarnings } from '../../src/cli/tls-warnings.ts';
import { configFrom, defaultConfig, valueAt } from '../../src/config/settings.ts';
import type { Config, SettingKey } from '../../src/config/settings.ts';

// A self-signed certificate for test.example, its key, and a key of nothing.
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBgjCCASmgAwIBAgIUS2dKZIjiHY6y80ST6QiBwbwPZ20wCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMdGVzdC5leGFtcGxlMB4XDTI2MTEyMTE5NDExM1oXDTI2MTIy
MTE5NDExM1owFzEVMBMGA1UEAwwMdGVzdC5leGFtcGxlMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAE8A0/U2nigB/XEwUevMvby2lCm+7T20ZUyxWhge1SbL/cmphg
JQnBjwIYi1XVkj04T2EN3JbfNr86cLjRD2xltKNTMFEwHQYDVR0OBBYEFBZSGZpM
xXH/5W26BvXR87oTiPFhMB8GA1UdIwQYMBaAFBZSGZpMxXH/5W26BvXR87oTiPFh
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgFGaDw3lYT47opiNx
cCXWlYC7eg5/2hPoljionsPKkJgCIAEIl8Wa6qnDTOUcawnKR3/bDyxvnWEIV48Q
xUyHLmKC
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWR/PHErVduDY0Xpp
zSYhn6MKLfdthiuZgbKf+saZtDOhRANCAATwDT9TaeKAH9cTBR68y9vLaUKb7tPb
RlTLFaGB7VJsv9yamGAlCcGPAhiLVdWSPThPYQ3clt82vzpwuNEPbGW0
-----END PRIVATE KEY-----
`;
const OTHER_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmTe+S6M0rS2oNpey
sTilkAK3XlWZ1YxD2+RMiYuMWf6hRANCAATmhE1Twtdv3XXZ31R8ktEgNlC7DJDV
tqdvljNGdNkGB7bttZ5NfauLs8H0smA9rqrWgybIWHjepaSnxo07SLRJ
-----END PRIVATE KEY-----
`;

const { validFrom, validTo } = new X509Certificate(CERTIFICATE);
const DAY_MS = 86_400_000;
const start = Date.parse(validFrom);
const end = Date.parse(validTo);
const files = { 'c.pem': CERTIFICATE, 'k.pem': KEY, 'other.pem': OTHER_KEY, 'text.pem': 'hello' };
let dir = '';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-tls-'));
  for (const [name, pem] of Object.entries(files)) await writeFile(join(dir, name), pem);
});

afterAll(() => rm(dir, { recursive: true }));

function config(changes: Partial<Record<SettingKey, unknown>>): Config {
  const defaults = defaultConfig('/data', '/data/.svc');
  return configFrom((key) => changes[key] ?? valueAt(defaults, key));
}

function pair(certificate: string, key: string, now: number): Promise<string[]> {
  return tlsWarnings(config({ tls_cert: join(dir, certificate), tls_key: join(dir, key) }), now);
}

test.each([
  ['on the first day', start + 1, []],
  ['before its time', start - DAY_MS, [`tls_cert is not valid before ${validFrom}`]],
  ['near its end', end - DAY_MS, [`tls_cert expires on ${validTo}`]],
  ['after its end', end + 1, [`tls_cert expired on ${validTo}`]],
])('a certificate %s', async (_, now, warnings) => {
  expect(await pair('c.pem', 'k.pem', now)).toEqual(warnings);
});

test('a key of another certificate, a missing file and a file of something else are named', async () => {
  expect(await pair('c.pem', 'other.pem', start + 1)).toEqual([
    'tls_key does not belong to tls_cert',
  ]);
  expect(await pair('c.pem', 'gone.pem', start + 1)).toEqual([
    `tls_key cannot be read (ENOENT): ${join(dir, 'gone.pem')}`,
  ]);
  expect(await pair('text.pem', 'text.pem', start + 1)).toEqual([
    'tls_cert holds no usable PEM block',
    'tls_key holds no usable PEM block',
  ]);
});

test.each([
  ['127.0.0.1', '', 0],
  ['127.1.2.3', '', 0],
  ['::1', '', 0],
  ['localhost', '', 0],
  ['0.0.0.0', '', 1],
  ['::', '', 1],
  ['192.0.2.1', '', 1],
  ['192.0.2.1', 'http://data.example', 1],
  ['192.0.2.1', 'https://data.example', 0],
])('without TLS on %s behind %p there are %i warnings', async (host, public_url, count) => {
  expect(await tlsWarnings(config({ host, public_url }), 0)).toHaveLength(count);
});
