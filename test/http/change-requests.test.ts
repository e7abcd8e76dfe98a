/**
 * Changes that are refused: envelope, columns and values (DS-73, DS-75 to DS-79). Nothing is locked or written then.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { address } from './listing.ts';
import { auditAfter, change, create, lastAuditId, locksOn, update, writeState } from './changes.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {
    'people.csv': 'id,name,score,active\n1,Anna,1.5,true\n2,Bob,2,false\n3,,,\n',
    'quotes.csv': "it's,b\nx,y\n",
    'blank.csv': 'empty,n\n,1\n',
    'latin.csv': new Uint8Array([...Buffer.from('name\ncaf'), 0xe9, 0x0a]),
    '.svc/latin.options.json': '{"encoding":"latin1"}',
  },
});

const PREFIX = 'Schema validation failed: ';

let untouched: unknown;
let auditId = 0;
beforeAll(async () => {
  await shared.writer.fetch(address('people'));
  untouched = writeState(shared.service, 'people.csv');
  auditId = await lastAuditId(shared.service);
});

const titled = <Case extends readonly unknown[]>(cases: readonly Case[]) =>
  cases.map((one) => [one.map((part) => shown(part)).join(' '), ...one] as const);

function shown(part: unknown): string {
  return typeof part === 'string' ? part : JSON.stringify(part);
}

describe('the envelope is refused (DS-75)', () => {
  const ACTION = 'action must be create, update, or delete';
  const LIST = 'create data must be a list of objects';
  const ID = '_row_id must be a positive integer';
  const cases: readonly (readonly [string, unknown, string])[] = [
    ...[{}, { action: null }, { action: 1 }, { action: '' }, { action: 'upsert' }].flatMap((body) =>
      ['POST', 'PATCH', 'DELETE'].map((method) => [method, body, ACTION] as const),
    ),
    ['POST', { action: 'Create', data: [] }, ACTION],
    ['POST', { action: ['create'], data: [] }, ACTION],
    ['POST', { data: [{ id: 9 }] }, ACTION],
    ['POST', { action: 'update', data: { _row_id: 1 } }, 'POST requires action create'],
    ['POST', { action: 'delete', data: { _row_id: 1 } }, 'POST requires action create'],
    ['PATCH', { action: 'create', data: [] }, 'PATCH requires action update'],
    ['PATCH', { action: 'delete', data: { _row_id: 1 } }, 'PATCH requires action update'],
    ['DELETE', { action: 'create', data: [] }, 'DELETE requires action delete'],
    ['DELETE', { action: 'update', data: { _row_id: 1 } }, 'DELETE requires action delete'],
    ['POST', { action: 'create' }, LIST],
    ...[null, {}, 'x', 7, true, [1], [[]], [null], ['x'], [{ id: 5 }, 1]].map(
      (data) => ['POST', { action: 'create', data }, LIST] as const,
    ),
    ['PATCH', { action: 'update' }, 'update data must be an object'],
    ['DELETE', { action: 'delete' }, 'delete data must be an object'],
    ...[null, 'x', 1, false, [1], [{ _row_id: 1 }, null]].flatMap((data) => [
      ['PATCH', { action: 'update', data }, 'update data must be an object'] as const,
      ['DELETE', { action: 'delete', data }, 'delete data must be an object'] as const,
    ]),
    ['PATCH', { action: 'update', data: { id: 1 } }, ID],
    ['DELETE', { action: 'delete', data: {} }, ID],
    ...[null, 0, -1, 1.5, true, false, '', 'x', '-1', '1.5', ' 1', '1e2', '0', [1], {}].flatMap(
      (id) => [
        ['PATCH', { action: 'update', data: { _row_id: id, name: 'x' } }, ID] as const,
        ['DELETE', { action: 'delete', data: { _row_id: id } }, ID] as const,
      ],
    ),
  ];

  test.each(titled(cases))('%s', async (_, method, body, rest) => {
    const { status, detail } = await change(shared.writer, method, 'people', body);
    expect({ status, detail }).toEqual({ status: 422, detail: PREFIX + rest });
  });

  test('an unknown member beside action and data changes nothing about that', async () => {
    const body = { action: 'create', data: [], mode: 'force', row_ids: [1] };
    expect((await change(shared.writer, 'POST', 'people', body)).status).toBe(200);
  });
});

describe('a body that is no JSON object is a 422 in list form (DS-76)', () => {
  test.each(['POST', 'PATCH', 'DELETE'])('%s without a body', async (method) => {
    const { status, detail } = await change(shared.writer, method, 'people');
    expect(status).toBe(422);
    expect(detail).toEqual([{ type: 'missing', loc: ['body'], msg: expect.any(String) }]);
  });

  test.each([
    ['{"action":"create","data":[', 27],
    ['{"action":"create",}', 19],
    ["{'action':'create'}", 1],
    ['// create\n{}', 0],
    ['create', 0],
    ['{"action":"create","data":[]} x', 30],
    ['{"action":"create","data":[]}{}', 29],
    ['\ufeff{"action":"create","data":[]}', 0],
    [' ', 1],
  ])('%p is no JSON from character %d on', async (body, offset) => {
    const { status, detail } = await change(shared.writer, 'POST', 'people', body);
    expect(status).toBe(422);
    expect(detail).toMatchObject([{ type: 'json_invalid', loc: ['body', offset] }]);
  });

  test('what is no object is told in an answer that stays small (DS-9)', async () => {
    for (const body of [
      JSON.stringify('x'.repeat(3_000_000)),
      `[${'"xxxxxxxx",'.repeat(90_000)}1]`,
    ]) {
      const { status, detail } = await change(shared.writer, 'POST', 'people', body);
      expect(status).toBe(422);
      expect(detail).toMatchObject([{ type: 'dict_type', loc: ['body'] }]);
      expect(JSON.stringify(detail).length).toBeLessThan(2_000);
    }
  });

  test.each([
    '[]',
    '"create"',
    '1',
    'null',
    'true',
    '[{"action":"create"}]',
    '1e400',
    '[9007199254740993]',
  ])('%s is no object', async (body) => {
    const { status, detail } = await change(shared.writer, 'POST', 'people', body);
    expect(status).toBe(422);
    expect(detail).toMatchObject([{ type: 'dict_type', loc: ['body'] }]);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'x'])(
    'the body is JSON whatever the Content-Type says: %s (DS-17)',
    async (type) => {
      const body = '{"action":"create","data":[]}';
      const headers = { 'Content-Type': type };
      const { status } = await change(shared.writer, 'POST', 'people', body, headers);
      expect(status).toBe(200);
    },
  );
});

describe('a column that is not there is refused (DS-75, DS-77)', () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ['create', [{ nope: 1 }], "'nope'"],
    ['create', [{ _row_id: 9, name: 'x' }], "'_row_id'"],
    ['create', [{ Name: 'x' }], "'Name'"],
    ['create', [{ ' name': 'x' }], "' name'"],
    ['create', [{ '': 1 }], "''"],
    ['create', [{ "it's": 1 }], '"it\'s"'],
    ['create', [{ zeta: 1, Alpha: 2, émile: 3 }], "'Alpha'"],
    // Code points, not UTF-16 units: U+FFFD is lower than U+1F600.
    ['create', [{ '\u{1f600}': 1, '\ufffd': 2 }], "'\ufffd'"],
    ['create', [{ constructor: 1 }], "'constructor'"],
    ['create', [{ toString: 1 }], "'toString'"],
    ['create', [{ id: 'no integer', nope: 1 }], "'nope'"],
    ['create', [{ id: 1 }, { id: 2 }, { nope: 1 }], "'nope'"],
    ['update', { _row_id: 1, nope: 1 }, "'nope'"],
    ['update', { _row_id: 1, id: 'no integer', nope: 1 }, "'nope'"],
    ['delete', { _row_id: 1, name: 'Anna' }, "'name'"],
    ['delete', { _row_id: 1, nope: 1, name: 'Anna' }, "'name'"],
  ];
  const METHODS: Record<string, string> = { create: 'POST', update: 'PATCH', delete: 'DELETE' };

  test.each(titled(cases))('%s', async (_, action, data, column) => {
    const { status, detail } = await change(shared.writer, METHODS[action]!, 'people', {
      action,
      data,
    });
    expect({ status, detail }).toEqual({
      status: 422,
      detail: `${PREFIX}unknown column ${column}`,
    });
  });

  test('__proto__ is a name like any other', async () => {
    const body = '{"action":"create","data":[{"__proto__":{"name":"x"}}]}';
    const { status, detail } = await change(shared.writer, 'POST', 'people', body);
    expect({ status, detail }).toEqual({
      status: 422,
      detail: `${PREFIX}unknown column '__proto__'`,
    });
  });

  test('a column with a quote in its name is known and named in its own texts', async () => {
    const refused = await create(shared.writer, 'quotes', [{ "it's": 1 }]);
    expect(refused.detail).toBe(`${PREFIX}column 'it's': expected string, received integer`);
  });
});

describe('a value that does not fit its column is refused (DS-77, DS-78)', () => {
  // The JSON as it is sent: what the language would not keep (1.0, 1e400, long digits) counts.
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['name', '1', 'string', 'integer'],
    ['name', '1.5', 'string', 'number'],
    ['name', 'true', 'string', 'boolean'],
    ['name', '[]', 'string', 'array'],
    ['name', '{}', 'string', 'object'],
    ['name', '["x"]', 'string', 'array'],
    ['id', '1.5', 'integer', 'number'],
    ['id', '1.0', 'integer', 'number'],
    ['id', '1e3', 'integer', 'number'],
    ['id', '9007199254740992', 'integer', 'integer'],
    ['id', '-9007199254740992', 'integer', 'integer'],
    ['id', '"9007199254740992"', 'integer', 'string'],
    ['id', '"1.0"', 'integer', 'string'],
    ['id', '"x"', 'integer', 'string'],
    ['id', '"0x10"', 'integer', 'string'],
    ['id', '"1_000"', 'integer', 'string'],
    ['id', 'true', 'integer', 'boolean'],
    ['id', '[1]', 'integer', 'array'],
    ['id', '{"$inc":1}', 'integer', 'object'],
    ['score', '"x"', 'number', 'string'],
    ['score', '"1,5"', 'number', 'string'],
    ['score', '"0x10"', 'number', 'string'],
    ['score', 'false', 'number', 'boolean'],
    ['score', '[1]', 'number', 'array'],
    ['score', '{}', 'number', 'object'],
    ['score', '"NaN"', 'finite number', 'string'],
    ['score', '"nan"', 'finite number', 'string'],
    ['score', '"Infinity"', 'finite number', 'string'],
    ['score', '"-inf"', 'finite number', 'string'],
    ['score', '1e400', 'finite number', 'number'],
    ['score', '"1e400"', 'finite number', 'string'],
    ['active', '2', 'boolean', 'integer'],
    ['active', '-1', 'boolean', 'integer'],
    ['active', '0.5', 'boolean', 'number'],
    ['active', '"maybe"', 'boolean', 'string'],
    ['active', '"t"', 'boolean', 'string'],
    ['active', '"on"', 'boolean', 'string'],
    ['active', '[]', 'boolean', 'array'],
    ['active', '{}', 'boolean', 'object'],
  ];

  test.each(cases)('%s: %s (expected %s, received %s)', async (column, json, type, received) => {
    const detail = `${PREFIX}column '${column}': expected ${type}, received ${received}`;
    const bodies = [
      ['POST', `{"action":"create","data":[{"${column}":${json}}]}`],
      ['PATCH', `{"action":"update","data":{"_row_id":1,"${column}":${json}}}`],
    ] as const;
    for (const [method, body] of bodies) {
      const refused = await change(shared.writer, method, 'people', body);
      expect({ status: refused.status, detail: refused.detail }).toEqual({ status: 422, detail });
    }
  });

  test('a column without values is a string column (DS-59)', async () => {
    const { detail } = await create(shared.writer, 'blank', [{ empty: 1 }]);
    expect(detail).toBe(`${PREFIX}column 'empty': expected string, received integer`);
  });

  test('the first failing row counts, in it the first column of the file', async () => {
    const rows = [{ id: 1 }, { active: 'maybe', score: 'x', id: 'y' }, { nope: 1 }, { id: [] }];
    const { detail } = await create(shared.writer, 'people', rows);
    expect(detail).toBe(`${PREFIX}column 'id': expected integer, received string`);
  });

  test('one bad row among ten thousand refuses them all (S-Z11)', async () => {
    const rows: object[] = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `n${id}` }));
    rows[9_999] = { id: 'x' };
    const { status } = await create(shared.writer, 'people', rows);
    expect(status).toBe(422);
  });

  test.each([
    ['NUL', 'a\u0000b'],
    ['a lone surrogate', 'a\ud800b'],
  ])('%s in a text is refused, since no reader would give it back', async (_, name) => {
    const { status, detail } = await create(shared.writer, 'people', [{ name }]);
    expect(status).toBe(422);
    expect(detail).toMatch(/^Schema validation failed: column 'name': /);
  });

  test('a character that the encoding of the file lacks is refused, not replaced', async () => {
    const before = writeState(shared.service, 'latin.csv');
    const refused = await update(shared.writer, 'latin', { _row_id: 1, name: '東京' });
    expect(refused.status).toBe(422);
    expect(refused.detail).toMatch(/^Schema validation failed: /);
    expect(writeState(shared.service, 'latin.csv')).toEqual(before);
  });
});

describe('a method or a row that is not there', () => {
  test('PUT is no method of a dataset (DS-7, DS-73)', async () => {
    const { status, detail, headers } = await change(shared.writer, 'PUT', 'people', {
      action: 'update',
      data: { _row_id: 1, name: 'x' },
    });
    expect({ status, detail }).toEqual({ status: 405, detail: 'Method Not Allowed' });
    expect(headers.get('Allow')?.split(', ').sort()).toEqual([
      'DELETE',
      'GET',
      'HEAD',
      'OPTIONS',
      'PATCH',
      'POST',
    ]);
  });

  test.each([
    ['PATCH', { action: 'update', data: { _row_id: 4, name: 'x' } }, 4],
    ['PATCH', { action: 'update', data: { _row_id: 4 } }, 4],
    ['PATCH', { action: 'update', data: { _row_id: '77', name: 'x' } }, 77],
    ['PATCH', { action: 'update', data: { _row_id: 9007199254740991, id: 1 } }, 9007199254740991],
    ['DELETE', { action: 'delete', data: { _row_id: 4 } }, 4],
    ['DELETE', { action: 'delete', data: { _row_id: '007' } }, 7],
  ])('%s %j: Row %d not found (DS-79)', async (method, body, id) => {
    const { status, detail, etag } = await change(shared.writer, method, 'people', body);
    expect({ status, detail }).toEqual({ status: 404, detail: `Row ${id} not found` });
    expect(etag).toBe('');
  });
});

test('none of these refusals wrote, locked or audited anything (DS-75)', async () => {
  expect(writeState(shared.service, 'people.csv')).toEqual(untouched);
  expect(await auditAfter(shared.service, auditId)).toEqual([]);
  expect(await locksOn(shared.service, 'people.csv')).toEqual([]);
});
