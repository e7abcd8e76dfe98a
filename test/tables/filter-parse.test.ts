import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/errors.ts';
import { parseFilter } from '../../src/tables/filter/filter.ts';
import { matchesFilter, type PresentedValue } from './filter-match.ts';
import { workSince } from '../support/patience.ts';
import type { FilterColumn } from '../../src/tables/filter/filter-operand.ts';

const COLUMNS: FilterColumn[] = [
  { name: 'id', type: 'integer' },
  { name: 'price', type: 'number' },
  { name: 'ok', type: 'boolean' },
  { name: 'name', type: 'string' },
  { name: 'at', type: 'date-time' },
  { name: 'tags', type: 'nested' },
  { name: '$gt', type: 'integer' },
  { name: '$and', type: 'integer' },
];

function problemOf(text: string): string {
  try {
    parseFilter(text, COLUMNS);
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid-query') return error.message;
    throw error;
  }
  return 'none';
}

function nested(depth: number, wrap: (inner: string) => string): string {
  let text = '{"id":1}';
  for (let level = 0; level < depth; level++) text = wrap(text);
  return text;
}

describe('the texts of DS-55', () => {
  const cases: [string, string][] = [
    ['{', 'not valid JSON'],
    ['{"id":1,}', 'not valid JSON'],
    ['{"name":"\\ud800"}', 'not valid JSON'],
    [' ', 'not valid JSON'],
    ['[]', 'expected a JSON object'],
    ['"x"', 'expected a JSON object'],
    ['1', 'expected a JSON object'],
    ['{"nope":1}', "unknown column 'nope'"],
    ['{"__proto__":1}', "unknown column '__proto__'"],
    ['{"constructor":{"$eq":1}}', "unknown column 'constructor'"],
    ['{"$where":1}', "unknown operator '$where'"],
    ['{"id":{"$foo":1}}', "unknown operator '$foo'"],
    ['{"id":{"gt":1}}', "unknown operator 'gt'"],
    ['{"id":{"__proto__":1}}', "unknown operator '__proto__'"],
    ['{"id":"abc"}', "column 'id': operator $eq expects a number, received string"],
    ['{"id":true}', "column 'id': operator $eq expects a number, received boolean"],
    ['{"id":[1]}', "column 'id': operator $eq expects a number, received array"],
    ['{"id":{"$ne":{}}}', "column 'id': operator $ne expects a number, received object"],
    ['{"id":{"$gt":null}}', "column 'id': operator $gt expects a number, received null"],
    ['{"id":{"$gt":""}}', "column 'id': operator $gt expects a number, received string"],
    ['{"id":" 1.5e "}', "column 'id': operator $eq expects a number, received string"],
    ['{"id":"+1"}', "column 'id': operator $eq expects a number, received string"],
    ['{"id":"0x10"}', "column 'id': operator $eq expects a number, received string"],
    ['{"ok":2}', "column 'ok': operator $eq expects a boolean, received integer"],
    ['{"ok":{"$gte":"on"}}', "column 'ok': operator $gte expects a boolean, received string"],
    ['{"name":{"$lt":5}}', "column 'name': operator $lt expects a string, received integer"],
    ['{"name":{"$eq":{}}}', "column 'name': operator $eq expects a scalar, received object"],
    [
      '{"name":{"$contains":true}}',
      "column 'name': operator $contains expects a string, received boolean",
    ],
    ['{"name":{"$regex":null}}', "column 'name': operator $regex expects a string, received null"],
    [
      '{"name":{"$in":"a"}}',
      "column 'name': operator $in expects an array of scalars, received string",
    ],
    [
      '{"name":{"$nin":[[]]}}',
      "column 'name': operator $nin expects an array of scalars, received array",
    ],
    ['{"id":{"$in":[1,"x"]}}', "column 'id': operator $in expects a number, received string"],
    ['{"id":{"$null":1}}', "column 'id': operator $null expects a boolean, received integer"],
    ['{"id":{"$not":5}}', "column 'id': operator $not expects an object, received integer"],
    ['{"at":"yesterday"}', "column 'at': operator $eq expects a date-time, received string"],
    [
      '{"at":{"$gt":"2026-02-30"}}',
      "column 'at': operator $gt expects a date-time, received string",
    ],
    ['{"tags":"a"}', "column 'tags': operator $eq expects a scalar, received string"],
    ['{"tags":{"$gt":"a"}}', "column 'tags': operator $gt expects a scalar, received string"],
    ['{"$and":{}}', '$and expects an array of objects, received object'],
    ['{"$or":[1]}', '$or expects an array of objects, received array'],
    ['{"$not":[]}', '$not expects an object, received array'],
    ['{"$not":null}', '$not expects an object, received null'],
    ['{"name":{"$regex":"("}}', "column 'name': invalid regex '('"],
    ['{"name":{"$regex":"(?=a)"}}', "column 'name': invalid regex '(?=a)'"],
    ['{"name":{"$regex":"(a)\\\\1"}}', "column 'name': invalid regex '(a)\\1'"],
  ];
  for (const [text, problem] of cases) {
    test(`${text} is refused: ${problem}`, () => {
      expect(problemOf(text)).toBe(`Invalid filter: ${problem}`);
    });
  }
});

describe('limits', () => {
  test('sixteen logical operators inside one another are accepted, seventeen are not', () => {
    const forms = [
      (inner: string) => `{"$not":${inner}}`,
      (inner: string) => `{"$and":[${inner}]}`,
    ];
    for (const wrap of forms) {
      expect(problemOf(nested(16, wrap))).toBe('none');
      expect(problemOf(nested(17, wrap))).toBe('Invalid filter: too deep (maximum 16)');
    }
    let operators = '{"$gt":1}';
    for (let level = 0; level < 17; level++) operators = `{"$not":${operators}}`;
    expect(problemOf(`{"id":${operators}}`)).toBe('Invalid filter: too deep (maximum 16)');
  });

  test('30,000 levels are refused without harm', () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect(problemOf(`{"$and":${deep}}`)).toMatch(/^Invalid filter: /);
    expect(problemOf(`${'{"$not":'.repeat(7_000)}{}${'}'.repeat(7_000)}`)).toBe(
      'Invalid filter: too deep (maximum 16)',
    );
  });

  test('65,536 bytes are accepted, one more is not, counted in UTF-8', () => {
    const text = `{"name":"${'é'.repeat(32_762)}"}`;
    expect(problemOf(`${text} `)).toBe('none');
    expect(problemOf(`${text}  `)).toBe('Invalid filter: too large (maximum 65536 bytes)');
  });

  test('$in takes 1,000 values and not one more', () => {
    const of = (count: number) => `{"id":{"$in":[${Array(count).fill(1).join(',')}]}}`;
    expect(problemOf(of(1_000))).toBe('none');
    expect(problemOf(of(1_001))).toMatch(/expects an array of scalars, received array$/);
  });

  test('patterns past 1,000 characters or 2,500 instructions are refused', () => {
    const patterns = [
      'x'.repeat(1_001),
      'a{1000}'.repeat(100),
      'a{50}'.repeat(60),
      `(${'x'.repeat(900)}){1000}`,
      '((a{100}){100}){100}',
      'a{1001}',
      '\\C',
    ];
    for (const pattern of patterns) {
      const text = JSON.stringify({ name: { $regex: pattern } });
      expect(problemOf(text)).toBe(`Invalid filter: column 'name': invalid regex '${pattern}'`);
    }
    for (const pattern of ['', 'x'.repeat(1_000), '[[:alpha:]]{2,20}', '\\p{Greek}+\\x{1F600}?']) {
      expect(problemOf(JSON.stringify({ name: { $regex: pattern } }))).toBe('none');
    }
  });
});

describe('what a filter means', () => {
  const row: PresentedValue[] = [5, 1.5, true, 'Straße', '2026-11-20T23:29:00.715Z', '[1,2]', 7, 8];
  const matches = (text: string, values = row) => {
    const filter = parseFilter(text, COLUMNS);
    return filter === null || matchesFilter(filter, COLUMNS, values);
  };

  test('an empty text and null are no filter; {} matches all', () => {
    expect(parseFilter('', COLUMNS)).toBeNull();
    expect(parseFilter('null', COLUMNS)).toBeNull();
    expect(matches('{}')).toBe(true);
    expect(matches('{"id":{}}')).toBe(true);
    expect(matches('{"$and":[]}')).toBe(true);
    expect(matches('{"$or":[]}')).toBe(false);
  });

  test('operands are normalised to the column type (DS-53)', () => {
    for (const yes of [
      '{"id":" 5 "}',
      '{"id":5.0}',
      '{"id":"50e-1"}',
      '{"price":"1.50"}',
      '{"ok":1}',
      '{"ok":"YES"}',
      '{"ok":{"$gt":"no"}}',
      '{"at":"2026-11-21T01:29:00.715+02:00"}',
      '{"at":{"$gte":"2026-11-20","$lt":"2026-11-21"}}',
      '{"$gt":7}',
      '{"$gt":{"$gt":6}}',
      '{"name":{"$icontains":"STRASSE"}}',
      '{"tags":{"$contains":"1,2","$ne":null}}',
      '{"price":{"$startswith":1.5}}',
      '{"id":{"$regex":5}}',
    ]) {
      expect([yes, matches(yes)]).toEqual([yes, true]);
    }
    const texts = [...row];
    texts[3] = '1.50';
    expect(matches('{"name":1.50}', texts)).toBe(true);
    expect(matches('{"name":1.5}', texts)).toBe(false);
    texts[3] = '12345678901234567890';
    expect(matches('{"name":12345678901234567890}', texts)).toBe(true);
    texts[3] = 'true';
    expect(matches('{"name":true}', texts)).toBe(true);
  });

  test('integers past 2^53 are compared with all their digits', () => {
    const wide = [...row];
    wide[0] = 9007199254740993n;
    wide[1] = 9007199254740992;
    expect(matches('{"id":9007199254740993}', wide)).toBe(true);
    expect(matches('{"id":9007199254740992}', wide)).toBe(false);
    expect(matches('{"price":9007199254740993}', wide)).toBe(false);
    expect(matches('{"price":{"$lt":9007199254740993}}', wide)).toBe(true);
    expect(matches('{"price":{"$lt":1e400,"$gt":-1e400}}', wide)).toBe(true);
    expect(matches('{"price":1e400}', wide)).toBe(false);
  });

  test('of a repeated member the last one counts, and no prototype is touched (DS-56)', () => {
    expect(matches('{"id":4,"id":5}')).toBe(true);
    expect(problemOf('{"__proto__":{"polluted":1}}')).toContain('unknown column');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

test('no text whatever makes the parser throw anything but invalid-query', () => {
  const key = fc.oneof(
    fc.constantFrom(
      'id',
      'name',
      'tags',
      '$and',
      '$or',
      '$not',
      '$in',
      '$eq',
      '$regex',
      '__proto__',
    ),
    fc.string(),
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      fc.double(),
      fc.array(tie('value')),
      fc.dictionary(key, tie('value')),
    ),
  })).value;
  fc.assert(
    fc.property(
      fc.oneof(
        json.map((value) => JSON.stringify(value) ?? ''),
        fc.string(),
      ),
      (text) => {
        problemOf(text);
      },
    ),
    { numRuns: 500 },
  );
});

test('DS-53: an operand of 60,000 digits is refused at once', () => {
  const start = process.cpuUsage();
  for (const number of [`1.${'0'.repeat(60_000)}1`, '1'.repeat(60_000)]) {
    expect(problemOf(`{"price":{"$eq":"${number}"}}`)).toContain('expects a number');
    expect(problemOf(`{"price":{"$eq":${number}}}`)).toContain('not valid JSON');
  }
  expect(workSince(start)).toBeLessThan(500);
});
