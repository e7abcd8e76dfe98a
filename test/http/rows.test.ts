/**
 * Lists of rows: their shape, pages, projection and words (DS-35 to DS-43, DS-47, DS-50).
 */
import { describe, expect, test } from 'bun:test';
import { address, columnOf, get, idsOf, list } from './listing.ts';
import type { Query } from './listing.ts';
import { sharedService } from './shared-service.ts';

const CITIES = `id,city,country,population,capital
7,Zürich,CH,421878,false
3,Bern,CH,134794,true
9,Lyon,FR,522228,false
4,Paris,FR,2145906,true
5,,FR,,
6,Bernburg,DE,32674,false
`;

const shared = sharedService({
  files: {
    'cities.csv': CITIES,
    'numbered.csv': 'b,10,2,a,__proto__,constructor\n1,2,3,4,5,6\n',
    'own_id.csv': '_row_id,x\n70,a\n80,b\n',
    'own_ids.csv': '_row_id,_row_id_2,_row_id\n1,2,3\n',
    'quoted.csv': '"a,b","say ""hi""",-n,n\n1,2,3,4\n',
    'header.csv': 'a,b\n',
    'empty.csv': '',
    'words.csv': [
      'title,note,count,flag',
      'Crème brûlée,sweet dessert,12,true',
      'Apple pie,dessert with crust,7,false',
      'STRASSE Straße,ÄÖÜ,345,true',
      'snake_case under_score,x,1.5,false',
      'creme,plain,,',
      '東京 Tokyo,café,0,true',
      '',
    ].join('\n'),
  },
});

const rows = (name: string, query: Query = {}) => list(shared.reader, name, query);

describe('the shape of rows', () => {
  test('an array of objects, _row_id first, then the columns in file order (DS-35)', async () => {
    const { status, text, headers } = await rows('cities', { limit: 2 });
    expect(status).toBe(200);
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(text).toBe(
      '[{"_row_id":1,"id":7,"city":"Zürich","country":"CH","population":421878,"capital":false},' +
        '{"_row_id":2,"id":3,"city":"Bern","country":"CH","population":134794,"capital":true}]',
    );
  });

  test('columns called like integers or like members of every object keep their place (DS-35)', async () => {
    const { text } = await rows('numbered');
    expect(text).toBe('[{"_row_id":1,"b":1,"10":2,"2":3,"a":4,"__proto__":5,"constructor":6}]');
  });

  test('every row has every column, blank cells as the empty text (DS-35, DS-64)', async () => {
    const { rows: found } = await rows('cities', { filter: { id: 5 } });
    expect(found).toEqual([
      { _row_id: 5, id: 5, city: '', country: 'FR', population: '', capital: '' },
    ]);
  });

  test('a column of the file called _row_id is shown as _row_id_2 (DS-50)', async () => {
    expect((await rows('own_id')).text).toBe(
      '[{"_row_id":1,"_row_id_2":70,"x":"a"},{"_row_id":2,"_row_id_2":80,"x":"b"}]',
    );
  });

  test('the names made for columns called _row_id never collide (DS-50, DS-63)', async () => {
    const { text } = await rows('own_ids');
    expect([...text.matchAll(/"([^"]+)":/g)].map(([, name]) => name).sort()).toEqual([
      '_row_id',
      '_row_id_2',
      '_row_id_3',
      '_row_id_4',
    ]);
  });

  test.each(['header', 'empty'])('%s.csv is a list without rows (DS-63)', async (name) => {
    const { status, text, total } = await rows(name);
    expect({ status, text, total }).toEqual({ status: 200, text: '[]', total: 0 });
  });
});

describe('limit and offset', () => {
  test('without a limit all rows come (DS-36)', async () => {
    const { rows: found, total, next } = await rows('cities');
    expect(idsOf(found)).toEqual([1, 2, 3, 4, 5, 6]);
    expect({ total, next }).toEqual({ total: 6, next: null });
  });

  test.each([
    [{ limit: 1 }, [1]],
    [{ limit: 6 }, [1, 2, 3, 4, 5, 6]],
    [{ limit: 7 }, [1, 2, 3, 4, 5, 6]],
    [{ limit: 2, offset: 3 }, [4, 5]],
    [{ offset: 4 }, [5, 6]],
    [{ offset: 6 }, []],
    [{ offset: 7, limit: 1 }, []],
    [{ limit: '2147483648' }, [1, 2, 3, 4, 5, 6]],
    [{ limit: '9007199254740991' }, [1, 2, 3, 4, 5, 6]],
    [{ limit: '9007199254740993' }, [1, 2, 3, 4, 5, 6]],
    [{ limit: '1000000000000000000000000000000' }, [1, 2, 3, 4, 5, 6]],
    [{ offset: '9007199254740992' }, []],
    [{ offset: '9007199254740991', limit: '9007199254740991' }, []],
    [{ offset: '1000000000000000000000000000000' }, []],
    [{ sort: 'city', offset: '1000000000000000000000000000000', limit: 3 }, []],
    [{ filter: { country: 'FR' }, offset: '9007199254740991' }, []],
  ] as [Query, number[]][])(
    '%j gives the rows %j and counts all of them (DS-36, DS-40)',
    async (query, ids) => {
      const found = await rows('cities', query);
      expect(found.status).toBe(200);
      expect(idsOf(found.rows)).toEqual(ids);
      expect(found.total).toBe('filter' in query ? 3 : 6);
    },
  );

  test('of a repeated parameter the last one counts, slips are refused (DS-3)', async () => {
    const query = '/api/cities/?limit=5&order=desc&limit=2&order=asc&sort=city&sort=id';
    expect(columnOf((await get(shared.reader, query)).rows, 'id')).toEqual([3, 4]);
    expect((await get(shared.reader, `${query}&_=1700000000&_t=1`)).status).toBe(200);
    const wrong = await get(shared.reader, `${query}&ordr=desc`);
    expect([wrong.status, JSON.parse(wrong.text)]).toEqual([
      422,
      {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['query', 'ordr'],
            msg: "Unknown parameter 'ordr'; did you mean 'order'? Taken are limit, offset, cursor, sort, order, filter, q, columns, format, at",
          },
        ],
      },
    ]);
    for (const other of ['nonsense=1', 'x=1', '_method=DELETE', 'callback=f'])
      expect([other, (await get(shared.reader, `${query}&${other}`)).status]).toEqual([other, 200]);
    expect((await get(shared.reader, '/schema/cities/?limit=1')).status).toBe(200);
    const change = await shared.writer.fetch('/api/cities/?dryrun=1', {
      method: 'DELETE',
      body: '{"action":"delete","data":{"_row_id":1}}',
    });
    expect(change.status).toBe(422);
    expect((await get(shared.reader, '/ui/cities/?nonsense=1')).status).toBe(200);
    expect((await get(shared.reader, '/search?q=x&limits=1')).status).toBe(422);
  });
});

describe('parameters that are no such thing', () => {
  test.each([
    ['limit', '0', 'greater_than_equal', { ge: 1 }],
    ['limit', '-1', 'greater_than_equal', { ge: 1 }],
    ['limit', '-99999999999999999999', 'greater_than_equal', { ge: 1 }],
    ['limit', '', 'int_parsing', undefined],
    ['limit', 'abc', 'int_parsing', undefined],
    ['limit', '1.5', 'int_parsing', undefined],
    ['limit', '1e3', 'int_parsing', undefined],
    ['limit', '0x10', 'int_parsing', undefined],
    ['limit', '1;drop', 'int_parsing', undefined],
    ['limit', 'null', 'int_parsing', undefined],
    ['limit', '١', 'int_parsing', undefined],
    ['offset', '-1', 'greater_than_equal', { ge: 0 }],
    ['offset', 'x', 'int_parsing', undefined],
    ['offset', '', 'int_parsing', undefined],
    ['offset', '2.0', 'int_parsing', undefined],
    ['order', 'up', 'string_pattern_mismatch', { pattern: expect.any(String) }],
    ['order', 'ASC', 'string_pattern_mismatch', { pattern: expect.any(String) }],
    ['order', 'asc ', 'string_pattern_mismatch', { pattern: expect.any(String) }],
    ['order', '', 'string_pattern_mismatch', { pattern: expect.any(String) }],
    ['format', 'xml', 'string_pattern_mismatch', { pattern: expect.any(String) }],
    ['format', 'CSV', 'string_pattern_mismatch', { pattern: expect.any(String) }],
    ['format', '', 'string_pattern_mismatch', { pattern: expect.any(String) }],
  ])('%s=%s is refused as %s, naming the parameter (DS-37)', async (name, input, type, ctx) => {
    const { status, detail } = await rows('cities', { [name]: input });
    expect(status).toBe(422);
    expect(detail).toEqual([
      {
        type,
        loc: ['query', name],
        msg: expect.any(String),
        input,
        ...(ctx !== undefined && { ctx }),
      },
    ]);
  });

  test('all of them are named at once, also where they would have had no effect (DS-37)', async () => {
    const { status, detail } = await rows('empty', {
      limit: 0,
      offset: 'x',
      order: 'no',
      format: 'no',
    });
    expect(status).toBe(422);
    const names = (detail as { loc: string[] }[]).map(({ loc }) => loc[1]).sort();
    expect(names).toEqual(['format', 'limit', 'offset', 'order']);
  });

  test.each(['not a cursor', 'e30', 'bnVsbA', 'W10', '%00', 'W251bGwsMV0'])(
    'the cursor %s is refused (DS-41)',
    async (cursor) => {
      const { status, detail } = await rows('cities', { cursor, limit: 1 });
      expect({ status, detail }).toEqual({ status: 422, detail: 'Invalid cursor' });
    },
  );

  test('a cursor beside an offset is refused, beside offset 0 it is not (DS-36)', async () => {
    const { next } = await rows('cities', { limit: 2 });
    const refused = await get(shared.reader, `${next}&offset=1`);
    expect({ status: refused.status, detail: refused.detail }).toEqual({
      status: 422,
      detail: 'Invalid cursor',
    });
    expect(idsOf((await get(shared.reader, `${next}&offset=0`)).rows)).toEqual([3, 4]);
  });
});

describe('the order in which parameters apply', () => {
  test('filter, sort, offset, limit, columns, over ids given before all of them (DS-38)', async () => {
    const { rows: found, total } = await rows('cities', {
      filter: { country: { $in: ['CH', 'FR'] } },
      sort: '-population',
      offset: 1,
      limit: 3,
      columns: 'city',
    });
    expect(found).toEqual([
      { _row_id: 3, city: 'Lyon' },
      { _row_id: 1, city: 'Zürich' },
      { _row_id: 2, city: 'Bern' },
    ]);
    expect(total).toBe(5);
  });

  test('filter and words restrict together (DS-38, DS-40)', async () => {
    const { rows: found, total } = await rows('cities', { q: 'bern', filter: { capital: true } });
    expect(columnOf(found, 'city')).toEqual(['Bern']);
    expect(total).toBe(1);
  });

  test('_row_id filters and sorts like an integer column (DS-47)', async () => {
    const { rows: found } = await rows('cities', {
      filter: { _row_id: { $gte: '2', $lt: 5 } },
      sort: '-_row_id',
    });
    expect(idsOf(found)).toEqual([4, 3, 2]);
  });
});

describe('columns', () => {
  test.each([
    [{ columns: 'country,city' }, '{"_row_id":1,"country":"CH","city":"Zürich"}'],
    [{ columns: ['country', 'city'] }, '{"_row_id":1,"country":"CH","city":"Zürich"}'],
    [{ columns: ['country,id', 'city'] }, '{"_row_id":1,"country":"CH","id":7,"city":"Zürich"}'],
    [{ columns: 'city,_row_id' }, '{"_row_id":1,"city":"Zürich"}'],
    [{ columns: '_row_id' }, '{"_row_id":1}'],
    [{ columns: '"city"' }, '{"_row_id":1,"city":"Zürich"}'],
    [
      { columns: '' },
      '{"_row_id":1,"id":7,"city":"Zürich","country":"CH","population":421878,"capital":false}',
    ],
  ] as [Query, string][])(
    '%j shows those columns in that order (DS-42)',
    async (query, expected) => {
      const { text } = await rows('cities', { ...query, limit: 1 });
      expect(text).toBe(`[${expected}]`);
    },
  );

  test.each([
    ['"a,b"', '{"_row_id":1,"a,b":1}'],
    ['"say ""hi"""', '{"_row_id":1,"say \\"hi\\"":2}'],
    ['-n,"a,b",n', '{"_row_id":1,"-n":3,"a,b":1,"n":4}'],
  ])('names with commas or quotes are quoted: %s (DS-42)', async (columns, expected) => {
    expect((await rows('quoted', { columns })).text).toBe(`[${expected}]`);
  });

  test.each(['nope', 'City', 'rowid', 'c0', '_row_id_2', '__proto__', 'toString', "x' OR 1=1 --"])(
    'the unknown column %s is refused by name (DS-42)',
    async (name) => {
      const { status, detail } = await rows('cities', { columns: `city,${name}` });
      expect({ status, detail }).toEqual({
        status: 422,
        detail: `Invalid columns: unknown column '${name}'`,
      });
    },
  );

  test('a column that is not shown still filters and sorts (DS-38, DS-42)', async () => {
    const { rows: found } = await rows('cities', {
      columns: 'city',
      sort: 'population',
      filter: { country: 'FR', population: { $gt: 0 } },
    });
    expect(found).toEqual([
      { _row_id: 3, city: 'Lyon' },
      { _row_id: 4, city: 'Paris' },
    ]);
  });
});

describe('words', () => {
  test.each([
    ['dessert', [1, 2]],
    ['DESSERT sweet', [1]],
    ['pie crust', [2]],
    ['crust pie', [2]],
    ['creme', [1, 5]],
    ['CRÈME', [1, 5]],
    ['crè', [1, 5]],
    ['brulee cr', [1]],
    ['cr brulee', []],
    ['strasse', [3]],
    ['Straße', [3]],
    ['äöü', [3]],
    ['aou', [3]],
    ['under', [4]],
    ['score', []],
    ['snake_case', [4]],
    ['34', [3]],
    ['345', [3]],
    ['45', []],
    ['1 5', [4]],
    ['true', [1, 3, 6]],
    ['東京', [6]],
    ['cafe', [6]],
    ['nothing', []],
    ['dessert, (sweet)!', [1]],
  ])('%s are found in the rows %j, in file order (DS-43, DS-147)', async (q, ids) => {
    const { rows: found, total } = await rows('words', { q });
    expect(idsOf(found)).toEqual(ids);
    expect(total).toBe(ids.length);
  });

  test.each(['', '   ', '!?', '"', '*', '()', ' - '])(
    'q=%s holds no word and restricts nothing (DS-43)',
    async (q) => {
      expect((await rows('words', { q })).total).toBe(6);
    },
  );

  test('the words of one row may stand in different cells and come in the order of the sort (DS-43)', async () => {
    const { rows: found } = await rows('words', { q: 'dessert', sort: 'count' });
    expect(columnOf(found, 'count')).toEqual([7, 12]);
  });

  test('the first 16 words count (DS-147)', async () => {
    const sixteen = Array.from({ length: 16 }, () => 'dessert').join(' ');
    expect((await rows('words', { q: `${sixteen} nothing` })).total).toBe(2);
    expect((await rows('words', { q: `${sixteen.slice(8)} nothing` })).total).toBe(0);
  });

  test.each([
    'AND',
    'a OR',
    'NEAR(',
    'col:x',
    '-x',
    '^',
    '{a b}:x',
    '('.repeat(500),
    "' UNION SELECT",
    ';ATTACH',
    'load_extension(',
    'w'.repeat(100_000),
    'word '.repeat(2_000),
    '\u0000',
    '\ufffd',
  ])('search syntax is literal text, never an error (B-F) %#', async (q) => {
    const { status } = await rows('words', { q });
    expect(status).toBe(200);
  });
});

test('every list carries X-Total-Count, also as HEAD (DS-6, DS-40)', async () => {
  const path = address('cities', { filter: { country: 'FR' }, limit: 1 });
  const { headers, text } = await get(shared.reader, path, { method: 'HEAD' });
  expect(text).toBe('');
  expect(headers.get('X-Total-Count')).toBe('3');
  expect(headers.get('Link')).toBe((await get(shared.reader, path)).headers.get('Link'));
});
