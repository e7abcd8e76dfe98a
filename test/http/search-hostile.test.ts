/**
 * No query and no content makes search fail, or slow (reliability: hostile full text).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { startService, type Client, type Service } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { searched } from './searching.ts';
import { seeded } from './seed.ts';

let svc: Service;
let root: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'odd.csv':
        'constructor,__proto__\ntoString,hasOwnProperty\n\u{1d4d0}lpha,\u0130stanbul\n"NEAR(a b)","col:x OR -y"\n"<img src=x onerror=alert(1)>","</mark><script>"\n',
      '__proto__.csv': 'a\nb\n',
      'constructor.csv': 'a\nb\n',
      'wide.csv': `${Array.from({ length: 300 }, (_, n) => `c${n}`).join(',')}\n${Array.from({ length: 300 }, (_, n) => `v${n}`).join(',')}\n`,
    },
  });
  await svc.createSuperuser('root');
  root = await svc.as('root');
  await eventually(async () => {
    for (const q of ['v299', 'onerror', '__proto__', 'constructor']) {
      expect((await searched(root, q)).count).toBeGreaterThan(0);
    }
  });
});
afterAll(async () => svc[Symbol.asyncDispose]());

const HOSTILE = [
  '"',
  "'",
  'AND',
  'a OR',
  'NEAR(',
  'NEAR(a b, 2)',
  'col:x',
  'title:x',
  '-x',
  '*',
  '^',
  '{a b}:x',
  '{title} : x',
  'a + b',
  '('.repeat(500),
  '"'.repeat(501),
  'x'.repeat(7_000),
  `${'a '.repeat(2_000)}`,
  'a* b* c*',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '%',
  '%%',
  '_',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty valueOf',
  "' UNION SELECT 1 --",
  '; ATTACH DATABASE',
  'load_extension(1)',
  '\u202e',
  '\ufeff',
  'ﷺ',
  'İ',
  'ß',
  '𝓐',
  '👩‍👩‍👧',
  'a'.repeat(40) + '*',
  '\r\n\t',
  'NOT a',
];

test('no query is an error', async () => {
  for (const q of HOSTILE) {
    const query = new URLSearchParams({ q: q.toWellFormed() });
    const response = await root.fetch(`/search?${query}`);
    expect([q.slice(0, 20), response.status]).toEqual([q.slice(0, 20), 200]);
    const page = await root.fetch(`/search?${query}`, { headers: { Accept: 'text/html' } });
    expect(page.status).toBe(200);
  }
  for (const raw of ['%FF', '%C3%28', '%00', '%ED%A0%80', '&q=b&q=', '%']) {
    expect((await root.fetch(`/search?q=${raw}`)).status).toBe(200);
  }
});

test('any text at all is answered with a list', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (q) => {
      const { count, results } = await searched(root, q.toWellFormed());
      expect(results.length).toBe(count);
    }),
    seeded('any query', 60),
  );
});

test('names of members of objects are words like others', async () => {
  for (const q of ['__proto__', 'constructor', 'tostring', 'constructo']) {
    expect((await searched(root, q)).count).toBeGreaterThan(0);
  }
});

test('markup in files is text in snippets and pages', async () => {
  const { results } = await searched(root, 'onerror');
  expect(results[0]!.snippet).toContain('&lt;img src=x');
  expect(results[0]!.snippet).not.toContain('<img');
  const page = await root.fetch('/search?q=onerror', { headers: { Accept: 'text/html' } });
  const html = await page.text();
  expect(html).not.toContain('<img src=x');
  expect(html).not.toContain('<script>');
});
