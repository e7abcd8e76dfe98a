/**
 * Queries made to hurt: patterns that blow up, SQL in every place, confusing shapes (B-Q, B-R, B-F, S-Q, S-X).
 *
 * Each answers as the contract says or is refused; none fails, none takes long, none holds up others.
 */
import { describe, expect, test } from 'bun:test';
import { get, idsOf, list } from './listing.ts';
import type { Query } from './listing.ts';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';
import { onSharedCores } from '../support/patience.ts';

/** Rows of 100 KB, a megabyte together, each the worst for one pattern. */
const LONG_TEXTS = {
  a: 'a'.repeat(100_000),
  'a!': `${'a'.repeat(99_999)}!`,
  x: 'x'.repeat(100_000),
  words: 'word '.repeat(20_000),
  'words!': `${'word '.repeat(19_999)}!`,
  commas: 'x,'.repeat(50_000),
  'commas P': `${'x,'.repeat(49_999)}P`,
  spaces: `${' '.repeat(99_999)}.`,
  'end of spaces': `.${' '.repeat(99_999)}`,
  mixed: 'ab'.repeat(50_000),
};
const NAMES = Object.keys(LONG_TEXTS);

const shared = sharedService({
  files: {
    'long.csv': `name,text\n${Object.entries(LONG_TEXTS)
      .map(([name, text]) => `${name},"${text}"`)
      .join('\n')}\n`,
    'small.csv': 'name,n\nalpha,1\nbeta,2\n',
    'other.csv': 'name,n\nsecret,9\n',
  },
});

const MOST_MS = 10_000;

async function timed<Result>(work: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  const result = await work();
  expect(performance.now() - start).toBeLessThan(onSharedCores(MOST_MS));
  return result;
}

const matching = async (filter: unknown) => {
  const { status, rows, text } = await timed(() =>
    list(shared.reader, 'long', { filter: filter as object, columns: 'name' }),
  );
  expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
  return rows.map(({ name }) => name);
};

describe('patterns that take other engines forever', () => {
  test.each([
    ['(a+)+$', ['a']],
    ['^(a+)+$', ['a']],
    ['^(a+)+b$|^.*!$', ['a!', 'words!']],
    ['^(\\w+\\s?)*$', ['a', 'x', 'words', 'mixed']],
    ['(x+x+)+y', []],
    ['^(.*?,){11}P', ['commas P']],
    ['^([^,]*,)*P$', ['commas P']],
    ['\\s+$', ['words', 'end of spaces']],
    ['\\s+\\.$', ['spaces']],
    ['(a|a)*$', NAMES],
    ['^(a|ab)*$', ['a', 'mixed']],
    ['(.*)(.*)(.*)(.*)(.*)!', ['a!', 'words!']],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', []],
    ['(?i)^(x+)*$', ['x']],
    ['.*.*.*=.*', []],
  ])('%s matches %j of ten rows of 100 KB, soon (DS-52, B-R)', async (pattern, names) => {
    expect(await matching({ text: { $regex: pattern } })).toEqual(names);
  });

  test.each([
    '(?=a)a',
    '(?!a)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?P<n>a)(?P=n)',
    '\\C',
    '(?>a+)',
    'a++',
    '(',
    ')',
    '[z-a]',
    '[',
    'a{1001}',
    'a{2,1}',
    '((a{100}){100}){100}',
    '(((a{30}){30}){30}){30}',
    '\\',
    '*',
    '(?P<n',
    '\\p{Nope}',
    '(?#comment)',
  ])('%s is refused (DS-52, DS-55, B-R)', async (pattern) => {
    const { status, detail } = await timed(() =>
      list(shared.reader, 'long', { filter: { text: { $regex: pattern } } }),
    );
    expect({ status, detail }).toEqual({
      status: 422,
      detail: `Invalid filter: column 'text': invalid regex '${pattern}'`,
    });
  });

  test.each([
    ['257 letters', 'a'.repeat(257)],
    ['60 counted repeats', 'a{1,60}'.repeat(60)],
    ['10,000 letters', 'a'.repeat(10_000)],
    ['60,000 letters', 'a'.repeat(60_000)],
    ['5,000 alternatives', Array.from({ length: 5_000 }, (_, index) => `a${index}`).join('|')],
    ['1,000 groups', `${'('.repeat(1_000)}a${')'.repeat(1_000)}`],
    ['500 stars', `${'(a*)'.repeat(500)}`],
    ['a class of everything', '[\\s\\S\\d\\D\\w\\W]'.repeat(50)],
    ['large repeats of classes', '[\\p{L}\\p{N}]{400}'],
    ['NUL', 'a\0b'],
    ['half a surrogate pair', '\\x{D800}'],
  ])('%s: answered or refused, soon (B-R)', async (_, pattern) => {
    const { status } = await timed(() =>
      list(shared.reader, 'long', { filter: { text: { $regex: pattern } }, columns: 'name' }),
    );
    expect([200, 422]).toContain(status);
  });

  test('the empty pattern matches all rows (B-R)', async () => {
    expect(await matching({ text: { $regex: '' } })).toEqual(NAMES);
  });

  test('others are served meanwhile (L9)', async () => {
    const heavy = Array.from({ length: 6 }, () =>
      list(shared.reader, 'long', {
        filter: { text: { $regex: '^(\\w+\\s?)*$', $not: { $regex: '(x+x+)+y' } } },
        columns: 'name',
      }),
    );
    const latencies: number[] = [];
    for (let request = 0; request < 20; request++) {
      const start = performance.now();
      expect((await list(shared.reader, 'small', { limit: 1 })).status).toBe(200);
      latencies.push(performance.now() - start);
    }
    for (const { status } of await Promise.all(heavy)) expect(status).toBe(200);
    expect(latencies.toSorted((a, b) => a - b)[10]!).toBeLessThan(onSharedCores(1_500));
  });
});

describe('long texts', () => {
  test('text operators take time in proportion only (D4)', async () => {
    expect(await matching({ text: { $contains: `${'a'.repeat(50_000)}!` } })).toEqual(['a!']);
    expect(await matching({ text: { $icontains: `${'A'.repeat(50_000)}!` } })).toEqual(['a!']);
    expect(await matching({ text: { $endswith: `${' '.repeat(50_000)}` } })).toEqual([
      'end of spaces',
    ]);
    expect(await matching({ text: { $startswith: 'word '.repeat(10_000) } })).toEqual([
      'words',
      'words!',
    ]);
  });

  test('words are found in them (DS-43)', async () => {
    for (const q of ['word', 'x', 'a'.repeat(1_000)]) {
      const { status } = await timed(() => list(shared.reader, 'long', { q, columns: 'name' }));
      expect(status).toBe(200);
    }
  });

  test('they sort and page (DS-41, DS-58)', async () => {
    const all = await timed(() => list(shared.reader, 'long', { sort: '-text', columns: 'name' }));
    expect(all.rows).toHaveLength(NAMES.length);
    const page = await timed(() =>
      list(shared.reader, 'long', { sort: '-text', columns: 'name', limit: 4 }),
    );
    const rest = await timed(() => get(shared.reader, page.next!));
    expect([...page.rows, ...rest.rows]).toEqual([...all.rows.slice(0, 8)]);
  });
});

describe('SQL', () => {
  const pieces = [
    "' OR '1'='1",
    '" OR "1"="1',
    "'; DROP TABLE rows; --",
    "1; ATTACH DATABASE '/tmp/x' AS x",
    ') UNION SELECT * FROM sqlite_schema --',
    '(select 1)',
    'rowid',
    'rows.c0',
    'c0',
    'sqlite_version()',
    "load_extension('x')",
    '/* */',
    '--',
    '%00',
    '\0',
    '?1',
    ':a',
    '$a',
    '@a',
    '{{7*7}}',
    '${7*7}',
  ];

  test.each(pieces)('%p is literal or unknown in every place (S-Q1, S-Q9, B-Q)', async (piece) => {
    const quoted = `"${piece.replaceAll('"', '""')}"`;
    const unknown: Query[] = [
      { sort: quoted },
      { columns: quoted },
      { filter: { [piece]: 1 } },
      { filter: { name: { [piece]: 1 } } },
      { cursor: piece },
    ];
    for (const query of unknown) {
      const { status, text } = await list(shared.reader, 'small', query);
      expect(status).toBe(422);
      expect(text).not.toMatch(/sqlite error|syntax error|near "/i);
    }
    const literal: Query[] = [
      { filter: { name: piece } },
      { filter: { name: { $gt: `~${piece}` } } },
      { filter: { name: { $contains: piece } } },
      { filter: { name: { $startswith: piece } } },
      { filter: { name: { $endswith: piece } } },
      { filter: { name: { $in: [piece, `${piece}x`] } } },
    ];
    for (const query of literal) {
      const { status, rows } = await list(shared.reader, 'small', query);
      expect({ query, status, rows: rows.length }).toEqual({ query, status: 200, rows: 0 });
    }
    for (const query of [{ q: piece }, { [piece]: piece }, { name: piece }]) {
      const { status, text } = await list(shared.reader, 'small', query);
      expect(status).toBe(200);
      expect(text).not.toContain('secret');
    }
    expect((await list(shared.reader, 'small')).total).toBe(2);
  });
});

describe('confusing shapes', () => {
  test.each([
    'filter[$ne]=1',
    'filter[name][$eq]=alpha',
    'filter=&filter[]=x',
    'limit[]=0&limit[a]=x',
    'sort[]=nope&sort[0]=nope',
    'columns[]=nope',
    'q[$regex]=.*',
    '$where=1',
    '__proto__[limit]=0&constructor[prototype][limit]=0',
    'LIMIT=0&Filter=x&ORDER=x',
    '&&&=&=x&limit',
    ';limit=0',
    '%6cimit%00=0',
  ])('?%s holds no parameter, or an empty one (DS-3, B-Q, S-Q6)', async (search) => {
    const { status, rows } = await get(
      shared.reader,
      `/api/small/?${search.replace(/&limit$/, '')}`,
    );
    expect(status).toBe(200);
    expect(idsOf(rows)).toEqual([1, 2]);
  });

  test.each([
    'limit=1&limit=0',
    'sort=name&sort=nope',
    'filter={}&filter={',
    'order=asc&order=x',
    'format=json&format=x',
  ])('of ?%s the last one counts (DS-3)', async (search) => {
    expect((await get(shared.reader, `/api/small/?${search}`)).status).toBe(422);
    const parts = search.split('&').toReversed().join('&');
    expect((await get(shared.reader, `/api/small/?${parts}`)).status).toBe(200);
  });

  test.each([
    '?filter=%',
    '?filter=%zz',
    '?filter=%E0%A4%A',
    '?limit=%FF',
    '?sort=%C0%AF',
    '?columns=%ED%A0%80',
    '?cursor=%00',
    '?q=%FF%FE',
    '??limit=1',
    '?#limit=0',
    '?limit=1#x',
    `?${'a=1&'.repeat(20_000)}`,
    `?x=${'y'.repeat(200_000)}`,
  ])('%.40s is answered or refused, never an error (S-Q1)', async (search) => {
    const key = await shared.service.accounts.apiKey('reader');
    const { status } = await rawRequest(shared.service.url, {
      path: `/api/small/${search}`,
      headers: { 'X-API-Key': key },
    });
    expect([200, 400, 404, 422]).toContain(status);
  });

  test('a request head beyond 256 KiB is 431, and others go on (DS-18)', async () => {
    const { status } = await rawRequest(shared.service.url, {
      path: `/api/small/?x=${'y'.repeat(300_000)}`,
    });
    expect(status).toBe(431);
    expect((await list(shared.reader, 'small')).status).toBe(200);
  });

  test('nothing that is asked for is reflected into a header of its own (S-X10)', async () => {
    const evil = 'x\r\nSet-Cookie: evil=1\r\n\r\n<script>';
    for (const query of [
      { q: evil, limit: 1 },
      { sort: evil },
      { columns: evil },
      { cursor: evil },
    ]) {
      const { headers } = await list(shared.reader, 'small', query);
      expect(headers.get('Set-Cookie')).toBeNull();
    }
    const { status, headers } = await get(shared.reader, `/api/small%0d%0aSet-Cookie:%20a=b/`);
    expect(status).toBe(404);
    expect(headers.get('Set-Cookie')).toBeNull();
  });
});

test('after all that the service is healthy and the files are as they were', async () => {
  expect((await get(shared.service, '/health')).body).toMatchObject({ status: 'ok' });
  expect((await list(shared.reader, 'small')).text).toBe(
    '[{"_row_id":1,"name":"alpha","n":1},{"_row_id":2,"name":"beta","n":2}]',
  );
});
