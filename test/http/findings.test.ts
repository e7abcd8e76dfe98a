/** Findings are seen and worked on by those who may read all that they came from, through every door. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { fire } from '../support/firing.ts';
import { type Client, type Service, startService } from '../support/service.ts';

interface Shown {
  readonly id: number;
  readonly status: string;
  readonly owner: string | null;
  readonly version: number;
}

let svc: Service;
const as: Record<string, Client> = {};

beforeAll(async () => {
  svc = await startService({ files: { 'disks.csv': 'name\na\n' } });
  const { accounts } = svc;
  await accounts.user('root', { superuser: true });
  const olga = await accounts.user('olga');
  await accounts.grant('ann', '@events/auth', 'read');
  await accounts.grant('bob', '@events/*', 'read');
  await accounts.grant('bob', 'disks', 'read');
  for (const name of ['root', 'ann', 'bob', 'olga', 'nobody']) as[name] = await svc.as(name);
  const { db } = accounts;
  await fire(db, { key: 'a' });
  await fire(db, { key: 'b', severity: 'low' });
  await fire(db, { key: 'both', datasets: ['disks'], severity: 'critical' });
  const alert = { id: '8', name: 'Nothing', source: 'a.alert.yaml', ownerId: olga.id };
  await fire(db, { key: 'none', alert, indexes: [] });
});
afterAll(() => svc[Symbol.asyncDispose]());

const list = async (who: string, query = ''): Promise<string[]> => {
  const answer = await as[who]!.fetch(`/api/findings?sort=id&${query}`);
  if (answer.status !== 200) return [String(answer.status), await answer.text()];
  return ((await answer.json()) as { key: string }[]).map(({ key }) => key);
};
const patch = async (
  who: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
) => {
  const answer = await as[who]!.fetch(`/api/findings${path}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Shown & { detail: unknown } };
};

describe('a finding is seen', () => {
  test('with the right to read every index and dataset it came from', async () => {
    expect(await list('root')).toEqual(['a', 'b', 'both', 'none']);
    expect(await list('ann')).toEqual(['a', 'b']);
    expect(await list('bob')).toEqual(['a', 'b', 'both']);
    expect(await list('olga')).toEqual(['none']);
    expect(await list('nobody')).toEqual([]);
    expect((await svc.fetch('/api/findings')).status).toBe(401);
    expect((await as['ann']!.fetch('/api/findings/3')).status).toBe(404);
    expect((await as['ann']!.fetch('/api/findings/3/history')).status).toBe(404);
    expect((await patch('ann', '/3', { status: 'resolved' })).status).toBe(404);
  });

  test('by a key no further than its scopes reach', async () => {
    const key = await svc.accounts.apiKey('root', ['read:@events/auth']);
    const answer = await svc.fetch('/api/findings?sort=id', { headers: { 'X-API-Key': key } });
    expect(((await answer.json()) as { key: string }[]).map((one) => one.key)).toEqual(['a', 'b']);
    const change = await svc.fetch('/api/findings/1', {
      method: 'PATCH',
      headers: { 'X-API-Key': key },
      body: '{"status":"resolved"}',
    });
    expect(change.status).toBe(403);
  });

  test('through filters, a wrong one of which is named', async () => {
    expect(await list('root', 'severity=high,critical&status=open')).toEqual(['a', 'both', 'none']);
    expect(await list('root', 'alert=8')).toEqual(['none']);
    expect(await list('root', 'search=fail+both')).toEqual(['both']);
    expect(await list('root', 'owner=')).toEqual(['a', 'b', 'both', 'none']);
    expect(
      await list('root', `filter=${encodeURIComponent('{"severity_rank":{"$lt":2}}')}&status=new`),
    ).toEqual(['b']);
    expect(await list('root', 'status=opne')).toEqual([
      '400',
      expect.stringContaining("'opne' is no status; there are new, in progress"),
    ]);
    expect(await list('root', 'status=new&filter=%5B1')).toEqual(['422', expect.anything()]);
  });

  test('whole, with its rows, its query and the way to its events', async () => {
    const one = (await (await as['ann']!.fetch('/api/findings/1')).json()) as object;
    expect(one).toMatchObject({
      alert: 'Failed logins',
      severity: 'high',
      is_open: true,
      count: 1,
      columns: ['address', 'count'],
      rows: [{ address: '203.0.113.9', count: 12 }],
      query: 'index=auth | stats count by address',
      from: '2023-11-14T22:08:20.000Z',
      to: '2023-11-14T22:13:20.000Z',
      links: {
        finding: '/ui/findings/1',
        events:
          '/events?q=index%3Dauth&earliest=2023-11-14T22%3A08%3A20.000Z&latest=2023-11-14T22%3A13%3A20.000Z',
        query: expect.stringContaining('q=index%3Dauth+%7C+stats+count+by+address&'),
      },
    });
  });
});

describe('a finding is worked on', () => {
  test('by whoever sees it, one or many at once, all or none, with a history', async () => {
    const changed = await patch('ann', '/1', {
      status: 'in progress',
      owner: 'bob',
      notes: 'looks real',
    });
    expect(changed.body).toMatchObject({
      status: 'in progress',
      owner: 'bob',
      notes: 'looks real',
      version: 2,
    });
    expect((await patch('ann', '', { ids: [1, 2, 3], status: 'false alarm' })).status).toBe(404);
    expect((await patch('bob', '', { ids: [2, 3], severity: 'medium' })).status).toBe(200);
    // What a person decided stays when the alert fires again.
    await fire(svc.accounts.db, { key: 'b', severity: 'critical' });
    const again = (await (await as['bob']!.fetch('/api/findings/2')).json()) as object;
    expect(again).toMatchObject({ severity: 'medium', count: 2, status: 'new' });
    const history = await (await as['bob']!.fetch('/api/findings/1/history')).json();
    expect(history).toMatchObject([
      {
        user: 'ann',
        action: 'update_finding',
        details: 'status: new → in progress, owner: nobody → bob, notes',
      },
      { user: null, action: 'create_finding', details: 'Failed logins: high' },
    ]);
  });

  test('only from the version that was seen, where one is named', async () => {
    const { version } = (await (await as['ann']!.fetch('/api/findings/2')).json()) as Shown;
    const stale = await patch('ann', '/2', { notes: 'x' }, { 'If-Match': `"${version - 1}"` });
    expect([stale.status, stale.body.detail]).toEqual([
      412,
      'Somebody changed the finding meanwhile',
    ]);
    expect((await patch('ann', '/2', { notes: 'x' }, { 'If-Match': `"${version}"` })).status).toBe(
      200,
    );
  });

  test('closed, it lets the next one begin, and is not opened again beside it', async () => {
    await patch('ann', '/1', { status: 'resolved' });
    const { id, isNew } = await fire(svc.accounts.db, { key: 'a' });
    expect(isNew).toBe(true);
    const reopened = await patch('ann', '/1', { status: 'new' });
    expect([reopened.status, reopened.body.detail]).toEqual([
      409,
      expect.stringContaining('newer open one'),
    ]);
    await patch('ann', `/${id}`, { status: 'false alarm' });
    expect((await patch('ann', '/1', { status: 'new' })).body.status).toBe('new');
  });

  test.each([
    [{ status: 'done' }, 422, /status/],
    [{ sttaus: 'new' }, 422, /did you mean 'status'\?/],
    [{ owner: 'nobody at all' }, 400, /no active user/],
    [{ notes: 'x'.repeat(10_001) }, 422, /notes/],
    [[], 422, /./],
  ])('not with %j', async (body, status, text) => {
    const refused = await patch('ann', '/2', body);
    expect([refused.status, text.test(JSON.stringify(refused.body))]).toEqual([status, true]);
  });
});

test('the operator lists, shows and changes all of them', async () => {
  const run = (...args: string[]) =>
    svc.command(['admin', 'findings', ...args, '--root', svc.docroot]);
  const listed = await run('list', '--severity', 'critical', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject([]);
  expect((await run('list', '--status', 'opne')).stderr).toBe(
    "--status: 'opne' is no status; there are new, in progress, resolved, false alarm, open\n",
  );
  const set = await run('set', '--id', '3,4', '--status', 'resolved', '--owner', 'ann');
  expect([set.exitCode, set.stdout]).toEqual([
    0,
    expect.stringMatching(/^3 +resolved +medium +ann /m),
  ]);
  const shown = await run('show', '--id', '4');
  expect(shown.stdout).toContain('status: new → resolved, owner: nobody → ann (cli)');
  expect(shown.stdout).toContain('Query: index=auth | stats count by address');
  expect((await run('show', '--id', '99')).exitCode).toBe(1);
  expect((await run('set', '--id', '3')).exitCode).toBe(2);
});
