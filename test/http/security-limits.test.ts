/**
 * What one caller can use up, reach or take away (S-D2, S-D5, S-D6, S-L4, S-Z9, S-W1): what is asked for without end is refused or
 * forgotten, and neither the audit nor the last administrator can be got at.
 */
import { join } from 'node:path';
import { describe, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { childrenOf, memoryOf } from './process-memory.ts';
import { securityCases, type SecurityCase } from './security-cases.ts';
import { PASSWORD } from '../support/password.ts';

const MIB = 1024 * 1024;
const ROWS = 10_000;
const UPGRADE = {
  Connection: 'close, Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** There are no WebSockets here: no path is upgraded, whoever asks from wherever. */
const upgrades = ['/api/events/tail', '/mcp', '/', '/api/a/'].flatMap((path) =>
  [null, 'https://evil.example', 'null'].map((origin): SecurityCase => ({
    id: 'S-W1',
    what: `an upgrade of ${path} by the origin ${origin}`,
    actor: 'alice with cookie',
    request: { path, headers: { ...UPGRADE, ...(origin !== null && { Origin: origin }) } },
    status: path === '/api/events/tail' ? 403 : path === '/mcp' ? 405 : 200,
    mustNot: [/^101/, /sec-websocket-accept/, /upgrade: websocket/],
  })),
);

const fixture = securityCases(
  {
    files: {
      'a.csv': 'n,secret\n1,of-alice\n',
      'b.csv': 'n,secret\n1,of-bob\n',
      'wide.csv': `n,text\n${Array.from({ length: ROWS }, (_, n) => `${n},row ${n} ${'lorem ipsum '.repeat(20)}`).join('\n')}\n`,
    },
    config: { upload: { enabled: true, max_size_bytes: MIB } },
  },
  [
    ...upgrades,
    {
      id: 'S-L4',
      what: 'an event for an index that is somebody else’s',
      actor: 'alice',
      request: { method: 'POST', path: '/api/events/', body: { data: 'x', index: 'audit' } },
      status: 403,
    },
    {
      id: 'S-L4',
      what: 'the audit as a source of a search',
      actor: 'alice',
      request: { method: 'POST', path: '/search2/api/run/', body: { query: 'from audit' } },
      status: 400,
      mustNot: [/upload_|login/],
    },
  ],
);

async function inTurns<T>(
  count: number,
  atOnce: number,
  run: (n: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (let from = 0; from < count; from += atOnce) {
    const size = Math.min(atOnce, count - from);
    results.push(...(await Promise.all(Array.from({ length: size }, (_, at) => run(from + at)))));
  }
  return results;
}

async function statusOf(client: Client, path: string, init: RequestInit = {}): Promise<number> {
  const answer = await client.fetch(path, init);
  await answer.arrayBuffer();
  return answer.status;
}

test('a hundred costly questions of one user at once are answered or put off, and another user is served (S-D2)', async () => {
  const { service } = fixture;
  await service.accounts.grant('busy', 'wide', 'read');
  const busy = await service.as('busy');
  const bob = await service.as('bob');
  const { headersOf } = fixture;
  const asked = [
    '/api/wide/?format=csv',
    '/api/wide/?filter={"text":{"$regex":"(lorem )*x$"}}&limit=1',
    '/api/wide/?q=ipsum&sort=-text&limit=5',
    '/search?q=lorem%20ipsum',
  ];
  await headersOf('bob');
  let isOver = false;
  const crowd = Promise.all(
    Array.from({ length: 100 }, (_, n) => statusOf(busy, asked[n % asked.length]!)),
  ).finally(() => (isOver = true));
  const others: number[] = [];
  do others.push(await statusOf(bob, '/api/b/'));
  while (!isOver && others.length < 200);
  const statuses = new Set(await crowd);
  for (const status of statuses) expect([200, 429, 503, 504]).toContain(status);
  expect(statuses).toContain(200);
  expect(new Set(others)).toEqual(new Set([200]));
  expect(await statusOf(bob, '/health')).toBe(200);
});

describe('ten thousand different things to remember (S-D5)', () => {
  const COUNT = 10_000;
  /** Growth that may remain: caches are bounded well below. */
  const MOST_BYTES = 96 * MIB;

  /** How much a process grows by requests that are all different. */
  async function growth(pid: number, ask: (n: number) => Promise<unknown>): Promise<number> {
    await inTurns(500, 50, ask);
    const before = memoryOf(pid)!.resident;
    await inTurns(COUNT, 50, (n) => ask(500 + n));
    return memoryOf(pid)!.resident - before;
  }

  test('control: a server that remembers each of them is noticed', async () => {
    using folder = temporaryFolder();
    const program = join(import.meta.dir, '../faults/hoarding-server.ts');
    const child = Bun.spawn([process.execPath, program, folder.write('x', 'x')], {
      stdout: 'pipe',
    });
    try {
      const { value } = await child.stdout.getReader().read();
      const url = new TextDecoder().decode(value).trim();
      await fetch(url).then((answer) => answer.text());
      const before = memoryOf(child.pid)!.resident;
      await inTurns(600, 20, async () => (await fetch(url)).text());
      expect(memoryOf(child.pid)!.resident - before).toBeGreaterThan(MOST_BYTES);
    } finally {
      child.kill('SIGKILL');
      await child.exited;
    }
  });

  test('leave the memory of the server as it was', async () => {
    const { service } = fixture;
    const bob = await service.as('bob');
    const filler = 'x'.repeat(200);
    const statuses = new Set<number>();
    const asks: ((n: number) => Promise<number>)[] = [
      // Views of a list, of their own entity tags.
      (n) => statusOf(bob, `/api/b/?filter={"n":${n}}&limit=${(n % 900) + 1}`),
      (n) => statusOf(bob, '/api/b/', { headers: { 'If-None-Match': `"${n}${filler}"` } }),
      // Credentials nobody has, and names nobody has.
      (n) => statusOf(service, '/api/b/', { headers: { 'X-API-Key': `svc_${n}_${filler}` } }),
      (n) =>
        statusOf(service, '/api/b/', { headers: { Authorization: `Bearer ${n}.${filler}.x` } }),
      (n) =>
        statusOf(service, '/api/events/', { headers: { Authorization: `Token ${n}${filler}` } }),
      (n) => statusOf(bob, `/api/nothing-${n}-${filler}/`),
      (n) => statusOf(bob, `/search?q=${n}${filler}`),
    ];
    const grown = await growth(service.pid, async (n) => {
      statuses.add(await asks[n % asks.length]!(n));
    });
    for (const status of statuses) expect([200, 304, 401, 403, 404, 429]).toContain(status);
    expect(grown).toBeLessThan(MOST_BYTES);
    expect(childrenOf(service.pid).length).toBeLessThan(16);
  });
});

test('an event that says it is an audit entry is an event (S-L4)', async () => {
  const { service } = fixture;
  await service.accounts.grant('sender', '@events/own', 'read', 'write');
  const sender = await service.as('sender');
  const entry = {
    index: 'own',
    source: 'audit',
    sourcetype: 'audit',
    host: 'svc',
    data: '{"action":"login","user_id":1,"details":"forged-entry"}',
  };
  expect(
    await statusOf(sender, '/api/events/', { method: 'POST', body: JSON.stringify(entry) }),
  ).toBe(201);
  const adm = await service.as('adm');
  const audit = await (await adm.fetch('/admin/audit?limit=200')).text();
  expect(audit).not.toContain('forged-entry');
  const search = (client: Client, query: string) =>
    client.fetch('/search2/api/run/', { method: 'POST', body: JSON.stringify({ query }) });
  expect(await (await search(adm, 'from audit | search forged-entry')).text()).not.toContain(
    'forged-entry\\"',
  );
  expect(await (await search(sender, 'index=own forged-entry')).text()).toContain('forged-entry');
});

test('the last administrator stays, and a user administers nobody (S-Z9)', async () => {
  const { service } = fixture;
  const adm = await service.as('adm');
  const { id } = await service.accounts.user('adm');
  const send = (client: Client, method: string, path: string, body?: object) =>
    statusOf(client, path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
  for (const [method, path, body] of [
    ['DELETE', `/admin/users/${id}`, undefined],
    ['PUT', `/admin/users/${id}/status`, { is_active: false }],
    ['PUT', `/admin/users/${id}/superuser`, { is_superuser: false }],
  ] as const) {
    expect([400, 404, 405]).toContain(await send(adm, method, path, body));
  }
  const left = await service.accounts.db.get<{ n: number }>(
    'SELECT count(*) AS n FROM users WHERE is_superuser = 1 AND is_active = 1',
  );
  expect(left?.n).toBe(1);
  const alice = await service.as('alice');
  const group = await service.accounts.group('others');
  const user = await service.accounts.user('bob');
  for (const [method, path, body] of [
    ['POST', '/admin/groups', { name: 'mine' }],
    ['DELETE', `/admin/groups/${group}`, undefined],
    ['POST', `/admin/groups/${group}/members`, { user_id: user.id }],
    ['PUT', `/admin/users/${user.id}/password`, { new_password: PASSWORD }],
    ['DELETE', `/admin/users/${user.id}`, undefined],
  ] as const) {
    expect(await send(alice, method, path, body)).toBe(403);
  }
});

test('what is sent is limited by its size and its rate (S-D6)', async () => {
  const { service } = fixture;
  const adm = await service.as('adm');
  const form = new FormData();
  form.set('filename', 'large.txt');
  form.set('file', new File(['x'.repeat(MIB + 1)], 'large.txt'));
  expect(await statusOf(adm, '/api/uploads', { method: 'POST', body: form })).toBe(413);
  const event = JSON.stringify({ data: 'x'.repeat(MIB + 1) });
  expect([400, 413]).toContain(
    await statusOf(adm, '/api/events/', { method: 'POST', body: event }),
  );
  const runs = await inTurns(200, 20, () =>
    statusOf(adm, '/search2/api/run/', {
      method: 'POST',
      body: '{"query":"index=default | head 1"}',
    }),
  );
  for (const status of new Set(runs)) expect([200, 429]).toContain(status);
  expect(runs).toContain(429);
});
