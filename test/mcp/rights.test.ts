/**
 * Agents have the rights of whoever they act for, no more (DS-96, DS-118, DS-130, DS-177, S-Z2, S-M).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../http/eventually.ts';
import { found } from '../http/searching.ts';
import { sharedService } from '../http/shared-service.ts';
import { listAudit } from '../support/audit.ts';
import type { Client } from '../support/service.ts';
import { type Answer, ask, call, failure, HELLO, post, request } from './messages.ts';

const shared = sharedService({
  files: {
    'open.csv': 'n,word\n1,amber\n',
    'hide.csv': 'n,secretcolumn\n1,xylophone\n',
    'hidden/page.md': '# Xylograph\n\nxylophone music\n',
    'hidden/plan.txt': 'xylophone plan',
    'hidden/song.mp3': 'xylophone',
  },
});
const SECRET = ['hide', 'hide.csv', 'hidden/page', 'hidden/plan.txt', 'hidden/song'];
const SIGN_IN =
  'Authentication required: send X-API-Key, Authorization: Bearer, or a session cookie';

let stranger: Client;
let narrow: Client;
let scopedReader: Client;
beforeAll(async () => {
  const { service } = shared;
  const { accounts } = service;
  await accounts.user('stranger');
  await accounts.grant('one', 'open', 'read');
  stranger = await service.as('stranger');
  const key = async (...scopes: string[]) =>
    service.withHeaders({ 'X-API-Key': await accounts.apiKey('root', scopes) });
  narrow = await key('read:open', 'write:open');
  scopedReader = await key('read');
  await eventually(async () => {
    expect(await found(shared.superuser, 'xylophone')).toEqual(
      expect.arrayContaining(['hide#1', 'hidden/page', 'hidden/plan']),
    );
  });
});

const resourcesFor = async (client: Client) =>
  ((await ask(client, 'resources/list'))['resources'] as { uri: string }[]).map(({ uri }) => uri);
const readError = async (client: Client, uri: string) => {
  const answer = await (await post(client, request('resources/read', { uri }))).json();
  return (answer as Answer).error;
};

describe('an anonymous caller (DS-177)', () => {
  test('may shake hands and see the lists, which hold nothing of the files', async () => {
    const { service } = shared;
    expect(await ask(service, 'initialize', HELLO)).toHaveProperty('serverInfo');
    expect(((await ask(service, 'tools/list'))['tools'] as object[]).length).toBeGreaterThanOrEqual(
      5,
    );
    expect(await resourcesFor(service)).toEqual([]);
  });

  test('gets nothing through any tool, and learns nothing from wrong arguments', async () => {
    const calls: readonly (readonly [string, object])[] = [
      ['list_resources', {}],
      ['get_schema', { resource: 'open' }],
      ['read_resource', { resource: 'open' }],
      ['read_resource', { nonsense: 1 }],
      ['write_resource', { resource: 'open', action: 'create', data: [] }],
      ['search', { q: 'amber' }],
      ['search_events', { query: 'from open' }],
      ['run_sql', { sql: 'select * from open' }],
      ['list_saved_searches', {}],
      ['list_findings', {}],
      ['update_finding', { id: 1, status: 'resolved' }],
      ['get_history', { resource: 'open' }],
      ['restore_version', { resource: 'open', change: 1 }],
    ];
    for (const [name, given] of calls) {
      expect(await failure(shared.service, name, given)).toBe(
        `Error executing tool ${name}: ${SIGN_IN}`,
      );
    }
    expect((await readError(shared.service, 'svc:///open'))?.message).toBe(SIGN_IN);
  });

  test('with a credential that is wrong is 401, and never led elsewhere (DS-94, DS-95)', async () => {
    const credentials: Record<string, string>[] = [
      { 'X-API-Key': 'ak_x' },
      { Authorization: 'Bearer x' },
      { Authorization: 'Basic eDp5' },
    ];
    for (const headers of credentials) {
      const response = await post(shared.service, request('tools/list'), {
        ...headers,
        Accept: 'text/html, */*',
      });
      expect([response.status, await response.json()]).toEqual([
        401,
        { detail: 'Not authenticated' },
      ]);
      expect(response.headers.get('WWW-Authenticate')).not.toContain('resource_metadata');
    }
  });
});

describe('a user without the right', () => {
  test('finds nothing of it through any tool: text, count, has_more, lists', async () => {
    for (const client of [stranger, narrow]) {
      const listed = JSON.stringify([
        await call(client, 'list_resources'),
        await ask(client, 'resources/list'),
        await ask(client, 'tools/list'),
      ]);
      expect(listed).not.toContain('hid');
      for (const q of ['xylophone', 'xylo', 'xylophoen', 'hide', 'secretcolumn', 'xylograph']) {
        const { structuredContent } = await call(client, 'search', { q });
        expect(structuredContent).toEqual({ query: q, count: 0, has_more: false, results: [] });
      }
      expect(await failure(client, 'search_events', { query: 'from hide' })).toStartWith(
        "Error executing tool search_events: Unknown dataset 'hide' or no permission to read it",
      );
    }
  });

  test('is told the same about what exists and what does not (DS-130)', async () => {
    for (const client of [stranger, narrow]) {
      for (const name of [...SECRET, 'gone', 'gone.csv', 'hidden/gone']) {
        const denied = (verb: string) => `Permission denied: ${verb} on '${name}'`;
        for (const tool of ['read_resource', 'get_schema']) {
          expect(await failure(client, tool, { resource: name })).toBe(
            `Error executing tool ${tool}: ${denied('read')}`,
          );
        }
        const change = { resource: name, action: 'create', data: [{}] };
        expect(await failure(client, 'write_resource', change)).toBe(
          `Error executing tool write_resource: ${denied('write')}`,
        );
        const error = await readError(client, `svc:///${name}`);
        expect(error).toEqual({ code: -32602, message: denied('read') });
      }
    }
  });

  test('leaves a trace in the audit, as over HTTP', async () => {
    const { service } = shared;
    await service.accounts.user('prober');
    const prober = await service.as('prober');
    await failure(prober, 'read_resource', { resource: 'hide' });
    await failure(prober, 'write_resource', { resource: 'hide', action: 'create', data: [] });
    await eventually(async () => {
      const { entries } = await listAudit(service.accounts.db, { limit: 50, offset: 0 });
      const { id } = await service.accounts.user('prober');
      const mine = entries.filter(({ userId }) => userId === id);
      expect(mine.map(({ action, resource, details }) => [action, resource, details])).toEqual([
        ['permission_denied', 'hide', 'write'],
        ['permission_denied', 'hide', 'read'],
      ]);
    });
  });
});

describe('rights that are held', () => {
  test('are those of the user or key: reading, writing, everything', async () => {
    const create = { resource: 'open', action: 'create', data: [] };
    const one = await shared.service.as('one');
    expect(await resourcesFor(one)).toEqual(['svc:///open']);
    expect(await resourcesFor(narrow)).toEqual(['svc:///open']);
    for (const client of [shared.reader, scopedReader, shared.writer, shared.superuser]) {
      expect(await resourcesFor(client)).toHaveLength(5);
    }
    for (const client of [one, shared.reader, scopedReader]) {
      expect(await failure(client, 'write_resource', create)).toEndWith(
        "Permission denied: write on 'open'",
      );
    }
    for (const client of [narrow, shared.writer, shared.superuser]) {
      expect((await call(client, 'write_resource', create)).structuredContent).toMatchObject({
        count: 0,
      });
    }
  });

  test('stop with the next call once they are taken away', async () => {
    const { service } = shared;
    await service.accounts.grant('brief', 'open', 'read');
    const brief = await service.as('brief');
    expect((await call(brief, 'read_resource', { resource: 'open' })).isError).toBeUndefined();
    await service.accounts.db.run("UPDATE users SET is_active = 0 WHERE username = 'brief'");
    expect((await post(brief, request('tools/list'))).status).toBe(401);
  });

  test('of many callers at once never mix', async () => {
    const clients = [shared.service, stranger, narrow, shared.reader];
    const expected = [[], [], ['svc:///open'], await resourcesFor(shared.reader)];
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, n) => resourcesFor(clients[n % clients.length]!)),
    );
    answers.forEach((answer, n) => expect(answer).toEqual(expected[n % clients.length]!));
  });
});

describe('a browser session (DS-111)', () => {
  test('needs its CSRF token', async () => {
    const { service } = shared;
    const browser = await service.inBrowserAs('reader');
    expect(await resourcesFor(browser)).toHaveLength(5);
    const { cookie } = await service.accounts.session('reader');
    const bare = await post(service, request('tools/list'), { Cookie: cookie });
    expect([bare.status, await bare.json()]).toEqual([403, { detail: 'Missing CSRF token' }]);
    const withKey = await post(shared.superuser, request('tools/list'), { Cookie: cookie });
    expect(withKey.status).toBe(403);
  });
});
