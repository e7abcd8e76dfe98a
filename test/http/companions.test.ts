/**
 * Companion files: declared schemas and reading options (DS-70 to DS-72), there from the start and coming, changing
 * and going while the service runs; and inferred schemas without them (DS-69).
 */
import { describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, PICK_UP_MS } from './eventually.ts';
import { address, columnOf, get, list } from './listing.ts';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

const declare = (types: Record<string, string>, more: object = {}) =>
  JSON.stringify({
    ...more,
    columns: Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }])),
  });

const COERCED = `int,num,bool,str,odd,free
+5,1,yes,5,5,1
007,1.50,0,true,x,2
-0,1e3,TRUE, padded ,,3
9007199254740992,nan,maybe,,7,4
 8 ,1e400,1,x,8,5
x,+1,No,x,9,6
,,,,,7
`;

const VERBATIM =
  ' {"title":"Ünï", "x-any":{"nested":[1,2.50,null,true]},\n"big":12345678901234567890,' +
  '"columns":{"a":{"type":"integer","minimum":1,"description":"<b>"}},"__proto__":{"2":1,"1":2}}\n';

const shared = sharedService({
  files: {
    'plain.csv': 'i,x,f,s,blank,__proto__,2,1\n1,0.5,true,a,,1,2,3\n',
    'rep.v2.csv': 'a\n1\n',
    'deep/er/sales.csv': 'a\n1\n',
    'header.csv': 'a\n',
    'empty.csv': '',
    'coerced.csv': COERCED,
    '.svc/coerced.csv.schema.json': declare({
      int: 'integer',
      num: 'number',
      bool: 'boolean',
      str: 'string',
      odd: 'no such type',
    }),
    'partial.csv': 'a,b,c\n01,2,x\n',
    '.svc/partial.csv.schema.json': declare({ c: 'string', a: 'integer', ghost: 'integer' }),
    'verbatim.csv': 'a\n1\n',
    '.svc/verbatim.csv.schema.json': `\ufeff${VERBATIM}`,
    // The longer name wins over the extensionless one, which belongs to the first of several files.
    'both.csv': 'a\n1\n',
    '.svc/both.csv.schema.json': declare({ a: 'string' }, { title: 'with extension' }),
    '.svc/both.schema.json': declare({ a: 'boolean' }, { title: 'without' }),
    'stem.csv': 'a\n1\n',
    'stem.tab': 'a\n1\n',
    '.svc/stem.schema.json': declare({ a: 'string' }, { title: 'of the owner' }),
    'deep/er/below.csv': 'a\n007\n',
    '.svc/deep/er/below.schema.json': declare({ a: 'integer' }, { title: 'deep' }),
    'generated.csv': 'a\n007\n',
    '.svc/generated.csv.schema.json': declare(
      { a: 'integer' },
      { generated_by: 'an older version' },
    ),
    'invalid.csv': 'a\n007\n',
    '.svc/invalid.csv.schema.json': '{"columns": nonsense',
    'shapeless.csv': 'a\n007\n',
    '.svc/shapeless.csv.schema.json': '[]',
    // Options.
    'report.csv': 'A report;of 2024\nmade by "nobody\n\nname;n\nx;1\ny;2\n',
    '.svc/report.csv.options.json': '{"header_row": 4, "delimiter": ";"}',
    'digits.csv': 'skipped\na,b\n1,2\n',
    '.svc/digits.options.json': '{"header_row": "2", "unknown": true}',
    'beyond.csv': 'a\n1\n',
    '.svc/beyond.csv.options.json': '{"header_row": 99}',
    'latin.csv': Buffer.from('name;b\ncaf\xe9;1\n', 'latin1'),
    '.svc/latin.csv.options.json': '{"encoding":"latin1"}',
    'tabs.csv': 'a,b\tc,d\n1,2\t3,4\n',
    '.svc/tabs.csv.options.json': '{"delimiter":"\\t"}',
  },
  config: { plugin_registry: { tab: 'csv' } },
});

const rows = async (name: string) => (await list(shared.reader, name)).rows;
const schema = (name: string) => get(shared.reader, address(name, {}, 'schema'));
const problems = async () => {
  const { body } = await get(shared.reader, '/');
  const listed = (body as { problems?: { resource: string; problem: string }[] }).problems ?? [];
  return new Map(listed.map(({ resource, problem }) => [resource, problem]));
};

describe('an inferred schema', () => {
  test('names the file and types every column (DS-69)', async () => {
    const { status, body, headers } = await schema('plain');
    expect(status).toBe(200);
    expect(headers.get('Content-Type')).toBe('application/json');
    const { columns, ...rest } = body as { columns: object };
    expect(rest).toEqual({ type: 'object', name: 'plain', primary_key: '_row_id' } as object);
    const types = Object.entries(columns).map(([name, column]) => [name, column]);
    expect(new Map(types as [string, object][])).toEqual(
      new Map<string, object>([
        ['i', { type: 'integer' }],
        ['x', { type: 'number' }],
        ['f', { type: 'boolean' }],
        ['s', { type: 'string' }],
        ['blank', { type: 'string' }],
        ['__proto__', { type: 'integer' }],
        ['2', { type: 'integer' }],
        ['1', { type: 'integer' }],
      ]),
    );
  });

  test.each([
    ['rep.v2', 'rep.v2'],
    ['rep.v2.csv', 'rep.v2'],
    ['deep/er/sales', 'sales'],
  ])('of %s is called %s (DS-69)', async (name, stem) => {
    expect((await schema(name)).body).toMatchObject({ name: stem });
  });

  test('of a file without rows or columns is complete (DS-63, DS-69)', async () => {
    expect((await schema('header')).body).toMatchObject({ columns: { a: { type: 'string' } } });
    expect((await schema('empty')).body).toMatchObject({ name: 'empty', columns: {} });
  });

  test('takes no parameters (DS-69)', async () => {
    const { text } = await schema('plain');
    const other = await get(shared.reader, '/schema/plain/?limit=0&format=no&columns=x');
    expect({ status: other.status, text: other.text }).toEqual({ status: 200, text });
  });
});

describe('a declared schema', () => {
  test('coerces the cells that fit and leaves the others as text (DS-61)', async () => {
    const found = await rows('coerced');
    expect(columnOf(found, 'int')).toEqual([5, 7, 0, '9007199254740992', 8, 'x', '']);
    expect(columnOf(found, 'num')).toEqual([1, 1.5, 1000, 'nan', '1e400', '+1', '']);
    expect(columnOf(found, 'bool')).toEqual([true, false, true, 'maybe', true, false, '']);
    expect(columnOf(found, 'str')).toEqual(['5', 'true', ' padded ', '', 'x', 'x', '']);
    expect(columnOf(found, 'odd')).toEqual(['5', 'x', '', '7', '8', '9', '']);
    expect(columnOf(found, 'free')).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('decides what filters and sorts compare (DS-53, DS-58, DS-61)', async () => {
    const ids = async (filter: object) =>
      columnOf((await list(shared.reader, 'coerced', { filter })).rows, '_row_id');
    expect(await ids({ int: 7 })).toEqual([2]);
    expect(await ids({ int: { $gt: 0 } })).toEqual([1, 2, 5]);
    expect(await ids({ bool: true })).toEqual([1, 3, 5]);
    expect(await ids({ int: { $contains: 'x' } })).toEqual([6]);
    expect(await ids({ int: { $ne: 7 } })).toEqual([1, 3, 4, 5, 6, 7]);
    expect(await ids({ int: { $null: true } })).toEqual([7]);
    expect(await ids({ odd: { $gt: '6' } })).toEqual([2, 4, 5, 6]);
  });

  test('hides what the file does not have, and shows what it does not name (DS-71)', async () => {
    const { text } = await list(shared.reader, 'partial');
    expect(text).toBe('[{"_row_id":1,"a":1,"b":2,"c":"x"}]');
    const { status, detail } = await list(shared.reader, 'partial', { sort: 'ghost' });
    expect({ status, detail }).toEqual({
      status: 422,
      detail: "Invalid sort: unknown column 'ghost'",
    });
    expect(Object.keys((await schema('partial')).body as object)).toEqual(['columns']);
  });

  test('is served as it was written, all digits included (DS-1, DS-70)', async () => {
    const { text, headers } = await schema('verbatim');
    expect(text).toBe(VERBATIM);
    expect(headers.get('Content-Type')).toBe('application/json');
  });

  test.each([
    ['both', 'with extension', '1'],
    ['stem', 'of the owner', '1'],
    ['deep/er/below', 'deep', 7],
  ])('of %s is %s (DS-70)', async (name, title, value) => {
    expect((await schema(name)).body).toMatchObject({ title });
    expect(columnOf(await rows(name), 'a')).toEqual([value]);
  });

  test('under the extensionless name is not for a file that does not own that name (DS-70)', async () => {
    expect((await schema('stem.tab')).body).toMatchObject({ name: 'stem' });
    expect(await rows('stem.tab')).toEqual([{ _row_id: 1, a: 1 }]);
  });

  test('that says it was generated is ignored, without a problem (DS-70)', async () => {
    expect(await rows('generated')).toEqual([{ _row_id: 1, a: '007' }]);
    expect((await schema('generated')).body).toMatchObject({ type: 'object', name: 'generated' });
    expect((await problems()).has('generated.csv')).toBe(false);
  });

  test.each(['invalid', 'shapeless'])(
    'that is %s leaves the file readable, with a problem (DS-70)',
    async (name) => {
      expect(await rows(name)).toEqual([{ _row_id: 1, a: '007' }]);
      expect((await schema(name)).body).toMatchObject({ name, columns: { a: { type: 'string' } } });
      const problem = (await problems()).get(`${name}.csv`);
      expect(problem).toContain('schema');
      expect(problem).not.toContain(shared.service.docroot);
    },
  );
});

describe('options', () => {
  test('name the header row and the delimiter (DS-72)', async () => {
    expect(await rows('report')).toEqual([
      { _row_id: 1, name: 'x', n: 1 },
      { _row_id: 2, name: 'y', n: 2 },
    ]);
    expect(await rows('digits')).toEqual([{ _row_id: 1, a: 1, b: 2 }]);
    expect(await rows('tabs')).toEqual([{ _row_id: 1, 'a,b': '1,2', 'c,d': '3,4' }]);
    expect(await rows('beyond')).toEqual([]);
  });

  test('name the encoding (DS-72)', async () => {
    expect(await rows('latin')).toEqual([{ _row_id: 1, name: 'café', b: 1 }]);
  });

  test.each([
    '{"header_row":0}',
    '{"header_row":-1}',
    '{"header_row":1.5}',
    '{"header_row":"x"}',
    '{"header_row":"1.5"}',
    '{"header_row":true}',
    '{"header_row":[1]}',
    '{"header_row":1e300}',
    '{"delimiter":":"}',
    '{"delimiter":",,"}',
    '{"delimiter":""}',
    '{"delimiter":5}',
    '{"encoding":"utf-7"}',
    '{"encoding":"UTF_8"}',
    '{"encoding":8}',
    '[]',
    '"x"',
    'null',
    '{',
    '',
    `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  ])('%p leave the file readable, with a problem (DS-72)', async (options) => {
    const { service } = shared;
    service.write('.svc/optional.csv.options.json', options);
    service.write('optional.csv', 'a,b\n1,2\n');
    await eventually(async () =>
      expect(await rows('optional')).toEqual([{ _row_id: 1, a: 1, b: 2 }]),
    );
    await eventually(async () => {
      expect((await problems()).get('optional.csv')).toContain('options');
    }, PICK_UP_MS);
    rmSync(join(service.docroot, '.svc/optional.csv.options.json'));
    expect(await rows('optional')).toEqual([{ _row_id: 1, a: 1, b: 2 }]);
    await eventually(async () => {
      expect((await problems()).has('optional.csv')).toBe(false);
    }, PICK_UP_MS);
  });

  test('with one bad value still apply the others (DS-72)', async () => {
    const { service } = shared;
    service.write(
      '.svc/mostly.csv.options.json',
      '{"header_row":"x","delimiter":"|","encoding":"klingon"}',
    );
    service.write('mostly.csv', 'a,b|c\n1,2|3\n');
    await eventually(async () => {
      expect(await rows('mostly')).toEqual([{ _row_id: 1, 'a,b': '1,2', c: 3 }]);
    });
    await eventually(async () => {
      expect((await problems()).get('mostly.csv')).toMatch(
        /header_row.*encoding|encoding.*header_row/,
      );
    }, PICK_UP_MS);
  });
});

describe('companions that come, change and go', () => {
  test('count with the next read, rows keep their ids (DS-33, DS-70, DS-72)', async () => {
    const { service, writer } = shared;
    const file = '.svc/live.csv.schema.json';
    service.write('live.csv', 'a\n1\n0\n1\n');
    await eventually(async () => expect(columnOf(await rows('live'), 'a')).toEqual([1, 0, 1]));
    const body = JSON.stringify({ action: 'delete', data: { _row_id: 1 } });
    expect((await writer.fetch('/api/live/', { method: 'DELETE', body })).status).toBe(200);
    const live = async () => (await rows('live')).map((row) => [row['_row_id'], row['a']]);
    expect(await live()).toEqual([
      [2, 0],
      [3, 1],
    ]);
    service.write(file, declare({ a: 'boolean' }));
    expect(await live()).toEqual([
      [2, false],
      [3, true],
    ]);
    expect((await schema('live')).text).toBe(declare({ a: 'boolean' }));
    service.write(file, declare({ a: 'string' }));
    expect(await live()).toEqual([
      [2, '0'],
      [3, '1'],
    ]);
    service.write(file, 'broken');
    expect(await live()).toEqual([
      [2, 0],
      [3, 1],
    ]);
    rmSync(join(service.docroot, file));
    expect(await live()).toEqual([
      [2, 0],
      [3, 1],
    ]);
    await eventually(
      async () => expect((await problems()).has('live.csv')).toBe(false),
      PICK_UP_MS,
    );
    service.write('.svc/live.schema.json', declare({ a: 'boolean' }));
    expect(await live()).toEqual([
      [2, false],
      [3, true],
    ]);
    rmSync(join(service.docroot, '.svc/live.schema.json'));
    expect(await live()).toEqual([
      [2, 0],
      [3, 1],
    ]);
  });

  test('are seen by their bytes, even when sizes and times are the same (DS-143)', async () => {
    const { service } = shared;
    service.write('.svc/quick.csv.schema.json', declare({ a: 'number_' }));
    service.write('quick.csv', 'a\n1\n');
    await eventually(async () => expect(columnOf(await rows('quick'), 'a')).toEqual(['1']));
    for (let round = 0; round < 25; round++) {
      service.write('.svc/quick.csv.schema.json', declare({ a: 'boolean' }));
      expect(columnOf(await rows('quick'), 'a')).toEqual([true]);
      service.write('.svc/quick.csv.schema.json', declare({ a: 'integer' }));
      expect(columnOf(await rows('quick'), 'a')).toEqual([1]);
    }
  });

  test('are never served, listed or written by the service (DS-24, DS-70)', async () => {
    for (const path of [
      '/.svc/coerced.csv.schema.json',
      '/api/.svc/coerced.csv.schema.json',
      '/api/.svc/coerced.csv.schema/',
      '/schema/.svc/coerced.csv.schema/',
    ]) {
      expect((await get(shared.superuser, path)).status).toBe(404);
    }
    const { body } = await get(shared.superuser, '/');
    expect(JSON.stringify(body)).not.toContain('.json"');
  });
});

describe('the version of a schema', () => {
  test('is an ETag of its own that changes with file and companion (DS-46, DS-69)', async () => {
    const { service } = shared;
    const key = await service.accounts.apiKey('reader');
    const ask = (headers: Record<string, string> = {}) =>
      rawRequest(service.url, {
        path: '/schema/versioned/',
        headers: { 'X-API-Key': key, ...headers },
      });
    service.write('versioned.csv', 'a\n1\n');
    await eventually(async () => expect((await ask()).status).toBe(200));
    const first = (await ask()).headers['etag']!;
    expect(first).toMatch(/^"[^".]+\.[^".]+"$/);
    expect(first).not.toBe((await list(shared.reader, 'versioned')).etag);
    expect((await ask({ 'If-None-Match': first })).status).toBe(304);
    service.write('versioned.csv', 'a\nx\n');
    const second = await ask({ 'If-None-Match': first });
    expect(second.status).toBe(200);
    service.write('.svc/versioned.csv.schema.json', declare({ a: 'integer' }));
    expect((await ask({ 'If-None-Match': second.headers['etag']! })).status).toBe(200);
  });
});
