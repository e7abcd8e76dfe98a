/** Following what happens to files: pages from a cursor on, waiting, streams, RSS, and who is there (DS-260, DS-261). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

interface Change {
  readonly cursor: string;
  readonly name: string;
  readonly family: string;
  readonly action: string;
  readonly user: string | null;
  readonly count: number;
  readonly row_ids: number[];
  readonly rows?: { _row_id: number; values: object | null }[];
}
interface Page {
  readonly changes: Change[];
  readonly cursor: string;
}

let svc: Service;
let anna: Client;
let reader: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'stock.csv': 'sku,n\na,1\nb,2\n',
      'sales/orders.csv': 'id,v\n1,x\n',
      'sales/secret.csv': 'id,v\n1,x\n',
      'notes/plan.md': '# Plan\n',
      'sales/changes.csv': 'k\n1\n',
    },
    config: { upload: { enabled: true, collision_policy: 'overwrite' } },
  });
  await svc.accounts.grant('anna', '*', 'read', 'write');
  await svc.accounts.grant('reader', 'stock', 'read');
  await svc.accounts.grant('reader', 'sales/orders', 'read');
  await svc.accounts.user('nobody');
  [anna, reader] = [await svc.as('anna'), await svc.as('reader')];
});
afterAll(() => svc[Symbol.asyncDispose]());

async function json<T>(response: Promise<Response>, status = 200): Promise<T> {
  const found = await response;
  const text = await found.text();
  expect({ status: found.status, text }).toMatchObject({ status });
  return JSON.parse(text) as T;
}
const page = (who: Client, address: string): Promise<Page> => json<Page>(who.fetch(address));
const now = async (address = '/api/changes'): Promise<string> => (await page(anna, address)).cursor;
const edit = (name: string, body: object, method = 'PATCH'): Promise<object> =>
  json(anna.fetch(`/api/${name}/`, { method, body: JSON.stringify(body) }));
const told = ({ changes }: Page): [string, string, string | null][] =>
  changes.map(({ name, action, user }) => [name, action, user]);

/** Events of a stream as they come. */
async function follow(who: Client, address: string, headers: Record<string, string> = {}) {
  const stop = new AbortController();
  const response = await who.fetch(address, {
    signal: stop.signal,
    headers: { Accept: 'text/event-stream', ...headers },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toStartWith('text/event-stream');
  const events: { id: string; event: string; data: string }[] = [];
  let hasEnded = false;
  void (async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body!) {
      const messages = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = messages.pop()!;
      for (const message of messages) {
        const part = (name: string): string =>
          new RegExp(`^${name}: (.*)$`, 'm').exec(message)?.[1] ?? '';
        events.push({ id: part('id'), event: part('event'), data: part('data') });
      }
    }
    hasEnded = true;
  })().catch(() => undefined);
  const changes = (): Change[] =>
    events.flatMap(({ event, data }) => (event === 'change' ? [JSON.parse(data)] : []));
  const people = (): string[] | undefined =>
    events.flatMap(({ event, data }) => (event === 'people' ? [JSON.parse(data)] : [])).at(-1);
  return { events, changes, people, hasEnded: () => hasEnded, end: () => stop.abort() };
}

test.each([
  ['anonymous', null, 401, 401, 401],
  ['without a right', 'nobody', 200, 403, 403],
  ['who reads two', 'reader', 200, 200, 200],
] as const)('%s', async (_, name, all, folder, dataset) => {
  const who = name === null ? svc : await svc.as(name);
  const statuses = await Promise.all(
    ['/api/changes', '/_svc/changes/sales/', '/api/stock/changes'].map(
      async (address) => (await who.fetch(address)).status,
    ),
  );
  expect(statuses).toEqual([all, folder, dataset]);
});

describe('pages', () => {
  test('an edit is told with its rows, by whom, once', async () => {
    const since = await now('/api/stock/changes');
    await edit('stock', { action: 'update', data: { _row_id: 2, n: 20 } });
    await edit('stock', { action: 'create', data: [{ sku: 'c', n: 3 }] }, 'POST');
    const found = await page(reader, `/api/stock/changes?since=${since}`);
    expect(found.changes).toMatchObject([
      {
        ...{ name: 'stock', family: 'dataset', action: 'update', user: 'anna', count: 1 },
        ...{ row_ids: [2], rows: [{ _row_id: 2, values: { n: 20 } }] },
      },
      { action: 'create', rows: [{ _row_id: 3, values: { sku: 'c', n: 3 } }] },
    ]);
    expect(found.cursor).toBe(found.changes.at(-1)!.cursor);
    const after = await page(reader, `/api/stock/changes?since=${found.changes[0]!.cursor}`);
    expect(told(after)).toEqual([['stock', 'create', 'anna']]);
    // The watcher saw the same file: nothing more is told.
    await edit('stock', { action: 'delete', data: { _row_id: 3 } }, 'DELETE');
    const last = await page(reader, `/api/stock/changes?since=${found.cursor}`);
    expect(last.changes).toMatchObject([
      { action: 'delete', rows: [{ _row_id: 3, values: null }] },
    ]);
  });

  test('other programs, uploads and removals are told, of a folder and of all', async () => {
    const since = await now();
    const expected: [string, string, string | null][] = [];
    const seen = async (name: string, action: string, user: string | null): Promise<void> => {
      expected.push([name, action, user]);
      await eventually(async () => {
        expect(told(await page(anna, `/api/changes?since=${since}`))).toEqual(expected);
      });
    };
    svc.write('sales/new.csv', 'a\n1\n');
    await seen('sales/new', 'added', null);
    svc.write('sales/new.csv', 'a\n1\n2\n');
    await seen('sales/new', 'replaced', null);
    rmSync(join(svc.docroot, 'sales/new.csv'));
    await seen('sales/new', 'removed', null);
    const form = new FormData();
    form.set('filename', 'up.csv');
    form.set('file', new File(['z\n1\n'], 'up.csv'));
    await svc.accounts.user('root', { superuser: true });
    const sent = await (await svc.as('root')).fetch('/api/uploads', { method: 'POST', body: form });
    expect([sent.status, await sent.text()]).toMatchObject([201, expect.any(String)]);
    await seen('up', 'added', 'root');
    const folder = await page(anna, `/_svc/changes/sales?since=${since}`);
    expect(folder.changes.map(({ action }) => action)).toEqual(['added', 'replaced', 'removed']);
  });

  test('each change is told to those who may read it, removed or not', async () => {
    const since = await now();
    await edit('sales/secret', { action: 'update', data: { _row_id: 1, v: 's' } });
    await edit('sales/orders', { action: 'update', data: { _row_id: 1, v: 'o' } });
    const found = await page(reader, `/_svc/changes/sales?since=${since}`);
    expect(told(found)).toEqual([['sales/orders', 'update', 'anna']]);
    expect(told(await page(await svc.as('nobody'), `/api/changes?since=${since}`))).toEqual([]);
  });

  test('a file of that name keeps its address', async () => {
    expect(await json<object[]>(anna.fetch('/api/sales/changes/'))).toMatchObject([{ k: 1 }]);
  });

  test('limit, and waiting until something happens', async () => {
    const since = await now('/api/stock/changes');
    for (const n of [1, 2, 3]) {
      await edit('stock', { action: 'update', data: { _row_id: 1, n: n * 10 } });
    }
    const first = await page(reader, `/api/stock/changes?since=${since}&limit=2`);
    expect(first.changes).toHaveLength(2);
    const rest = await page(reader, `/api/stock/changes?since=${first.cursor}&limit=2`);
    expect(rest.changes).toHaveLength(1);
    const waiting = page(reader, `/api/stock/changes?since=${rest.cursor}&wait=60`);
    await edit('stock', { action: 'update', data: { _row_id: 1, n: 99 } });
    expect((await waiting).changes).toMatchObject([{ rows: [{ values: { n: 99 } }] }]);
  });

  test.each([
    ['?since=ffffffff-1', 410, 'go on from'],
    ['?since=x', 410, 'go on from'],
    ['?wait=61', 422, 'less than or equal to 60'],
    ['?format=xml', 422, 'json, sse, rss'],
    ['?sinse=0', 422, "'since'"],
  ])('%s is answered %i', async (query, status, text) => {
    const answer = await anna.fetch(`/api/stock/changes${query}`);
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(text)]);
  });
});

test('a stream goes on where it was lost, and tells who else is there', async () => {
  const since = await now('/api/stock/changes');
  const one = await follow(reader, `/api/stock/changes?since=${since}&people=1`);
  const other = await follow(anna, '/api/stock/changes?people=1');
  await eventually(() => expect([one.people(), other.people()]).toEqual([['anna'], ['reader']]));
  await edit('stock', { action: 'update', data: { _row_id: 1, n: 7 } });
  await eventually(() => expect(one.changes()).toMatchObject([{ action: 'update', user: 'anna' }]));
  const { id } = one.events.findLast(({ event }) => event === 'change')!;
  one.end();
  await eventually(() => expect(other.people()).toEqual([]));
  await edit('stock', { action: 'update', data: { _row_id: 1, n: 8 } });
  const again = await follow(reader, '/api/stock/changes', { 'Last-Event-ID': id });
  await eventually(() => expect(again.changes()).toMatchObject([{ rows: [{ values: { n: 8 } }] }]));
  again.end();
  other.end();
});

test('a stream ends with its account, and tells nothing after it', async () => {
  await svc.accounts.grant('guest', 'stock', 'read');
  const stream = await follow(await svc.as('guest'), '/api/stock/changes');
  await edit('stock', { action: 'update', data: { _row_id: 1, n: 1 } });
  await eventually(() => expect(stream.changes()).toHaveLength(1));
  const { exitCode } = await svc.command([
    'admin',
    'deactivate-user',
    svc.docroot,
    '--username',
    'guest',
  ]);
  expect(exitCode).toBe(0);
  await edit('stock', { action: 'update', data: { _row_id: 1, n: 2 } });
  await eventually(() => expect(stream.hasEnded()).toBe(true));
  expect(stream.changes()).toHaveLength(1);
});

test('RSS of a folder', async () => {
  const rss = await reader.fetch('/_svc/changes/sales?format=rss');
  expect(rss.headers.get('content-type')).toStartWith('application/rss+xml');
  const text = await rss.text();
  expect(text).toContain('<title>sales/orders: update of 1 row by anna</title>');
  expect(text).toContain(`<link>${svc.url}/ui/sales/orders/</link>`);
  expect(text).not.toContain('secret');
  svc.write('stockings.csv', 'a\n1\n');
  await eventually(async () => {
    const all = await (await anna.fetch('/api/changes?format=rss')).text();
    expect(all).toContain('stockings: added');
  });
  const one = await (await anna.fetch('/api/stock/changes?format=rss')).text();
  expect(one).toContain('<title>stock: ');
  expect(one).not.toContain('stockings');
});

test('what happened while no server ran is told after the start, and cursors hold', async () => {
  const since = await now();
  await svc.kill();
  svc.write('stock.csv', 'sku,n\nq,1\n');
  rmSync(join(svc.docroot, 'notes/plan.md'));
  svc.write('late.csv', 'a\n1\n');
  await svc.start();
  await eventually(async () => {
    const found = told(await page(anna, `/api/changes?since=${since}`));
    expect(found.sort()).toEqual([
      ['late', 'added', null],
      ['notes/plan', 'removed', null],
      ['stock', 'replaced', null],
    ]);
  });
});
