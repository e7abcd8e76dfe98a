/**
 * Methods of dataset and schema addresses, and the order in which a request is checked (DS-6 to DS-8).
 */
import { describe, expect, test } from 'bun:test';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {
    'data.csv': 'a\n1\n',
    'broken.csv': new Uint8Array([0xff]),
  },
});

const READ = ['GET', 'HEAD', 'OPTIONS'];
const ALL = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST'];

const ask = async (client: { fetch: typeof shared.reader.fetch }, method: string, path: string) => {
  const response = await client.fetch(path, { method });
  return {
    status: response.status,
    allow: response.headers.get('Allow')?.split(', ').sort() ?? null,
    text: await response.text(),
    headers: response.headers,
  };
};

describe('OPTIONS', () => {
  test('of rows lists reading and writing, of a schema only reading (DS-6, DS-73)', async () => {
    expect(await ask(shared.reader, 'OPTIONS', '/api/data/')).toMatchObject({
      status: 204,
      allow: ALL,
      text: '',
    });
    expect(await ask(shared.reader, 'OPTIONS', '/schema/data/')).toMatchObject({
      status: 204,
      allow: READ,
      text: '',
    });
  });

  test('of a file follows its read rules (DS-6)', async () => {
    const stranger = await shared.service.as('stranger');
    for (const path of ['/api/data/', '/schema/data/', '/api/nothing/']) {
      expect((await ask(shared.service, 'OPTIONS', path)).status).toBe(401);
      expect((await ask(stranger, 'OPTIONS', path)).status).toBe(403);
    }
    expect((await ask(shared.reader, 'OPTIONS', '/api/nothing/')).status).toBe(404);
  });

  test('of a built-in route asks nobody who they are (DS-6)', async () => {
    for (const path of ['/', '/health', '/metrics', '/api/apikeys', '/auth/me']) {
      const { status, allow, text } = await ask(shared.service, 'OPTIONS', path);
      expect({ path, status, text }).toEqual({ path, status: 204, text: '' });
      expect(allow).toContain('OPTIONS');
    }
  });

  test('and other answers carry no CORS headers, whoever asks (DS-6, S-H7)', async () => {
    for (const origin of ['https://evil.example', 'null', shared.service.url]) {
      for (const method of ['OPTIONS', 'GET']) {
        const response = await shared.reader.fetch('/api/data/', {
          method,
          headers: { Origin: origin, 'Access-Control-Request-Method': 'DELETE' },
        });
        const names = [...response.headers.keys()].filter((name) =>
          name.startsWith('access-control'),
        );
        expect(names).toEqual([]);
      }
    }
  });
});

describe('a method that does not exist', () => {
  test('is 405 with the methods there are (DS-7, DS-73)', async () => {
    for (const method of ['PUT', 'PROPFIND']) {
      const answer = await ask(shared.writer, method, '/api/data/');
      expect(answer).toMatchObject({ status: 405, allow: ALL });
      expect(JSON.parse(answer.text)).toEqual({ detail: 'Method Not Allowed' });
    }
    for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
      const answer = await ask(shared.writer, method, '/schema/data/');
      expect(answer).toMatchObject({ status: 405, allow: READ });
      expect(JSON.parse(answer.text)).toEqual({ detail: 'Method Not Allowed' });
    }
  });

  test('comes after permission and existence (DS-8)', async () => {
    const stranger = await shared.service.as('stranger');
    expect((await ask(shared.service, 'PUT', '/api/data/')).status).toBe(401);
    expect((await ask(stranger, 'PUT', '/api/data/')).status).toBe(403);
    expect((await ask(shared.reader, 'PUT', '/api/data/')).status).toBe(403);
    expect((await ask(shared.reader, 'POST', '/schema/data/')).status).toBe(403);
    expect((await ask(shared.writer, 'PUT', '/api/nothing/')).status).toBe(404);
    expect((await ask(shared.superuser, 'POST', '/schema/nothing/')).status).toBe(404);
  });

  test.each(['TRACE', 'CONNECT'])('%s is refused everywhere (DS-6)', async (method) => {
    for (const path of ['/', '/health', '/api/data/', '/api/nothing/']) {
      const { status, headers } = await rawRequest(shared.service.url, { method, path });
      // The transport itself may refuse CONNECT as no request of HTTP/1.1 to an origin server.
      expect(method === 'CONNECT' ? [400, 405] : [405]).toContain(status);
      if (status === 405) expect(headers['allow']).toBeDefined();
    }
  });
});

describe('the order of checks', () => {
  test('a bad credential comes before everything about the file (DS-8, DS-94)', async () => {
    for (const path of ['/api/data/', '/api/nothing/', '/api/broken/', '/', '/health']) {
      const response = await shared.service.fetch(path, { headers: { 'X-API-Key': 'ak_wrong' } });
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({ detail: 'Not authenticated' });
    }
  });

  test('a file that cannot be read is 422 for every method, after permission (DS-34)', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']) {
      const { status, text } = await ask(shared.writer, method, '/api/broken/');
      expect({ method, status }).toEqual({ method, status: 422 });
      if (method !== 'HEAD') expect(text).toContain(`Cannot read 'broken.csv': `);
    }
    expect((await ask(shared.reader, 'POST', '/api/broken/')).status).toBe(403);
    expect((await ask(shared.reader, 'GET', '/schema/broken/')).status).toBe(422);
  });
});
