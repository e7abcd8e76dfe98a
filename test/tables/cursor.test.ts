import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type CursorKey,
  cursorDigest,
  cursorOf,
  encodeCursor,
} from '../../src/tables/read/cursor-token.ts';
import { indexName } from '../../src/tables/copy/table-index.ts';
import { read, typedCopy } from './typed-copy.ts';

const DIGEST = cursorDigest({ list: 'a.csv', filter: '', q: [], sort: [], order: 'asc' });

function tokenOf(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe('cursor tokens', () => {
  test('come back as they were', () => {
    const key = fc.oneof(
      fc.constant(null),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
      fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.toWellFormed()),
      fc
        .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
        .map((value) => ({ int: String(value) })),
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 4 }), fc.nat(), (keys: CursorKey[], rowId) => {
        const token = encodeCursor(DIGEST, { keys, rowId });
        expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(cursorOf({ cursor: token, offset: 0 }, DIGEST, keys.length)).toEqual({
          keys,
          rowId,
        });
      }),
    );
  });

  test('anything else is an invalid cursor', () => {
    const bad: unknown[] = [
      [DIGEST],
      [DIGEST, 1.5, 1],
      [DIGEST, '1', 1],
      [DIGEST, 1],
      [DIGEST, 1, 1, 2],
      ['other', 1, 1],
      [DIGEST, 1, []],
      [DIGEST, 1, true],
      [DIGEST, 1, {}],
      [DIGEST, 1, { int: '1; --' }],
      [DIGEST, 1, { int: '9223372036854775808' }],
      [DIGEST, 1, { int: 5, prefix: 'a' }],
      {},
      null,
      1,
    ];
    for (const value of bad) {
      expect(() => cursorOf({ cursor: tokenOf(value), offset: 0 }, DIGEST, 1)).toThrow(
        'Invalid cursor',
      );
    }
    for (const token of [
      '',
      '!',
      'YQ',
      'x'.repeat(10_000),
      `${tokenOf([DIGEST, 1, 1])}=`,
      tokenOf([DIGEST, 1, 1]).slice(1),
    ]) {
      expect(() => cursorOf({ cursor: token, offset: 0 }, DIGEST, 1)).toThrow('Invalid cursor');
    }
    fc.assert(
      fc.property(fc.string(), (token) => {
        expect(() => cursorOf({ cursor: token, offset: 0 }, DIGEST, 1)).toThrow('Invalid cursor');
      }),
    );
    expect(() =>
      cursorOf({ cursor: tokenOf(JSON.parse(`["${DIGEST}",1,1e999]`)), offset: 0 }, DIGEST, 1),
    ).not.toThrow();
    const infinite = Buffer.from(`["${DIGEST}",1,1e999]`).toString('base64url');
    expect(() => cursorOf({ cursor: infinite, offset: 0 }, DIGEST, 1)).toThrow('Invalid cursor');
  });
});

const rows = Array.from({ length: 50 }, (_, index) => [String(index % 7), `name ${index}`]);
const columns = [
  { name: 'n', type: 'integer' as const },
  { name: 't', type: 'string' as const },
];

describe('cursors of a list (DS-41)', () => {
  const copy = typedCopy({ columns, rows });
  const query = { sort: 'n', filter: '{"n":{"$gt":0}}', limit: 5 };
  const { next } = read(copy, query);

  test('are refused with another filter, sort, order, q or list, and with an offset', () => {
    expect(read(copy, { ...query, cursor: next!, limit: 9, columns: 't' }).ids).toHaveLength(9);
    for (const other of [
      { sort: '-n' },
      { sort: 'n,t' },
      { sort: '' },
      { order: 'desc' },
      { filter: '' },
      { filter: '{"n":{"$gt":1}}' },
      { q: 'name' },
      { offset: 1 },
    ]) {
      expect(() => read(copy, { ...query, ...other, cursor: next! })).toThrow('Invalid cursor');
    }
    const other = typedCopy({ columns, rows, figures: { list: 'others.csv' } });
    expect(() => read(other, { ...query, cursor: next! })).toThrow('Invalid cursor');
    expect(read(copy, { ...query, cursor: next!, offset: 0 }).ids).toHaveLength(5);
  });

  test('without a sort are refused when the order differs', () => {
    const plain = read(copy, { limit: 5 }).next!;
    expect(read(copy, { limit: 5, cursor: plain }).ids).toEqual([6, 7, 8, 9, 10]);
    expect(() => read(copy, { limit: 5, cursor: plain, order: 'desc' })).toThrow('Invalid cursor');
  });

  test('exist while rows follow and not on the last page or without a limit', () => {
    expect(read(copy, { limit: 49 }).next).not.toBeNull();
    expect(read(copy, { limit: 50 }).next).toBeNull();
    expect(read(copy, { limit: 51 }).next).toBeNull();
    expect(read(copy, {}).next).toBeNull();
    expect(read(copy, { limit: 5, offset: 45 }).next).toBeNull();
    expect(read(copy, { limit: 5, offset: 100 })).toMatchObject({ ids: [], next: null, total: 50 });
  });

  test('go on by key values after the row itself is gone or moved', () => {
    const own = typedCopy({ columns, rows });
    const page = read(own, { sort: 'n', limit: 10 });
    own.db.run('DELETE FROM rows WHERE _row_id = ?', [page.ids.at(-1)!]);
    const before = read(copy, { sort: 'n' }).ids;
    expect(read(own, { sort: 'n', limit: 100, cursor: page.next! }).ids).toEqual(before.slice(10));
  });

  test('walk a range of the sorted column by its index, blanks included when they match', () => {
    const blanks = [...rows, ['', 'x'], ['', 'y'], ['', 'z']];
    for (const indexes of [[], [indexName(0, false)], [indexName(0, true)]]) {
      const own = typedCopy({ columns, rows: blanks, indexes });
      for (const filter of [
        '',
        '{"n":{"$gte":2}}',
        '{"n":{"$ne":3}}',
        '{"n":5}',
        '{"n":{"$gt":1},"t":{"$contains":"1"}}',
      ]) {
        for (const sort of ['n', '-n']) {
          const whole = read(own, { filter, sort }).ids;
          const walked: number[] = [];
          let page = read(own, { filter, sort, limit: 4 });
          while (page.next !== null) {
            walked.push(...page.ids);
            page = read(own, { filter, sort, limit: 4, cursor: page.next });
          }
          expect([...walked, ...page.ids]).toEqual(whole);
        }
      }
    }
  });
});

describe('cursors over long texts', () => {
  const long = 'x'.repeat(5_000);
  const texts = [
    ...Array.from({ length: 20 }, (_, index) => `${long}${String(index % 5)}`),
    `${'😀'.repeat(3_000)}`,
    'a',
  ];
  const copy = typedCopy({
    columns: [{ name: 't', type: 'string' }],
    rows: texts.map((text) => [text]),
  });

  test('stay short and lose no place', () => {
    for (const sort of ['t', '-t', '-t,-_row_id']) {
      const whole = read(copy, { sort }).ids;
      const walked: number[] = [];
      let page = read(copy, { sort, limit: 3 });
      while (page.next !== null) {
        expect(page.next.length).toBeLessThan(25_000);
        walked.push(...page.ids);
        page = read(copy, { sort, limit: 3, cursor: page.next });
      }
      expect([...walked, ...page.ids]).toEqual(whole);
    }
  });
});
