/** What was changed in rows, by whom, and taking it back (DS-250 to DS-252). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { book } from './sheets.ts';

const STOCK =
  'sku;name;preis;am;ok\nA-1;Säge;7,50;01.02.2026;true\nB-2;Hobel;12,00;03.02.2026;false\nC-3;;1,25;;true\n';

const files = {
  'stock.csv': STOCK,
  'crash.csv': 'n,v\n1,a\n2,b\n',
  'many.csv': `n,v\n${Array.from({ length: 3_000 }, (_, at) => `${at},x${at}`).join('\n')}\n`,
  'shifted.csv': 'n,ok\n',
  'lines.ndjson': '{"a":1,"b":"x"}\n{"a":2}\n',
  'book.xlsx': await book({ A1: 'n', B1: 'v', A2: 1, B2: 'one', A3: 2, B3: 'two' }),
  'big.ndjson': '{"id":9007199254740993,"v":1}\n{"id":9007199254740995,"v":2}\n',
};

interface Shown {
  readonly id: number;
  readonly user: string;
  readonly action: string;
  readonly count: number;
  readonly state: string;
  readonly undone: string;
  readonly renumbered: boolean;
  readonly undoes: number[];
  readonly rows: { _row_id: number; before: object | null; after: object | null }[];
  readonly rows_truncated: boolean;
}

let svc: Service;
let anna: Client;
let ben: Client;

beforeAll(async () => {
  svc = await startService({ files });
  await svc.accounts.grant('anna', '*', 'read', 'write');
  await svc.accounts.grant('ben', '*', 'read', 'write');
  await svc.accounts.grant('reader', '*', 'read');
  await svc.accounts.grant('writer', '*', 'write');
  await svc.accounts.user('nobody');
  [anna, ben] = [await svc.as('anna'), await svc.as('ben')];
});
afterAll(() => svc[Symbol.asyncDispose]());

async function answer(response: Promise<Response>, status = 200) {
  const found = await response;
  const text = await found.text();
  expect({ status: found.status, text }).toMatchObject({ status });
  return JSON.parse(text);
}
const METHODS = { create: 'POST', batch: 'POST', update: 'PATCH', delete: 'DELETE' } as const;
const change = (name: string, action: keyof typeof METHODS, rest: object, who = anna) =>
  answer(
    who.fetch(`/api/${name}/`, {
      method: METHODS[action],
      body: JSON.stringify({ action, ...rest }),
    }),
  );
const changes = (name: string, query = ''): Promise<Shown[]> =>
  answer(anna.fetch(`/_svc/history/${name}${query}`));
const undo = (name: string, body: object, status = 200, who = anna) =>
  answer(
    who.fetch(`/_svc/history/${name}`, { method: 'POST', body: JSON.stringify(body) }),
    status,
  );
const rows = (name: string) => answer(anna.fetch(`/api/${name}/`));
const text = (file: string) => readFileSync(join(svc.docroot, file), 'utf8');

test.each([
  ['anonymous', null, 401, 401],
  ['without a right', 'nobody', 403, 403],
  ['who only reads', 'reader', 403, 403],
  ['who only writes', 'writer', 403, 403],
  ['who reads and writes', 'anna', 200, 404],
] as const)('%s', async (_, name, get, post) => {
  const client = name === null ? svc : await svc.as(name);
  expect((await client.fetch('/_svc/history/stock')).status).toBe(get);
  const body = JSON.stringify({ change: 4711 });
  expect((await client.fetch('/_svc/history/stock', { method: 'POST', body })).status).toBe(post);
});

describe('a change', () => {
  test('is listed with its author and every cell before and after', async () => {
    await change('stock', 'update', { data: { _row_id: 1, preis: 8.25, am: '2026-02-04' } });
    await change('stock', 'create', { data: [{ sku: 'D-4', ok: true }] }, ben);
    await change('stock', 'delete', { data: { _row_id: 2 } });
    const [third, second, first] = await changes('stock');
    expect(first).toMatchObject({
      user: 'anna',
      action: 'update',
      count: 1,
      state: 'made',
      undone: 'no',
      rows: [
        {
          _row_id: 1,
          before: { preis: 7.5, am: '01.02.2026' },
          after: { preis: 8.25, am: '04.02.2026' },
        },
      ],
    });
    expect(second).toMatchObject({
      user: 'ben',
      action: 'create',
      rows: [{ _row_id: 4, before: null, after: { sku: 'D-4', name: '', ok: true } }],
    });
    expect(third!.rows).toMatchObject([
      { _row_id: 2, before: { sku: 'B-2', preis: 12, ok: false }, after: null },
    ]);
    expect((await changes('stock', '?row=4')).map(({ action }) => action)).toEqual(['create']);
    expect((await changes('stock', '?user=anna')).map(({ action }) => action)).toEqual([
      'delete',
      'update',
    ]);
    expect((await changes('stock', `?cursor=${second!.id}`)).map(({ id }) => id)).toEqual([
      first!.id,
    ]);
  });

  test('is taken back, once, and the taking back too', async () => {
    const [gone, made, set] = await changes('stock');
    await undo('stock', { change: set!.id });
    await undo('stock', { change: made!.id });
    expect(await undo('stock', { change: gone!.id })).toMatchObject({ count: 1, row_ids: [5] });
    // A row that was deleted stands last; every other byte is as it was.
    const [head, one, two, three] = STOCK.split('\n');
    expect(text('stock.csv')).toBe(`${[head, one, three, two].join('\n')}\n`);
    await undo('stock', { change: gone!.id }, 409);
    const listed = await changes('stock');
    expect(listed[0]).toMatchObject({ action: 'undo', undoes: [gone!.id] });
    expect(listed.find(({ id }) => id === gone!.id)).toMatchObject({ undone: 'all' });
    await undo('stock', { change: listed[0]!.id });
    expect(text('stock.csv')).toBe(`${[head, one, three].join('\n')}\n`);
    expect((await changes('stock', `?change=${gone!.id}`))[0]).toMatchObject({ undone: 'no' });
    await undo('stock', { change: gone!.id });
    expect(text('stock.csv')).toBe(`${[head, one, three, two].join('\n')}\n`);
  });

  test('that changed nothing is none', async () => {
    const before = await changes('stock');
    await change('stock', 'update', { data: { _row_id: 1, sku: 'A-1' } });
    await change('stock', 'update', { data: { _row_id: 1, sku: 'X' }, dry_run: true });
    expect(await changes('stock')).toEqual(before);
  });
});

test('changes of a row are found behind those that only enclose it', async () => {
  await change('many', 'update', { data: { _row_id: 2902, v: 'own' } });
  await change('many', 'update', {
    data: [
      { _row_id: 2901, v: 'a' },
      { _row_id: 2903, v: 'b' },
    ],
  });
  const found: number[] = [];
  let path: string | undefined = '/_svc/history/many?row=2902&limit=1';
  while (path !== undefined) {
    const response: Response = await anna.fetch(path);
    for (const { rows: own } of (await response.json()) as Shown[]) found.push(own[0]!._row_id);
    path = /<([^>]+)>/.exec(response.headers.get('Link') ?? '')?.[1];
  }
  expect(found).toEqual([2902]);
});

test('rows that were changed since are named, and left as they are when asked so', async () => {
  const update = (data: object[], who = anna) => change('many', 'update', { data }, who);
  await update([
    { _row_id: 1, v: 'a' },
    { _row_id: 2, v: 'b' },
    { _row_id: 3, v: 'c' },
  ]);
  const [own] = await changes('many');
  await update([{ _row_id: 2, v: 'ben' }], ben);
  const refusal = await undo('many', { change: own!.id }, 409);
  expect(refusal.detail).toContain(`row 2: 'v' is "ben" now`);
  expect(
    await undo('many', { change: own!.id, skip_conflicts: true, dry_run: true }),
  ).toMatchObject({
    dry_run: true,
    count: 2,
    skipped: [{ _row_id: 2 }],
  });
  expect(await undo('many', { change: own!.id, rows: [3] })).toMatchObject({ row_ids: [3] });
  expect((await changes('many', `?change=${own!.id}`))[0]).toMatchObject({ undone: 'partly' });
  expect(await undo('many', { change: own!.id, skip_conflicts: true })).toMatchObject({
    row_ids: [1],
  });
  expect((await rows('many')).slice(0, 3).map(({ v }: { v: string }) => v)).toEqual([
    'x0',
    'ben',
    'x2',
  ]);
});

test('all changes since a moment, whatever they did to a row, are taken back at once', async () => {
  const before = text('many.csv');
  const [last] = await changes('many');
  await change('many', 'update', { data: { _row_id: 7, v: 'once' } });
  await change('many', 'update', { data: { _row_id: 7, v: 'twice', n: 70 } }, ben);
  await change('many', 'create', { data: [{ n: -1, v: 'new' }] });
  const { row_ids: ids } = await change('many', 'create', { data: [{ n: -2, v: 'new' }] });
  await change('many', 'delete', { data: { _row_id: ids[0] } });
  await change('many', 'update', {
    data: Array.from({ length: 2_500 }, (_, at) => ({ _row_id: at + 8, v: '' })),
  });
  const [bulk] = await changes('many', '?limit=1');
  expect(bulk).toMatchObject({ count: 2_500, rows_truncated: true });
  expect(bulk!.rows).toHaveLength(20);
  expect((await changes('many', `?change=${bulk!.id}`))[0]!.rows).toHaveLength(1_000);
  expect((await changes('many', '?row=2000'))[0]).toMatchObject({
    id: bulk!.id,
    rows: [{ _row_id: 2_000 }],
  });
  expect(await undo('many', { after: last!.id })).toMatchObject({ count: 2_502 });
  expect(text('many.csv')).toBe(before);
});

test.each([
  ['lines', '{"a":1,"b":"x"}\n{"a":2}\n', { a: 5, b: null }],
  ['big', files['big.ndjson'], { id: 9, v: 3 }],
  ['book/Sheet', null, { v: 'eins', n: 10 }],
])('of another kind: %s', async (name, expected, data) => {
  const before = await (await anna.fetch(`/api/${name}/`)).text();
  await change(name, 'update', { data: { _row_id: 1, ...data } });
  const [made] = await changes(name);
  await undo(name, { change: made!.id });
  expect(await (await anna.fetch(`/api/${name}/`)).text()).toBe(before);
  if (expected !== null) expect(text(`${name}.ndjson`)).toBe(expected);
});

test.each([
  [[], 'valid object'],
  [{}, 'one of change, after and since'],
  [{ change: 1, since: '2026-11-20T10:00:00Z' }, 'one of change, after and since'],
  [{ change: '1' }, 'the id of a change'],
  [{ change: 1, rows: [] }, 'a list of row ids'],
  [{ change: 1, skip: true }, 'known are change'],
  [{ since: 'yesterday' }, '2026-11-20T10:00:00Z'],
  [{ change: 1, dry_run: 1 }, 'true or false'],
])('%j is refused', async (body, message) => {
  expect(JSON.stringify(await undo('stock', body, 422))).toContain(message);
});

describe('once another program has given the rows other ids', () => {
  const header = 'n,ok\n';
  const write = async (body: string, first: string) => {
    writeFileSync(join(svc.docroot, 'shifted.csv'), header + body);
    await eventually(async () =>
      expect(JSON.stringify((await rows('shifted'))[0])).toContain(first),
    );
  };

  test('a change is taken back where its row stands now, and nowhere else', async () => {
    await write('a,true\nb,true\nc,true\n', '"a"');
    await change('shifted', 'update', { data: { _row_id: 2, ok: false } });
    const [made] = await changes('shifted');
    expect(made).toMatchObject({ renumbered: false });
    await write('x,false\ny,false\na,true\nb,false\nc,true\n', '"x"');
    const [theirs, ours] = await changes('shifted');
    expect(theirs).toMatchObject({ user: null, action: 'external', count: 2, renumbered: false });
    expect(ours).toMatchObject({ id: made!.id, renumbered: true });
    expect((await changes('shifted', '?row=2')).map(({ id }) => id)).toEqual([theirs!.id]);
    expect(await undo('shifted', { change: made!.id })).toMatchObject({ row_ids: [4] });
    expect(text('shifted.csv')).toBe(`${header}x,false\ny,false\na,true\nb,true\nc,true\n`);
    await undo('shifted', { change: made!.id }, 409);
  });

  test('a row that is not as it was left stays, and so do rows since a moment before', async () => {
    await change('shifted', 'update', { data: { _row_id: 5, ok: false } });
    const [made] = await changes('shifted');
    await write('c,maybe\nz,false\n', 'maybe');
    const refusal = await undo('shifted', { change: made!.id }, 409);
    expect(refusal.detail).toContain('row 5: another program changed the file since');
    const since = await undo('shifted', { after: made!.id - 1 }, 409);
    expect(since.detail).toContain(`Another program changed the file after change ${made!.id}`);
    expect(text('shifted.csv')).toBe(`${header}c,maybe\nz,false\n`);
  });

  test('a new reading of the same bytes is no such thing', async () => {
    await change('shifted', 'update', { data: { _row_id: 2, ok: 'no' } });
    const [made] = await changes('shifted');
    const body = JSON.stringify({
      schema: { columns: { n: { type: 'string' }, ok: { type: 'string' } } },
    });
    expect((await anna.fetch('/_svc/companions/shifted', { method: 'PUT', body })).status).toBe(
      200,
    );
    expect((await changes('shifted'))[0]).toMatchObject({ id: made!.id, renumbered: false });
    await undo('shifted', { change: made!.id });
    expect(text('shifted.csv')).toBe(`${header}c,maybe\nz,false\n`);
  });
});

test('of an edit that kill -9 met, history says what the file says', async () => {
  await change('crash', 'update', { data: { _row_id: 1, v: 'made' } });
  for (let round = 0; round < 6; round++) {
    const edits = Array.from({ length: 4 }, (_, at) =>
      anna
        .fetch('/api/crash/', {
          method: 'PATCH',
          body: JSON.stringify({ action: 'update', data: { _row_id: 2, v: `${round}-${at}` } }),
        })
        .catch(() => null),
    );
    await Bun.sleep(round * 3);
    await svc.kill('SIGKILL');
    await Promise.all(edits);
    await svc.start();
    anna = await svc.as('anna');
    const present = (await rows('crash'))[1].v as string;
    const [newest, ...others] = await changes('crash', '?row=2');
    const values = [newest, ...others].map(
      (one) => (one?.rows[0]?.after as { v?: string } | undefined)?.v,
    );
    if (present !== 'b') expect(values[0]).toBe(present);
    for (const one of others) expect(one.state).toBe('made');
  }
}, 60_000);

test('a file that others changed since keeps what they wrote', async () => {
  await change('crash', 'update', { data: { _row_id: 1, v: 'ours' } });
  const [ours] = await changes('crash');
  writeFileSync(join(svc.docroot, 'crash.csv'), text('crash.csv').replace('ours', 'theirs'));
  await eventually(async () => expect((await rows('crash'))[0].v).toBe('theirs'));
  expect((await undo('crash', { change: ours!.id }, 409)).detail).toContain(
    'row 1: another program changed the file since',
  );
});

describe('a history that cannot be written', () => {
  const edit = (name: string, v: string) =>
    root.fetch(`/api/${name}/`, {
      method: 'PATCH',
      body: JSON.stringify({ action: 'update', data: { _row_id: 1, v } }),
    });
  let root: Client;

  test.each([
    [true, 503, 'n,v\n1,a\n', { detail: 'The history of this change cannot be kept' }],
    [false, 200, 'n,v\n1,b\n', { success: true, history: 'not kept' }],
  ])('required %p: %i', async (required, status, content, body) => {
    await using own = await startService({
      files: { 'a.csv': 'n,v\n1,a\n' },
      config: { history: { required } },
    });
    await own.accounts.grant('root', '*', 'read', 'write');
    root = await own.as('root');
    await answer(root.fetch('/api/a/'));
    // Any damage of these tables looks like this to who writes.
    await own.accounts.db.run('ALTER TABLE change_rows RENAME TO lost_rows');
    expect(await answer(edit('a', 'b'), status)).toMatchObject(body);
    expect(readFileSync(join(own.docroot, 'a.csv'), 'utf8')).toBe(content);
    expect(await answer(root.fetch('/api/a/'))).toHaveLength(1);
  });
});
