/**
 * Filters: every operator on every type of column, and every text of refusal (DS-51 to DS-56).
 */
import { describe, expect, test } from 'bun:test';
import { address, get, idsOf, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

/** Row ids 1 to 7; row 6 is blank but for its key, row 7 holds what is easily confused. */
const TYPED = `key,i,x,f,s
1,5,0.5,true,apple
2,-3,2.0,FALSE,Banana
3,30,-1e3,True,cherry pie
4,0,30,false,äpfel
5,9007199254740991,1.50,true,5
6,,,,
7,5,1e300,false,true
`;

const shared = sharedService({
  files: {
    'typed.csv': TYPED,
    'texts.csv': [
      'n,s',
      '1,100%',
      '2,100',
      '3,a_b',
      '4,aXb',
      '5,back\\slash',
      '6,"say ""hi"""',
      '7,"two\nlines"',
      '8,STRASSE',
      '9,straße',
      '10,Ångström',
      '11,A\u030angstro\u0308m',
      '12, outer ',
      '13,😀 smile',
      '14,1.50',
      '15,007',
      '16,"   "',
      '17,',
      '18,ΣΊΣΥΦΟΣ',
      '19,i̇',
      '20,zebra',
      '',
    ].join('\n'),
    'named.csv':
      '$gt,$eq,$and,a.b,"a\'b","x""; drop table t; --",__proto__,constructor, ,$.a\n1,2,3,4,5,6,7,8,9,10\n2,3,4,5,6,7,8,9,10,11\n',
    'wide.csv': `${Array.from({ length: 150 }, (_, i) => `c${i}`).join(',')}\n${Array.from({ length: 150 }, (_, i) => i).join(',')}\n`,
    'big.csv':
      'x\n9007199254740992.0\n9007199254740994.0\n1e21\n0.1\n0.30000000000000004\n-0.0\n1e23\n1e300\n',
    'odd.csv': 'n,t\n1,a\n2,b\n',
    '.svc/odd.csv.schema.json': JSON.stringify({
      columns: { n: { type: 'integer' }, t: { type: 'string' } },
    }),
  },
});

const matching = async (filter: unknown, name = 'typed') => {
  const text = typeof filter === 'string' ? filter : JSON.stringify(filter);
  const found = await list(shared.reader, name, { filter: text });
  if (found.status !== 200) throw new Error(`${found.status}: ${found.text}`);
  expect(found.total).toBe(found.rows.length);
  return idsOf(found.rows);
};

const refusal = async (filter: unknown, name = 'typed') => {
  const text = typeof filter === 'string' ? filter : JSON.stringify(filter);
  const { status, detail } = await list(shared.reader, name, { filter: text });
  return { status, detail };
};

const refused = (rest: string) => ({ status: 422, detail: `Invalid filter: ${rest}` });

const ALL = [1, 2, 3, 4, 5, 6, 7];
const NONE: number[] = [];

describe('the filter as a whole', () => {
  test.each([
    ['', ALL],
    ['null', ALL],
    [' null ', ALL],
    ['{}', ALL],
    [' {"i" : 5 } ', [1, 7]],
    ['{"i":5,"f":true}', [1]],
    ['{"$and":[]}', ALL],
    ['{"$or":[]}', NONE],
    ['{"$not":{}}', NONE],
    ['{"$not":{"i":5}}', [2, 3, 4, 5, 6]],
    ['{"$and":[{"i":5},{"f":true}]}', [1]],
    ['{"$or":[{"i":5},{"f":true}]}', [1, 3, 5, 7]],
    ['{"$or":[{},{"i":5}]}', ALL],
    ['{"$and":[{}]}', ALL],
    ['{"i":5,"$or":[{"s":"apple"},{"s":"true"}]}', [1, 7]],
    ['{"$not":{"$or":[{"i":5},{"f":true}]}}', [2, 4, 6]],
    ['{"$not":{"i":{"$gt":0}}}', [2, 4, 6]],
    ['{"$not":{"$not":{"i":5}}}', [1, 7]],
    ['{"i":{}}', ALL],
    ['{"i":{"$gt":0,"$lt":30}}', [1, 7]],
    ['{"i":{"$gt":0},"x":{"$lt":1}}', [1, 3]],
  ] as [string, number[]][])('%s matches %j (DS-51, DS-52)', async (filter, ids) => {
    expect(await matching(filter)).toEqual(ids);
  });
});

describe('equality', () => {
  test.each([
    // integer columns
    [{ i: 5 }, [1, 7]],
    ['{"i":5.0}', [1, 7]],
    ['{"i":0.5e1}', [1, 7]],
    [{ i: '5' }, [1, 7]],
    [{ i: ' 5 ' }, [1, 7]],
    [{ i: '5.0' }, [1, 7]],
    [{ i: { $eq: -3 } }, [2]],
    ['{"i":-0}', [4]],
    [{ i: 5.5 }, NONE],
    ['{"i":9007199254740991}', [5]],
    ['{"i":9007199254740992}', NONE],
    ['{"i":9007199254740993}', NONE],
    ['{"i":1e400}', NONE],
    [{ i: '' }, [6]],
    [{ i: null }, NONE],
    [{ i: { $ne: 5 } }, [2, 3, 4, 5, 6]],
    [{ i: { $ne: '' } }, [1, 2, 3, 4, 5, 7]],
    [{ i: { $ne: null } }, ALL],
    [{ i: { $in: [5, '0'] } }, [1, 4, 7]],
    [{ i: { $in: [5, '', null] } }, [1, 6, 7]],
    [{ i: { $in: [] } }, NONE],
    [{ i: { $in: [null] } }, NONE],
    [{ i: { $nin: [5, ''] } }, [2, 3, 4, 5]],
    [{ i: { $nin: [] } }, ALL],
    [{ i: { $nin: [null] } }, ALL],
    // number columns
    [{ x: 2 }, [2]],
    [{ x: '2' }, [2]],
    [{ x: 1.5 }, [5]],
    [{ x: '1.500' }, [5]],
    [{ x: -1000 }, [3]],
    [{ x: '1e300' }, [7]],
    [{ x: '' }, [6]],
    [{ x: { $ne: 2 } }, [1, 3, 4, 5, 6, 7]],
    [{ x: { $in: [0.5, 30, 31] } }, [1, 4]],
    // boolean columns
    [{ f: true }, [1, 3, 5]],
    [{ f: false }, [2, 4, 7]],
    [{ f: 1 }, [1, 3, 5]],
    [{ f: 0 }, [2, 4, 7]],
    ['{"f":1.0}', [1, 3, 5]],
    [{ f: 'true' }, [1, 3, 5]],
    [{ f: 'YES' }, [1, 3, 5]],
    [{ f: 'No' }, [2, 4, 7]],
    [{ f: '1' }, [1, 3, 5]],
    [{ f: '0' }, [2, 4, 7]],
    [{ f: '' }, [6]],
    [{ f: null }, NONE],
    [{ f: { $ne: true } }, [2, 4, 6, 7]],
    [{ f: { $nin: [true, ''] } }, [2, 4, 7]],
    [{ f: { $in: [true, 'no'] } }, [1, 2, 3, 4, 5, 7]],
    // string columns
    [{ s: 'apple' }, [1]],
    [{ s: 'Apple' }, NONE],
    [{ s: 'a\u0308pfel' }, NONE],
    [{ s: 5 }, [5]],
    [{ s: '5' }, [5]],
    ['{"s":5.0}', NONE],
    [{ s: true }, [7]],
    [{ s: false }, NONE],
    [{ s: '' }, [6]],
    [{ s: null }, NONE],
    [{ s: { $ne: 'apple' } }, [2, 3, 4, 5, 6, 7]],
    [{ s: { $in: ['apple', 5, true, null, ''] } }, [1, 5, 6, 7]],
    [{ s: { $nin: ['apple', ''] } }, [2, 3, 4, 5, 7]],
    // the row id
    [{ _row_id: 3 }, [3]],
    [{ _row_id: '3' }, [3]],
    [{ _row_id: { $in: [1, 99] } }, [1]],
    [{ _row_id: '' }, NONE],
    [{ _row_id: { $ne: 1 } }, [2, 3, 4, 5, 6, 7]],
  ] as [unknown, number[]][])('%j matches %j (DS-52, DS-53)', async (filter, ids) => {
    expect(await matching(filter)).toEqual(ids);
  });

  test('compares numbers exactly, beyond what a double tells apart (DS-53)', async () => {
    expect(await matching('{"x":9007199254740992}', 'big')).toEqual([1]);
    expect(await matching('{"x":9007199254740993}', 'big')).toEqual([]);
    expect(await matching('{"x":{"$gt":9007199254740993}}', 'big')).toEqual([2, 3, 7, 8]);
    expect(await matching('{"x":{"$gte":"9007199254740993"}}', 'big')).toEqual([2, 3, 7, 8]);
    expect(await matching('{"x":{"$lt":9007199254740993}}', 'big')).toEqual([1, 4, 5, 6]);
    expect(await matching('{"x":1000000000000000000000}', 'big')).toEqual([3]);
    expect(await matching('{"x":1000000000000000000001}', 'big')).toEqual([]);
    expect(await matching('{"x":{"$lt":1e400}}', 'big')).toHaveLength(8);
    expect(await matching('{"x":{"$gt":-1e400}}', 'big')).toHaveLength(8);
    expect(await matching('{"x":0.3}', 'big')).toEqual([]);
    expect(await matching('{"x":0}', 'big')).toEqual([6]);
  });

  test('a number matches by the text it is shown with (DS-53, DS-60)', async () => {
    const { text, rows } = await list(shared.reader, 'big');
    const shown = [...text.matchAll(/"x":([^,}]+)/g)].map(([, number]) => number!);
    expect(shown).toHaveLength(rows.length);
    for (const [index, number] of shown.entries()) {
      expect(await matching(`{"x":${number}}`, 'big')).toEqual([index + 1]);
      expect(await matching(`{"x":{"$gte":"${number}","$lte":${number}}}`, 'big')).toEqual([
        index + 1,
      ]);
    }
  });
});

describe('ranges', () => {
  test.each([
    [{ i: { $gt: 0 } }, [1, 3, 5, 7]],
    [{ i: { $gte: 0 } }, [1, 3, 4, 5, 7]],
    [{ i: { $lt: 0 } }, [2]],
    [{ i: { $lte: '0' } }, [2, 4]],
    [{ i: { $gt: 4.5, $lt: '5.5' } }, [1, 7]],
    [{ i: { $lt: 1e20 } }, [1, 2, 3, 4, 5, 7]],
    [{ x: { $gt: 0.5 } }, [2, 4, 5, 7]],
    [{ x: { $lte: -1000 } }, [3]],
    [{ x: { $gte: 1e300 } }, [7]],
    [{ f: { $gt: false } }, [1, 3, 5]],
    [{ f: { $gte: 0 } }, [1, 2, 3, 4, 5, 7]],
    [{ f: { $lt: 'yes' } }, [2, 4, 7]],
    [{ f: { $lte: false } }, [2, 4, 7]],
    [{ s: { $gt: 'apple' } }, [3, 4, 7]],
    [{ s: { $gte: 'apple' } }, [1, 3, 4, 7]],
    [{ s: { $lt: 'a' } }, [2, 5]],
    [{ s: { $lte: 'true' } }, [1, 2, 3, 5, 7]],
    [{ s: { $gt: '' } }, [1, 2, 3, 4, 5, 7]],
    [{ s: { $gte: '' } }, [1, 2, 3, 4, 5, 7]],
    [{ s: { $lt: '' } }, NONE],
    [{ s: { $lte: '' } }, NONE],
    [{ s: { $gte: 'B', $lt: 'C' } }, [2]],
    [{ _row_id: { $gt: 5 } }, [6, 7]],
    [{ _row_id: { $gte: 2, $lte: '3' } }, [2, 3]],
    [{ i: { $not: { $gt: 0 } } }, [2, 4, 6]],
    [{ s: { $not: { $gte: '' } } }, [6]],
  ] as [unknown, number[]][])(
    '%j matches %j; blanks are in no range (DS-52)',
    async (filter, ids) => {
      expect(await matching(filter)).toEqual(ids);
    },
  );

  test('strings are ordered by code point (DS-53)', async () => {
    expect(await matching({ s: { $gt: 'zz' } }, 'texts')).toEqual([10, 13, 18]);
    expect(await matching({ s: { $gt: '\uffff' } }, 'texts')).toEqual([13]);
  });
});

describe('text operators', () => {
  test.each([
    // numbers and booleans by their JSON text
    [{ i: { $contains: '0' } }, [3, 4, 5]],
    [{ i: { $startswith: '-' } }, [2]],
    [{ i: { $contains: 5 } }, [1, 5, 7]],
    [{ x: { $contains: '.' } }, [1, 5]],
    [{ x: { $endswith: '.5' } }, [1, 5]],
    [{ x: { $contains: '.50' } }, NONE],
    [{ x: { $startswith: '-1000' } }, [3]],
    [{ x: { $contains: 'e' } }, [7]],
    [{ x: { $regex: '^\\d+$' } }, [2, 4]],
    [{ f: { $contains: 'ru' } }, [1, 3, 5]],
    [{ f: { $startswith: 'F' } }, NONE],
    [{ f: { $icontains: 'FAL' } }, [2, 4, 7]],
    [{ f: { $regex: 'e$' } }, [1, 2, 3, 4, 5, 7]],
    [{ _row_id: { $contains: '7' } }, [7]],
    [{ _row_id: { $regex: '[12]' } }, [1, 2]],
    // strings as they are
    [{ s: { $contains: 'an' } }, [2]],
    [{ s: { $contains: 'AN' } }, NONE],
    [{ s: { $icontains: 'AN' } }, [2]],
    [{ s: { $startswith: 'a' } }, [1]],
    [{ s: { $startswith: 'A' } }, NONE],
    [{ s: { $endswith: 'e' } }, [1, 3, 7]],
    [{ s: { $contains: ' ' } }, [3]],
    [{ s: { $contains: 5 } }, [5]],
    [{ s: { $startswith: 5 } }, [5]],
    // the blank cell is the empty text, and every text holds it
    [{ s: { $contains: '' } }, ALL],
    [{ s: { $icontains: '' } }, ALL],
    [{ s: { $startswith: '' } }, ALL],
    [{ s: { $endswith: '' } }, ALL],
    [{ s: { $regex: '' } }, ALL],
    [{ s: { $regex: '^$' } }, [6]],
    [{ i: { $regex: '^$' } }, [6]],
    [{ i: { $startswith: '' } }, ALL],
    [{ i: { $not: { $contains: '5' } } }, [2, 3, 4, 6]],
    [{ s: { $not: { $startswith: 'a', $endswith: 'e' } } }, [2, 3, 4, 5, 6, 7]],
  ] as [unknown, number[]][])('%j matches %j (DS-52, DS-54)', async (filter, ids) => {
    expect(await matching(filter)).toEqual(ids);
  });

  test.each([
    [{ s: { $contains: '%' } }, [1]],
    [{ s: { $contains: '_' } }, [3]],
    [{ s: { $startswith: 'a_' } }, [3]],
    [{ s: { $endswith: '%' } }, [1]],
    [{ s: { $contains: '\\' } }, [5]],
    [{ s: { $contains: '"' } }, [6]],
    [{ s: { $contains: '\n' } }, [7]],
    [{ s: { $startswith: 'two\n' } }, [7]],
    [{ s: { $contains: '*' } }, NONE],
    [{ s: { $contains: '[' } }, NONE],
    [{ s: { $startswith: ' ' } }, [12]],
    [{ s: ' outer ' }, [12]],
    [{ s: { $contains: '😀' } }, [13]],
    [{ s: { $startswith: '😀 s' } }, [13]],
    [{ s: { $endswith: '.50' } }, [14]],
    ['{"s":1.50}', [14]],
    ['{"s":1.5}', NONE],
    ['{"s":{"$contains":1.50}}', [14]],
    [{ s: '007' }, [15]],
    [{ s: 7 }, NONE],
    [{ s: '' }, [16, 17]],
    [{ s: { $icontains: 'strasse' } }, [8, 9]],
    [{ s: { $icontains: 'STRASSE' } }, [8, 9]],
    [{ s: { $icontains: 'ångSTRÖM' } }, [10]],
    [{ s: { $contains: 'ngstr' } }, [10, 11]],
    [{ s: { $icontains: 'σίσυφος' } }, [18]],
    [{ s: { $icontains: 'ZEBRA' } }, [20]],
  ] as [unknown, number[]][])(
    'characters are literal, and only icontains ignores case: %j matches %j (DS-52, B-Q)',
    async (filter, ids) => {
      expect(await matching(filter, 'texts')).toEqual(ids);
    },
  );

  test.each([
    ['^a', [3, 4]],
    ['(?i)^A', [3, 4, 11]],
    ['b$', [3, 4]],
    ['^100%?$', [1, 2]],
    ['a.b', [3, 4]],
    ['^two$', NONE],
    ['(?m)^two$', [7]],
    ['two.lines', NONE],
    ['(?s)two.lines', [7]],
    ['^\\pL+$', [4, 8, 9, 10, 18, 20]],
    ['\\d{3}', [1, 2, 15]],
    ['[[:punct:]]{2}', NONE],
    ['hi|zebra', [6, 20]],
    ['\\\\', [5]],
    ['^. smile$', [13]],
    ['\\x{1F600}', [13]],
    ['(?P<name>z)ebra', [20]],
    ['\\bhi\\b', [6]],
  ] as [string, number[]][])(
    'the pattern %s is found anywhere in %j (DS-52)',
    async (pattern, ids) => {
      expect(await matching({ s: { $regex: pattern } }, 'texts')).toEqual(ids);
    },
  );
});

describe('$null', () => {
  test.each(['i', 'x', 'f', 's'])('tells blank cells of column %s (DS-52)', async (column) => {
    expect(await matching({ [column]: { $null: true } })).toEqual([6]);
    expect(await matching({ [column]: { $null: false } })).toEqual([1, 2, 3, 4, 5, 7]);
    expect(await matching({ [column]: { $not: { $null: true } } })).toEqual([1, 2, 3, 4, 5, 7]);
  });

  test('a row id is never blank (DS-47)', async () => {
    expect(await matching({ _row_id: { $null: true } })).toEqual([]);
    expect(await matching({ _row_id: { $null: false } })).toEqual(ALL);
  });

  test('cells of white space alone are blank (DS-59, DS-64)', async () => {
    expect(await matching({ s: { $null: true } }, 'texts')).toEqual([16, 17]);
  });
});

describe('what a filter is refused for', () => {
  test.each([
    '{',
    'nope',
    '{i:5}',
    "{'i':5}",
    '{"i":5,}',
    '{"i":5}x',
    '{"i":05}',
    '{"i":+5}',
    '{"i":.5}',
    '{"i":NaN}',
    '{"i":Infinity}',
    '{"i":0x10}',
    '// {}',
    '{"s":"\t"}',
    '\ufeff{}',
    'undefined',
  ])('%s is not valid JSON (DS-55)', async (filter) => {
    expect(await refusal(filter)).toEqual(refused('not valid JSON'));
  });

  test.each(['[]', '[{"i":5}]', '5', '"i"', 'true', 'false', '""'])(
    '%s is no JSON object (DS-55)',
    async (filter) => {
      expect(await refusal(filter)).toEqual(refused('expected a JSON object'));
    },
  );

  test.each([
    ['{"nope":1}', "unknown column 'nope'"],
    ['{"I":1}', "unknown column 'I'"],
    ['{" i":1}', "unknown column ' i'"],
    ['{"":1}', "unknown column ''"],
    ['{"i.x":1}', "unknown column 'i.x'"],
    ['{"__proto__":1}', "unknown column '__proto__'"],
    ['{"constructor":{"prototype":1}}', "unknown column 'constructor'"],
    ['{"toString":1}', "unknown column 'toString'"],
    ['{"rowid":1}', "unknown column 'rowid'"],
    ['{"c0":1}', "unknown column 'c0'"],
    ['{"key\\u0000":1}', "unknown column 'key\u0000'"],
    [`{"a'b":1}`, "unknown column 'a'b'"],
    ['{"a\\"]":1}', `unknown column 'a"]'`],
    ['{"i\') --":1}', "unknown column 'i') --'"],
    ['{"$and":[{"nope":1}]}', "unknown column 'nope'"],
    ['{"$not":{"nope":1}}', "unknown column 'nope'"],
    ['{"$where":"1"}', "unknown operator '$where'"],
    ['{"$eval":1}', "unknown operator '$eval'"],
    ['{"$nor":[]}', "unknown operator '$nor'"],
    ['{"$eq":1}', "unknown operator '$eq'"],
    ['{"$gt":1}', "unknown operator '$gt'"],
    ['{"$.a\')--":1}', `unknown operator '$.a')--'`],
    ['{"i":{"$foo":1}}', "unknown operator '$foo'"],
    ['{"i":{"$function":"x"}}', "unknown operator '$function'"],
    ['{"i":{"gt":1}}', "unknown operator 'gt'"],
    ['{"i":{"$GT":1}}', "unknown operator '$GT'"],
    ['{"i":{"$gt ":1}}', "unknown operator '$gt '"],
    ['{"i":{"":1}}', "unknown operator ''"],
    ['{"i":{"$and":[]}}', "unknown operator '$and'"],
    ['{"i":{"$or":[{"i":1}]}}', "unknown operator '$or'"],
    ['{"i":{"x":{"$gt":1}}}', "unknown operator 'x'"],
    ['{"i":{"__proto__":1}}', "unknown operator '__proto__'"],
    ['{"i":{"constructor":1}}', "unknown operator 'constructor'"],
    ['{"i":{"$not":{"$x":1}}}', "unknown operator '$x'"],
    ['{"i":{"$not":{"x":1}}}', "unknown operator 'x'"],
  ])('%s names the unknown (DS-55, DS-56)', async (filter, rest) => {
    expect(await refusal(filter)).toEqual(refused(rest));
  });

  const wrong = (column: string, operator: string, what: string, received: string) =>
    `column '${column}': operator ${operator} expects ${what}, received ${received}`;

  test.each([
    ['{"i":"x"}', wrong('i', '$eq', 'a number', 'string')],
    ['{"i":"0x10"}', wrong('i', '$eq', 'a number', 'string')],
    ['{"i":"+5"}', wrong('i', '$eq', 'a number', 'string')],
    ['{"i":"05"}', wrong('i', '$eq', 'a number', 'string')],
    ['{"i":"NaN"}', wrong('i', '$eq', 'a number', 'string')],
    ['{"i":" "}', wrong('i', '$eq', 'a number', 'string')],
    ['{"i":true}', wrong('i', '$eq', 'a number', 'boolean')],
    ['{"i":[5]}', wrong('i', '$eq', 'a number', 'array')],
    ['{"i":[]}', wrong('i', '$eq', 'a number', 'array')],
    ['{"i":{"$eq":{}}}', wrong('i', '$eq', 'a number', 'object')],
    ['{"i":{"$eq":[1]}}', wrong('i', '$eq', 'a number', 'array')],
    ['{"i":{"$ne":"x"}}', wrong('i', '$ne', 'a number', 'string')],
    ['{"x":{"$ne":true}}', wrong('x', '$ne', 'a number', 'boolean')],
    ['{"x":"1,5"}', wrong('x', '$eq', 'a number', 'string')],
    ['{"_row_id":"x"}', wrong('_row_id', '$eq', 'a number', 'string')],
    ['{"f":2}', wrong('f', '$eq', 'a boolean', 'integer')],
    ['{"f":"maybe"}', wrong('f', '$eq', 'a boolean', 'string')],
    ['{"f":"y"}', wrong('f', '$eq', 'a boolean', 'string')],
    ['{"f":{"$ne":[]}}', wrong('f', '$ne', 'a boolean', 'array')],
    ['{"s":[]}', wrong('s', '$eq', 'a scalar', 'array')],
    ['{"s":{"$eq":{}}}', wrong('s', '$eq', 'a scalar', 'object')],
    ['{"s":{"$ne":["a"]}}', wrong('s', '$ne', 'a scalar', 'array')],
    ...['$gt', '$gte', '$lt', '$lte'].flatMap((operator): [string, string][] => [
      [`{"i":{"${operator}":null}}`, wrong('i', operator, 'a number', 'null')],
      [`{"i":{"${operator}":""}}`, wrong('i', operator, 'a number', 'string')],
      [`{"x":{"${operator}":true}}`, wrong('x', operator, 'a number', 'boolean')],
      [`{"x":{"${operator}":[1]}}`, wrong('x', operator, 'a number', 'array')],
      [`{"f":{"${operator}":2}}`, wrong('f', operator, 'a boolean', 'integer')],
      [`{"f":{"${operator}":null}}`, wrong('f', operator, 'a boolean', 'null')],
      [`{"s":{"${operator}":5}}`, wrong('s', operator, 'a string', 'integer')],
      [`{"s":{"${operator}":true}}`, wrong('s', operator, 'a string', 'boolean')],
      [`{"s":{"${operator}":null}}`, wrong('s', operator, 'a string', 'null')],
      [`{"s":{"${operator}":{}}}`, wrong('s', operator, 'a string', 'object')],
    ]),
    ...['$in', '$nin'].flatMap((operator): [string, string][] => [
      [`{"i":{"${operator}":5}}`, wrong('i', operator, 'an array of scalars', 'integer')],
      [`{"s":{"${operator}":"a"}}`, wrong('s', operator, 'an array of scalars', 'string')],
      [`{"s":{"${operator}":null}}`, wrong('s', operator, 'an array of scalars', 'null')],
      [`{"s":{"${operator}":{}}}`, wrong('s', operator, 'an array of scalars', 'object')],
      [`{"s":{"${operator}":[[]]}}`, wrong('s', operator, 'an array of scalars', 'array')],
      [`{"s":{"${operator}":["a",{}]}}`, wrong('s', operator, 'an array of scalars', 'array')],
      [`{"i":{"${operator}":[1,"x"]}}`, wrong('i', operator, 'a number', 'string')],
      [`{"f":{"${operator}":[true,3]}}`, wrong('f', operator, 'a boolean', 'integer')],
    ]),
    ...['$contains', '$icontains', '$startswith', '$endswith', '$regex'].flatMap(
      (operator): [string, string][] => [
        [`{"s":{"${operator}":null}}`, wrong('s', operator, 'a string', 'null')],
        [`{"s":{"${operator}":true}}`, wrong('s', operator, 'a string', 'boolean')],
        [`{"s":{"${operator}":["a"]}}`, wrong('s', operator, 'a string', 'array')],
        [`{"i":{"${operator}":{}}}`, wrong('i', operator, 'a string', 'object')],
      ],
    ),
    ['{"i":{"$null":1}}', wrong('i', '$null', 'a boolean', 'integer')],
    ['{"i":{"$null":"true"}}', wrong('i', '$null', 'a boolean', 'string')],
    ['{"s":{"$null":null}}', wrong('s', '$null', 'a boolean', 'null')],
    ['{"i":{"$not":5}}', wrong('i', '$not', 'an object', 'integer')],
    ['{"i":{"$not":null}}', wrong('i', '$not', 'an object', 'null')],
    ['{"s":{"$not":["a"]}}', wrong('s', '$not', 'an object', 'array')],
    ['{"$and":{}}', '$and expects an array of objects, received object'],
    ['{"$and":null}', '$and expects an array of objects, received null'],
    ['{"$and":[1]}', '$and expects an array of objects, received array'],
    ['{"$or":"x"}', '$or expects an array of objects, received string'],
    ['{"$or":[{},[]]}', '$or expects an array of objects, received array'],
    ['{"$or":[null]}', '$or expects an array of objects, received array'],
    ['{"$not":[]}', '$not expects an object, received array'],
    ['{"$not":true}', '$not expects an object, received boolean'],
    ['{"$not":null}', '$not expects an object, received null'],
  ])('%s is told what is expected (DS-55): %s', async (filter, rest) => {
    expect(await refusal(filter)).toEqual(refused(rest));
  });

  test.each([
    '(',
    '[',
    'a{2,1}',
    '*a',
    '(?=x)',
    '(?<=x)',
    '(?!x)',
    '(a)\\1',
    '\\C',
    'a{1001}',
    '(?P<n',
    '\\pX',
    '(?z)',
  ])('the pattern %s is an invalid regex (DS-52, DS-55, B-R)', async (pattern) => {
    expect(await refusal({ s: { $regex: pattern } })).toEqual(
      refused(`column 's': invalid regex '${pattern}'`),
    );
  });
});

describe('limits of a filter', () => {
  const nested = (levels: number) => '{"$not":'.repeat(levels) + '{"i":5}' + '}'.repeat(levels);

  test('it may be 16 levels deep (DS-55)', async () => {
    expect(await matching(nested(16))).toEqual([1, 7]);
    expect(await refusal(nested(17))).toEqual(refused('too deep (maximum 16)'));
    for (const levels of [1_000, 7_000]) {
      expect(await refusal(nested(levels))).toEqual(refused('too deep (maximum 16)'));
    }
    expect(await refusal('{"$and":['.repeat(6_000))).toMatchObject({ status: 422 });
  });

  test('it may have 65,536 bytes (DS-55)', async () => {
    const padded = (bytes: number) => {
      const rest = bytes - Buffer.byteLength('{"s":"é"}');
      return `{"s":"é${'x'.repeat(rest)}"}`;
    };
    expect(await matching(padded(65_536))).toEqual([]);
    expect(await refusal(padded(65_537))).toEqual(refused('too large (maximum 65536 bytes)'));
    expect(await refusal(`{}${' '.repeat(65_535)}`)).toEqual(
      refused('too large (maximum 65536 bytes)'),
    );
  });

  test('$in and $nin take 1000 values (DS-52)', async () => {
    const values = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
    expect(await matching({ i: { $in: values(1_000) } })).toEqual([1, 3, 7]);
    expect(await matching({ i: { $nin: values(1_000) } })).toEqual([2, 4, 5, 6]);
    for (const operator of ['$in', '$nin']) {
      expect(await refusal({ i: { [operator]: values(1_001) } })).toEqual(
        refused(`column 'i': operator ${operator} expects an array of scalars, received array`),
      );
    }
  });

  test('thousands of conditions are no error (B-Q)', async () => {
    const conditions = Array.from({ length: 3_000 }, (_, index) => ({ i: index }));
    expect(await matching({ $or: conditions })).toEqual([1, 3, 4, 7]);
    expect(await matching({ $and: conditions })).toEqual([]);
    const columns = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`c${index}`, index]),
    );
    expect(await matching(columns, 'wide')).toEqual([1]);
  });
});

describe('column names', () => {
  test.each([
    ['$gt', 1],
    ['$eq', 2],
    ['a.b', 4],
    ["a'b", 5],
    ['x"; drop table t; --', 6],
    ['__proto__', 7],
    ['constructor', 8],
    ['column_9', 9],
    ['$.a', 10],
  ])('%s is an ordinary name (DS-56, S-Q2)', async (name, value) => {
    expect(await matching(`{${JSON.stringify(name)}:${value}}`, 'named')).toEqual([1]);
    expect(await matching(`{${JSON.stringify(name)}:{"$gt":${value}}}`, 'named')).toEqual([2]);
    const sorted = await list(shared.reader, 'named', { sort: `-"${name.replaceAll('"', '""')}"` });
    expect(idsOf(sorted.rows)).toEqual([2, 1]);
  });

  test('only $and, $or and $not keep their meaning (DS-56)', async () => {
    expect(await refusal('{"$and":3}', 'named')).toEqual(
      refused('$and expects an array of objects, received integer'),
    );
    expect(await matching('{"$and":[{"$gt":1}]}', 'named')).toEqual([1]);
  });

  test('nothing of it pollutes later requests (S-Q4)', async () => {
    await refusal('{"__proto__":{"x":1}}');
    await refusal('{"constructor":{"prototype":{"x":1}}}');
    const path = '/api/typed/?__proto__[x]=1&constructor.prototype.x=1&__proto__=1&limit=1';
    const { rows, status } = await get(shared.reader, path);
    expect(status).toBe(200);
    expect(Object.keys(rows[0]!)).toEqual(['_row_id', 'key', 'i', 'x', 'f', 's']);
    expect(await matching('{"i":{}}')).toEqual(ALL);
  });
});

test('a filter of bytes that are no text is refused or matches nothing, never an error (B-R)', async () => {
  for (const bytes of ['%FF', '%C3%28', '%ED%A0%80', '%00']) {
    const path = `${address('texts')}?filter=%7B%22s%22%3A%7B%22%24regex%22%3A%22${bytes}%22%7D%7D`;
    const { status, rows } = await get(shared.reader, path);
    expect([200, 400, 422]).toContain(status);
    expect(rows).toEqual([]);
  }
  expect(await refusal('{"s":"\\ud800"}', 'texts')).toMatchObject({ status: 422 });
});
