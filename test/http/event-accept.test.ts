/**
 * `Accept` and `?format=` on every route of events, saved searches, searches and tokens (EV-8): a route gives what it has, and
 * says 406 to a client that takes none of it, after the right is checked.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';

const NOT_ACCEPTABLE = { detail: 'Could not satisfy the request Accept header.' };

let svc: Service;
let root: Client;
let stranger: Client;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.user('stranger');
  root = await svc.as('root');
  stranger = await svc.as('stranger');
  for (const [path, body] of [
    ['/api/events/', { data: 'x' }],
    ['/api/savedsearches/', { name: 'n', query: 'search' }],
  ] as const)
    expect((await ask(root, 'POST', path, {}, body)).status).toBe(201);
});
afterAll(() => svc[Symbol.asyncDispose]());

function ask(
  client: Client,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Response> {
  return client.fetch(path, {
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const EVENT = { data: 'y' };
const SEARCH = { name: 'm', query: 'search' };
/** Method, path, body, status. */
const JSON_ROUTES: readonly (readonly [string, string, unknown, number])[] = [
  ['GET', '/api/', undefined, 200],
  ['POST', '/api-token-auth/', { username: 'nobody', password: 'x' }, 400],
  ['POST', '/api/events/', EVENT, 201],
  ['GET', '/api/events/1/', undefined, 200],
  ['PUT', '/api/events/1/', EVENT, 200],
  ['PATCH', '/api/events/1/', {}, 200],
  ['DELETE', '/api/events/999/', undefined, 404],
  ['GET', '/api/events/histogram', undefined, 200],
  ['GET', '/api/events/fields', undefined, 200],
  ['GET', '/api/savedsearches/', undefined, 200],
  ['POST', '/api/savedsearches/', SEARCH, 201],
  ['GET', '/api/savedsearches/1/', undefined, 200],
  ['PUT', '/api/savedsearches/1/', SEARCH, 200],
  ['PATCH', '/api/savedsearches/1/', {}, 200],
  ['DELETE', '/api/savedsearches/999/', undefined, 404],
  ['POST', '/search2/api/run/', { query: '' }, 200],
  ['POST', '/search2/api/validate/', { query: '' }, 200],
  ['GET', '/search2/api/commands/', undefined, 200],
];

describe.each(JSON_ROUTES)('%s %s', (method, path, body, status) => {
  test('EV-8 answers whoever takes JSON, and 406 to others', async () => {
    for (const accept of ['application/json', 'application/*', 'text/html, */*;q=0.1', '']) {
      const answer = await ask(root, method, path, { Accept: accept }, body);
      expect([accept, answer.status]).toEqual([accept, status]);
      await answer.body?.cancel();
    }
    for (const accept of ['image/png', 'text/plain, image/*', 'application/json;q=0']) {
      const answer = await ask(root, method, path, { Accept: accept }, body);
      expect([accept, answer.status, await answer.json()]).toEqual([accept, 406, NOT_ACCEPTABLE]);
    }
  });

  test('EV-8 takes format=json and no other it has not', async () => {
    const known = await ask(root, method, `${path}?format=json`, { Accept: 'image/png' }, body);
    expect(known.status).toBe(status);
    const unknown = await ask(root, method, `${path}?format=xml`, {}, body);
    expect([unknown.status, await unknown.json()]).toEqual([404, { detail: 'Not found.' }]);
  });
});

test('the list and searches give what Accept names of what they have', async () => {
  const list = async (accept: string, query = ''): Promise<(number | string | null)[]> => {
    const answer = await ask(root, 'GET', `/api/events/${query}`, { Accept: accept });
    await answer.body?.cancel();
    return [answer.status, answer.headers.get('content-type')];
  };
  expect(await list('text/csv')).toEqual([200, 'text/csv; charset=utf-8']);
  expect(await list('image/png, application/x-ndjson')).toEqual([200, 'application/x-ndjson']);
  expect((await list('image/png'))[0]).toBe(406);
  expect((await list('image/png', '?format=csv'))[0]).toBe(200);
  const run = async (
    accept: string,
    more = {},
    query = '',
  ): Promise<(number | string | null)[]> => {
    const body = { query: 'search', ...more };
    const answer = await ask(root, 'POST', `/search2/api/run/${query}`, { Accept: accept }, body);
    await answer.body?.cancel();
    return [answer.status, answer.headers.get('content-type')];
  };
  expect(await run('text/csv')).toEqual([200, 'text/csv; charset=utf-8']);
  expect(await run('application/json, text/csv;q=0.5')).toEqual([200, 'application/json']);
  // EV-97: the member wins, whatever Accept names.
  expect(await run('image/png', { format: 'ndjson' })).toEqual([200, 'application/x-ndjson']);
  expect((await run('image/png'))[0]).toBe(406);
  expect(await run('image/png', {}, '?format=csv')).toEqual([200, 'text/csv; charset=utf-8']);
});

test('a tail is a stream of events and nothing else', async () => {
  for (const accept of ['text/event-stream', '*/*', 'text/*']) {
    const stop = new AbortController();
    const answer = await root.fetch('/api/events/tail', {
      headers: { Accept: accept },
      signal: stop.signal,
    });
    expect([accept, answer.status]).toEqual([accept, 200]);
    stop.abort();
  }
  const refused = await ask(root, 'GET', '/api/events/tail', { Accept: 'application/json' });
  expect([refused.status, await refused.json()]).toEqual([406, NOT_ACCEPTABLE]);
  expect((await ask(root, 'GET', '/api/events/tail?format=json')).status).toBe(404);
});

test('DS-8 who has no right hears of that first', async () => {
  for (const path of ['', '1/', 'histogram', 'fields', 'tail'])
    expect(
      (await ask(stranger, 'GET', `/api/events/${path}`, { Accept: 'image/png' })).status,
    ).toBe(403);
});
