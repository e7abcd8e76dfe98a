/** Dashboards as files (DS-285): who may, what a broken one says, and what a change leaves as it was. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPermission } from '../../src/accounts/rights/permissions.ts';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

const OPS = `# The people on duty
title: Operations   # on the wall
variables:
  - {name: host, type: text, default: web1}
rows:
  - panels:
      # how many
      - title: Requests
        query: '* host={host} | stats count'
        form: single
      - text: "# Hi <script>alert(1)</script>"
  - title: Files
    panels:
    # the list
    - dataset: shop/products
      columns: [sku, price]   # two of them
`;

const files = {
  'ops.dashboard.yaml': OPS,
  'team/secret.dashboard.yaml': 'title: Secret\nrows: []\n',
  'shop/products.csv': 'sku,price\na,1\n',
};

let svc: Service;
let anna: Client;
let reader: Client;
let writer: Client;
let nobody: Client;

beforeAll(async () => {
  svc = await startService({ files });
  await svc.accounts.grant('anna', '*', 'read', 'write');
  await svc.accounts.grant('reader', 'ops', 'read');
  await svc.accounts.grant('writer', 'ops', 'write');
  await svc.accounts.user('nobody');
  [anna, reader, writer, nobody] = (await Promise.all(
    ['anna', 'reader', 'writer', 'nobody'].map((name) => svc.as(name)),
  )) as [Client, Client, Client, Client];
});
afterAll(() => svc[Symbol.asyncDispose]());

const at = (name: string) => `/_svc/dashboards/${name}`;
const patch = (client: Client, name: string, body: unknown, headers: Record<string, string> = {}) =>
  client.fetch(at(name), { method: 'PATCH', body: JSON.stringify(body), headers });
const path = (name: string) => join(svc.docroot, name);

describe('DS-285 who may', () => {
  test.each([
    ['anonymous', () => svc as Client, 401, 401],
    ['without a right', () => nobody, 403, 403],
    ['who only reads', () => reader, 200, 403],
    ['who only writes', () => writer, 403, 200],
    ['who reads and writes', () => anna, 200, 200],
  ])('%s', async (_, client, get, change) => {
    expect((await client().fetch(at('ops'))).status).toBe(get);
    expect((await client().fetch('/ops.dashboard.yaml')).status).toBe(get);
    expect((await client().fetch('/ui/ops/')).status).toBe(get);
    expect((await patch(client(), 'ops', [])).status).toBe(change);
  });

  test('what the page takes', async () => {
    const options = await reader.fetch('/ui/ops/', { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    expect((await anna.fetch('/ui/ops/', { method: 'POST', body: '{}' })).status).toBe(405);
    expect((await anna.fetch('/ui/ops.dashboard.yaml?history=1')).status).toBe(200);
  });

  test('a list has what the caller may read, and another name says no more than a missing one', async () => {
    const listed = async (client: Client): Promise<string[]> => {
      const { dashboards } = (await (await client.fetch('/_svc/dashboards')).json()) as {
        dashboards: { resource: string }[];
      };
      return dashboards.map(({ resource }) => resource);
    };
    expect(await listed(reader)).toEqual(['ops']);
    expect(await listed(nobody)).toEqual([]);
    expect(await listed(anna)).toEqual(['ops', 'team/secret']);
    const told = async (name: string): Promise<string> =>
      (await (await reader.fetch(at(name))).text()).replaceAll(name, 'X');
    expect(await told('team/secret')).toBe(await told('team/nothing'));
  });
});

test('DS-285 what panels run is looked up for who asks: saved searches, indexes, datasets', async () => {
  const panels = [
    'savedsearch: mine',
    'savedsearch: table',
    'index=web x',
    'index=other | stats count',
    '(index=other) | head 1',
    '* | stats count',
    'dataset: shop/products',
    'dataset: no/such',
  ].map((one) =>
    one.startsWith('savedsearch') || one.startsWith('dataset') ? one : `query: '${one}'`,
  );
  const text = `title: t\nrows:\n  - panels:\n${panels.map((one) => `      - ${one}\n`).join('')}`;
  writeFileSync(path('mixed.dashboard.yaml'), text);
  await svc.accounts.grant('eva', 'mixed', 'read');
  await svc.accounts.grant('eva', '@events/web', 'read');
  const eva = await svc.as('eva');
  const save = (name: string, query: string) =>
    eva.fetch('/api/savedsearches/', {
      method: 'POST',
      body: JSON.stringify({ name, query }),
      headers: { 'Content-Type': 'application/json' },
    });
  for (const [name, query] of [
    ['mine', 'index=web y | timechart count'],
    ['table', '-- events of the day\nselect 1 as one'],
  ] as const)
    expect((await save(name, query)).status).toBe(201);
  const queriesFor = async (client: Client): Promise<Record<string, object>> => {
    const answer = await client.fetch(at('mixed'));
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { queries: Record<string, object> }).queries;
  };
  const refused = { problem: 'You may not see what this panel shows, or it is not there.' };
  const hers = await eventually(() => queriesFor(eva));
  expect(hers).toMatchObject({
    '0/0': { query: 'index=web y', rest: '| timechart count', problem: null },
    '0/1': { query: '-- events of the day\nselect 1 as one', is_sql: true, rest: null },
    '0/2': { query: 'index=web x', rest: '', problem: null },
    '0/3': refused,
    '0/4': { query: '(index=other)', problem: null },
    '0/5': { query: '*', rest: '| stats count', problem: null },
    '0/6': refused,
    '0/7': refused,
  });
  await svc.accounts.grant('tom', 'mixed', 'read');
  const tom = await svc.as('tom');
  const his = await queriesFor(tom);
  const none = { problem: 'No saved search of this name is yours or shared with you.' };
  expect(his).toMatchObject({ '0/0': none, '0/1': none, '0/2': refused, '0/5': refused });
  expect(JSON.stringify(his)).not.toContain('index=web y');
});

test('DS-285 what a panel runs takes values as parameters only', async () => {
  const text = `title: t\nrows:\n  - panels:\n      - query: 'from shop/products | where sku={v} OR sku="{v}" | table sku'\n`;
  writeFileSync(path('taken.dashboard.yaml'), text);
  const query = await eventually(async () => {
    const answer = await anna.fetch(at('taken'));
    expect(answer.status).toBe(200);
    const { queries } = (await answer.json()) as { queries: Record<string, { query: string }> };
    return queries['0/0']!.query;
  });
  for (const v of ['x" OR sku="a', 'a" | from team', "' OR 1=1", '{v}', '*', 'a | head 1']) {
    const body = JSON.stringify({ query, params: { v } });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await anna.fetch('/search2/api/run/', { method: 'POST', body, headers });
    expect([v, ((await answer.json()) as { rows?: unknown[] }).rows]).toEqual([v, []]);
  }
});

test('DS-285 the file is read with its text as safe HTML', async () => {
  const answer = await reader.fetch(at('ops'));
  const shown = (await answer.json()) as Record<string, unknown>;
  expect(shown).toMatchObject({
    resource: 'ops',
    file_name: 'ops.dashboard.yaml',
    may_write: false,
    dashboard: { title: 'Operations', rows: [{ panels: [{ form: 'single' }, {}] }, {}] },
    texts: { '0/1': '<h1 id="hi-alert1">Hi </h1>\n' },
  });
  const etag = answer.headers.get('etag')!;
  expect((await reader.fetch('/ops.dashboard.yaml')).headers.get('etag')).toBe(etag);
});

const operation = (op: string, to: string, more: object = {}) => ({ op, path: to, ...more });

test('DS-285 a change keeps comments, order and spelling of what it does not touch', async () => {
  writeFileSync(path('ops.dashboard.yaml'), OPS);
  const answer = await eventually(async () => {
    const sent = await patch(anna, 'ops', [
      operation('test', '/title', { value: 'Operations' }),
      operation('move', '/rows/1/panels/1', { from: '/rows/0/panels/0' }),
      operation('replace', '/rows/1/panels/0', {
        value: { dataset: 'shop/products', columns: ['sku'], width: 4 },
      }),
      operation('add', '/description', { value: 'yes' }),
      operation('remove', '/rows/0/panels/0'),
    ]);
    expect(sent.status).toBe(200);
    return sent;
  });
  expect(await answer.json()).toMatchObject({ dashboard: { rows: [{ panels: [] }, {}] } });
  expect(readFileSync(path('ops.dashboard.yaml'), 'utf8')).toBe(`# The people on duty
title: Operations # on the wall
variables:
  - {name: host, type: text, default: web1}
rows:
  - panels: []
  - title: Files
    panels:
      # the list
      - dataset: shop/products
        columns: [sku] # two of them
        width: 4
      # how many
      - title: Requests
        query: '* host={host} | stats count'
        form: single
description: yes
`);
});

describe('DS-285 a change that is refused changes nothing', () => {
  test.each([
    [[operation('replace', '/title', { value: '' })], 422, 'title is empty'],
    [[operation('add', '/rows/0/pannels', { value: [] })], 422, "did you mean 'panels'?"],
    [[operation('remove', '/rows/7')], 422, 'there is nothing at /rows/7'],
    [[operation('add', '/rows/9', { value: { panels: [] } })], 422, 'no place in a list'],
    [[operation('move', '/rows/0/panels', { from: '/rows' })], 422, 'moved into itself'],
    [[operation('test', '/title', { value: 'x' })], 422, 'another one'],
    [[operation('add', 'title', { value: 'x' })], 422, 'must be such as /rows/0/panels/1'],
    [[operation('copy', '/title', { from: '/title' })], 422, 'op, path, and value or from'],
    [{ op: 'add' }, 422, 'list of operations'],
  ])('%j', async (body, status, reason) => {
    const before = readFileSync(path('ops.dashboard.yaml'), 'utf8');
    const answer = await patch(anna, 'ops', body);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(JSON.stringify(reason).slice(1, -1));
    expect(readFileSync(path('ops.dashboard.yaml'), 'utf8')).toBe(before);
  });

  test('for another version, or as a trial', async () => {
    const title = [operation('replace', '/title', { value: 'Tried' })];
    expect((await patch(anna, 'ops', title, { 'If-Match': '"other"' })).status).toBe(412);
    const tried = await patch(anna, 'ops?dry_run=true', title);
    expect(await tried.json()).toMatchObject({ dashboard: { title: 'Tried' } });
    expect(await (await anna.fetch(at('ops'))).json()).not.toMatchObject({
      dashboard: { title: 'Tried' },
    });
  });
});

describe('DS-285 a broken file is listed with line and reason', () => {
  const expectReason = async (text: string, reason: string): Promise<void> => {
    writeFileSync(path('bad.dashboard.yaml'), text);
    await eventually(async () => {
      const { dashboards } = (await (await anna.fetch('/_svc/dashboards')).json()) as {
        dashboards: { resource: string; problem: string | null }[];
      };
      const problem = dashboards.find(({ resource }) => resource === 'bad')?.problem ?? null;
      const answer = await anna.fetch(at('bad'));
      const { detail } = (await answer.json()) as { detail: string };
      expect(problem).toContain(reason);
      expect([answer.status, detail]).toEqual([422, problem!]);
    });
  };
  const panel = (text: string): string => `title: x\nrows:\n  - panels:\n      - ${text}\n`;

  test.each([
    ['titel: x\nrows: []\n', "line 1: unknown member 'titel'; did you mean 'title'?"],
    ['title: x\n', "line 1: the dashboard lacks 'rows'"],
    ['title: x\nrows: 5\n', 'line 2: rows must be a list'],
    ['title: x\nrows:\n  - panels: [\n', 'line 4: '],
    ['title: x\ntitle: y\nrows: []\n', 'line 2: Map keys must be unique'],
    ['a: &a 1\ntitle: *a\nrows: []\n', "line 1: unknown member 'a'"],
    ['title: &a b\ndescription: *a\nrows: []\n', 'line 2: aliases are not read'],
    ['title: x\n---\ntitle: y\n', 'line 2: a second document begins here'],
    [panel('title: p'), 'line 4: a panel lacks one of query, savedsearch, dataset, text'],
    [panel('{query: "*", dataset: d}'), "not both 'query' and 'dataset'"],
    [panel('{query: "*", form: lines}'), "'lines' is none of single, line,"],
    [panel('{query: "*", width: 13}'), 'width must be a whole number from 1 to 12'],
    [panel('{query: "*", time: week}'), "no variable of type time is called 'week'"],
    [panel('{query: "*", sort: a}'), "'sort' is for panels with 'dataset'"],
    [panel('{text: a, form: pie}'), "a panel with 'text' has the form text"],
    [panel('{query: "*", options: {link: "javascript:x"}}'), "link 'javascript:x' is not possible"],
    [panel('{query: "*", options: {colors: {a: mauve}}}'), "'mauve' is none of green"],
    ['title: x\nvariables: [{name: 1a, type: text}]\nrows: []\n', "name '1a' is not possible"],
    ['title: x\nvariables: [{name: a, type: choice}]\nrows: []\n', "the choice 'a' lacks 'query'"],
    [
      'title: x\nvariables: [{name: now, type: text}]\nrows: []\n',
      "no variable may be called 'now'",
    ],
  ])('%j', async (text, reason) => {
    await expectReason(text, reason);
  });

  test('and is mended by an edit', async () => {
    writeFileSync(path('bad.dashboard.yaml'), 'title: Mended\nrows: []\n');
    await eventually(async () => expect((await anna.fetch(at('bad'))).status).toBe(200));
  });
});

test('DS-285 a dashboard is found by its title, its texts and its queries', async () => {
  writeFileSync(
    path('found.dashboard.yaml'),
    'title: Zebra\nrows:\n  - panels:\n      - text: quagga\n      - query: okapi=1\n',
  );
  for (const word of ['zebra', 'quagga', 'okapi']) {
    await eventually(async () => {
      const found = (await (await anna.fetch(`/search?q=${word}`)).json()) as {
        results: { resource: string }[];
      };
      expect(found.results.map(({ resource }) => resource)).toContain('found');
    });
  }
});

describe('EV-93 an answer that is some seconds old', () => {
  const ask = (client: Client, query: string, more: object = { max_age: 300 }) =>
    client.fetch('/search2/api/run/', {
      method: 'POST',
      body: JSON.stringify({ query, ...more }),
      headers: { 'Content-Type': 'application/json' },
    });
  const QUERY = 'from shop/products | stats count';
  const countIn = async (answer: Response): Promise<unknown> =>
    ((await answer.json()) as { rows: { count: number }[] }).rows[0]?.count;

  test('is given only to who takes one, and tells its age', async () => {
    expect(await countIn(await ask(anna, QUERY))).toBe(1);
    writeFileSync(path('shop/products.csv'), 'sku,price\na,1\nb,2\n');
    await eventually(async () => expect(await countIn(await ask(anna, QUERY, {}))).toBe(2));
    const old = await ask(anna, QUERY);
    expect(old.headers.get('age')).toMatch(/^\d+$/);
    expect(await countIn(old)).toBe(1);
    expect((await ask(anna, QUERY, {})).headers.has('age')).toBe(false);
    expect((await ask(anna, QUERY, { max_age: 301 })).status).toBe(400);
  });

  test('is not given to anybody else, nor to who has lost a right', async () => {
    await svc.accounts.grant('late', 'shop/products', 'read');
    const late = await svc.as('late');
    expect(await countIn(await ask(late, QUERY))).toBe(2);
    expect(await countIn(await ask(late, QUERY))).toBe(2);
    await svc.accounts.db.run('DELETE FROM group_permissions WHERE permission_id = ?', [
      (await findPermission(svc.accounts.db, 'shop/products', 'read'))!.id,
    ]);
    await eventually(async () => expect((await ask(late, QUERY)).status).toBe(400));
    expect((await ask(nobody, QUERY)).status).toBe(400);
  });
});
