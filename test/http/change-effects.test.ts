/**
 * Changes that are made: answers, row ids, stored values, no-ops, companions (DS-48, DS-71, DS-74, DS-78, DS-80, DS-81).
 */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  auditAfter,
  bytesOf,
  change,
  create,
  currentTag,
  lastAuditId,
  remove,
  update,
  versionOf,
  writeState,
} from './changes.ts';
import { idsOf, list } from './listing.ts';
import { sharedService } from './shared-service.ts';
import { onSharedCores } from '../support/patience.ts';

const VERSION = /^"[0-9A-Za-z_-]+"$/;

const shared = sharedService({
  files: {
    'answers.csv': 'a,b\n1,x\n2,y\n',
    'ids.csv': 'a\n10\n20\n30\n40\n',
    'older.csv': 'a\n10\n20\n30\n',
    'values.csv': 'text,whole,num,flag\nx,1,1.5,true\n',
    'same.csv': 'text,whole,num,flag,blank\n"x", 7 ,2.50,TRUE,\ny,5,2.50,false,\n',
    'types.csv': 'n,t\n1,a\nx,b\n3,c\n',
    'retyped.csv': 'n\nx\n2\n',
    'chained.csv': 'n,t\n1,x\n',
    'wide.csv': 'a,b,c\n1,x,true\n',
    'declared.csv': 'id,zip,note,extra\n1,00123,n,e\n2,00456,m,f\n',
    '.svc/declared.csv.schema.json': JSON.stringify({
      title: 'declared by hand',
      columns: {
        id: { type: 'int64' },
        zip: { type: 'str' },
        note: { type: 'date' },
        absent: { type: 'integer' },
      },
    }),
    'aliases.csv': 'i,f,b,s,o\n1,1.5,yes,x,y\n',
    '.svc/aliases.schema.json': JSON.stringify({
      columns: {
        i: { type: 'uint8' },
        f: { type: 'decimal(10,2)' },
        b: { type: 'bool' },
        s: { type: 'category' },
        o: { type: 'whatever' },
      },
    }),
    'big.csv': 'id,name,value\n1,first,0.5\n',
    'folder/deep.csv': 'a\n1\n',
  },
});

const writer = () => shared.writer;
const rows = async (name: string) => (await list(shared.reader, name)).rows;

describe('the answer to a change (DS-74)', () => {
  test('create lists the new ids in input order and carries the new version', async () => {
    const before = versionOf(await currentTag(shared.reader, 'answers'));
    const { status, text, etag, headers } = await create(writer(), 'answers', [
      { a: 3, b: 'z' },
      { b: 'only b' },
      {},
    ]);
    expect(status).toBe(200);
    expect(text).toBe('{"success":true,"count":3,"row_ids":[3,4,5]}');
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(etag).toMatch(VERSION);
    expect(versionOf(etag)).not.toBe(before);
    expect(versionOf(await currentTag(shared.reader, 'answers'))).toBe(versionOf(etag));
    expect(bytesOf(shared.service, 'answers.csv')).toBe('a,b\n1,x\n2,y\n3,z\n,only b\n,\n');
  });

  test('update and delete name their row, also when it was given as digits', async () => {
    const updated = await update(writer(), 'answers', { _row_id: '2', b: 'Y' });
    expect(updated.text).toBe('{"success":true,"count":1,"row_ids":[2]}');
    expect(updated.etag).toMatch(VERSION);
    const removed = await remove(writer(), 'answers', 1);
    expect(removed.text).toBe('{"success":true,"count":1,"row_ids":[1]}');
    expect(removed.etag).toMatch(VERSION);
    const versions = [updated.etag, removed.etag, await currentTag(shared.reader, 'answers')];
    expect(new Set(versions.map(versionOf)).size).toBe(2);
    expect(bytesOf(shared.service, 'answers.csv')).toBe('a,b\n2,Y\n3,z\n,only b\n,\n');
  });

  test('both name forms and a missing slash mean the same dataset (DS-4, DS-25)', async () => {
    const body = JSON.stringify({ action: 'create', data: [{ a: 9 }] });
    const paths = [
      '/api/folder/deep',
      '/api/folder/deep/',
      '/api/folder/deep.csv/',
      '/api/folder%2Fdeep',
    ];
    for (const [index, path] of paths.entries()) {
      const response = await writer().fetch(path, { method: 'POST', body });
      expect(await response.json()).toEqual({ success: true, count: 1, row_ids: [index + 2] });
    }
    expect(bytesOf(shared.service, 'folder/deep.csv')).toBe('a\n1\n9\n9\n9\n9\n');
  });
});

test('ids stay with their rows: delete leaves gaps, no id comes twice, also after a restart (DS-48)', async () => {
  expect((await remove(writer(), 'ids', 4)).status).toBe(200);
  expect((await remove(writer(), 'ids', 2)).status).toBe(200);
  expect((await create(writer(), 'ids', [{ a: 50 }])).rowIds).toEqual([5]);
  expect((await remove(writer(), 'ids', 5)).status).toBe(200);
  await shared.service.restart();
  expect((await create(writer(), 'ids', [{ a: 60 }, { a: 70 }])).rowIds).toEqual([6, 7]);
  expect((await update(writer(), 'ids', { _row_id: 3, a: 31 })).status).toBe(200);
  expect(await rows('ids')).toEqual([
    { _row_id: 1, a: 10 },
    { _row_id: 3, a: 31 },
    { _row_id: 6, a: 60 },
    { _row_id: 7, a: 70 },
  ]);
  expect((await remove(writer(), 'ids', 5)).detail).toBe('Row 5 not found');
  expect(bytesOf(shared.service, 'ids.csv')).toBe('a\n10\n31\n60\n70\n');
});

test('ids stay when copies of an earlier format are made anew (DS-48)', async () => {
  expect((await remove(writer(), 'older', 2)).status).toBe(200);
  expect(idsOf(await rows('older'))).toEqual([1, 3]);
  await shared.service.kill();
  const folder = join(shared.service.stateDir, 'tables');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.sqlite'))) {
    const db = new Database(join(folder, name));
    db.run(
      `UPDATE meta SET value = json_set(json_remove(value, '$.context', '$.columns[0].forms'), '$.format', 2) WHERE key = 'table'`,
    );
    db.run(`UPDATE meta SET value = json_remove(value, '$.forms') WHERE key = 'state'`);
    db.close();
  }
  await shared.service.start();
  expect(idsOf(await rows('older'))).toEqual([1, 3]);
  expect((await create(writer(), 'older', [{ a: 40 }])).rowIds).toEqual([4]);
});

describe('values and how they are stored (DS-78)', () => {
  // Column, JSON as sent, text in the file, JSON read back.
  const cases: readonly (readonly [string, string, string, unknown])[] = [
    ['text', '"plain"', 'plain', 'plain'],
    ['text', '""', '', ''],
    ['text', 'null', '', ''],
    ['text', '"  outer spaces  "', '  outer spaces  ', '  outer spaces  '],
    ['text', '"007"', '007', '007'],
    ['text', '"=1+1"', '=1+1', '=1+1'],
    ['text', '"a,b"', '"a,b"', 'a,b'],
    ['text', '"say \\"hi\\""', '"say ""hi"""', 'say "hi"'],
    ['text', '"two\\nlines"', '"two\nlines"', 'two\nlines'],
    ['text', '"\\u202eright\\u200b"', '\u202eright\u200b', '\u202eright\u200b'],
    ['whole', '5', '5', 5],
    ['whole', '-3', '-3', -3],
    ['whole', '0', '0', 0],
    ['whole', '-0', '0', 0],
    ['whole', '"12"', '12', 12],
    ['whole', '"-12"', '-12', -12],
    ['whole', '9007199254740991', '9007199254740991', 9007199254740991],
    ['whole', '"-9007199254740991"', '-9007199254740991', -9007199254740991],
    ['whole', 'null', '', ''],
    ['whole', '""', '', ''],
    ['num', '2.25', '2.25', 2.25],
    ['num', '3', '3', 3],
    ['num', '3.0', '3', 3],
    ['num', '1e2', '100', 100],
    ['num', '"2.5"', '2.5', 2.5],
    ['num', '"1e-7"', '1e-7', 1e-7],
    ['num', '0.1', '0.1', 0.1],
    ['num', '-0.0', '0', 0],
    ['num', 'null', '', ''],
    ['flag', 'true', 'true', true],
    ['flag', 'false', 'false', false],
    ['flag', '1', 'true', true],
    ['flag', '0', 'false', false],
    ['flag', '"TRUE"', 'true', true],
    ['flag', '"no"', 'false', false],
    ['flag', '"Yes"', 'true', true],
    ['flag', '"1"', 'true', true],
    ['flag', '"0"', 'false', false],
    ['flag', 'null', '', ''],
  ];

  test.each(cases)('%s: %s is stored as %p and read as %p', async (column, json, cell, value) => {
    const body = `{"action":"create","data":[{"${column}":${json}}]}`;
    const created = await change(writer(), 'POST', 'values', body);
    expect(created.status).toBe(200);
    const [id = 0] = created.rowIds;
    const [row] = (await list(shared.reader, 'values', { filter: { _row_id: id } })).rows;
    expect(row?.[column]).toEqual(value);
    const cells = ['text', 'whole', 'num', 'flag'].map((name) => (name === column ? cell : ''));
    const content = Buffer.from(bytesOf(shared.service, 'values.csv'), 'latin1').toString();
    expect(content.endsWith(`\n${cells.join(',')}\n`)).toBe(true);

    // The same by way of an update of a row that holds something else.
    const [other = 0] = (await create(writer(), 'values', [FILLED])).rowIds;
    const patch = `{"action":"update","data":{"_row_id":${other},"${column}":${json}}}`;
    expect((await change(writer(), 'PATCH', 'values', patch)).status).toBe(200);
    const [patched] = (await list(shared.reader, 'values', { filter: { _row_id: other } })).rows;
    expect(patched).toEqual({ _row_id: other, ...FILLED, [column]: value } as never);
    await remove(writer(), 'values', id);
    await remove(writer(), 'values', other);
  });

  const FILLED = { text: 'filled', whole: 77, num: 7.7, flag: true };

  test('an integer beyond 2^53 in a number column is read back as the same double (DS-60)', async () => {
    const [id = 0] = (await create(writer(), 'values', [{ num: 2 ** 60 }])).rowIds;
    const [row] = (await list(shared.reader, 'values', { filter: { _row_id: id } })).rows;
    expect(row?.['num']).toBe(2 ** 60);
  });
});

describe('what changes nothing writes nothing (DS-80)', () => {
  const cases: readonly (readonly [string, string, object, number[]])[] = [
    ['create without rows', 'POST', { action: 'create', data: [] }, []],
    ['update of only _row_id', 'PATCH', { action: 'update', data: { _row_id: 2 } }, [2]],
    [
      'the values the row has',
      'PATCH',
      {
        action: 'update',
        data: { _row_id: 2, text: 'y', whole: 5, num: 2.5, flag: false, blank: '' },
      },
      [2],
    ],
    [
      'the same number as text',
      'PATCH',
      { action: 'update', data: { _row_id: 2, num: '2.5' } },
      [2],
    ],
    ['the same flag as text', 'PATCH', { action: 'update', data: { _row_id: 2, flag: 'no' } }, [2]],
    [
      'null for a blank cell',
      'PATCH',
      { action: 'update', data: { _row_id: 2, blank: null } },
      [2],
    ],
    [
      'the text of a quoted cell',
      'PATCH',
      { action: 'update', data: { _row_id: 1, text: 'x' } },
      [1],
    ],
    [
      'the true of another spelling',
      'PATCH',
      { action: 'update', data: { _row_id: 1, flag: true } },
      [1],
    ],
  ];

  test.each(cases)('%s', async (_, method, body, rowIds) => {
    const { service, reader } = shared;
    const tag = await currentTag(reader, 'same');
    const state = writeState(service, 'same.csv');
    const audit = await lastAuditId(service);
    const answer = await change(writer(), method, 'same', body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, count: rowIds.length, row_ids: rowIds });
    expect(versionOf(answer.etag)).toBe(versionOf(tag));
    expect(writeState(service, 'same.csv')).toEqual(state);
    expect(await currentTag(reader, 'same')).toBe(tag);
    expect(await auditAfter(service, audit)).toEqual([]);
  });

  test('an update that changes one value of many writes just that cell', async () => {
    const data = { _row_id: 2, text: 'y', whole: 5, num: 2.5, flag: false, blank: 'b' };
    expect((await update(writer(), 'same', data)).status).toBe(200);
    expect(bytesOf(shared.service, 'same.csv')).toBe(
      'text,whole,num,flag,blank\n"x", 7 ,2.50,TRUE,\ny,5,2.50,false,b\n',
    );
  });
});

describe('a type that changes by an edit (DS-59, DS-60)', () => {
  test('the column becomes integer with its last text gone; ids and rows stay', async () => {
    const schema = async () =>
      (await (await shared.reader.fetch('/schema/types/')).json()) as { columns: unknown };
    expect((await schema()).columns).toEqual({ n: { type: 'string' }, t: { type: 'string' } });
    await remove(writer(), 'types', 1);
    const { etag } = await update(writer(), 'types', { _row_id: 2, n: '2' });
    expect((await schema()).columns).toEqual({ n: { type: 'integer' }, t: { type: 'string' } });
    expect(await rows('types')).toEqual([
      { _row_id: 2, n: 2, t: 'b' },
      { _row_id: 3, n: 3, t: 'c' },
    ]);
    expect(versionOf(await currentTag(shared.reader, 'types'))).toBe(versionOf(etag));
    // From now on the column takes integers only, and the next new row follows the last id.
    expect((await update(writer(), 'types', { _row_id: 2, n: 'x' })).status).toBe(422);
    expect((await create(writer(), 'types', [{ n: 4 }])).rowIds).toEqual([4]);
    expect(bytesOf(shared.service, 'types.csv')).toBe('n,t\n2,b\n3,c\n4,\n');
  });

  test('the new type and the answered version count after a restart too (DS-46)', async () => {
    const { etag } = await update(writer(), 'retyped', { _row_id: 1, n: '1' });
    await shared.service.restart();
    expect(versionOf(await currentTag(shared.reader, 'retyped'))).toBe(versionOf(etag));
    expect(await rows('retyped')).toEqual([
      { _row_id: 1, n: 1 },
      { _row_id: 2, n: 2 },
    ]);
  });

  test('a chain of If-Match goes on over a change of types (DS-82)', async () => {
    let tag = '*';
    for (const [n, status] of [
      ['x', 422],
      ['7', 200],
      [8, 200],
      [null, 200],
    ] as const) {
      const answer = await update(writer(), 'chained', { _row_id: 1, n }, { 'If-Match': tag });
      expect(answer.status).toBe(status);
      if (status === 200) tag = answer.etag;
    }
    expect((await remove(writer(), 'chained', 1, { 'If-Match': tag })).status).toBe(200);
    const refilled = await create(writer(), 'chained', [{ n: 'text again' }], { 'If-Match': tag });
    expect(refilled.status).toBe(412);
  });

  test('a column whose last value goes is a string column again', async () => {
    await update(writer(), 'wide', { _row_id: 1, c: null });
    expect((await update(writer(), 'wide', { _row_id: 1, c: 'no flag' })).status).toBe(200);
    expect(await rows('wide')).toEqual([{ _row_id: 1, a: 1, b: 'x', c: 'no flag' }]);
  });
});

describe('declared types (DS-61, DS-70, DS-71)', () => {
  test('only columns of both the file and the companion can be written', async () => {
    const tried = { absent: 1, extra: 'x' };
    for (const [name, value] of Object.entries(tried)) {
      const { status, detail } = await create(writer(), 'declared', [{ [name]: value }]);
      expect({ status, detail }).toEqual({
        status: 422,
        detail: `Schema validation failed: unknown column '${name}'`,
      });
    }
    expect(await rows('declared')).toEqual([
      { _row_id: 1, id: 1, zip: '00123', note: 'n', extra: 'e' },
      { _row_id: 2, id: 2, zip: '00456', note: 'm', extra: 'f' },
    ]);
  });

  test('a declared string keeps its zeros, other type names take any scalar', async () => {
    const refused = await create(writer(), 'declared', [{ zip: 123 }]);
    expect(refused.detail).toBe(
      "Schema validation failed: column 'zip': expected string, received integer",
    );
    for (const note of [[], {}]) {
      const { detail } = await create(writer(), 'declared', [{ note }]);
      expect(detail).toMatch(/^Schema validation failed: column 'note': expected string, received/);
    }
    const created = await create(writer(), 'declared', [
      { id: '3', zip: '00789', note: '2024-01-01' },
      { note: 5 },
      { note: true },
    ]);
    expect(created.rowIds).toEqual([3, 4, 5]);
    expect((await rows('declared')).slice(2)).toEqual([
      { _row_id: 3, id: 3, zip: '00789', note: '2024-01-01', extra: '' },
      { _row_id: 4, id: '', zip: '', note: '5', extra: '' },
      { _row_id: 5, id: '', zip: '', note: 'true', extra: '' },
    ]);
    expect(bytesOf(shared.service, 'declared.csv')).toBe(
      'id,zip,note,extra\n1,00123,n,e\n2,00456,m,f\n3,00789,2024-01-01,\n,,5,\n,,true,\n',
    );
  });

  test('aliases of type names mean their type', async () => {
    const refused: readonly (readonly [string, unknown, string])[] = [
      ['i', 1.5, 'integer'],
      ['f', 'x', 'number'],
      ['f', 'NaN', 'finite number'],
      ['b', 2, 'boolean'],
      ['s', 1, 'string'],
      ['o', [], 'string'],
    ];
    for (const [column, value, type] of refused) {
      const { detail } = await create(writer(), 'aliases', [{ [column]: value }]);
      expect(detail).toStartWith(
        `Schema validation failed: column '${column}': expected ${type}, `,
      );
    }
    expect(
      (await create(writer(), 'aliases', [{ i: 2, f: 2.5, b: 'no', s: '1', o: 1 }])).status,
    ).toBe(200);
    expect((await rows('aliases')).at(-1)).toEqual({
      _row_id: 2,
      i: 2,
      f: 2.5,
      b: false,
      s: '1',
      o: '1',
    });
  });

  test('companions are never written (DS-70)', () => {
    const names = readdirSync(`${shared.service.docroot}/.svc`).filter((name) =>
      name.endsWith('.json'),
    );
    expect(names.sort()).toEqual(['aliases.schema.json', 'declared.csv.schema.json']);
  });
});

test('20,000 rows in one request are one write, and others are served meanwhile (DS-81, DS-89)', async () => {
  const count = 20_000;
  const data = Array.from({ length: count }, (_, index) => ({
    id: index + 2,
    name: `name of row ${index}`,
    value: index / 8,
  }));
  let isDone = false;
  const creating = create(writer(), 'big', data).finally(() => {
    isDone = true;
  });
  const took: number[] = [];
  while (!isDone) {
    const start = performance.now();
    const { status } = await shared.service.fetch('/health');
    took.push(performance.now() - start);
    expect(status).toBe(200);
  }
  const { status, body, rowIds } = await creating;
  expect(status).toBe(200);
  expect(body).toMatchObject({ success: true, count });
  expect(rowIds).toEqual(Array.from({ length: count }, (_, index) => index + 2));
  expect(took.length).toBeGreaterThan(3);
  const usual = took.toSorted((a, b) => a - b)[took.length >> 1]!;
  expect(usual).toBeLessThan(onSharedCores(1_000));
  const { rows: last, total } = await list(shared.reader, 'big', { offset: count, limit: 5 });
  expect(total).toBe(count + 1);
  expect(idsOf(last)).toEqual([count + 1]);
  const entries = await shared.service.accounts.db.all<{ details: string }>(
    "SELECT details FROM audit WHERE resource = 'big.csv'",
  );
  expect(entries).toEqual([{ details: 'Created 20000 dataset rows' }]);
});
