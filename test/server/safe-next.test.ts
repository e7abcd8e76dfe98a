/** Where a sign-in may lead (DS-100). */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { safeNext } from '../../src/http/hooks/session.ts';

test.each([
  '/',
  '/ui/media',
  '/api/a%20b/?filter=%7B%22a%22%3A1%7D&limit=2',
  '/x#part',
  '/a/../b',
  '/%2F%2Fevil.example',
  '/a//b',
])('DS-100: %p is a page of this site', (next) => {
  expect(safeNext(next)).toBe(next === '/a/../b' ? '/b' : next);
});

test.each([
  null,
  '',
  'ui',
  '//evil.example',
  '/\\evil.example',
  '/a\\b',
  'https://evil.example/',
  'javascript:alert(1)',
  '/a b',
  '/a\tb',
  '/a\r\nSet-Cookie: x=1',
  '/\u0000',
  '/.//evil.example',
  '/a/..//evil.example',
])('DS-100: %p leads to the start page instead', (next) => {
  expect(safeNext(next)).toBe('/');
});

test('DS-100: whatever is asked for, a browser stays on this site', () => {
  const seed = Number(process.env['SEED'] ?? Date.now());
  const text = fc.string({ unit: fc.constantFrom(...'/\\.:@?#%2e5ca\t\n é'.split('')) });
  fc.assert(
    fc.property(text, (next) => {
      const location = safeNext(`/${next}`);
      expect(new URL(location, 'https://own.example/auth/login').origin).toBe(
        'https://own.example',
      );
      // A header value is Latin-1 without control characters.
      expect(location).toMatch(/^\/[\x21-\x7e]*$/);
    }),
    { seed, numRuns: 2000 },
  );
});
