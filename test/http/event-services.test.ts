/**
 * Tokens, saved searches, tails, figures, ingest settings and retention of events over HTTP (EV sections 2, 8, 10 to 12).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { PASSWORD } from '../support/password.ts';
import { answered as send } from '../support/send.ts';

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({
    config: {
      events: {
        min_free_bytes: 1,
        tail_per_user: 2,
        retention: { interval_seconds: 1, indexes: { small: { max_bytes: 2000 } } },
      },
    },
  });
  await svc.createSuperuser('root');
  await svc.accounts.user('anna', { password: PASSWORD });
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

describe('tokens (EV-15 to EV-19)', () => {
  const issue = (body: unknown) => send(svc, 'POST', '/api-token-auth/', body);
  const using = (value: string, scheme = 'Token') =>
    svc.withHeaders({ Authorization: `${scheme} ${value}` });

  test('are the same at every issue, and authenticate', async () => {
    const { status, body } = await issue({ username: ' anna ', password: PASSWORD });
    expect(status).toBe(200);
    expect(body.token).toMatch(/^[0-9a-f]{40}$/);
    expect((await issue({ username: 'anna', password: PASSWORD })).body).toEqual(body);
    for (const scheme of ['Token', 'TOKEN', 'Bearer']) {
      expect((await send(using(body.token, scheme), 'GET', '/api/savedsearches/')).status).toBe(
        200,
      );
    }
    const [stored] = await svc.accounts.db.all<{ sealed: Uint8Array; token_hash: string }>(
      'SELECT * FROM tokens',
    );
    expect(Buffer.from(stored!.sealed).includes(body.token)).toBe(false);
  });

  test.each([
    [{ username: ' nobody ' }, { password: ['This field is required.'] }],
    [
      { username: 'nobody', password: 'x' },
      { non_field_errors: ['Unable to log in with provided credentials.'] },
    ],
    [
      { username: '', password: null },
      { username: ['This field may not be blank.'], password: ['This field may not be null.'] },
    ],
    [{ username: true, password: 'x' }, { username: ['Not a valid string.'] }],
    [[], { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] }],
  ])('%j is refused in the words of the contract', async (body, errors) => {
    expect(await issue(body)).toEqual({ status: 400, body: errors });
  });

  test.each([
    ['Token', 'Invalid token header. No credentials provided.'],
    ['Token a b', 'Invalid token header. Token string should not contain spaces.'],
    [`Token ${'0'.repeat(40)}`, 'Invalid token.'],
    ['Basic', 'Invalid basic header. No credentials provided.'],
    ['Basic a b', 'Invalid basic header. Credentials string should not contain spaces.'],
    ['Basic !!!', 'Invalid basic header. Credentials not correctly base64 encoded.'],
    [`Basic ${btoa('anna:wrong')}`, 'Invalid username/password.'],
    ['Bearer ak_x', 'Invalid API key.'],
    ['Nonsense x', 'Authentication credentials were not provided.'],
  ])('%p answers 401', async (authorization, detail) => {
    const client = svc.withHeaders({ Authorization: authorization });
    expect(await send(client, 'GET', '/api/events/')).toEqual({ status: 401, body: { detail } });
  });

  test('an inactive owner is told, a revoked token is not', async () => {
    const { body } = await issue({ username: 'anna', password: PASSWORD });
    await svc.accounts.db.run("UPDATE users SET is_active = 0 WHERE username = 'anna'");
    expect(await send(using(body.token), 'GET', '/api/events/')).toEqual({
      status: 401,
      body: { detail: 'User inactive or deleted.' },
    });
    await svc.accounts.db.run("UPDATE users SET is_active = 1 WHERE username = 'anna'");
    const { id } = await svc.accounts.user('anna');
    expect((await send(root, 'GET', '/admin/tokens')).body).toMatchObject([
      { user_id: id, username: 'anna' },
    ]);
    expect(await send(root, 'DELETE', `/admin/tokens/${id}`)).toEqual({
      status: 200,
      body: { success: true },
    });
    expect((await send(using(body.token), 'GET', '/api/events/')).body).toEqual({
      detail: 'Invalid token.',
    });
    expect((await issue({ username: 'anna', password: PASSWORD })).body.token).not.toBe(body.token);
  });
});

test('a narrow key cannot end the token of its owner (DS-118)', async () => {
  const narrow = svc.withHeaders({ 'X-API-Key': await svc.accounts.apiKey('anna', ['read:a']) });
  expect(await send(narrow, 'DELETE', '/api-token-auth/')).toEqual({
    status: 403,
    body: { detail: 'API key scope does not permit this' },
  });
});

test('bodies of names and queries are short, whatever events may take: they are parsed at once', async () => {
  const long = JSON.stringify({ username: 'x'.repeat(2 ** 20), password: 'y', query: '*' });
  const zipped = { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' };
  const paths = ['/api-token-auth/', '/search2/api/run/', '/search2/api/validate/'];
  for (const path of [...paths, '/api/savedsearches/']) {
    const client = path === paths[0] ? svc : root;
    const plain = await client.fetch(path, { method: 'POST', body: long });
    const body = Bun.gzipSync(Buffer.from(long));
    const bomb = await client.fetch(path, { method: 'POST', headers: zipped, body });
    expect([path, plain.status, bomb.status]).toEqual([path, 413, 413]);
  }
});

describe('saved searches (EV-86 to EV-92)', () => {
  const path = '/api/savedsearches/';

  test('H19 and the other texts', async () => {
    expect(
      await send(root, 'POST', path, {
        name: 'n',
        query: 'search',
        shared_with: [999],
        is_public: 'maybe',
      }),
    ).toEqual({
      status: 400,
      body: {
        shared_with: ['Invalid pk "999" - object does not exist.'],
        is_public: ['Must be a valid boolean.'],
      },
    });
    expect((await send(root, 'POST', path, { shared_with: ['x'] })).body).toEqual({
      name: ['This field is required.'],
      query: ['This field is required.'],
      shared_with: ['Incorrect type. Expected pk value, received str.'],
    });
    expect((await send(root, 'POST', path, [])).body).toEqual({
      non_field_errors: ['Invalid data. Expected a dictionary, but got list.'],
    });
  });

  test('are seen by whom they are shared with and changed by their owner only', async () => {
    const { id: annaId } = await svc.accounts.user('anna');
    const { id: bertId } = await svc.accounts.user('bert');
    const [anna, bert, carla] = await Promise.all(
      ['anna', 'bert', 'carla'].map((name) => svc.as(name)),
    );
    const made = await send(anna!, 'POST', path, {
      name: ' Errors ',
      query: 'level=error',
      shared_with: [bertId, String(bertId)],
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'Errors',
      query: 'level=error',
      shared_with: [bertId],
      is_public: false,
    });
    expect(Object.keys(made.body)).toEqual([
      'id',
      'name',
      'query',
      'view',
      'shared_with',
      'is_public',
      'created_at',
      'updated_at',
    ]);
    const own = `${path}${made.body.id}/`;
    expect((await send(bert!, 'GET', own)).body.shared_with).toEqual([bertId]);
    expect(await send(carla!, 'GET', own)).toEqual({
      status: 404,
      body: { detail: 'No SavedSearch matches the given query.' },
    });
    expect((await send(root, 'GET', own)).status).toBe(200);
    for (const other of [bert!, carla!, root]) {
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        expect(
          (
            await send(
              other,
              method,
              own,
              method === 'DELETE' ? undefined : { name: 'x', query: 'y' },
            )
          ).status,
        ).toBe(404);
      }
    }
    expect((await send(anna!, 'PUT', own, { name: 'E2', query: 'q' })).body).toMatchObject({
      shared_with: [bertId],
    });
    expect(
      (await send(anna!, 'PATCH', own, { shared_with: [], is_public: 'Yes' })).body,
    ).toMatchObject({ shared_with: [], is_public: true });
    expect((await send(carla!, 'GET', path)).body.map((one: { id: number }) => one.id)).toEqual([
      made.body.id,
    ]);
    expect((await send(carla!, 'GET', `${path}?search=e2`)).body).toHaveLength(1);
    expect((await send(carla!, 'GET', `${path}?search=zzz`)).body).toEqual([]);
    expect((await send(anna!, 'DELETE', own)).status).toBe(204);
    expect(annaId).toBeGreaterThan(0);
  });
});

describe('many events at once', () => {
  beforeAll(async () => {
    const lines = Array.from({ length: 60 }, (_, at) => ({
      data: `line ${at}`,
      index: 'many',
      host: at % 3 === 0 ? 'alpha' : 'beta',
      extracted_fields: {
        event_time: `2026-11-20T10:${String(at).padStart(2, '0')}:00Z`,
        level: at % 2 === 0 ? 'info' : 'warn',
        nested: { n: at },
      },
    }));
    expect((await send(root, 'POST', '/api/events/', lines)).status).toBe(201);
  });

  test('histogram over the event time (EV-80)', async () => {
    const { body } = await send(
      root,
      'GET',
      '/api/events/histogram?index=many&interval=10m&by=level',
    );
    expect(body).toMatchObject({
      interval: '10m',
      total: 60,
      truncated: false,
      series: ['info', 'warn'],
    });
    expect(body.buckets).toHaveLength(6);
    expect(body.buckets[0]).toEqual({
      t: '2026-11-20T10:00:00.000000Z',
      count: 10,
      series: { info: 5, warn: 5 },
    });
    expect((await send(root, 'GET', '/api/events/histogram?index=many')).body.interval).toBe('1m');
    expect(await send(root, 'GET', '/api/events/histogram?index=many&interval=1s')).toEqual({
      status: 400,
      body: { interval: ['Too many buckets (3541, maximum 2000).'] },
    });
    expect((await send(root, 'GET', '/api/events/histogram?index=none')).body).toMatchObject({
      total: 0,
      buckets: [],
    });
  });

  test('days, weeks and months of a histogram begin by the clocks of the zone (EV-80)', async () => {
    const times = [
      '2026-10-24T21:59:59Z',
      '2026-10-24T22:00:00Z',
      '2026-10-25T22:59:00Z',
      '2026-10-25T23:00:00Z',
    ];
    const data = 'autumn';
    const events = times.map((event_time) => ({
      index: 'autumn',
      data,
      extracted_fields: { event_time },
    }));
    expect((await send(root, 'POST', '/api/events/', events)).status).toBe(201);
    const counted = async (query: string): Promise<unknown> => {
      const { body } = await send(root, 'GET', `/api/events/histogram?index=autumn&${query}`);
      return body.buckets?.map(({ t, count }: any) => [t.slice(0, 16), count]) ?? body;
    };
    expect(await counted('interval=1d&timezone=Europe/Berlin')).toEqual([
      ['2026-10-23T22:00', 1],
      ['2026-10-24T22:00', 2],
      ['2026-10-25T23:00', 1],
    ]);
    expect(await counted('interval=1mon&timezone=Asia/Kolkata')).toEqual([['2026-09-30T18:30', 4]]);
    expect(await counted('interval=1w&timezone=-05:00')).toEqual([['2026-10-19T05:00', 4]]);
    expect(
      await counted(
        'interval=1d&timezone=Europe/Berlin&query=autumn&earliest=2026-10-25&latest=2026-10-26',
      ),
    ).toEqual([['2026-10-24T22:00', 2]]);
    expect(await counted('interval=12h')).toEqual(
      await counted('interval=12h&timezone=Asia/Kolkata'),
    );
    expect(await counted('timezone=Nowhere')).toEqual({
      timezone: ['Enter UTC, an offset such as +02:00, or a name such as Europe/Vienna.'],
    });
  });

  test('fields with their commonest values (EV-81)', async () => {
    const { body } = await send(root, 'GET', '/api/events/fields?index=many&top=1');
    expect(body.sampled).toBe(60);
    expect(body.fields.map(({ name }: { name: string }) => name)).toEqual([
      'index',
      'sourcetype',
      'source',
      'host',
      'event_time',
      'level',
      'nested.n',
    ]);
    expect(body.fields[3]).toEqual({
      name: 'host',
      type: 'string',
      count: 60,
      distinct: 2,
      distinct_capped: false,
      top: [{ value: 'beta', count: 40 }],
    });
  });
});

test('names and terms nobody would type are answered, never a failure of the server', async () => {
  const strange = ['\\', 'a\\"b', 'a\u0000b', '.', '$', '"'];
  for (const name of strange) {
    const by = encodeURIComponent(name);
    const { status } = await send(root, 'GET', `/api/events/histogram?by=${by}`);
    expect([name, status]).toEqual([name, 200]);
  }
  const many = Array.from({ length: 1500 }, (_, n) => `t${n}`).join('+');
  for (const path of ['/api/events/', '/api/events/histogram', '/api/events/fields']) {
    expect(await send(root, 'GET', `${path}?search=${many}`)).toEqual({
      status: 400,
      body: { search: ['Too many terms (maximum 200).'] },
    });
    const same = await send(root, 'GET', `${path}?search=${'same+'.repeat(1500)}`);
    expect([path, same.status]).toEqual([path, 200]);
  }
});

describe('live tail (EV-77 to EV-79)', () => {
  async function follow(client: Client, query: string, headers: Record<string, string> = {}) {
    const abort = new AbortController();
    const response = await client.fetch(`/api/events/tail${query}`, {
      headers,
      signal: abort.signal,
    });
    let text = '';
    let isOver = false;
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body!)
        text += decoder.decode(chunk as Uint8Array, { stream: true });
    })()
      .then(() => (isOver = true))
      .catch(() => (isOver = true));
    const events = () =>
      [...text.matchAll(/^data: (\{"id".*)$/gm)].map(
        ([, json]) => JSON.parse(json!) as { id: number; data: string },
      );
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      events,
      text: () => text,
      isOver: () => isOver,
      end: async () => {
        abort.abort();
        await reading;
      },
    };
  }

  test('new matches arrive in order, missed ones on resume, others never', async () => {
    const tail = await follow(root, '?index=tail&search=wanted');
    expect([tail.status, tail.type]).toEqual([200, 'text/event-stream']);
    const bodies = ['wanted 1', 'other', 'wanted 2'].map((data) => ({ data, index: 'tail' }));
    const made = await send(root, 'POST', '/api/events/', bodies);
    await send(root, 'POST', '/api/events/', { data: 'wanted elsewhere' });
    await eventually(() =>
      expect(tail.events().map(({ data }) => data)).toEqual(['wanted 1', 'wanted 2']),
    );
    await tail.end();
    const resumed = await follow(root, '?index=tail', { 'Last-Event-ID': String(made.body[0].id) });
    await eventually(() =>
      expect(resumed.events().map(({ data }) => data)).toEqual(['other', 'wanted 2']),
    );
    await resumed.end();
    const backlog = await follow(root, '?index=tail&backlog=1');
    await eventually(() => expect(backlog.events().map(({ data }) => data)).toEqual(['wanted 2']));
    await backlog.end();
    expect((await send(root, 'GET', '/api/events/tail?last_event_id=x')).status).toBe(400);
  });

  test('is limited by user, and ends with the right to read', async () => {
    await svc.accounts.grant('follower', '@events/tail', 'read');
    await svc.accounts.grant('crowd', '@events/tail', 'read');
    const crowd = await svc.as('crowd');
    const gone = new AbortController();
    const crowded = await Promise.all(
      Array.from({ length: 6 }, () => crowd.fetch('/api/events/tail', { signal: gone.signal })),
    );
    expect(crowded.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429, 429]);
    gone.abort();
    const follower = await svc.as('follower');
    const tails = [await follow(follower, ''), await follow(follower, '')];
    const third = await follower.fetch('/api/events/tail');
    expect([third.status, await third.json()]).toEqual([429, { detail: 'Too many tail streams.' }]);
    expect(third.headers.get('retry-after')).not.toBeNull();
    await send(root, 'POST', '/api/events/', [
      { data: 'seen', index: 'tail' },
      { data: 'unseen', index: 'elsewhere' },
    ]);
    await eventually(() => expect(tails[0]!.events().map(({ data }) => data)).toEqual(['seen']));
    await svc.accounts.db.run(
      'DELETE FROM group_members WHERE user_id = (SELECT id FROM users WHERE username = ?)',
      ['follower'],
    );
    await eventually(() => expect(tails.map((tail) => tail.isOver())).toEqual([true, true]), 8000);
  });
});

describe('ingest credentials (EV-57 to EV-61)', () => {
  test('settings of a key give defaults and limit it', async () => {
    await svc.accounts.grant('shipper', '@events', 'read', 'write');
    const key = await svc.accounts.apiKey('shipper');
    const client = svc.withHeaders({ 'X-API-Key': key });
    const [{ id }] = (await send(client, 'GET', '/api/apikeys')).body;
    const path = `/api/apikeys/${id}/ingest`;
    expect((await send(client, 'GET', path)).body).toEqual({
      create_only: false,
      indexes: null,
      index: null,
      sourcetype: null,
      source: null,
      host: null,
      ack: true,
      has_alias: false,
    });
    const put = await send(client, 'PUT', path, {
      indexes: ['ship'],
      index: 'ship',
      sourcetype: 'kv',
      alias: true,
    });
    expect(put.body).toMatchObject({ indexes: ['ship'], has_alias: true });
    expect(put.body.alias).toMatch(/^[0-9a-f-]{36}$/);
    expect((await send(client, 'POST', '/api/events/', { data: 'a=1' })).body).toMatchObject({
      index: 'ship',
      extracted_fields: { a: 1 },
    });
    expect(
      (await send(client, 'POST', '/api/events/', { data: 'a=1', index: 'other' })).status,
    ).toBe(403);
    expect(await send(client, 'PUT', path, { indexes: 5, ack: 'x' })).toMatchObject({
      status: 400,
      body: { ack: ['Must be a valid boolean.'] },
    });
    const { body } = await send(root, 'GET', '/admin/ingest');
    expect(
      body.credentials.find((one: { label: string }) => one.label === 'shipper'),
    ).toMatchObject({ kind: 'api_key', dialect: 'rest', accepted: 1 });
    await root.fetch('/api/events/', {
      method: 'POST',
      body: 'not json\n',
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    expect((await send(root, 'GET', '/admin/ingest/rejects')).body[0]).toMatchObject({
      dialect: 'rest',
      position: 'line 1',
      sample: 'not json',
    });
  });
});

describe('retention (EV-83 to EV-85)', () => {
  test('over its size an index loses its oldest events, with one audit row', async () => {
    await send(
      root,
      'POST',
      '/api/events/',
      Array.from({ length: 50 }, (_, at) => ({
        data: `event ${at} ${'x'.repeat(80)}`,
        index: 'small',
      })),
    );
    await eventually(async () => {
      const { body } = await send(root, 'GET', '/admin/events/indexes');
      const small = body.find(({ index }: { index: string }) => index === 'small');
      expect(small.bytes).toBeLessThanOrEqual(2000);
      expect(small).toMatchObject({ max_bytes: 2000, max_age_days: null });
    }, 8000);
    const { body } = await send(root, 'GET', '/api/events/?index=small');
    expect(body.at(-1).data).toStartWith('event 49 ');
    await eventually(async () => {
      const rows = await svc.accounts.db.all<{ details: string }>(
        "SELECT details FROM audit WHERE action = 'events_prune'",
      );
      expect(rows[0]!.details).toMatch(
        /^Deleted \d+ events, \d+ bytes, oldest .+Z, newest .+Z, rule size$/,
      );
    });
  });
});
