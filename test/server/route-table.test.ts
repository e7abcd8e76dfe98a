/** How a path finds its route (DS-4, DS-5, DS-29), and which ones were changed on the way (native-routes.ts). */
import { describe, expect, test } from 'bun:test';
import type { KnownPath } from '../../src/http/native-routes.ts';
import { hasShape, nativeRoutes } from '../../src/http/native-routes.ts';
import { RequestTarget } from '../../src/http/hooks/request-target.ts';
import type { Route } from '../../src/http/route-table.ts';
import { allowed, RouteTable } from '../../src/http/route-table.ts';
import { emptyReply } from '../../src/http/reply/reply.ts';
import { routes } from '../../src/api/index.ts';

const handler = () => emptyReply();

function route(pattern: string): Route {
  return { pattern, access: 'public', methods: { GET: handler } };
}

function target(path: string, known: KnownPath | null = null): RequestTarget {
  return new RequestTarget({ url: `http://a${path}` } as Request, known);
}

describe('a route table', () => {
  const table = new RouteTable(
    [
      '/',
      '/api',
      '/api/keys',
      '/api/keys/{id}',
      '/api/events/{id:int}',
      '/api/events/tail',
      '/api/events/{name}/raw',
      '/_svc/{name:rest}',
    ].map(route),
  );
  const found = (path: string): [string, Record<string, string>] | null => {
    const match = table.find(target(path));
    return match === null ? null : [match.route.pattern, match.parameters];
  };

  test.each([
    ['/', '/', {}],
    ['/api', '/api', {}],
    ['/api/', '/api', {}],
    ['/%61pi/k%65ys/', '/api/keys', {}],
    ['/api/keys/abc', '/api/keys/{id}', { id: 'abc' }],
    ['/api/keys/a%20b/', '/api/keys/{id}', { id: 'a b' }],
    ['/api/events/12', '/api/events/{id:int}', { id: '12' }],
    ['/api/events/tail', '/api/events/tail', {}],
    ['/api/events/12/raw', '/api/events/{name}/raw', { name: '12' }],
    ['/_svc/a/b.css', '/_svc/{name:rest}', { name: 'a/b.css' }],
    ['/api%2Fkeys', '/api/keys', {}],
  ])('DS-4, DS-5: %p is %p', (path, pattern, parameters) => {
    expect(found(path)).toEqual([pattern, parameters]);
  });

  test.each([
    '/API',
    '/api//keys',
    '/api/keys//',
    '//api',
    '/api/keys/a/b',
    '/api/events/12a',
    '/_svc/',
    '/api/keys/%2e%2e',
    '/api/keys/%00',
    '/api/keys/%zz',
    '/api/keys/%c0%af',
    '/api/./keys',
    '/api#keys',
    '/other',
  ])('%p has none', (path) => {
    expect(found(path)).toBeNull();
  });

  test('refuses patterns that are malformed or stand twice', () => {
    for (const patterns of [['api'], ['/a//b'], ['/a', '/a'], ['/{x}', '/{x}'], ['/{x:rest}/a']]) {
      expect(() => new RouteTable(patterns.map(route))).toThrow(RangeError);
    }
  });

  test('DS-7: Allow names every method, HEAD with GET, and OPTIONS', () => {
    expect(allowed(['GET', 'POST'])).toBe('GET, HEAD, POST, OPTIONS');
    expect(allowed(['DELETE'])).toBe('DELETE, OPTIONS');
  });

  test("takes all of the product's routes", () => {
    expect(new RouteTable(routes).plainPaths).toContain('/auth/login');
  });
});

describe('the target of a request', () => {
  test('is path and query as they came', () => {
    const { path, search, segments } = target('/a%20b/c/?x=1&y=/../');
    expect({ path, search, segments }).toEqual({
      path: '/a%20b/c/',
      search: '?x=1&y=/../',
      segments: ['a b', 'c'],
    });
  });

  test('is found in a relative URL, which a malformed Host leaves', () => {
    const { path, search } = new RequestTarget({ url: '/a/b?c' } as Request, null);
    expect([path, search]).toEqual(['/a/b', '?c']);
  });

  test('is a guess where it can match nothing, for texts', () => {
    const { segments, isMatchable } = target('/api//x%2e/../y/');
    expect({ segments, isMatchable }).toEqual({
      segments: ['api', '', 'x.', '..', 'y'],
      isMatchable: false,
    });
    expect(target('/%zz/a').segments).toEqual(['%zz', 'a']);
  });

  test('of an address without a path is the root', () => {
    const { path, isAsSent } = new RequestTarget({ url: 'a.example:80' } as Request, null);
    expect({ path, isAsSent }).toEqual({ path: '/', isAsSent: false });
  });
});

test('DS-5: a path whose number of segments changed on the way is recognised', () => {
  expect(hasShape('/a/b', { segments: 2, isOpen: false })).toBe(true);
  expect(hasShape('/a/', { segments: 1, isOpen: true })).toBe(true);
  expect(hasShape('/a//b', { segments: 1, isOpen: true })).toBe(true);
  expect(hasShape('/b', { segments: 3, isOpen: false })).toBe(false);
  expect(hasShape('/a/', { segments: 2, isOpen: false })).toBe(false);
  expect(hasShape('/', { segments: 1, isOpen: false })).toBe(false);
  const patterns = nativeRoutes(['/health']).map(({ pattern }) => pattern);
  expect(patterns.slice(0, 4)).toEqual(['/health', '/:s1', '/:s1/*', '/:s1/:s2']);
});
