/** Pages of other sites use the API as far as the configuration lets them (DS-243). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Service, startService } from '../support/service.ts';

const APP = 'https://app.example.org';
const files = { 'a.csv': 'n\n1\n2\n' };

const services: Record<string, Service> = {};
let key: Record<string, string>;
beforeAll(async () => {
  const configs = {
    off: {},
    plain: { cors: { origins: [APP, 'http://localhost:5173'] } },
    any: { cors: { origins: ['*'] } },
    trusting: { cors: { origins: [APP], credentials: true, max_age_seconds: 5 } },
  };
  for (const [name, config] of Object.entries(configs)) {
    services[name] = await startService({ files, config });
    await services[name].accounts.grant('anna', '*', 'read', 'write');
  }
  key = {};
});
afterAll(async () => {
  for (const service of Object.values(services)) await service[Symbol.asyncDispose]();
});

const ask = async (name: string, path: string, headers: Record<string, string>, init = {}) => {
  key[name] ??= await services[name]!.accounts.apiKey('anna');
  return services[name]!.fetch(path, { ...init, headers });
};
const preflight = (origin: string, method = 'PATCH') => ({
  Origin: origin,
  'Access-Control-Request-Method': method,
  'Access-Control-Request-Headers': 'x-api-key, content-type, if-match',
});
const corsHeaders = ({ headers }: Response) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

test('without a setting no answer has a header of it', async () => {
  const headers = { Origin: APP };
  for (const path of ['/', '/health', '/api/a/']) {
    expect(corsHeaders(await ask('off', path, headers))).toEqual([]);
  }
  const answer = await ask('off', '/api/a/', preflight(APP), { method: 'OPTIONS' });
  expect([answer.status, corsHeaders(answer)]).toEqual([401, []]);
});

describe('a page of a named site', () => {
  test('is told before the request, without a credential, whatever exists', async () => {
    for (const path of ['/api/a/', '/api/none/', '/api/a/1/', '/mcp', '/api/events/']) {
      const answer = await ask('plain', path, preflight(APP), { method: 'OPTIONS' });
      expect(answer.status).toBe(204);
      const { headers } = answer;
      expect(headers.get('Access-Control-Allow-Origin')).toBe(APP);
      expect(headers.get('Access-Control-Allow-Methods')).toContain('PATCH');
      expect(headers.get('Access-Control-Allow-Headers')).toBe('x-api-key, content-type, if-match');
      expect(headers.get('Access-Control-Max-Age')).toBe('600');
      expect(headers.get('Access-Control-Allow-Credentials')).toBeNull();
      expect(headers.get('Vary')).toContain('Origin');
    }
  });

  test('reads answers, their headers and errors', async () => {
    const whole = await ask('plain', '/api/a/?limit=1', {
      Origin: APP,
      'X-API-Key': key['plain']!,
    });
    expect(whole.status).toBe(200);
    expect(whole.headers.get('Access-Control-Allow-Origin')).toBe(APP);
    for (const name of ['ETag', 'Link', 'X-Total-Count', 'Location']) {
      expect(whole.headers.get('Access-Control-Expose-Headers')).toContain(name);
    }
    const etag = whole.headers.get('ETag')!;
    for (const [path, headers, status] of [
      ['/api/a/', {}, 401],
      ['/api/a/?limt=1', { 'X-API-Key': key['plain']! }, 422],
      ['/api/a/?limit=1', { 'X-API-Key': key['plain']!, 'If-None-Match': etag }, 304],
    ] as const) {
      const answer = await ask('plain', path, { Origin: APP, ...headers });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(APP);
    }
  });

  test('gets nothing of accounts and administration', async () => {
    for (const path of ['/auth/me', '/admin/users', '/api/apikeys', '/profile']) {
      const answer = await ask('plain', path, preflight(APP), { method: 'OPTIONS' });
      expect(corsHeaders(answer)).toEqual([]);
      expect(corsHeaders(await ask('plain', path, { Origin: APP }))).toEqual([]);
    }
  });

  test('may not use the session unless it is trusted with it', async () => {
    for (const [name, status] of [
      ['plain', 403],
      ['any', 403],
      ['trusting', 200],
    ] as const) {
      const { cookie } = await services[name]!.accounts.session('anna');
      const headers = { Cookie: cookie, Origin: APP, 'Sec-Fetch-Site': 'cross-site' };
      const body = '{"action":"create","data":[{"n":3}]}';
      const answer = await ask(name, '/api/a/', headers, { method: 'POST', body });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('Access-Control-Allow-Credentials')).toBe(
        name === 'trusting' ? 'true' : null,
      );
      const keys = await ask(name, '/api/apikeys', headers, { method: 'POST', body: '{}' });
      expect(keys.status).toBe(403);
      const other = { ...headers, Origin: 'https://evil.example' };
      expect((await ask(name, '/api/a/', other, { method: 'POST', body })).status).toBe(403);
    }
  });
});

test('other sites get no header, and no answer to their question', async () => {
  for (const origin of [
    'https://evil.example',
    `${APP}.evil.example`,
    'null',
    'http://app.example.org',
  ]) {
    const asked = await ask('plain', '/api/a/', preflight(origin), { method: 'OPTIONS' });
    expect([asked.status, corsHeaders(asked)]).toEqual([401, []]);
    const answer = await ask('plain', '/health', { Origin: origin });
    expect([corsHeaders(answer), answer.headers.get('Vary')?.includes('Origin')]).toEqual([
      [],
      true,
    ]);
  }
});

test('a star lets in all, without their sessions', async () => {
  const answer = await ask('any', '/health', { Origin: 'https://anybody.example' });
  expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
});

test('a named site talks to agents’ endpoint, others do not (DS-178)', async () => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const status = async (origin: string) =>
    (
      await ask(
        'plain',
        '/mcp',
        { Origin: origin, 'X-API-Key': key['plain']! },
        { method: 'POST', body },
      )
    ).status;
  expect([await status(APP), await status('https://evil.example')]).toEqual([200, 403]);
});

test.each([
  [{ origins: ['*'], credentials: true }, 'cors.credentials needs origins by name, not *'],
  [{ origins: ['app.example.org'] }, 'must be an origin such as https://app.example.org'],
  [{ origins: ['https://app.example.org/path'] }, 'must be an origin such as'],
])('%j is refused at the start', async (cors, text) => {
  let message = '';
  try {
    await using service = await startService({ files, config: { cors } });
    await service.fetch('/health');
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain(text);
});
