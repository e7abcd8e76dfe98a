/**
 * Every route against everybody who could ask (S-Z): generated from the route list of the program, so that a route nobody has
 * thought about fails here. The same walk in read-only mode (DS-22).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { routes } from '../../src/routes.ts';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import {
  type Actor,
  ACTORS,
  EXPECTATIONS,
  type Expectation,
  FILE_EXPECTATIONS,
  FILES,
} from './route-matrix.ts';

/** Of this contract, and of the one about events (EV-3). */
const UNAUTHENTICATED =
  /^{"detail":"(?:Not authenticated|Authentication credentials were not provided\.)"}$/;

const registered = routes.flatMap(({ pattern, methods }) =>
  methods.map((method) => `${method} ${pattern}`),
);

test('every method of every route has an expectation', () => {
  const missing = registered.filter((name) => EXPECTATIONS[name] === undefined);
  const help = missing.map(
    (name) => `add '${name}' to EXPECTATIONS of test/http/route-matrix.ts: who gets which status?`,
  );
  expect(help).toEqual([]);
});

test('every expectation has a route', () => {
  expect(Object.keys(EXPECTATIONS).filter((name) => !registered.includes(name))).toEqual([]);
});

const known = Object.entries(EXPECTATIONS).filter(([name]) => registered.includes(name));
const matrix = [...known, ...Object.entries(FILE_EXPECTATIONS)];
const methodOf = (name: string): string => name.split(' ')[0]!;
const isSafe = (name: string): boolean => methodOf(name) === 'GET';

const services = { plain: null as Service | null, readOnly: null as Service | null };
const clients = new Map<string, Client>();

beforeAll(async () => {
  for (const mode of ['plain', 'readOnly'] as const) {
    const config = {
      upload: { enabled: true },
      webdav: { enabled: true },
      readonly: mode === 'readOnly',
    };
    const service = await startService({ files: FILES, config });
    services[mode] = service;
    for (const actor of ACTORS) clients.set(`${mode} ${actor}`, await clientOf(service, actor));
  }
});
afterAll(async () => {
  const failures = [services.plain, services.readOnly].flatMap((service) =>
    (service?.stderr() ?? '').split('\n').filter((line) => /"status":5\d\d/.test(line)),
  );
  await services.plain?.[Symbol.asyncDispose]();
  await services.readOnly?.[Symbol.asyncDispose]();
  expect(failures).toEqual([]);
});

async function clientOf(service: Service, actor: Actor): Promise<Client> {
  const { accounts } = service;
  if (actor === 'anonymous') return service;
  await accounts.user('superuser', { superuser: true });
  if (actor === 'link') {
    const link = await accounts.link('superuser', '*');
    const superuser = await service.as('superuser');
    return { fetch: (path, init) => superuser.fetch(link + path, init) };
  }
  if (actor === 'scoped') {
    return service.withHeaders({ 'X-API-Key': await accounts.apiKey('superuser', ['read']) });
  }
  if (actor === 'reader') await accounts.grant(actor, '*', 'read');
  if (actor === 'writer') {
    await accounts.grant(actor, '*', 'read', 'write');
    await accounts.grant(actor, '', 'write');
  }
  return service.as(actor);
}

async function ask(
  mode: 'plain' | 'readOnly',
  actor: Actor,
  method: string,
  { path, body }: Expectation,
): Promise<{ status: number; text: string; allow: string | null }> {
  const response = await clients.get(`${mode} ${actor}`)!.fetch(path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    text: await response.text(),
    allow: response.headers.get('Allow'),
  };
}

describe.each(matrix)('%s', (name, expectation) => {
  test('answers everybody as expected', async () => {
    const got: Record<string, number> = {};
    for (const actor of ACTORS) {
      const { status, text } = await ask('plain', actor, methodOf(name), expectation);
      got[actor] = status;
      if (expectation.isDialect === true) continue;
      // Nobody who is refused learns more than that (DS-9, DS-130).
      if (status === 401) expect(text).toMatch(UNAUTHENTICATED);
      if (status === 403) expect(Object.keys(JSON.parse(text) as object)).toEqual(['detail']);
    }
    expect(got).toEqual(expectation.statuses);
  });

  test('answers HEAD as GET', async () => {
    if (!isSafe(name)) return;
    for (const actor of ACTORS) {
      const { status, text } = await ask('plain', actor, 'HEAD', {
        path: expectation.path,
      } as Expectation);
      expect({ actor, status, text }).toEqual({
        actor,
        status: expectation.statuses[actor],
        text: '',
      });
    }
  });

  test('in read-only mode refuses changes to those who are let in, and nothing else changes (DS-22)', async () => {
    for (const actor of ACTORS) {
      const { status, text, allow } = await ask('readOnly', actor, methodOf(name), expectation);
      const usual = expectation.statuses[actor];
      const isLetIn = ![401, 403].includes(usual);
      const expected = isLetIn && !isSafe(name) ? (expectation.readOnly ?? 405) : usual;
      expect({ actor, status }).toEqual({ actor, status: expected });
      if (isLetIn && !isSafe(name) && expectation.readOnly === undefined) {
        expect(JSON.parse(text)).toEqual({ detail: 'Server is in read-only mode' });
        expect(allow).toBe('GET, HEAD, OPTIONS');
      }
    }
  });
});

test('whatever comes with a change, read-only mode answers the same', async () => {
  for (const [name, expectation] of matrix) {
    if (isSafe(name) || expectation.readOnly !== undefined) continue;
    for (const body of ['', 'no JSON', '[]', '{"username":"x","password":"y"}']) {
      const client = clients.get('readOnly superuser')!;
      const response = await client.fetch(expectation.path, { method: methodOf(name), body });
      const { detail } = (await response.json()) as { detail: unknown };
      expect({ name, body, status: response.status, detail }).toEqual({
        name,
        body,
        status: 405,
        detail: 'Server is in read-only mode',
      });
    }
  }
});

test('a browser session without its token, or from elsewhere, changes nothing anywhere (DS-111, DS-114)', async () => {
  const { cookie, csrfToken } = await services.plain!.accounts.session('superuser');
  const refusals = [
    [{ Cookie: cookie }, 'Missing CSRF token'],
    [{ Cookie: cookie, 'X-CSRF-Token': 'x'.repeat(43) }, 'Invalid CSRF token'],
    [
      { Cookie: cookie, 'X-CSRF-Token': csrfToken, Origin: 'https://evil.example' },
      'CSRF check failed: cross-site request',
    ],
  ] as const;
  for (const [name, { path, body, statuses, isDialect }] of matrix) {
    if (isDialect === true) continue;
    // What is switched off is off for everybody, before anything is checked (DS-11).
    if (isSafe(name) || statuses.anonymous === 404) continue;
    for (const [headers, text] of refusals) {
      const response = await services.plain!.fetch(path, {
        method: methodOf(name),
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { detail } = (await response.json()) as { detail: unknown };
      // MCP asks for the origin first, whatever the credential (DS-178).
      const isForeignToMcp = name === 'POST /mcp' && 'Origin' in headers;
      expect({ name, status: response.status, detail }).toEqual({
        name,
        status: 403,
        detail: isForeignToMcp ? 'Origin not allowed' : text,
      });
    }
  }
  const still = await services.plain!.withHeaders({ Cookie: cookie }).fetch('/auth/me');
  expect(still.status).toBe(200);
});
