/** What is believed about the way a request came (DS-204). */
import { describe, expect, test } from 'bun:test';
import type { Peer } from '../../src/http/hooks/client-address.ts';
import { createPeerReader } from '../../src/http/hooks/client-address.ts';

const PROXIES = ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'];

function read(
  socket: string | null,
  headers: Record<string, string> = {},
  proxies: readonly string[] = PROXIES,
): Peer {
  return createPeerReader(proxies)(socket, new Headers(headers));
}

describe('DS-204: an untrusted peer', () => {
  test('is the client, whatever it says', () => {
    const headers = {
      'X-Forwarded-For': '1.1.1.1',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'for=1.1.1.1;proto=https',
    };
    const peer = { address: '203.0.113.9', scheme: null, host: null, isTrusted: false };
    expect(read('203.0.113.9', headers)).toEqual(peer);
    expect(read('10.0.0.1', headers, []).address).toBe('10.0.0.1');
  });

  test('is shown as IPv4 when it came over a dual-stack socket', () => {
    expect(read('::ffff:203.0.113.9').address).toBe('203.0.113.9');
  });

  test('is unknown when the socket is gone', () => {
    expect(read(null, { 'X-Forwarded-For': '1.1.1.1' }).address).toBe('unknown');
  });

  test('is told from the peer of the request before', () => {
    const reader = createPeerReader(PROXIES);
    const headers = new Headers();
    expect(reader('203.0.113.9', headers).address).toBe('203.0.113.9');
    expect(reader('203.0.113.9', headers).address).toBe('203.0.113.9');
    expect(reader('203.0.113.10', headers).address).toBe('203.0.113.10');
  });
});

describe('DS-204: behind trusted proxies the client', () => {
  const client = (forwardedFor: string, socket = '10.0.0.1'): string =>
    read(socket, { 'X-Forwarded-For': forwardedFor }).address;

  test('is the right-most address that is no proxy', () => {
    expect(client('203.0.113.9')).toBe('203.0.113.9');
    expect(client('6.6.6.6, 203.0.113.9, 192.0.2.1, 10.9.9.9')).toBe('203.0.113.9');
    expect(client('203.0.113.9', '::ffff:10.0.0.1')).toBe('203.0.113.9');
  });

  test('is the left-most one when all are proxies', () => {
    expect(client('10.1.1.1, 10.2.2.2')).toBe('10.1.1.1');
    expect(client('')).toBe('10.0.0.1');
  });

  test('may come with a port or in brackets', () => {
    expect(client('203.0.113.9:4711')).toBe('203.0.113.9');
    expect(client('[2001:db8::9]:4711, 10.1.1.1')).toBe('2001:db8::9');
    expect(client('2001:db8::9', 'fd00::1')).toBe('2001:db8::9');
  });

  test('is the last proxy known when the rest is no address', () => {
    expect(client('6.6.6.6, unknown, 10.1.1.1')).toBe('10.1.1.1');
    expect(client('<script>')).toBe('10.0.0.1');
  });
});

describe('DS-204: a trusted proxy', () => {
  test('tells scheme and host', () => {
    const headers = { 'X-Forwarded-Proto': 'HTTPS', 'X-Forwarded-Host': 'data.example:8443' };
    const { scheme, host, isTrusted } = read('10.0.0.1', headers);
    expect({ scheme, host, isTrusted }).toEqual({
      scheme: 'https',
      host: 'data.example:8443',
      isTrusted: true,
    });
    expect(read('10.0.0.1', { 'X-Forwarded-Proto': 'gopher' }).scheme).toBeNull();
  });

  test('may use Forwarded instead (RFC 7239)', () => {
    const Forwarded = 'for="[2001:db8::9]:4711";proto=https;host=data.example, for=10.1.1.1';
    const { address, scheme, host } = read('10.0.0.1', { Forwarded });
    expect({ address, scheme, host }).toEqual({
      address: '2001:db8::9',
      scheme: 'https',
      host: 'data.example',
    });
  });
});
