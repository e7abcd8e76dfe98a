/** How a path finds its route (DS-4, DS-5, DS-29), and which paths were changed on the way (server.ts). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hasShape, type PathShape, RequestTarget } from '../../src/http/hooks/request-target.ts';
import { jsonReply } from '../../src/http/reply/reply.ts';
import { allowed } from '../../src/http/route.ts';
import { type Fixture, rawGet, sendRaw, startFixture, type TestRoute } from './server-fixture.ts';

function target(path: string, known: PathShape | null = null): RequestTarget {
  return new RequestTarget({ url: `http://a${path}` } as Request, known);
}

describe('a path', () => {
  const route = (pattern: string, more: Partial<TestRoute> = {}): TestRoute => ({
    pattern,
    access: 'public',
    methods: { GET: (context) => jsonReply([context.pattern, context.parameters]) },
    ...more,
  });
  let server: Fixture;
  beforeAll(async () => {
    server = await startFixture({
      routes: [
        route('/x'),
        route('/x/keys'),
        route('/x/keys/:id'),
        route('/x/events/:id', { hasNumbers: true }),
        route('/x/events/tail'),
        route('/x/events/:id/raw'),
        route('/_x/*', { rest: 'name' }),
      ],
    });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const found = async (path: string): Promise<unknown> => {
    const answer = await sendRaw(server.port, rawGet(path));
    // Files are for signed-in callers.
    return answer.startsWith('HTTP/1.1 401')
      ? null
      : JSON.parse(Buffer.from(answer.split('\r\n\r\n')[1]!, 'latin1').toString());
  };

  test.each([
    ['/x', '/x', {}],
    ['/x/', '/x', {}],
    ['/%78/k%65ys/', '/x/keys', {}],
    ['/x/keys/abc', '/x/keys/{id}', { id: 'abc' }],
    ['/x/keys/a%20b/', '/x/keys/{id}', { id: 'a b' }],
    ['/x/keys/a%CC%88', '/x/keys/{id}', { id: 'ä' }],
    ['/x/events/12', '/x/events/{id:int}', { id: '12' }],
    ['/x/events/tail', '/x/events/tail', {}],
    ['/x/events/12/raw', '/x/events/{id}/raw', { id: '12' }],
    ['/_x/a/b.css', '/_x/{name:rest}', { name: 'a/b.css' }],
    ['/_x/a/b%20c/', '/_x/{name:rest}', { name: 'a/b c' }],
    ['/x%2Fkeys', '/x/keys', {}],
  ])('DS-4, DS-5: %p is %p', async (path, pattern, parameters) => {
    expect(await found(path)).toEqual([pattern, parameters]);
  });

  test.each([
    '/X',
    '/x//keys',
    '/x/keys//',
    '//x',
    '/x/keys/a/b',
    '/x/events/12a',
    '/_x/',
    '/x/keys/%2e%2e',
    '/x/keys/%00',
    '/x/keys/%zz',
    '/x/keys/%c0%af',
    '/x/./keys',
    '/other/../x/keys',
    '/x#keys',
    '/other',
  ])('%p is no route', async (path) => {
    expect(await found(path)).toBeNull();
  });

  test('DS-7: Allow names every method, HEAD with GET, and OPTIONS', () => {
    expect(allowed(['GET', 'POST'])).toBe('GET, HEAD, POST, OPTIONS');
    expect(allowed(['DELETE'])).toBe('DELETE, OPTIONS');
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
});
