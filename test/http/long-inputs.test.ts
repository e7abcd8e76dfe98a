/**
 * Requests that are long in a way of their own: none of them may take the square of its length, as each is worked on where
 * everybody else is answered (S-D4). Those that do never come to an end within the time of a test.
 */
import { describe, expect, test } from 'bun:test';
import { eventually } from './eventually.ts';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

const HANDLER = `import { Elysia } from 'elysia';
export const router = new Elysia().get('/*', ({ params }) => ({ rest: params['*'].length }));
`;
const shared = sharedService({
  files: {
    'a.csv': `${Array.from({ length: 60 }, (_, n) => `c${n}`).join(',')}\n${'1,'.repeat(59)}1\n`,
    'deep/er/handler.ts': HANDLER,
  },
});

describe('a path of a hundred thousand segments', () => {
  const long = 'a/'.repeat(100_000);
  test.each(['/', '/api/', '/schema/', '/ui/', '/media/', '/docs/', '/admin/', '/_svc/'])(
    'below %s is answered',
    async (prefix) => {
      const key = await shared.service.accounts.apiKey('root');
      for (const path of [prefix + long, `${prefix}${long}x.csv`]) {
        const answer = await rawRequest(shared.service.url, {
          path,
          headers: { 'X-API-Key': key },
        });
        expect([403, 404]).toContain(answer.status);
      }
    },
  );

  test('belongs to the handler it begins with', async () => {
    const key = await shared.service.accounts.apiKey('root');
    const headers = { 'X-API-Key': key };
    for (const name of ['deep/er/handler', 'deep/er/handler.ts']) {
      const path = `/api/${name}/${'a/'.repeat(1_000)}z`;
      const answer = await rawRequest(shared.service.url, { path, headers });
      expect(Buffer.from(answer.body).toString()).toBe('{"rest":2001}');
    }
  });
});

test.each(['a&', 'a=b&', 'columns=c1&', 'filter=&', 'x%20=1&'])(
  'a query of 200 KB of %s is a page of usual size',
  async (piece) => {
    const query = piece.repeat(Math.floor(200_000 / piece.length));
    const key = await shared.service.accounts.apiKey('root');
    const answer = await rawRequest(shared.service.url, {
      path: `/ui/a/?${query}`,
      headers: { 'X-API-Key': key, Accept: 'text/html' },
    });
    expect([200, 422]).toContain(answer.status);
    expect(answer.body.length).toBeLessThan(4_000_000);
  },
);

test('a row of 390,000 columns is refused by the first unknown one (DS-77)', async () => {
  const members = Array.from({ length: 390_000 }, (_, n) => `"k${n}":1`).join(',');
  for (const [method, body] of [
    ['POST', `{"action":"create","data":[{${members}}]}`],
    ['PATCH', `{"action":"update","data":{"_row_id":1,${members}}}`],
    ['DELETE', `{"action":"delete","data":{"_row_id":1,${members}}}`],
  ] as const) {
    const answer = await shared.writer.fetch('/api/a/', { method, body });
    expect([answer.status, await answer.json()]).toEqual([
      422,
      { detail: "Schema validation failed: unknown column 'k0'" },
    ]);
  }
  // In the order of code points, not of UTF-16 units.
  const answer = await shared.writer.fetch('/api/a/', {
    method: 'POST',
    body: '{"action":"create","data":[{"\\ud83d\\ude00":1,"\\uff5e":1}]}',
  });
  expect(await answer.json()).toEqual({
    detail: "Schema validation failed: unknown column '\uff5e'",
  });
});

test('a form of a hundred thousand fields is no form', async () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = 'a&'.repeat(100_000);
  for (const path of ['/auth/login', '/api/events/']) {
    const answer = await shared.superuser.fetch(path, { method: 'POST', body, headers });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('at most 10000 fields');
  }
});

test('a name of 200 KB that is asked for in vain leaves four of them in audit and log (S-D6)', async () => {
  const { service } = shared;
  await service.accounts.user('curious');
  const curious = await service.as('curious');
  const name = `long${'x'.repeat(200_000)}`;
  expect((await curious.fetch(`/api/${name}/`)).status).toBe(403);
  const entry = await service.accounts.db.get<{ resource: string }>(
    "SELECT resource FROM audit WHERE action = 'permission_denied' AND resource LIKE 'longx%'",
  );
  expect(entry?.resource).toBe(`${name.slice(0, 4096)}…`);
  await eventually(() => {
    const lines = service.stderr().split('\n');
    const line = lines.find((one) => one.includes('/api/longx'));
    expect(line?.length ?? Infinity).toBeLessThan(6_000);
  });
});
