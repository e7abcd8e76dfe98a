/** Alerts over HTTP (DS-290, DS-291): who may, with whose rights they run, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

let svc: Service;
let anna: Client;
let bert: Client;
let root: Client;

const when = { type: 'value', column: 'used', more_than: 90 } as const;
const disk = { title: 'Disk', query: 'from disk', schedule: 'every 1h', when, by: ['host'] };

beforeAll(async () => {
  svc = await startService({
    files: { 'disk.csv': 'host,used\na,95\nb,40\n', 'other.csv': 'host,used\na,99\n' },
  });
  await svc.accounts.grant('anna', 'disk', 'read');
  await svc.accounts.grant('anna', '@events/auth', 'read', 'write');
  await svc.accounts.user('bert');
  await svc.accounts.user('root', { superuser: true });
  [anna, bert, root] = (await Promise.all(
    ['anna', 'bert', 'root'].map((name) => svc.as(name)),
  )) as [Client, Client, Client];
});
afterAll(() => svc[Symbol.asyncDispose]());

const ask = async (
  client: Client,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => {
  const answer = await client.fetch(`/api/alerts/${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    etag: answer.headers.get('etag'),
    body: text === '' ? null : JSON.parse(text),
  };
};
const made = async (client: Client, definition: object): Promise<number> => {
  const { status, body } = await ask(client, 'POST', '', definition);
  expect([status, body.detail]).toEqual([201, undefined]);
  return body.id as number;
};
const send = async (lines: readonly object[]): Promise<void> => {
  const answer = await anna.fetch('/api/events/', { method: 'POST', body: JSON.stringify(lines) });
  expect(answer.status).toBe(201);
};

describe('DS-290 who may', () => {
  test('each sees and changes own ones; superusers all', async () => {
    const id = await made(anna, disk);
    const statuses = async (client: Client) => [
      (await ask(client, 'GET', `${id}/`)).status,
      (await ask(client, 'GET', `${id}/runs`)).status,
      (await ask(client, 'PUT', `${id}/`, disk)).status,
      (await ask(client, 'POST', `${id}/disable`)).status,
      (await ask(client, 'POST', `${id}/enable`)).status,
    ];
    expect(await statuses(svc)).toEqual([401, 401, 401, 401, 401]);
    expect(await statuses(bert)).toEqual([404, 404, 404, 404, 404]);
    expect(await statuses(anna)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(root)).toEqual([200, 200, 200, 200, 200]);
    const titles = async (client: Client) =>
      ((await ask(client, 'GET', '')).body.alerts as { title: string; owner: string }[]).map(
        ({ title, owner }) => [title, owner],
      );
    expect(await titles(bert)).toEqual([]);
    expect(await titles(root)).toContainEqual(['Disk', 'anna']);
    expect((await ask(anna, 'DELETE', `${id}/`)).status).toBe(204);
    expect((await ask(anna, 'GET', `${id}/`)).status).toBe(404);
  });

  test('a key with fewer rights than its user defines none, since an alert has them all', async () => {
    const scoped = svc.withHeaders({
      'X-API-Key': await svc.accounts.apiKey('anna', ['read', 'write']),
    });
    expect((await ask(scoped, 'POST', '', disk)).status).toBe(403);
    expect((await ask(scoped, 'POST', 'preview', disk)).status).toBe(403);
  });

  test('a change that did not see the last one is refused', async () => {
    const id = await made(anna, disk);
    const { etag } = await ask(anna, 'GET', `${id}/`);
    expect(
      (await ask(anna, 'PUT', `${id}/`, { ...disk, severity: 'high' }, { 'If-Match': etag! }))
        .status,
    ).toBe(200);
    expect((await ask(anna, 'PUT', `${id}/`, disk, { 'If-Match': etag! })).status).toBe(412);
  });
});

describe('DS-290 what is refused', () => {
  test.each([
    [{ ...disk, schedule: '61 * * * *' }, ['body', 'schedule'], /minute: 61; minutes are 0-59/],
    [{ ...disk, query: 'from disk | statz count' }, ['body', 'query'], /statz/],
    [
      { ...disk, query: 'from other' },
      ['body', 'query'],
      /Unknown dataset 'other' or no permission/,
    ],
    [
      { ...disk, query: undefined, savedsearch: 'nothing' },
      ['body', 'savedsearch'],
      /no saved search 'nothing'/,
    ],
    [
      { ...disk, when: { ...when, colum: 'x' } },
      ['body', 'when', 'colum'],
      /did you mean 'column'/,
    ],
  ])('%j', async (definition, loc, reason) => {
    const { status, body } = await ask(anna, 'POST', '', definition);
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(loc);
    expect(body.detail[0].msg).toMatch(reason);
  });
});

describe('DS-291 runs', () => {
  test('a dataset: the rows that meet the condition, a finding for each value', async () => {
    const id = await made(anna, disk);
    const { status, body } = await ask(anna, 'POST', `${id}/run`);
    expect([status, body]).toMatchObject([
      200,
      { kind: 'manual', state: 'done', row_count: 2, fired: 1, error: null },
    ]);
    const found = await svc.accounts.db.all(
      'SELECT key, rows, alert_owner_id FROM findings WHERE alert_id = ?',
      [String(id)],
    );
    expect(found).toMatchObject([{ key: 'a', rows: '[{"host":"a","used":95}]' }]);
    const scope = await svc.accounts.db.get<{ sources: string }>(
      'SELECT sources FROM finding_scopes JOIN findings ON scope_id = finding_scopes.id WHERE alert_id = ?',
      [String(id)],
    );
    expect(JSON.parse(scope!.sources)).toEqual({ indexes: [], datasets: ['disk'] });
  });

  test('events: those of the window before the run, and the index that its readers need', async () => {
    const now = Date.now();
    const event = (seconds: number, address: string) => ({
      index: 'auth',
      data: `${new Date(now - seconds * 1000).toISOString()} Failed password from ${address} port 22`,
    });
    await send([
      event(30, '10.0.0.1'),
      event(20, '10.0.0.1'),
      event(10, '10.0.0.2'),
      event(4_000, '10.0.0.2'),
    ]);
    const id = await made(anna, {
      title: 'Failed logins',
      query: 'index=auth "Failed password" | rex "from (?<address>[^ ]+)" | stats count by address',
      schedule: '*/5 * * * *',
      timezone: 'Europe/Vienna',
      window: '10m',
      when: { type: 'value', column: 'count', more_than: 1 },
      by: ['address'],
      severity: 'high',
    });
    expect((await ask(anna, 'POST', `${id}/run`)).body).toMatchObject({
      state: 'done',
      fired: 1,
      row_count: 2,
    });
    const found = await svc.accounts.db.get<{
      key: string;
      rows: string;
      sources: string;
      severity: string;
    }>(
      'SELECT key, rows, severity, sources FROM findings JOIN finding_scopes ON scope_id = finding_scopes.id WHERE alert_id = ?',
      [String(id)],
    );
    expect(found).toMatchObject({
      key: '10.0.0.1',
      severity: 'high',
      rows: '[{"address":"10.0.0.1","count":2}]',
    });
    expect(JSON.parse(found!.sources)).toEqual({ indexes: ['auth'], datasets: [] });
  });

  test('a saved search by name runs on a schedule without a condition, and its last rows are its owner’s', async () => {
    const saved = await anna.fetch('/api/savedsearches/', {
      method: 'POST',
      body: JSON.stringify({ name: 'full disks', query: 'from disk | where used>90' }),
    });
    expect(saved.status).toBe(201);
    const id = await made(anna, {
      title: 'Report',
      savedsearch: 'full disks',
      schedule: 'every 1d',
    });
    expect((await ask(anna, 'POST', `${id}/run`)).body).toMatchObject({
      state: 'done',
      row_count: 1,
      fired: 0,
    });
    expect((await ask(anna, 'GET', `${id}/rows`)).body).toEqual({
      columns: ['host', 'used'],
      rows: [{ host: 'a', used: 95 }],
      row_count: 1,
    });
    expect((await ask(bert, 'GET', `${id}/rows`)).status).toBe(404);
  });

  test('a query past its limit is an error of that run', async () => {
    const id = await made(anna, { ...disk, query: 'from disk | eval x=1', window: '5m' });
    expect((await ask(anna, 'POST', `${id}/run`)).body).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('needs a query that begins with a search for events'),
    });
  });

  test.each([
    [
      'the dataset',
      async (id: number) =>
        svc.accounts.db.run("DELETE FROM permissions WHERE resource = 'lost'").then(() => id),
      /may not read the dataset 'lost'/,
    ],
    [
      'the account',
      async (id: number) =>
        svc.accounts.db
          .run("UPDATE users SET is_active = 0 WHERE username = 'carl'")
          .then(() => id),
      /deactivated/,
    ],
  ])('without %s it stops in words, and can be turned on again', async (_, take, reason) => {
    svc.write('lost.csv', 'host,used\na,95\n');
    await svc.accounts.user('carl');
    await svc.accounts.grant('carl', 'lost', 'read');
    const carl = await svc.as('carl');
    await eventually(async () => expect((await carl.fetch('/api/lost/')).status).toBe(200));
    const id = await made(carl, { ...disk, query: 'from lost' });
    expect((await ask(root, 'POST', `${id}/run`)).body.state).toBe('done');
    await take(id);
    expect((await ask(root, 'POST', `${id}/run`)).body).toMatchObject({
      state: 'failed',
      fired: 0,
    });
    const { body } = await ask(root, 'GET', `${id}/`);
    expect(body).toMatchObject({ state: 'stopped', next_run: null });
    expect(body.problem).toMatch(reason);
    expect((await ask(root, 'POST', `${id}/enable`)).body.state).toBe('on');
  });

  test('an index without a right to it is no silence', async () => {
    await svc.accounts.user('dora');
    await svc.accounts.grant('dora', '@events/web', 'read');
    const dora = await svc.as('dora');
    const id = await made(dora, {
      title: 'Quiet',
      query: 'index=auth',
      schedule: 'every 1h',
      window: '1h',
      when: { type: 'no data' },
    });
    expect((await ask(dora, 'POST', `${id}/run`)).body).toMatchObject({
      state: 'failed',
      fired: 0,
    });
    expect((await ask(dora, 'GET', `${id}/`)).body.problem).toBe(
      "Its owner may not read the index 'auth'",
    );
  });
});

describe('DS-291 preview', () => {
  test('tells what the last week would have been', async () => {
    const { status, body } = await ask(anna, 'POST', 'preview', {
      title: 'x',
      query: 'index=auth "Failed password"',
      schedule: 'every 6h',
      window: '6h',
      when: { type: 'rows', more_than: 0 },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ runs: 28, looked_at: 28, failed: 0, limit: null });
    expect(
      (
        await ask(bert, 'POST', 'preview', {
          title: 'x',
          query: 'index=auth',
          schedule: 'every 1d',
          window: '1d',
          when: { type: 'no data' },
        })
      ).body,
    ).toMatchObject({ fired: 0, failed: 7, error: 'Its owner may read no events' });
  });

  test('says that datasets hold only the present', async () => {
    const { body } = await ask(anna, 'POST', 'preview', disk);
    expect(body).toMatchObject({
      runs: 168,
      looked_at: 1,
      fired: 1,
      limit: expect.stringContaining('datasets hold only the present'),
    });
    expect(body.firings).toMatchObject([{ key: 'a', rows: 1 }]);
  });
});

test('DS-290 the operator lists, shows and switches them at the command line', async () => {
  const id = String(await made(anna, { ...disk, title: 'From the shell' }));
  const admin = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await svc.command([
      'admin',
      'alerts',
      ...args,
      '--root',
      svc.docroot,
    ]);
    return exitCode === 0 ? stdout : `${exitCode} ${stderr}`;
  };
  expect(await admin('list')).toMatch(/From the shell +on +anna/);
  expect(await admin('disable', '--id', id)).toBe('It is off.\n');
  expect((await ask(anna, 'GET', `${id}/`)).body.state).toBe('off');
  expect(await admin('enable', '--id', id)).toBe('It is on.\n');
  expect(await admin('run', '--id', id)).toMatch(/^Done in \d+ ms: 2 row\(s\), 1 found\.\n$/);
  expect(JSON.parse(await admin('show', '--id', id, '--json'))).toMatchObject({
    title: 'From the shell',
    runs: [{ kind: 'manual', fired: 1 }],
  });
  expect(await admin('approve', '--id', id, '--username', 'anna')).toMatch(
    /Only the alert of a file is approved/,
  );
  expect(await admin('show', '--id', '999')).toMatch(/There is no alert 999/);
});

test('DS-291 metrics count alerts and their runs', async () => {
  const text = await (await root.fetch('/metrics')).text();
  expect(text).toMatch(/svc_alerts\{state="on"\} [1-9]/);
  expect(text).toMatch(/svc_alert_runs_total\{outcome="done"\} [1-9]/);
  expect(text).toMatch(/svc_alerts_fired_total [1-9]/);
});

test('DS-291 a run that was cut off by kill -9 is done by the next server, once', async () => {
  await using other = await startService({ files: { 'disk.csv': 'host,used\na,95\n' } });
  await other.accounts.grant('anna', 'disk', 'read');
  const client = await other.as('anna');
  const id = await made(client, disk);
  await other.kill('SIGKILL');
  // As the killed server left it: claimed, its query begun, nothing recorded.
  const { db } = other.accounts;
  await db.run(
    `INSERT INTO alert_runs (alert_id, slot, kind, state, holder, claimed_until, attempt, started_at, fired, resolved,
       quiet, missed) VALUES (?, '2026-11-20T12:00:00.000Z', 'scheduled', 'running', 'killed', '2026-11-20T12:00:20.000Z',
       1, '2026-11-20T12:00:00.000Z', 0, 0, 0, 0)`,
    [id],
  );
  await other.start();
  const runs = async () =>
    (await ask(client, 'GET', `${id}/runs`)).body.runs as {
      state: string;
      attempt: number;
      fired: number;
    }[];
  await eventually(async () =>
    expect(await runs()).toMatchObject([{ state: 'done', attempt: 2, fired: 1 }]),
  );
  expect(await db.all('SELECT count FROM findings')).toEqual([{ count: 1 }]);
});
