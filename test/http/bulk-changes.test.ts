/**
 * Many rows in one request, written together or not at all: lists of rows, a filter with the number of rows it has to match,
 * rows by the values of key columns, and several changes at once (DS-240), and one row by its own address (DS-241).
 */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../support/service.ts';
import { auditAfter, change, type Changed, lastAuditId } from './changes.ts';
import { sharedService } from './shared-service.ts';

const STOCK = 'sku,place,count,note\na,ulm,1,\nb,ulm,2,x\nc,bonn,3,\nd,bonn,4,\n';
const OTHER = 'id,n\n1,10\n2,20\n';

const shared = sharedService({
  files: {
    'stock.csv': STOCK,
    'folder/other.csv': OTHER,
    'keys.csv': 'n,m\n0,a\n',
    'folder/7.csv': 'seven\n1\n',
    'api/stock/3.md': '# a page, no row\n',
    'big.csv': `n,m\n${Array.from({ length: 30_000 }, (_, n) => `${n},x`).join('\n')}\n`,
  },
});

let blind: Client;
let stranger: Client;
let ids: number[];

const file = (name = 'stock.csv'): string =>
  readFileSync(join(shared.service.docroot, name), 'utf8');
const ask = (method: string, body: unknown, client = shared.writer): Promise<Changed> =>
  change(client, method, 'stock', body);
const mismatch = (text: string): string => `Schema validation failed: ${text}`;

beforeAll(async () => {
  await shared.service.accounts.grant('blind', '*', 'write');
  blind = await shared.service.as('blind');
  await shared.service.accounts.user('stranger');
  stranger = await shared.service.as('stranger');
});

beforeEach(async () => {
  shared.service.write('stock.csv', STOCK);
  const rows = (await (await shared.reader.fetch('/api/stock/')).json()) as { _row_id: number }[];
  ids = rows.map((row) => row._row_id);
});

describe('lists of rows (DS-240)', () => {
  test('are changed in one write', async () => {
    const data = [
      { _row_id: ids[2], count: 30 },
      { _row_id: ids[0], count: 10, note: 'n' },
    ];
    const last = await lastAuditId(shared.service);
    const { status, body, etag } = await ask('PATCH', { action: 'update', data });
    expect([status, body]).toEqual([200, { success: true, count: 2, row_ids: [ids[2], ids[0]] }]);
    expect(file()).toBe('sku,place,count,note\na,ulm,10,n\nb,ulm,2,x\nc,bonn,30,\nd,bonn,4,\n');
    const gone = [{ _row_id: ids[1] }, { _row_id: ids[3] }, { _row_id: ids[1] }];
    const removed = await change(
      shared.writer,
      'DELETE',
      'stock',
      { action: 'delete', data: gone },
      { 'If-Match': etag },
    );
    expect(removed.body).toEqual({ success: true, count: 2, row_ids: [ids[1], ids[3]] });
    expect(file()).toBe('sku,place,count,note\na,ulm,10,n\nc,bonn,30,\n');
    const entries = await auditAfter(shared.service, last);
    expect(entries.map(({ action, details }) => `${action} ${details}`)).toEqual([
      `update_dataset_row Updated 2 dataset rows: ${ids[2]}, ${ids[0]}`,
      `delete_dataset_row Deleted 2 dataset rows: ${ids[1]}, ${ids[3]}`,
    ]);
  });

  test('one wrong row keeps all as they are, and the refusal says which', async () => {
    const missing = [{ _row_id: ids[0], count: 9 }, { _row_id: 9999 }];
    expect(await ask('PATCH', { action: 'update', data: missing })).toMatchObject({
      status: 404,
      detail: 'Row 9999 not found',
    });
    const wrong = [
      { _row_id: ids[0], count: 9 },
      { _row_id: ids[1], count: 'many' },
    ];
    expect(await ask('PATCH', { action: 'update', data: wrong })).toMatchObject({
      status: 422,
      body: {
        detail: mismatch("column 'count': expected integer, received string"),
        hint: 'The row is data[1]',
      },
    });
    const mixed = [{ _row_id: ids[0] }, { _row_id: 'x' }];
    expect((await ask('DELETE', { action: 'delete', data: mixed })).detail).toBe(
      mismatch('_row_id must be a positive integer'),
    );
    expect(file()).toBe(STOCK);
  });

  test('an empty one changes nothing', async () => {
    for (const [method, action] of [
      ['PATCH', 'update'],
      ['DELETE', 'delete'],
    ] as const) {
      const { status, body } = await ask(method, { action, data: [] });
      expect([status, body]).toEqual([200, { success: true, count: 0, row_ids: [] }]);
    }
    expect(file()).toBe(STOCK);
  });

  test('of thousands of rows, some of them deleted before', async () => {
    const first = await change(shared.writer, 'DELETE', 'big', {
      action: 'delete',
      filter: { n: { $lt: 1000 } },
      expected_count: 1000,
    });
    expect(first.rowIds.length).toBe(1000);
    const rows = (await (await shared.reader.fetch('/api/big/?columns=n')).json()) as {
      _row_id: number;
    }[];
    const data = rows.map((row) => ({ _row_id: row._row_id, m: 'y' }));
    expect(await change(shared.writer, 'PATCH', 'big', { action: 'update', data })).toMatchObject({
      status: 200,
      body: { count: 29_000 },
    });
    const lines = file('big.csv').split('\n');
    expect([lines.length, lines[1], lines.at(-2)]).toEqual([29_002, '1000,y', '29999,y']);
    const many = Array.from({ length: 50_001 }, () => ({}));
    expect(
      (await change(shared.writer, 'POST', 'big', { action: 'create', data: many })).detail,
    ).toBe(mismatch('one request may not change more than 50000 rows'));
  });
});

describe('a filter (DS-240)', () => {
  const filter = { place: 'bonn' };

  test('names its rows once their number is known', async () => {
    const tried = await ask('PATCH', {
      action: 'update',
      filter,
      data: { note: 'y' },
      dry_run: true,
    });
    expect(tried.body).toEqual({
      success: true,
      dry_run: true,
      count: 2,
      row_ids: [ids[2], ids[3]],
    });
    expect(file()).toBe(STOCK);
    const done = await ask('PATCH', {
      action: 'update',
      filter,
      expected_count: 2,
      data: { note: 'y' },
    });
    expect(done.body).toEqual({ success: true, count: 2, row_ids: [ids[2], ids[3]] });
    expect(file()).toBe('sku,place,count,note\na,ulm,1,\nb,ulm,2,x\nc,bonn,3,y\nd,bonn,4,y\n');
    const gone = await ask('DELETE', { action: 'delete', filter, expected_count: 2 });
    expect(gone.body).toEqual({ success: true, count: 2, row_ids: [ids[2], ids[3]] });
    expect(file()).toBe('sku,place,count,note\na,ulm,1,\nb,ulm,2,x\n');
  });

  test('that matches other rows than expected changes nothing', async () => {
    const { status, detail } = await ask('DELETE', {
      action: 'delete',
      filter,
      expected_count: 3,
    });
    expect([status, detail]).toEqual([
      412,
      'Precondition failed: the filter matches 2 rows, expected_count is 3',
    ]);
    expect(file()).toBe(STOCK);
  });

  test.each([
    [
      { action: 'delete', filter },
      'a filter needs expected_count, the number of rows it has to match; with dry_run the answer tells it',
    ],
    [
      { action: 'delete', filter, expected_count: '2' },
      'expected_count must be an integer from 0 on',
    ],
    [
      { action: 'delete', filter, expected_count: 2, data: {} },
      'delete takes data or a filter, not both',
    ],
    [
      { action: 'delete', filter: [], expected_count: 2 },
      'filter must be an object, as for reading rows',
    ],
    [{ action: 'delete', filter, dry_run: 'yes' }, 'dry_run must be true or false'],
    [
      { action: 'delete', data: { _row_id: 1 }, dry_runn: true },
      "unknown member 'dry_runn'; did you mean 'dry_run'?",
    ],
  ])('%j is refused', async (body, text) => {
    const { status, detail } = await ask('DELETE', body);
    expect([status, detail]).toEqual([422, mismatch(text)]);
    expect(file()).toBe(STOCK);
  });

  test('is that of reading rows', async () => {
    const body = { action: 'delete', filter: { nope: 1 }, expected_count: 0 };
    expect((await ask('DELETE', body)).detail).toBe("Invalid filter: unknown column 'nope'");
  });

  test('sees what was written a moment before', async () => {
    const body = { action: 'update', filter: { count: 1 }, expected_count: 1, data: { count: 2 } };
    const answers = await Promise.all([ask('PATCH', body), ask('PATCH', body), ask('PATCH', body)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  });
});

describe('upsert (DS-240)', () => {
  test('changes the rows with the same key and adds the others', async () => {
    const data = [
      { sku: 'b', count: 20 },
      { sku: 'e', place: 'kiel', count: 5 },
      { sku: 'a', note: 'seen' },
    ];
    const last = await lastAuditId(shared.service);
    const { status, body, rowIds } = await ask('POST', { action: 'upsert', key: ['sku'], data });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, count: 3, created: 1, updated: 2 });
    expect([rowIds[0], rowIds[2]]).toEqual([ids[1], ids[0]]);
    expect(file()).toBe(
      'sku,place,count,note\na,ulm,1,seen\nb,ulm,20,x\nc,bonn,3,\nd,bonn,4,\ne,kiel,5,\n',
    );
    const entries = await auditAfter(shared.service, last);
    expect(entries.map(({ action, details }) => `${action} ${details}`).sort()).toEqual([
      'create_dataset_rows Created 1 dataset row',
      `update_dataset_row Updated 2 dataset rows: ${ids[1]}, ${ids[0]}`,
    ]);
    const again = await ask('POST', { action: 'upsert', key: 'sku', data });
    expect(again.body).toMatchObject({ created: 0, updated: 3 });
  });

  test('takes several key columns, and numbers as they are', async () => {
    const data = [
      { place: 'ulm', count: 2, note: 'both' },
      { place: 'ulm', count: 3, note: 'new' },
    ];
    const { body } = await ask('POST', { action: 'upsert', key: ['place', 'count'], data });
    expect(body).toMatchObject({ created: 1, updated: 1 });
    expect(file()).toBe(
      'sku,place,count,note\na,ulm,1,\nb,ulm,2,both\nc,bonn,3,\nd,bonn,4,\n,ulm,3,new\n',
    );
  });

  test.each([
    [
      { key: ['place'], data: [{ place: 'ulm', note: 'z' }] },
      /^Schema validation failed: rows \d+ and \d+ have the same key 'ulm'$/,
    ],
    [
      { key: ['sku'], data: [{ sku: 'z' }, { sku: 'z', count: 1 }] },
      "data[0] and data[1] have the same key 'z'",
    ],
    [{ key: ['sku'], data: [{ count: 1 }] }, "key column 'sku' may not be blank"],
    [{ key: ['sku'], data: [{ sku: ' ' }] }, "key column 'sku' may not be blank"],
    [{ key: ['nope'], data: [{ sku: 'a' }] }, 'unknown key column "nope"'],
    [{ key: [], data: [{ sku: 'a' }] }, 'upsert key must be a list of different column names'],
    [{ data: [{ sku: 'a' }] }, 'upsert key must be a list of different column names'],
    [{ key: ['sku'], data: { sku: 'a' } }, 'upsert data must be a list of objects'],
    [{ key: ['sku'], data: [{ _row_id: 1, sku: 'a' }] }, "unknown column '_row_id'"],
  ])('%j is refused', async (rest, text) => {
    const { status, detail } = await ask('POST', { action: 'upsert', ...rest });
    expect(status).toBe(422);
    if (typeof text === 'string') expect(detail).toBe(mismatch(text));
    else expect(String(detail)).toMatch(text);
    expect(file()).toBe(STOCK);
  });

  test('of thousands of rows', async () => {
    const text = (from: number, to: number, m: string): object[] =>
      Array.from({ length: to - from }, (_, index) => ({ n: from + index, m }));
    await change(shared.writer, 'POST', 'keys', { action: 'create', data: text(1, 5_000, 'a') });
    const data = text(2_500, 7_500, 'b');
    const { status, body } = await change(shared.writer, 'POST', 'keys', {
      action: 'upsert',
      key: ['n'],
      data,
    });
    expect([status, (body as { detail?: string }).detail]).toEqual([200, undefined]);
    expect(body).toMatchObject({ count: 5_000, created: 2_500, updated: 2_500 });
    const lines = file('keys.csv').split('\n');
    expect([lines.length, lines[2_500], lines[2_501]]).toEqual([7_502, '2499,a', '2500,b']);
  });
});

describe('several changes in one request (DS-240)', () => {
  test('are one write', async () => {
    const operations = [
      { action: 'create', data: [{ sku: 'n' }] },
      { action: 'update', data: { _row_id: ids[0], count: 7 } },
      { action: 'delete', filter: { place: 'bonn' }, expected_count: 2 },
      { action: 'upsert', key: ['sku'], data: [{ sku: 'b', note: '' }] },
    ];
    const { status, body, rowIds } = await ask('POST', { action: 'batch', operations });
    expect(status).toBe(200);
    expect(file()).toBe('sku,place,count,note\na,ulm,7,\nb,ulm,2,\nn,,,\n');
    expect(body).toEqual({
      success: true,
      count: 5,
      row_ids: rowIds,
      results: [
        { action: 'create', count: 1, row_ids: [rowIds[0]] },
        { action: 'update', count: 1, row_ids: [ids[0]] },
        { action: 'delete', count: 2, row_ids: [ids[2], ids[3]] },
        { action: 'upsert', count: 1, row_ids: [ids[1]], created: 0, updated: 1 },
      ],
    });
  });

  test('one that is wrong keeps all from being made', async () => {
    const create = { action: 'create', data: [{ sku: 'n' }] };
    const twice = [
      create,
      { action: 'delete', data: { _row_id: ids[0] } },
      { action: 'update', data: { _row_id: ids[0], count: 1 } },
    ];
    const gone = await ask('POST', { action: 'batch', operations: twice });
    expect([gone.status, gone.detail]).toEqual([404, `Row ${ids[0]} not found`]);
    const wrong = [create, { action: 'update', data: { _row_id: ids[0], count: 'x' } }];
    expect((await ask('POST', { action: 'batch', operations: wrong })).detail).toBe(
      mismatch("operations[1]: column 'count': expected integer, received string"),
    );
    const nested = [{ action: 'batch', operations: [] }];
    expect((await ask('POST', { action: 'batch', operations: nested })).detail).toBe(
      mismatch('operations[0]: action must be create, update, delete, or upsert'),
    );
    expect(file()).toBe(STOCK);
  });
});

test('who may write but not read changes rows by id alone (DS-240)', async () => {
  const plain = { action: 'update', data: [{ _row_id: ids[0], count: 8 }] };
  expect((await ask('PATCH', plain, blind)).status).toBe(200);
  const looking: readonly [string, object][] = [
    ['DELETE', { action: 'delete', filter: {}, expected_count: 4 }],
    ['PATCH', { ...plain, dry_run: true }],
    ['POST', { action: 'upsert', key: ['sku'], data: [{ sku: 'a' }] }],
    [
      'POST',
      {
        action: 'batch',
        operations: [{ action: 'upsert', key: ['sku'], data: [{ sku: 'a' }] }],
      },
    ],
  ];
  for (const [method, body] of looking) {
    const { status, detail } = await ask(method, body, blind);
    expect([status, detail]).toEqual([403, 'Permission denied: read on stock']);
    expect((await ask(method, body, shared.reader)).detail).toBe(
      'Permission denied: write on stock',
    );
    expect((await ask(method, body, shared.service)).status).toBe(401);
    expect((await ask(method, body, shared.superuser)).status).toBe(200);
    shared.service.write('stock.csv', STOCK);
  }
});

describe('a row by its own address (DS-241)', () => {
  const row = (id: number | string, init: RequestInit = {}, client = shared.writer) =>
    client.fetch(`/api/stock/${id}/`, init);

  test('is read with a version', async () => {
    const answer = await row(ids[1]!);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Type')).toBe('application/json');
    expect(await answer.text()).toBe(
      `{"_row_id":${ids[1]},"sku":"b","place":"ulm","count":2,"note":"x"}`,
    );
    const etag = answer.headers.get('ETag')!;
    expect((await row(ids[1]!, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    const part = await shared.reader.fetch(`/api/stock.csv/${ids[1]}?columns=count`);
    expect(await part.json()).toEqual({ _row_id: ids[1], count: 2 });
    expect(part.headers.get('ETag')).not.toBe(etag);
    const head = await row(ids[1]!, { method: 'HEAD' });
    expect([head.status, head.headers.get('ETag')]).toEqual([200, etag]);
  });

  test('is changed and deleted, if it is still the version that was read', async () => {
    const etag = (await row(ids[0]!)).headers.get('ETag')!;
    const headers = { 'If-Match': etag };
    const changed = await row(ids[0]!, { method: 'PATCH', headers, body: '{"count":11}' });
    expect(await changed.json()).toEqual({ success: true, count: 1, row_ids: [ids[0]] });
    expect((await row(ids[0]!, { method: 'DELETE', headers })).status).toBe(412);
    const own = JSON.stringify({ action: 'update', data: { _row_id: ids[0], note: 'n' } });
    expect((await row(ids[0]!, { method: 'PATCH', body: own })).status).toBe(200);
    expect(file()).toBe('sku,place,count,note\na,ulm,11,n\nb,ulm,2,x\nc,bonn,3,\nd,bonn,4,\n');
    const tried = await shared.writer.fetch(`/api/stock/${ids[0]}?dry_run=1`, { method: 'DELETE' });
    expect(await tried.json()).toMatchObject({ dry_run: true, count: 1 });
    expect((await row(ids[0]!)).status).toBe(200);
    const gone = await row(ids[0]!, { method: 'DELETE' });
    expect(await gone.json()).toEqual({ success: true, count: 1, row_ids: [ids[0]] });
    expect((await row(ids[0]!)).status).toBe(404);
  });

  test('that does not exist is not found', async () => {
    for (const id of ['0', '9999', '9'.repeat(30)]) {
      for (const init of [{}, { method: 'PATCH', body: '{}' }, { method: 'DELETE' }]) {
        const answer = await row(id, init);
        expect([answer.status, await answer.json()]).toEqual([
          404,
          { detail: `Row ${id} not found` },
        ]);
      }
    }
    expect((await row('01')).status).toBe(404);
  });

  test('takes other columns, values and ids no more than a list does', async () => {
    const patch = async (body: string) =>
      (await (await row(ids[0]!, { method: 'PATCH', body })).json()) as { detail: unknown };
    expect((await patch('{"nope":1}')).detail).toBe(mismatch("unknown column 'nope'"));
    expect((await patch('{"count":"x"}')).detail).toBe(
      mismatch("column 'count': expected integer, received string"),
    );
    expect((await patch(`{"_row_id":${ids[1]},"count":1}`)).detail).toBe(
      mismatch(`_row_id must be ${ids[0]}, as in the address`),
    );
    expect((await patch('[]')).detail).toBe(mismatch('update data must be an object'));
    for (const method of ['POST', 'PUT']) {
      const answer = await row(ids[0]!, { method });
      const allow = 'GET, HEAD, OPTIONS, PATCH, DELETE';
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, allow]);
    }
    const options = await row(ids[0]!, { method: 'OPTIONS' });
    expect(options.headers.get('Allow')).toBe('GET, HEAD, OPTIONS, PATCH, DELETE');
  });

  test('a resource of that name is what the address means (DS-27, DS-30)', async () => {
    expect(await (await shared.reader.fetch('/api/folder/7/')).json()).toEqual([
      { _row_id: 1, seven: 1 },
    ]);
    const page = await shared.reader.fetch('/api/stock/3');
    expect(await page.text()).toContain('a page, no row');
    expect((await shared.reader.fetch('/api/folder/other/2')).status).toBe(200);
  });

  test('rights are those of the dataset, and nobody else learns whether it exists', async () => {
    const status = async (client: Client, id: number | string, init: RequestInit = {}) =>
      (await row(id, init, client)).status;
    const patch = { method: 'PATCH', body: '{"count":1}' };
    expect(await status(shared.service, ids[0]!)).toBe(401);
    expect(await status(blind, ids[0]!)).toBe(403);
    expect(await status(shared.reader, ids[0]!, patch)).toBe(403);
    expect(await status(shared.superuser, ids[0]!, patch)).toBe(200);
    const texts = await Promise.all(
      [`/api/stock/${ids[0]}`, '/api/stock/9999', '/api/none/1'].map(async (path) => {
        const answer = await stranger.fetch(path);
        return [answer.status, await answer.text()];
      }),
    );
    expect(texts).toEqual([
      [403, `{"detail":"Permission denied: read on stock/${ids[0]}"}`],
      [403, '{"detail":"Permission denied: read on stock/9999"}'],
      [403, '{"detail":"Permission denied: read on none/1"}'],
    ]);
  });
});
