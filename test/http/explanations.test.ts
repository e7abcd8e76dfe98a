/**
 * `GET /admin/explain` gives the answer the service acts on, for every user, key, name and verb, with its reasons; so this is
 * also the test of patterns, name forms and scopes (DS-118, DS-128 to DS-131).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { normalResource } from '../../src/accounts/rights/resource-names.ts';
import type { Client } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { get } from './listing.ts';
import { seeded } from './seed.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {
    'sales.csv': 'n\n1\n',
    'sales.v2.csv': 'n\n1\n',
    'reports/2024/q1.csv': 'n\n1\n',
    'reports/2024.csv': 'n\n1\n',
    'reports.csv': 'n\n1\n',
    'star*.csv': 'n\n1\n',
    'é x.csv': 'n\n1\n',
    '@events/web.csv': 'n\n1\n',
    'page.md': '# A page',
    'broken.csv': new Uint8Array([0x61, 0x0a, 0xff, 0x0a]),
  },
});

const PATTERNS = [
  '*',
  'sales',
  'sales.csv',
  'sales.v2',
  'Sales',
  'reports',
  'reports/*',
  'reports/2024/*',
  'reports/2024',
  'reports*',
  'star*',
  'é x',
  '@events',
  '@events/web',
  '@events/web.csv',
  '@events/*',
  '',
  'nothing',
  'nothing/*',
] as const;
const NAMES = [
  'sales',
  'sales.csv',
  'sales.v2',
  'reports',
  'reports/2024',
  'reports/2024/q1',
  'reports/2024/q1.csv',
  'star*',
  'é x.csv',
  'nothing',
  'nothing/below',
  'reports/none',
  '@events/web.csv',
] as const;

interface Answer {
  readonly allowed: boolean;
  readonly reason: string;
  readonly explanation: string;
  readonly exists: boolean;
  readonly names: readonly string[];
  readonly granted_by: readonly Record<string, unknown>[];
  readonly scopes: readonly string[] | null;
}

async function explain(question: Record<string, string | number>): Promise<Answer> {
  const query = new URLSearchParams(
    Object.entries(question).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const { status, body } = await get(shared.superuser, `/admin/explain?${query}`);
  expect(status).toBe(200);
  return body as Answer;
}

/** What the service does with a request of the client: 403 means no. */
async function isLetIn(client: Client, name: string, action: string): Promise<boolean> {
  const path = `/api/${name.split('/').map(encodeURIComponent).join('/')}/`;
  const response = await client.fetch(
    path,
    action === 'read' ? { method: 'HEAD' } : { method: 'POST', body: '{}' },
  );
  await response.text();
  expect([200, 403, 404, 422]).toContain(response.status);
  return response.status !== 403;
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test('the answer is what happens, for random grants, names and scopes', async () => {
  const { accounts } = shared.service;
  const random = numbersFrom(seeded('explanations', 1).seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  for (let round = 0; round < 25; round++) {
    const username = `user ${round}`;
    await accounts.user(username, { superuser: random() < 0.1 });
    for (let n = Math.floor(random() * 4); n > 0; n--) {
      const group = `group ${round}.${n % 2}`;
      await accounts.group(group, [username]);
      await accounts.grantGroup(group, pick(PATTERNS), pick(['read', 'write'] as const));
    }
    const scopes = Array.from({ length: 1 + Math.floor(random() * 2) }, () => {
      const pattern = pick(PATTERNS);
      const verb = pick(['read', 'write']);
      return random() < 0.3 || normalResource(pattern) === '' ? verb : `${verb}:${pattern}`;
    });
    const whole = await shared.service.as(username);
    const scoped = shared.service.withHeaders({
      'X-API-Key': await accounts.apiKey(username, scopes),
    });
    const { id } = (await accounts.db.get<{ id: number }>('SELECT max(id) AS id FROM api_keys'))!;
    for (const name of NAMES) {
      // A document below @events is explained as an event index; only its extension form is a document (EV-20).
      if (name.startsWith('@events')) continue;
      for (const action of ['read', 'write']) {
        const question = { user: username, resource: name, action };
        const [plain, withKey] = [
          await explain(question),
          await explain({ ...question, key_id: id }),
        ];
        const facts = {
          username,
          name,
          action,
          plain: plain.allowed,
          key: withKey.allowed,
          scopes,
        };
        expect({
          ...facts,
          plain: await isLetIn(whole, name, action),
          key: await isLetIn(scoped, name, action),
        }).toEqual(facts);
        expect(plain.allowed).toBe(['superuser', 'group'].includes(plain.reason));
        if (plain.reason === 'group') expect(plain.granted_by.length).toBeGreaterThan(0);
      }
    }
  }
});

describe('the reasons', () => {
  let key = 0;
  beforeAll(async () => {
    const { accounts } = shared.service;
    await accounts.group('staff', ['ann']);
    await accounts.grantGroup('staff', 'reports/*', 'read');
    await accounts.user('nobody');
    await accounts.apiKey('ann', ['read:sales']);
    ({ id: key } = (await accounts.db.get<{ id: number }>('SELECT max(id) AS id FROM api_keys'))!);
  });
  const ask = (user: string, resource: string, action = 'read', more: object = {}) =>
    explain({ user, resource, action, ...more });

  test('a group and its permission', async () => {
    const { granted_by: grants, ...answer } = await ask('ann', '/reports/2024/q1.csv');
    expect(answer).toMatchObject({
      allowed: true,
      reason: 'group',
      explanation: "ann may read reports/2024/q1.csv: group 'staff' holds read on reports/*",
      exists: true,
      names: ['reports/2024/q1', 'reports/2024/q1.csv'],
      scopes: null,
    });
    expect(grants).toEqual([
      {
        group_id: expect.any(Number),
        group: 'staff',
        permission_id: expect.any(Number),
        resource: 'reports/*',
        action: 'read',
      },
    ]);
  });

  test('what is missing', async () => {
    const texts = [
      await ask('ann', 'reports/2024', 'write'),
      await ask('ann', 'sales'),
      await ask('nobody', 'sales'),
      await ask('ann', '__root__', 'write'),
    ].map(({ allowed, reason, explanation }) => [allowed, reason, explanation]);
    expect(texts).toEqual([
      [
        false,
        'no-permission',
        "ann may not write reports/2024: group 'staff' holds read on reports/*, which does not include write",
      ],
      [
        false,
        'no-permission',
        "ann may not read sales: none of the user's groups holds read on it",
      ],
      [
        false,
        'no-permission',
        'nobody may not read sales: no group of the user holds any permission',
      ],
      [
        false,
        'no-permission',
        'ann may not write the document root (upload): no group of the user holds write on the document root; * does not include it',
      ],
    ]);
  });

  test('a key that may only create events, for a superuser too (EV-58)', async () => {
    const { accounts } = shared.service;
    await accounts.apiKey('root');
    const { id } = (await accounts.db.get<{ id: number }>('SELECT max(id) AS id FROM api_keys'))!;
    const root = await shared.service.as('root');
    const settings = { create_only: true, indexes: ['web'], index: 'web' };
    const path = `/admin/api-keys/${id}/ingest`;
    const body = JSON.stringify(settings);
    expect((await root.fetch(path, { method: 'PUT', body })).status).toBe(200);
    const answers = [
      await ask('root', 'sales', 'read', { key_id: id }),
      await ask('root', '@events/web', 'read', { key_id: id }),
      await ask('root', '@events/app', 'write', { key_id: id }),
      await ask('root', '@events/web', 'write', { key_id: id }),
    ].map(({ allowed, reason, explanation }) => [allowed, reason, explanation.split(': ')[1]]);
    expect(answers).toEqual([
      [false, 'key-scope', `API key ${id} may only create events`],
      [false, 'key-scope', `API key ${id} may only create events`],
      [false, 'key-scope', `API key ${id} may only write to web`],
      [true, 'superuser', 'superusers may do everything'],
    ]);
  });

  test('a name nobody has published yet can be permitted (DS-131)', async () => {
    expect(await ask('ann', 'reports/2031')).toMatchObject({ allowed: true, exists: false });
    expect(await ask('root', 'no such thing')).toMatchObject({ allowed: true, exists: false });
  });

  test('what else stands in the way', async () => {
    const notes = async (resource: string, action: string) =>
      ((await ask('root', resource, action)) as Answer & { notes: string[] }).notes;
    expect(await notes('sales', 'write')).toEqual([]);
    expect(await notes('sales.md', 'write')).toEqual(['Nothing is published under that name now.']);
    expect(await notes('', 'write')).toEqual(['Uploads are switched off.']);
    expect(await notes('page', 'read')).toEqual([]);
    expect(await notes('page', 'write')).toEqual(['Files of this kind can only be read.']);
    // Known once the file has been read for the first time.
    await eventually(async () => {
      const problem = expect.stringMatching(/^Problem of the file: .*UTF-8/);
      expect(await notes('broken', 'read')).toEqual([problem as unknown as string]);
    });
  });

  test('superusers, deactivated users, keys', async () => {
    expect(await ask('root', 'sales', 'write')).toMatchObject({
      allowed: true,
      reason: 'superuser',
    });
    expect(await ask('ann', 'reports/2024', 'read', { key_id: key })).toMatchObject({
      allowed: false,
      reason: 'key-scope',
      scopes: ['read:sales'],
      explanation: `ann may not read reports/2024: API key ${key} is limited to read:sales`,
    });
    const { db } = shared.service.accounts;
    await db.run('UPDATE api_keys SET is_active = 0 WHERE id = ?', [key]);
    expect(await ask('ann', 'reports/2024', 'read', { key_id: key })).toMatchObject({
      reason: 'unusable-key',
    });
    await db.run("UPDATE users SET is_active = 0 WHERE username = 'ann'");
    expect(await ask('ann', 'reports/2024')).toMatchObject({
      allowed: false,
      reason: 'inactive-user',
    });
  });

  test('events are opened by no document pattern (EV-20)', async () => {
    const { accounts } = shared.service;
    await accounts.grant('watcher', '*', 'read');
    expect((await ask('watcher', '@events/web')).allowed).toBe(false);
    await accounts.grant('watcher', '@events', 'read');
    expect((await ask('watcher', '@events/web')).allowed).toBe(true);
    expect((await ask('watcher', '@events')).allowed).toBe(true);
  });
});
