/**
 * What an identity provider may answer and name before it is believed (DS-120, S-O1 to S-O4).
 */
import { describe, expect, test } from 'bun:test';
import { isPrivate } from '../../src/base/ip-network.ts';
import { Provider } from '../../src/accounts/oidc/provider.ts';
import { defaultConfig } from '../../src/config/settings.ts';
import { StandInProvider } from '../support/stand-in-provider.ts';
import { testClock, testLog } from '../support/database.ts';

const METADATA = '/.well-known/openid-configuration';
const MINUTE = 60_000;

function providerOf(from: { readonly issuer: string }, timeoutMs?: number) {
  const clock = testClock();
  const { log, lines } = testLog();
  const settings = { ...defaultConfig('/', '/').oidc, issuer: from.issuer, client_id: 'svc' };
  return { provider: new Provider({ settings, clock, log, timeoutMs }), clock, lines };
}

const text = (body: string) => () => new Response(body);
const documents: [string, () => Response, RegExp][] = [
  ['an error', () => new Response('no', { status: 500 }), /status 500/],
  ['a redirect', () => Response.redirect('http://127.0.0.1:1/'), /status 302/],
  ['no JSON', text('<html>'), /./],
  ['a list', text('[]'), /no object/],
  ['null', text('null'), /no object/],
  ['10 MB', text('x'.repeat(10_000_000)), /larger than 262144 bytes/],
  [
    '10 MB packed into 10 KB',
    () =>
      new Response(Bun.gzipSync(new Uint8Array(10_000_000)), {
        headers: { 'Content-Encoding': 'gzip' },
      }),
    /larger than 262144 bytes/,
  ],
];

const members: [string, Record<string, unknown>, RegExp][] = [
  ['another issuer', { issuer: 'https://other.example' }, /issuer/],
  ['no authorization endpoint', { authorization_endpoint: undefined }, /authorization_endpoint/],
  ['no key set', { jwks_uri: undefined }, /jwks_uri/],
  ['plain http elsewhere', { token_endpoint: 'http://other.example/token' }, /not https/],
  ['plain http on another port', { token_endpoint: 'http://127.0.0.1:1/token' }, /not https/],
  ['the metadata service of a cloud', { jwks_uri: 'https://169.254.169.254/keys' }, /private/],
  ['a private network', { token_endpoint: 'https://10.0.0.1/token' }, /private/],
  ['an odd spelling of it', { token_endpoint: 'https://0xa000001/token' }, /private/],
  ['IPv6 loopback', { token_endpoint: 'https://[::1]/token' }, /private/],
  ['a mapped address', { jwks_uri: 'https://[::ffff:10.0.0.1]/keys' }, /private/],
  ['a script', { authorization_endpoint: 'javascript:alert(1)' }, /not https/],
  ['a file', { jwks_uri: 'file:///etc/passwd' }, /not https/],
  ['a user name', { token_endpoint: 'https://a:b@other.example/token' }, /user name/],
  ['a number', { token_endpoint: 5 }, /no address/],
  ['a sign-out script', { end_session_endpoint: 'javascript:alert(1)' }, /not https/],
];

describe('metadata that is refused', () => {
  test.each(documents)('%s', async (_, answer, reason) => {
    await using standIn = await StandInProvider.start();
    standIn.answers[METADATA] = answer;
    const { provider, lines } = providerOf(standIn);
    expect(provider.metadata()).rejects.toThrow('OIDC discovery failed');
    await provider.metadata().catch(() => undefined);
    expect(lines.join('')).toMatch(reason);
  });

  test.each(members)('%s', async (_, metadata, reason) => {
    await using standIn = await StandInProvider.start();
    standIn.metadata = metadata;
    const { provider, lines } = providerOf(standIn);
    expect(provider.metadata()).rejects.toThrow('OIDC discovery failed');
    await provider.metadata().catch(() => undefined);
    expect(lines.join('')).toMatch(reason);
  });

  test('a dripping answer is given up in time', async () => {
    await using standIn = await StandInProvider.start();
    standIn.answers[METADATA] = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(500);
            controller.enqueue(new TextEncoder().encode(' '));
          },
        }),
      );
    const { provider, lines } = providerOf(standIn, 1_200);
    await provider.metadata().catch(() => undefined);
    expect(lines.join('')).toMatch(/[Tt]ime/);
  });
});

describe('what is remembered', () => {
  test('metadata for an hour, one request for all who wait', async () => {
    await using standIn = await StandInProvider.start();
    const { provider, clock } = providerOf(standIn);
    await Promise.all(Array.from({ length: 100 }, () => provider.metadata()));
    clock.pass(59 * MINUTE);
    await provider.metadata();
    expect(standIn.count(METADATA)).toBe(1);
    clock.pass(2 * MINUTE);
    await provider.metadata();
    expect(standIn.count(METADATA)).toBe(2);
  });

  test('a failure for ten seconds', async () => {
    await using standIn = await StandInProvider.start();
    standIn.metadata = { issuer: 'x' };
    const { provider, clock } = providerOf(standIn);
    for (let i = 0; i < 20; i++) await provider.metadata().catch(() => undefined);
    expect(standIn.count(METADATA)).toBe(1);
    standIn.metadata = {};
    clock.pass(11_000);
    expect((await provider.metadata()).issuer).toBe(standIn.issuer);
  });
});

test.each([
  ['127.0.0.1', true],
  ['10.1.2.3', true],
  ['172.31.0.1', true],
  ['172.32.0.1', false],
  ['169.254.169.254', true],
  ['100.64.0.1', true],
  ['0.0.0.0', true],
  ['8.8.8.8', false],
  ['::1', true],
  ['::', true],
  ['fd00::1', true],
  ['fe80::1', true],
  ['::ffff:192.168.0.1', true],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::a00:1', true],
  ['2001:4860:4860::8888', false],
  ['example.org', false],
])('%s is in a private network: %p', (address, expected) => {
  expect(isPrivate(address)).toBe(expected);
});
