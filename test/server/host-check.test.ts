/** Which hosts a server answers for (DS-203). */
import { describe, expect, test } from 'bun:test';
import type { HostRules } from '../../src/http/hooks/host-check.ts';
import { createHostCheck, hostnameOf } from '../../src/http/hooks/host-check.ts';

function check(rules: Partial<HostRules>, ...headers: (string | null)[]): boolean[] {
  const hosts = createHostCheck({
    bindHost: '127.0.0.1',
    publicUrl: '',
    allowedHosts: [],
    ...rules,
  });
  return headers.map((header) => hosts.isAllowed(header));
}

describe('DS-203: the Host header', () => {
  test('names the bind host or this machine, with any port', () => {
    const own = ['localhost', 'LOCALHOST:8000', '127.0.0.1:9', '[::1]:8000', '[::1]', 'localhost.'];
    expect(check({}, ...own)).toEqual(own.map(() => true));
    expect(check({ bindHost: '192.0.2.7' }, '192.0.2.7:80')).toEqual([true]);
    expect(check({ bindHost: '2001:db8::1' }, '[2001:db8::1]:80')).toEqual([true]);
  });

  test('names the host of public_url', () => {
    const rules = { publicUrl: 'https://data.example.org:8443/base' };
    expect(check(rules, 'data.example.org', 'data.example.org:1', 'example.org')).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('names an allowed host, exactly or below a wildcard', () => {
    const rules = { allowedHosts: ['one.example', '*.two.example'] };
    expect(check(rules, 'one.example', 'a.one.example')).toEqual([true, false]);
    expect(check(rules, 'a.two.example', 'b.a.two.example:5')).toEqual([true, true]);
    expect(check(rules, 'two.example', '.two.example', 'atwo.example')).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('is foreign otherwise, also with our name as prefix or suffix', () => {
    const foreign = ['evil.example', 'localhost.evil.example', 'evil-localhost', '127.0.0.2', ''];
    expect(check({}, ...foreign, null)).toEqual([...foreign, null].map(() => false));
  });

  test('is not looked at when all interfaces are bound and nothing else is configured', () => {
    for (const bindHost of ['0.0.0.0', '::']) {
      expect(check({ bindHost }, 'anything.example:80', null)).toEqual([true, true]);
    }
    const rules = { bindHost: '0.0.0.0', allowedHosts: ['data.example'] };
    expect(check(rules, 'other.example', 'data.example')).toEqual([false, true]);
  });

  test('is refused when malformed, even where it is not looked at', () => {
    const broken = ['a/b?c=', 'a b', 'user@a', 'a, b', '[::1', 'a:b', 'a\\b', 'a#b', '[x]'];
    expect(check({ bindHost: '0.0.0.0' }, ...broken)).toEqual(broken.map(() => false));
    expect(broken.map(hostnameOf)).toEqual(broken.map(() => null));
  });
});
