/**
 * Handlers: what reaches a router, as whom, and what comes back (DS-163 to DS-172). Every case runs for TypeScript and, where
 * Debian's packages are installed, for Python.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from './eventually.ts';
import { hasPythonHandlers, PYTHON, SCRIPT } from './handler-files.ts';
import { type Client, type Service, startService } from '../support/service.ts';

const languages = ['script', ...(hasPythonHandlers() ? ['python'] : [])];

interface Echo {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly body: string;
}

let svc: Service;
const clients = new Map<string, Client>();

beforeAll(async () => {
  svc = await startService({
    files: {
      'script.ts': SCRIPT,
      'python.py': PYTHON,
      'deep/er.ts': SCRIPT,
      'rows.csv': 'a\n1\n',
      'rows/below.ts': SCRIPT,
      'plain.js': 'console.log("no handler");',
      'broken.ts': 'export const router = ;',
      'wrong.ts': 'export const router = { not: "elysia" };',
      'missing.mjs': 'import x from "./nowhere.mjs"; export const router = x;',
      'no-router.py': 'x = 1\n',
      'broken.py': 'def\n',
    },
    config: { limits: { handler_timeout_seconds: 5, max_body_bytes: 1_000_000 } },
    env: {
      SVC_HANDLER_GREETING: 'hello',
      SVC_OIDC_CLIENT_SECRET: 'secret-of-the-server',
      OTHER: 'x',
    },
  });
  const { accounts } = svc;
  await accounts.user('stranger', {});
  await accounts.user('boss', { superuser: true });
  for (const name of ['script', 'python', 'deep/*', 'broken.ts', 'broken.py', 'wrong']) {
    await accounts.grant('reader', name, 'read');
    await accounts.grant('writer', name, 'read', 'write');
  }
  for (const user of ['stranger', 'reader', 'writer', 'boss'])
    clients.set(user, await svc.as(user));
  for (const language of languages) {
    await eventually(async () => {
      expect((await as('boss').fetch(`/api/${language}/`)).status).toBe(200);
    }, 20_000);
  }
});

afterAll(() => svc?.[Symbol.asyncDispose]());

function as(user: string): Client {
  return clients.get(user)!;
}

async function echo(path: string, init: RequestInit = {}, user = 'writer'): Promise<Echo> {
  const response = await as(user).fetch(path, init);
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status: 200, text });
  return JSON.parse(text) as Echo;
}

describe.each(languages)('a handler in %s', (name) => {
  test('answers at its name and its extension form, with and without a slash (DS-166)', async () => {
    const form = name === 'script' ? 'script.ts' : 'python.py';
    for (const path of [`/api/${name}`, `/api/${name}/`, `/api/${form}`, `/api/${form}/`]) {
      expect(await (await as('reader').fetch(path)).json()).toEqual({ hello: 'root' });
    }
  });

  test('gets method, rest of the path, query, headers and body (DS-166)', async () => {
    const seen = await echo(`/api/${name}/echo/a%20b/ü?x=1&y=%26`, {
      method: 'POST',
      body: 'some text',
      headers: { 'content-type': 'text/plain', 'x-mine': 'kept' },
    });
    expect(seen.method).toBe('POST');
    expect(decodeURIComponent(seen.path)).toBe('/echo/a b/ü');
    expect(seen.query).toEqual({ x: '1', y: '&' });
    expect(seen.headers['x-mine']).toBe('kept');
    expect(seen.headers['content-type']).toBe('text/plain');
    expect(seen.body).toBe('some text');
  });

  test('is told who calls, and nobody else can say so (DS-168)', async () => {
    const { headers } = await echo(`/api/${name}/echo/x`, {
      headers: {
        'x-svc-user': 'root',
        'x-svc-superuser': 'true',
        'x-svc-anything': '1',
        'x-forwarded-for': '6.6.6.6',
        'x-forwarded-prefix': '/evil',
        forwarded: 'for=6.6.6.6',
        cookie: 'svc_session_like=1; theirs=2; svc_csrf=3',
        te: 'trailers',
      },
    });
    expect(headers['x-svc-user']).toBe('writer');
    expect(headers['x-svc-user-id']).toMatch(/^\d+$/);
    expect(headers['x-svc-superuser']).toBe('false');
    expect(headers['x-request-id']).toMatch(/^[\w-]{20,}$/);
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(headers['x-forwarded-proto']).toBe('http');
    expect(headers['x-forwarded-host']).toBe(new URL(svc.url).host);
    expect(headers['x-forwarded-prefix']).toBe(`/api/${name}`);
    expect(headers['cookie']).toBe('theirs=2');
    for (const absent of ['x-api-key', 'authorization', 'x-svc-anything', 'forwarded', 'te']) {
      expect({ absent, value: headers[absent] }).toEqual({ absent, value: undefined });
    }
    expect((await echo(`/api/${name}/echo/x`, {}, 'boss')).headers['x-svc-superuser']).toBe('true');
  });

  test('is not told of a superuser whose key is scoped (DS-118, DS-168)', async () => {
    const scoped = svc.withHeaders({ 'X-API-Key': await svc.accounts.apiKey('boss', ['read']) });
    const { headers } = (await (await scoped.fetch(`/api/${name}/echo/x`)).json()) as Echo;
    expect([headers['x-svc-user'], headers['x-svc-superuser']]).toEqual(['boss', 'false']);
  });

  test('needs identity, then a right for the method (DS-167)', async () => {
    const post = { method: 'POST', body: 'x' };
    const status = async (client: Client, init: RequestInit = {}): Promise<number> =>
      (await client.fetch(`/api/${name}/echo/x`, init)).status;
    expect(await status(svc)).toBe(401);
    expect(await status(svc, post)).toBe(401);
    expect(await status(as('stranger'))).toBe(403);
    expect(await status(as('reader'))).toBe(200);
    expect(await status(as('reader'), post)).toBe(403);
    expect(await status(as('writer'), post)).toBe(200);
    expect(await status(as('boss'), post)).toBe(200);
    const denied = await as('stranger').fetch(`/api/${name}/echo/x`);
    expect(await denied.json()).toEqual({ detail: `Permission denied: read on ${name}/echo/x` });
    const unknown = await as('stranger').fetch(`/api/unknown/echo/x`);
    expect(unknown.status).toBe(403);
  });

  test('a session needs its CSRF token for unsafe methods, and its cookies stay here (DS-111, DS-168)', async () => {
    const browser = await svc.inBrowserAs('writer');
    const path = `/api/${name}/echo/x`;
    const allowed = await browser.fetch(path, { method: 'POST', body: 'x' });
    expect(allowed.status).toBe(200);
    const seen = (await allowed.json()) as Echo;
    expect(seen.headers['cookie']).toBeUndefined();
    expect(seen.headers['x-csrf-token']).toBeUndefined();
    const headers = { 'X-CSRF-Token': 'wrong' };
    const refused = await browser.fetch(path, { method: 'POST', body: 'x', headers });
    expect(refused.status).toBe(403);
  });

  test('answers with its own status, headers and cookies, but none of svc (DS-168)', async () => {
    const response = await as('reader').fetch(`/api/${name}/headers`);
    expect(response.status).toBe(203);
    expect(response.headers.getSetCookie()).toEqual(['theirs=1; Path=/']);
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(response.headers.get('cache-control')).toBe('max-age=5');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('x-request-id')).not.toBe('forged');
    const plain = await as('reader').fetch(`/api/${name}/`);
    expect(plain.headers.get('cache-control')).toBe('private, no-cache');
    expect(plain.headers.get('content-security-policy')).toContain("default-src 'self'");
  });

  test('HEAD, OPTIONS and unknown methods follow its routes (DS-6, DS-7)', async () => {
    const head = await as('reader').fetch(`/api/${name}/`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    const options = await as('reader').fetch(`/api/${name}/`, { method: 'OPTIONS' });
    expect(options.status).toBe(204);
    expect(options.headers.get('allow')).toContain('GET');
    const wrong = await as('writer').fetch(`/api/${name}/`, { method: 'DELETE' });
    expect(wrong.status).toBe(405);
    expect(await wrong.json()).toEqual({ detail: 'Method Not Allowed' });
    expect(wrong.headers.get('allow')).toContain('GET');
    const missing = await as('reader').fetch(`/api/${name}/not/there`);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toEqual({ detail: 'Not Found' });
  });

  test('its routes answer with and without a final slash, without redirects (DS-4)', async () => {
    for (const path of ['/headers', '/headers/']) {
      expect((await as('reader').fetch(`/api/${name}${path}`)).status).toBe(203);
    }
  });

  test('what it refuses is a 422 in list form (DS-9)', async () => {
    const response = await as('writer').fetch(`/api/${name}/items`, {
      method: 'POST',
      body: JSON.stringify({ count: 'many' }),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(422);
    const { detail } = (await response.json()) as { detail: { loc: string[]; type: string }[] };
    expect(detail[0]?.loc).toEqual(['body', 'count']);
    expect(detail[0]?.type).toBeString();
  });

  test('an exception is a 500 that tells nothing; the log has it under the request id (DS-14, DS-170)', async () => {
    const response = await as('reader').fetch(`/api/${name}/throw`);
    expect(response.status).toBe(500);
    const body = (await response.json()) as { detail: string; request_id: string };
    expect(body).toEqual({ detail: 'Internal Server Error', request_id: expect.any(String) });
    await eventually(() => {
      const lines = svc.stderr().split('\n');
      expect(lines.find((line) => line.includes(body.request_id))).toContain('told nobody');
    });
  });

  test('event streams arrive piece by piece, and their end is noticed (DS-168)', async () => {
    const response = await as('reader').fetch(`/api/${name}/events`);
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toContain('data: first');
    // The second event only comes when another request asks for it, so it cannot have been waited for.
    await as('reader').fetch(`/api/${name}/release`);
    const { value: second } = await reader.read();
    expect(new TextDecoder().decode(second)).toContain('data: second');
    await reader.cancel();
  });

  test('large answers and bodies pass through unchanged', async () => {
    const large = await as('reader').fetch(`/api/${name}/large`);
    expect((await large.bytes()).length).toBe(5_000_000);
    const body = 'x'.repeat(900_000);
    expect((await echo(`/api/${name}/echo/x`, { method: 'POST', body })).body.length).toBe(900_000);
    const stream = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 9; i++)
          controller.enqueue(new TextEncoder().encode('y'.repeat(100_000)));
        controller.close();
      },
    });
    expect((await echo(`/api/${name}/echo/x`, { method: 'POST', body: stream })).body.length).toBe(
      900_000,
    );
  });

  test('bodies past limits.max_body_bytes are refused, whether they say their length or not (DS-18)', async () => {
    const path = `/api/${name}/echo/x`;
    const known = await as('writer').fetch(path, { method: 'POST', body: 'x'.repeat(1_000_001) });
    expect(known.status).toBe(413);
    const stream = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 11; i++)
          controller.enqueue(new TextEncoder().encode('y'.repeat(100_000)));
        controller.close();
      },
    });
    const unknown = await as('writer').fetch(path, { method: 'POST', body: stream });
    expect(unknown.status).toBe(413);
    expect(await unknown.json()).toEqual({ detail: 'Request body too large' });
  });

  test('protocol upgrades are refused (DS-168)', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    const response = await as('reader').fetch(`/api/${name}/`, { headers });
    expect(response.status).toBe(501);
  });

  test('its process knows the document root and nothing of the server (DS-169)', async () => {
    const response = await as('reader').fetch(`/api/${name}/environment`);
    const { environment, folder } = (await response.json()) as {
      environment: Record<string, string>;
      folder: string;
    };
    expect(folder).toBe(svc.docroot);
    expect(environment['SVC_DOCROOT']).toBe(svc.docroot);
    expect(environment['SVC_HANDLER_GREETING']).toBe('hello');
    const allowed = /^(?:PATH|HOME|LANG|TZ|SVC_DOCROOT|SVC_HANDLER_\w+|LC_CTYPE)$/;
    expect(Object.keys(environment).filter((key) => !allowed.test(key))).toEqual([]);
  });
});

describe('names of handlers', () => {
  test('the longest name that is a prefix of the path takes it, after exact names (DS-27)', async () => {
    expect(await (await as('reader').fetch('/api/deep/er')).json()).toEqual({ hello: 'root' });
    expect(await (await as('boss').fetch('/api/rows/')).json()).toEqual([{ _row_id: 1, a: 1 }]);
    const below = await as('boss').fetch('/api/rows/below/echo/x');
    expect(((await below.json()) as Echo).path).toBe('/echo/x');
    expect((await as('boss').fetch('/api/rows/nothing')).status).toBe(404);
  });

  test('only modules that export a router are listed; broken ones are, with their problem (DS-163, DS-171)', async () => {
    await eventually(async () => {
      const text = await (await as('boss').fetch('/')).text();
      for (const file of ['broken.ts', 'wrong.ts', 'missing.mjs']) {
        expect(text).toContain(`"${file}","problem"`);
      }
    });
    const { resources, problems } = (await (await as('boss').fetch('/')).json()) as {
      resources: string[];
      problems: { resource: string; problem: string }[];
    };
    expect(resources).not.toContain('plain.js');
    expect(resources).toContain('no-router.py');
    const problemOf = new Map(problems.map(({ resource, problem }) => [resource, problem]));
    expect(problemOf.get('broken.ts')).toMatch(/^broken\.ts:1:\d+: /);
    expect(problemOf.get('wrong.ts')).toBe('TypeError: `router` is not an Elysia instance');
    expect(problemOf.get('missing.mjs')).toContain('nowhere.mjs');
    expect(JSON.stringify(problems)).not.toContain(svc.docroot);
  });

  test('a broken handler is unavailable, and superusers hear why; others work (DS-171)', async () => {
    for (const path of ['/api/broken.ts', '/api/broken.ts/x', '/api/wrong']) {
      const reader = await as('reader').fetch(path);
      expect(reader.status).toBe(503);
      expect(await reader.json()).toEqual({ detail: 'Handler unavailable' });
    }
    const boss = await as('boss').fetch('/api/wrong');
    expect(await boss.json()).toEqual({
      detail: 'Handler unavailable: TypeError: `router` is not an Elysia instance',
    });
    expect((await as('reader').fetch('/api/script/')).status).toBe(200);
  });

  test('svc check names a script that does not parse, without running any (DS-200)', async () => {
    const { stdout, exitCode } = await svc.command(['check', svc.docroot]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^PROBLEM: broken\.ts: broken\.ts:1:\d+: /m);
    expect(stdout).not.toContain('wrong.ts:');
  });

  test('list-endpoints names handlers and no other scripts', async () => {
    const { stdout } = await svc.command(['list-endpoints', svc.docroot]);
    const lines = stdout.split('\n');
    expect(lines).toContain('/api/deep/er');
    expect(lines).toContain('/api/deep/er.ts');
    expect(stdout).not.toContain('plain');
  });

  test('a handler has no schema and no table page (DS-69)', async () => {
    expect((await as('reader').fetch('/schema/script')).status).toBe(404);
    expect((await as('reader').fetch('/ui/script')).status).toBe(404);
    expect((await as('stranger').fetch('/schema/script')).status).toBe(403);
  });

  test.if(hasPythonHandlers())(
    'a Python file without a router has no routes; a broken one is unavailable (DS-165)',
    async () => {
      expect((await as('boss').fetch('/api/no-router/')).status).toBe(404);
      expect((await as('reader').fetch('/api/broken.py')).status).toBe(503);
      const boss = await as('boss').fetch('/api/broken.py');
      expect(((await boss.json()) as { detail: string }).detail).toMatch(
        /^Handler unavailable: broken\.py:1: SyntaxError: /,
      );
    },
  );
});
