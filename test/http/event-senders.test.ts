/**
 * What senders of events may do and what operators see of them (EV-8, EV-16, EV-19, EV-58, EV-60, EV-91, EV-106).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { PASSWORD } from '../support/password.ts';
import { send } from '../support/send.ts';

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({
    files: { 'pay.csv': 'who\nconfidential\n', 'song.mp3': 'no song' },
    config: { events: { min_free_bytes: 1 } },
  });
  await svc.createSuperuser('root');
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

/** A key of a new user with rights on all events; `settings` are its ingest settings. */
async function keyOf(user: string, settings: Record<string, unknown>) {
  await svc.accounts.user(user, { password: PASSWORD });
  await svc.accounts.grant(user, '@events', 'read', 'write');
  const made = await send(root, 'POST', '/admin/api-keys', {
    user_id: await userId(user),
    description: user,
  });
  const { key, id } = made.body;
  const path = `/admin/api-keys/${id}/ingest`;
  const { body } = await send(root, 'PUT', path, settings);
  return { key: key as string, alias: body.alias as string };
}

async function userId(name: string): Promise<number> {
  const { body } = await send(root, 'GET', '/admin/users');
  return body.find(({ username }: { username: string }) => username === name).id;
}

describe('a key with create_only (EV-58)', () => {
  let key: Client;
  beforeAll(async () => {
    key = svc.withHeaders({ 'X-API-Key': (await keyOf('writer', { create_only: true })).key });
  });

  test('creates events', async () => {
    expect((await send(key, 'POST', '/api/events/', { data: 'made' })).status).toBe(201);
  });

  test.each([
    ['GET', '/api/events/'],
    ['GET', '/api/events/1/'],
    ['PATCH', '/api/events/1/'],
    ['DELETE', '/api/events/1/'],
    ['GET', '/api/events/tail'],
    ['GET', '/api/events/histogram'],
    ['GET', '/api/events/fields'],
    ['GET', '/api/savedsearches/'],
    ['POST', '/api/savedsearches/'],
    ['POST', '/search2/api/run/'],
    ['GET', '/search2/api/commands/'],
    ['DELETE', '/api-token-auth/'],
    ['GET', '/metrics'],
    ['GET', '/auth/me'],
    ['GET', '/api/anything'],
  ])('is refused %s %s', async (method, path) => {
    expect((await send(key, method, path, method === 'GET' ? undefined : {})).status).toBe(403);
  });

  test.each(['/', '/ui/media', '/admin/', '/openapi.json', '/docs', '/health', '/auth/login'])(
    'shows at %s what everybody sees, also when its owner is a superuser',
    async (path) => {
      const made = await send(root, 'POST', '/api/apikeys', { description: 'sender of root' });
      const settings = `/api/apikeys/${made.body.id}/ingest`;
      expect((await send(root, 'PUT', settings, { create_only: true })).status).toBe(200);
      const sender = svc.withHeaders({ 'X-API-Key': made.body.key });
      for (const accept of ['application/json', 'text/html']) {
        const shownTo = async (client: Client): Promise<unknown> => {
          const answer = await client.fetch(path, { headers: { Accept: accept } });
          const text = await answer.text();
          return [answer.status, text.replace(/"timestamp":"[^"]+"|value="[\w-]{43}"/g, '')];
        };
        expect(await shownTo(sender)).toEqual(await shownTo(svc));
      }
    },
  );
});

describe('a repeat with an Idempotency-Key (EV-49)', () => {
  const repeats = { 'Idempotency-Key': 'same' };
  const line = { 'Content-Type': 'application/x-ndjson' };
  let sender: Client;
  let settings: string;
  beforeAll(async () => {
    const made = await send(root, 'POST', '/api/apikeys', { description: 'repeats' });
    sender = svc.withHeaders({ 'X-API-Key': made.body.key });
    settings = `/api/apikeys/${made.body.id}/ingest`;
    const values = { create_only: true, indexes: ['open'], index: 'open' };
    expect((await send(root, 'PUT', settings, values)).status).toBe(200);
  });
  afterAll(() => send(root, 'PUT', settings, {}));

  test('shows what was sent, not what became of it', async () => {
    const post = () =>
      send(sender, 'POST', '/api/events/', [{ data: 'a=1', sourcetype: 'kv' }], repeats);
    const first = await post();
    const change = { index: 'secret', data: 'confidential' };
    await send(root, 'PATCH', `/api/events/${first.body[0].id}/`, change);
    const again = await post();
    expect(again.body).toEqual(first.body);
    expect(again.status).toBe(201);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    await send(root, 'DELETE', `/api/events/${first.body[0].id}/`);
    expect((await post()).body).toEqual(first.body);
  });

  test('is read as the first was, whatever the key names by now', async () => {
    const key = { 'Idempotency-Key': 'settings' };
    const made = await send(sender, 'POST', '/api/events/', { data: 'x' }, key);
    const renamed = { create_only: true, indexes: ['open', 'new'], index: 'new', host: 'h' };
    await send(root, 'PUT', settings, renamed);
    expect((await send(sender, 'POST', '/api/events/', { data: 'x' }, key)).body).toEqual(
      made.body,
    );
  });

  test.each([
    ['an event', '/api/events/', '{"data":"x","index":"shut"}', {}, 'detail'],
    ['lines', '/api/events/', '{"data":"line","index":"shut"}', line, 'detail'],
    ['HEC', '/services/collector', '{"event":"x","index":"shut"}', {}, 'code'],
    ['_bulk', '/_bulk', '{"index":{"_index":"shut"}}\n{"m":"x"}\n', {}, 'error'],
  ])('of %s is refused once its index may not be written', async (_, path, body, more, member) => {
    await send(root, 'PUT', settings, { create_only: true, indexes: ['open', 'shut'] });
    const headers = { ...more, 'Idempotency-Key': `right-${body.length}-${member}` };
    const post = async () => {
      const type = { 'Content-Type': 'application/json', ...headers };
      const answer = await sender.fetch(path, { method: 'POST', headers: type, body });
      return { status: answer.status, text: (await answer.text()).replace(/"took":\d+/, '') };
    };
    const first = await post();
    expect(first.status).toBeLessThan(300);
    expect(await post()).toEqual({ status: first.status, text: first.text });
    await send(root, 'PUT', settings, { create_only: true, indexes: ['open'] });
    const refused = await post();
    expect(refused.status).toBe(403);
    expect(Object.keys(JSON.parse(refused.text))).toContain(member);
    await send(root, 'PUT', settings, { create_only: true, indexes: ['open', 'shut'] });
    expect((await post()).text).toBe(first.text);
  });
});

test('a tail ends when its key becomes one that may only create events (EV-58, EV-79)', async () => {
  const made = await send(root, 'POST', '/api/apikeys', { description: 'watcher' });
  const watcher = svc.withHeaders({ 'X-API-Key': made.body.key });
  const tail = await watcher.fetch('/api/events/tail');
  expect(tail.status).toBe(200);
  const settings = `/api/apikeys/${made.body.id}/ingest`;
  expect((await send(root, 'PUT', settings, { create_only: true })).status).toBe(200);
  // Resolves only when the server ends the stream.
  expect(await tail.text()).not.toContain('event: event');
});

test('an alias works wherever its key does, until it is taken away (EV-58)', async () => {
  const { alias } = await keyOf('agent', { alias: true, index: 'agents' });
  expect(alias).toMatch(/^[0-9a-f-]{36}$/);
  const carriers = [
    ['Authorization', `Bearer ${alias}`],
    ['X-API-Key', alias.toUpperCase()],
  ] as const;
  for (const [name, value] of carriers) {
    const client = svc.withHeaders({ [name]: value });
    const { status, body } = await send(client, 'POST', '/api/events/', {
      data: 'by alias',
    });
    expect([status, body.index]).toEqual([201, 'agents']);
  }
  const { body: keys } = await send(root, 'GET', '/admin/api-keys');
  const { id } = keys.find((one: { description: string }) => one.description === 'agent');
  await send(root, 'PUT', `/admin/api-keys/${id}/ingest`, { alias: false });
  const gone = svc.withHeaders({ 'X-API-Key': alias });
  expect((await send(gone, 'POST', '/api/events/', { data: 'x' })).status).toBe(401);
});

test('credentials nobody has are counted by their hash (EV-60)', async () => {
  const wrong = svc.withHeaders({ Authorization: `Token ${'0'.repeat(40)}` });
  for (let at = 0; at < 2; at++)
    expect((await send(wrong, 'POST', '/api/events/', { data: 'x' })).status).toBe(401);
  const hash = new Bun.CryptoHasher('sha256').update('0'.repeat(40)).digest('hex').slice(0, 8);
  const { body } = await send(root, 'GET', '/admin/ingest');
  expect(body.unknown).toContainEqual({
    hash,
    count: 2,
    last_address: expect.any(String),
    last_at: expect.any(String),
  });
});

describe('?validate=1 of saved searches (EV-91)', () => {
  const save = (query: string, name = 'checked') =>
    send(root, 'POST', '/api/savedsearches/?validate=1', { name, query });

  test('refuses what does not parse, in the words of the language', async () => {
    const { status, body } = await save('search error | hed 5');
    expect(status).toBe(400);
    expect(body).toEqual({ query: [expect.stringContaining('Unknown command: hed')] });
  });

  test('takes what runs', async () => {
    expect((await save('search error | head 5')).status).toBe(201);
  });

  test('refuses a search that would run itself through another', async () => {
    const first = await send(root, 'POST', '/api/savedsearches/', {
      name: 'one',
      query: 'search a',
    });
    const second = await save('savedsearch one', 'two');
    expect(second.status).toBe(201);
    const path = `/api/savedsearches/${first.body.id}/?validate=1`;
    expect(await send(root, 'PATCH', path, { query: 'savedsearch two' })).toMatchObject({
      status: 400,
      body: { query: ["Saved search 'one' would run itself"] },
    });
  });
});

describe('Accept (EV-8)', () => {
  test.each([
    ['/api/events/', 'application/json', 200],
    ['/api/events/', 'text/csv', 200],
    ['/api/events/', 'application/*;q=0.1', 200],
    ['/api/events/', 'image/png, */*;q=0.1', 200],
    ['/api/events/', 'image/png', 406],
    ['/api/events/histogram', 'text/csv', 406],
    ['/api/events/histogram?format=json', 'text/csv', 200],
  ])('%s as %s: %i', async (path, accept, status) => {
    const answer = await root.fetch(path, { headers: { Accept: accept } });
    expect(answer.status).toBe(status);
    if (status === 406) {
      expect(await answer.json()).toEqual({
        detail: 'Could not satisfy the request Accept header.',
      });
    } else await answer.body?.cancel();
  });
});

test('the list of tokens has the parameters of all admin lists (EV-19, DS-133)', async () => {
  for (const name of ['tina', 'tom']) {
    await svc.accounts.user(name, { password: PASSWORD });
    await send(svc, 'POST', '/api-token-auth/', { username: name, password: PASSWORD });
  }
  const { body, headers } = await send(root, 'GET', '/admin/tokens?sort=-user_id&limit=1');
  expect(body).toEqual([
    {
      user_id: await userId('tom'),
      username: 'tom',
      created_at: expect.any(String),
      last_used_at: null,
    },
  ]);
  expect(headers.get('x-total-count')).toBe('2');
  expect(headers.get('link')).toContain('rel="next"');
  expect((await send(root, 'GET', '/admin/tokens?sort=username')).status).toBe(422);
});

test('metrics tell what came in, without names but those of indexes, to superusers (EV-106)', async () => {
  await send(root, 'POST', '/api/events/', { data: 'counted', index: 'metrics-index' });
  await send(root, 'POST', '/api/events/', { data: '' });
  await send(root, 'POST', '/search2/api/run/', { query: 'search counted' });
  const text = await (await root.fetch('/metrics')).text();
  expect(text).toMatch(/^svc_events_total\{dialect="rest"\} [1-9]\d*$/m);
  expect(text).toMatch(/^svc_events_rejected_total\{dialect="rest",reason="invalid"\} [1-9]\d*$/m);
  expect(text).toMatch(/^svc_event_queue_events 0$/m);
  expect(text).toMatch(/^svc_event_commit_seconds_count [1-9]\d*$/m);
  expect(text).toMatch(/^svc_event_store_bytes [1-9]\d*$/m);
  expect(text).toMatch(/^svc_searches_total\{outcome="rows"\} [1-9]\d*$/m);
  expect(text).toMatch(/^svc_search_seconds_sum [\d.]+$/m);
  expect(text).toMatch(/^svc_tail_streams 0$/m);
  expect(text).toContain('# TYPE svc_events_pruned_total counter');
  expect(text).toContain('svc_event_last_timestamp_seconds{index="metrics-index"}');
  const scraper = await svc.as('scraper');
  const others = await (await scraper.fetch('/metrics')).text();
  expect(others).toContain('svc_tail_streams 0');
  expect(others).not.toContain('metrics-index');
});

test('tokens are sealed with the key of SVC_INSTANCE_KEY_FILE (EV-16)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-key-'));
  const file = join(folder, 'instance.key');
  writeFileSync(file, randomBytes(32));
  await using own = await startService({ env: { SVC_INSTANCE_KEY_FILE: file } });
  await own.accounts.user('kim', { password: PASSWORD });
  const issue = async (): Promise<string> =>
    (await send(own, 'POST', '/api-token-auth/', { username: 'kim', password: PASSWORD })).body
      .token;
  const restart = async (): Promise<void> => {
    await own.kill();
    await own.start();
  };
  const first = await issue();
  await restart();
  expect(await issue()).toBe(first);
  await own.kill();
  writeFileSync(file, randomBytes(32));
  await own.start();
  const old = own.withHeaders({ Authorization: `Token ${first}` });
  expect((await send(old, 'GET', '/api/savedsearches/')).status).toBe(200);
  expect(await issue()).not.toBe(first);
  expect((await send(old, 'GET', '/api/savedsearches/')).status).toBe(401);
  rmSync(folder, { recursive: true });
});
