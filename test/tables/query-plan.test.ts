/**
 * Plans as data: the ways to the rows, what SQLite makes of them, and what they are said to cost.
 */
import { describe, expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import type { Scan } from '../../src/tables/read/scan.ts';
import { parseListParameters } from '../../src/tables/read/list-parameters.ts';
import { boundValue } from '../../src/tables/read/sql-part.ts';
import { createIndexSql, indexName } from '../../src/tables/copy/table-index.ts';
import type { QueryPlan } from '../../src/tables/read/query-plan.ts';
import { parametersOf, planFor, read, type TypedCopy, typedCopy } from './typed-copy.ts';

const COLUMNS = [
  { name: 'price', type: 'number' as const },
  { name: 'name', type: 'string' as const },
  { name: 'n', type: 'integer' as const },
];
const ROWS = Array.from({ length: 30 }, (_, index) => [
  index % 4 ? String(index % 9) : '',
  `n${index}`,
  String(index),
]);
const PRICE = [indexName(0, false), indexName(0, true), indexName(1, false)];

function million(indexes: readonly string[], lastRowId = 1_000_000): TypedCopy {
  const figures = { rowCount: 1_000_000, lastRowId, bytes: 63_000_000 };
  return typedCopy({ columns: COLUMNS, rows: ROWS, indexes, figures });
}

function stepsOf(copy: TypedCopy, { where, order }: Scan): string {
  const sql = `EXPLAIN QUERY PLAN SELECT rows.c2 FROM rows WHERE ${where.sql} ORDER BY ${order} LIMIT 5`;
  return copy.db
    .query(sql)
    .values(...where.params.map(boundValue))
    .map((row) => row[3])
    .join('; ');
}

function walkOf(plan: QueryPlan): readonly Scan[] {
  return plan.walk!.scans;
}

describe('a walk', () => {
  const copy = million(PRICE);

  test.each([
    [{}, 'SCAN rows'],
    [{ sort: '-_row_id' }, 'SCAN rows'],
    [{ sort: 'price' }, 'SCAN rows USING INDEX rows_c0'],
    [{ sort: '-price' }, 'SCAN rows USING INDEX rows_c0_desc'],
    [
      { sort: 'price', filter: '{"price":{"$gt":50}}' },
      'SEARCH rows USING INDEX rows_c0 (c0>? AND c0<?)',
    ],
    [
      { sort: '-price', filter: '{"price":{"$gt":50}}' },
      'SEARCH rows USING INDEX rows_c0_desc (c0>? AND c0<?)',
    ],
    [{ filter: '{"name":"x"}' }, 'SEARCH rows USING INDEX rows_c1 (c1=?)'],
    [{ filter: '{"_row_id":5}' }, 'SEARCH rows USING INTEGER PRIMARY KEY (rowid=?)'],
    [{ filter: '{"_row_id":{"$gt":5}}' }, 'SEARCH rows USING INTEGER PRIMARY KEY (rowid>?)'],
    [{ sort: 'price', filter: '{"name":"x"}' }, 'SCAN rows USING INDEX rows_c0'],
    [{ filter: '{"price":{"$gt":50}}' }, 'SCAN rows'],
    [
      { sort: 'name', filter: '{"name":{"$startswith":"n1"}}' },
      'SEARCH rows USING INDEX rows_c1 (c1>? AND c1<?)',
    ],
  ])('of %j reads in order: %s', (query, steps) => {
    const [scan] = walkOf(planFor(copy, { limit: 10, ...query }));
    expect(stepsOf(copy, scan!)).toBe(steps);
    expect(stepsOf(copy, { ...scan!, order: scan!.reversed })).not.toContain('TEMP B-TREE');
  });

  test('after a cursor seeks to its place and needs no sorting', () => {
    for (const sort of ['price', '-price']) {
      const { next } = read(copy, { sort, limit: 10 });
      const scans = walkOf(planFor(copy, { sort, limit: 10, cursor: next! }));
      expect(scans.map((scan) => stepsOf(copy, scan))).toEqual([
        expect.stringMatching(/^SEARCH rows USING INDEX \w+ \(c0=\? AND rowid>\?\)$/),
        expect.stringMatching(/^SEARCH rows USING INDEX \w+ \(c0[<>]\?\)$/),
        expect.stringMatching(/^SEARCH rows USING INDEX \w+ \(c0=\?\)$/),
      ]);
    }
    const { next } = read(copy, { limit: 10 });
    expect(
      walkOf(planFor(copy, { limit: 10, cursor: next! })).map((scan) => stepsOf(copy, scan)),
    ).toEqual(['SEARCH rows USING INTEGER PRIMARY KEY (rowid>?)']);
  });

  test('goes straight to an offset when no row id is missing', () => {
    const dense = planFor(copy, { limit: 10, offset: 900_000 });
    expect(dense).toMatchObject({ offset: 0, gather: null });
    expect(walkOf(dense)[0]!.where).toEqual({ sql: 'rows._row_id > ?', params: [900_000] });
    expect(planFor(million([], 1_000_001), { limit: 10, offset: 900_000 }).offset).toBe(900_000);
    expect(planFor(copy, { limit: 10, offset: 9, filter: '{"n":1}' }).offset).toBe(9);
  });
});

describe('a gather', () => {
  const copy = million(PRICE);

  test('is there for what no index puts in order, and beside a walk that may visit far too much', () => {
    const has = (query: Record<string, string>) => {
      const { walk, gather } = planFor(copy, { limit: 10, ...query });
      return [walk !== null, gather !== null];
    };
    expect(has({})).toEqual([true, false]);
    expect(has({ sort: 'n' })).toEqual([false, true]);
    expect(has({ sort: 'price,n' })).toEqual([false, true]);
    expect(has({ sort: 'price,_row_id' })).toEqual([true, false]);
    expect(has({ sort: 'price', filter: '{"n":1}' })).toEqual([true, true]);
    expect(has({ filter: '{"n":1}' })).toEqual([true, false]);
    expect(has({ filter: '{"price":{"$gt":1}}' })).toEqual([true, true]);
  });

  test('is the only way where the index goes in the other direction', () => {
    for (const [descending, sort] of [
      [true, 'price'],
      [false, '-price'],
    ] as const) {
      const { walk, gather } = planFor(million([indexName(0, descending)]), { sort, limit: 10 });
      expect([walk, gather?.isIndexed]).toEqual([null, false]);
    }
  });

  test('may use an index to find rows but never to order them', () => {
    const plan = planFor(copy, { limit: 10, sort: 'price', filter: '{"name":"x"}' });
    expect(stepsOf(copy, plan.gather!.scan)).toBe(
      'SEARCH rows USING INDEX rows_c1 (c1=?); USE TEMP B-TREE FOR ORDER BY',
    );
  });
});

describe('cost', () => {
  const cheap = (copy: TypedCopy, query: Record<string, string | number>) => {
    const { isPageCheap, isCheap } = planFor(copy, query);
    return [isPageCheap, isCheap];
  };
  const small = typedCopy({
    columns: [...COLUMNS, ...COLUMNS.map(({ name, type }) => ({ name: `${name}2`, type }))],
    rows: ROWS,
    figures: { rowCount: 20_000, lastRowId: 20_000, bytes: 1_300_000 },
  });
  const large = million(PRICE);

  test('of a table of 20,000 rows is low, except for the whole of it, regular expressions and words', () => {
    expect(cheap(small, { limit: 10_000 })).toEqual([true, true]);
    expect(cheap(small, {})).toEqual([false, false]);
    expect(cheap(small, { sort: 'n', limit: 100 })).toEqual([true, true]);
    expect(cheap(small, { sort: '-price', filter: '{"n":{"$gt":5}}', limit: 100 })).toEqual([
      true,
      true,
    ]);
    expect(cheap(small, { filter: '{"name":{"$icontains":"x"}}', limit: 100 })).toEqual([
      true,
      true,
    ]);
    expect(cheap(small, { filter: '{"name":{"$regex":"x"}}', limit: 100 })).toEqual([false, false]);
    expect(cheap(small, { q: 'x', limit: 100 })).toEqual([false, false]);
  });

  test('of a million rows is low for what an index or the row id serves', () => {
    expect(cheap(large, { limit: 100 })).toEqual([true, true]);
    expect(cheap(large, { limit: 100, offset: 900_000 })).toEqual([true, true]);
    expect(cheap(large, { filter: '{"_row_id":77}' })).toEqual([true, true]);
    expect(cheap(large, { sort: '-price', limit: 100 })).toEqual([true, true]);
    expect(cheap(large, { sort: 'price', limit: 100, offset: 900_000 })).toEqual([true, true]);
    expect(cheap(large, { sort: 'price', limit: 2_000, offset: 900_000 })).toEqual([false, false]);
    expect(cheap(large, { sort: 'price', limit: 100, filter: '{"price":{"$gt":5}}' })).toEqual([
      true,
      false,
    ]);
    expect(cheap(large, {})).toEqual([false, false]);
    expect(cheap(large, { sort: 'n', limit: 100 })).toEqual([false, false]);
    expect(cheap(large, { filter: '{"n":5}', limit: 100 })).toEqual([false, false]);
  });

  test('of thousands of conditions is high even in a small table', () => {
    const filter = `{"$or":[${Array.from({ length: 600 }, (_, n) => `{"n":${n}}`).join(',')}]}`;
    expect(cheap(typedCopy({ columns: COLUMNS, rows: ROWS }), { filter })).toEqual([false, false]);
  });
});

describe('indexes that would help', () => {
  const useful = (copy: TypedCopy, query: Record<string, string>) =>
    planFor(copy, query).usefulIndexes;
  const bare = million([]);

  test('are named for the sort column and for compared columns', () => {
    expect(useful(bare, { sort: '-price' })).toEqual([indexName(0, true)]);
    expect(useful(bare, { sort: 'price', filter: '{"price":{"$gt":5}}' })).toEqual([
      indexName(0, false),
    ]);
    expect(useful(bare, { sort: '-price', filter: '{"price":5,"name":"a"}' })).toEqual([
      indexName(0, true),
      indexName(1, false),
    ]);
    expect(
      useful(bare, { filter: '{"name":{"$contains":"a"},"n":{"$ne":1},"_row_id":3}' }),
    ).toEqual([]);
    expect(useful(bare, { sort: 'price,n' })).toEqual([]);
  });

  test('are not named when they exist or the table is small', () => {
    expect(useful(million(PRICE), { sort: '-price', filter: '{"name":"a"}' })).toEqual([]);
    expect(useful(million([indexName(0, true)]), { filter: '{"price":5}' })).toEqual([]);
    expect(useful(typedCopy({ columns: COLUMNS, rows: ROWS }), { sort: 'price' })).toEqual([]);
  });

  test('have names that only the column and the direction decide', () => {
    expect(createIndexSql(indexName(12, true))).toBe(
      'CREATE INDEX IF NOT EXISTS rows_c12_desc ON rows (c12 DESC)',
    );
    expect(() => createIndexSql('x; DROP TABLE rows')).toThrow(RangeError);
  });
});

describe('list parameters (DS-36, DS-37)', () => {
  const issuesOf = (query: string) => {
    try {
      parseListParameters(new URLSearchParams(query));
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalid-request') {
        return error.issues!.map(({ type, loc, ctx }) => [
          type,
          loc.join('.'),
          ...Object.values(ctx ?? {}),
        ]);
      }
      throw error;
    }
    return [];
  };

  test('have defaults', () => {
    expect(parametersOf({})).toEqual({
      limit: null,
      offset: 0,
      order: 'asc',
      format: null,
      sort: '',
      filter: '',
      q: '',
      columns: [],
      cursor: null,
    });
  });

  test('of a repeated one the last counts, except columns', () => {
    const query = new URLSearchParams('limit=x&limit=2&sort=a&sort=b&columns=a&columns=b&x=1');
    expect(parseListParameters(query)).toMatchObject({ limit: 2, sort: 'b', columns: ['a', 'b'] });
  });

  test('whole numbers of any size are accepted', () => {
    const huge = '9'.repeat(400);
    expect(parametersOf({ limit: huge, offset: huge })).toMatchObject({
      limit: Number.MAX_SAFE_INTEGER,
      offset: Number.MAX_SAFE_INTEGER,
    });
    const copy = typedCopy({ columns: COLUMNS, rows: ROWS });
    expect(read(copy, { limit: huge }).ids).toHaveLength(30);
    expect(read(copy, { offset: huge, limit: huge })).toMatchObject({
      ids: [],
      total: 30,
      next: null,
    });
    expect(read(copy, { offset: huge, sort: '-price' }).ids).toEqual([]);
  });

  test('wrong ones are listed, each with its type and place', () => {
    expect(issuesOf('limit=0')).toEqual([['greater_than_equal', 'query.limit', 1]]);
    expect(issuesOf(`limit=-${'9'.repeat(400)}`)).toEqual([
      ['greater_than_equal', 'query.limit', 1],
    ]);
    for (const bad of ['', 'abc', '1.5', '1e3', '1;drop', '0x10', '1_000', '+', 'NaN', '١']) {
      expect(issuesOf(`limit=${encodeURIComponent(bad)}`)).toEqual([
        ['int_parsing', 'query.limit'],
      ]);
    }
    expect(issuesOf('offset=-1&limit=x&order=ASC&format=xml')).toEqual([
      ['int_parsing', 'query.limit'],
      ['greater_than_equal', 'query.offset', 0],
      ['string_pattern_mismatch', 'query.order', '^(asc|desc)$'],
      ['string_pattern_mismatch', 'query.format', expect.stringContaining('ndjson')],
    ]);
    expect(issuesOf('order=')).toHaveLength(1);
  });

  test('admin lists have their own limits (DS-133)', () => {
    const limits = { maxLimit: 1_000, defaultLimit: 1_000, defaultOrder: 'desc' } as const;
    expect(parseListParameters(new URLSearchParams(), limits)).toMatchObject({
      limit: 1_000,
      order: 'desc',
    });
    expect(() => parseListParameters(new URLSearchParams('limit=1001'), limits)).toThrow(
      'less than or equal',
    );
  });
});
