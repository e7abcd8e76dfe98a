/**
 * Pages of larger tables: far offsets, pages too large to hold, snapshots, projections.
 */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from 'bun:sqlite';
import { encoders } from '../../src/tables/encode/encode.ts';
import { runCount, runPage } from '../../src/tables/read/query-run.ts';
import { indexName } from '../../src/tables/copy/table-index.ts';
import { planFor, read, taken, type TypedCopy, typedCopy } from './typed-copy.ts';

const COLUMNS = [
  { name: 'n', type: 'integer' as const },
  { name: 't', type: 'string' as const },
];
const COUNT = 4_000;
const ROWS = Array.from({ length: COUNT }, (_, index) => [
  index % 11 === 0 ? '' : String((index * 7919) % 1_000),
  `text ${index % 13}`,
]);
const GAPPED = ROWS.map((_, index) => index * 2 + 5);

const copies: [string, TypedCopy][] = [
  ['dense', typedCopy({ columns: COLUMNS, rows: ROWS })],
  ['with missing ids', typedCopy({ columns: COLUMNS, rows: ROWS, ids: GAPPED })],
  [
    'indexed',
    typedCopy({ columns: COLUMNS, rows: ROWS, indexes: [indexName(0, false), indexName(0, true)] }),
  ],
];

describe.each(copies)('far into a table %s', (_name, copy) => {
  for (const query of [
    {},
    { sort: 'n' },
    { sort: '-n' },
    { sort: '-_row_id' },
    { sort: 't,-n' },
    { sort: 'n', filter: '{"n":{"$gte":100}}' },
    { sort: '-n', filter: '{"t":{"$contains":"1"}}' },
    { filter: '{"n":{"$null":true}}' },
  ]) {
    test(`${JSON.stringify(query)} gives the same rows by offset, by cursor and in one piece`, () => {
      const whole = read(copy, query);
      const last = whole.total;
      for (const offset of [999, 1_001, 1_999, last - 20, last - 3, last - 1, last, last + 5]) {
        if (offset < 0) continue;
        const page = read(copy, { ...query, limit: 10, offset });
        expect(page.ids).toEqual(whole.ids.slice(offset, offset + 10));
        expect(page.rows).toEqual(whole.rows.slice(offset, offset + 10));
        expect([page.total, page.next !== null]).toEqual([last, offset + 10 < last]);
        if (page.next === null) continue;
        const next = read(copy, { ...query, limit: 10, cursor: page.next });
        expect(next.ids).toEqual(whole.ids.slice(offset + 10, offset + 20));
      }
      const many = read(copy, { ...query, limit: 1_500, offset: 1_200 });
      expect(many.ids).toEqual(whole.ids.slice(1_200, 2_700));
    });
  }
});

describe('a page too large to hold', () => {
  const big = typedCopy({
    columns: COLUMNS,
    rows: Array.from({ length: 60 }, (_, index) => [String(60 - index), 'x'.repeat(200_000)]),
    indexes: [indexName(0, false)],
  });

  test('is read while its rows are taken, and knows the next one before', () => {
    for (const query of [{ sort: 'n' }, { sort: '-n' }, {}]) {
      const whole = runPage(big.db, planFor(big, query));
      const ids = [...whole.rows].map(([id]) => Number(id));
      for (const limit of [59, 60, 61]) {
        const page = runPage(big.db, planFor(big, { ...query, limit }));
        expect(big.db.inTransaction).toBe(true);
        expect(page.next !== null).toBe(limit < 60);
        const shown = taken(page);
        expect(shown.ids).toEqual(ids.slice(0, limit));
        expect(big.db.inTransaction).toBe(false);
        if (shown.next === null) continue;
        expect(read(big, { ...query, limit: 5, cursor: shown.next }).ids).toEqual(ids.slice(limit));
      }
      const late = read(big, { ...query, limit: 45, offset: 10 });
      const rest = read(big, { ...query, limit: 45, cursor: late.next! });
      expect([...late.ids, ...rest.ids]).toEqual(ids.slice(10));
    }
  });

  test('leaves the connection free when it is closed early, or never begun', () => {
    const page = runPage(big.db, planFor(big, { limit: 50 }));
    page.close();
    expect(big.db.inTransaction).toBe(false);
    const other = runPage(big.db, planFor(big, {}));
    const rows = other.rows[Symbol.iterator]();
    rows.next();
    other.close();
    other.close();
    expect(big.db.inTransaction).toBe(false);
    expect(read(big, { limit: 1 }).ids).toEqual([1]);
  });
});

describe('one version of a table', () => {
  function withFile(work: (copy: TypedCopy, writer: Database) => void): void {
    const dir = mkdtempSync(join(tmpdir(), 'svc-query-'));
    const memory = typedCopy({ columns: COLUMNS, rows: ROWS });
    const path = join(dir, 'rows.sqlite');
    memory.db.run('VACUUM INTO ?', [path]);
    const writer = new Database(path);
    writer.run('PRAGMA journal_mode = WAL');
    const db = new Database(path);
    try {
      work({ ...memory, db }, writer);
    } finally {
      db.close(true);
      writer.close();
      rmSync(dir, { recursive: true });
    }
  }

  test('is in a response although rows are changed while it is sent (DS-39)', () => {
    withFile((copy, writer) => {
      const page = runPage(copy.db, planFor(copy, { filter: '{"n":{"$ne":-1}}' }));
      const rows = page.rows[Symbol.iterator]();
      rows.next();
      writer.run('DELETE FROM rows WHERE _row_id > 10');
      let count = 1;
      while (!rows.next().done) count++;
      expect([count, page.total]).toEqual([COUNT, COUNT]);
      expect(read(copy, { filter: '{"n":{"$ne":-1}}' }).total).toBe(10);
    });
  });

  test('may be the transaction of the caller', () => {
    withFile((copy, writer) => {
      copy.db.run('BEGIN');
      const plan = planFor(copy, { filter: '{"n":{"$ne":-1}}', limit: 5 });
      expect(runCount(copy.db, plan)).toBe(COUNT);
      writer.run('DELETE FROM rows WHERE _row_id > 10');
      expect(taken(runPage(copy.db, plan)).total).toBe(COUNT);
      expect(copy.db.inTransaction).toBe(true);
      copy.db.run('COMMIT');
      expect(taken(runPage(copy.db, plan)).total).toBe(10);
    });
  });
});

test('a known total is not counted again', () => {
  const [, copy] = copies[0]!;
  const plan = planFor(copy, { filter: '{"n":5}', limit: 1 });
  expect(runPage(copy.db, plan, 77).total).toBe(77);
  expect(plan.countKey).toBe(
    planFor(copy, { filter: ' {"n": 5.0}', sort: 't', offset: 1 }).countKey,
  );
  expect(plan.countKey).not.toBe(planFor(copy, { filter: '{"n":6}' }).countKey);
});

test('rows hold the chosen columns in the order chosen, _row_id first', () => {
  const [, copy] = copies[1]!;
  expect(read(copy, { columns: 't,n', limit: 1, offset: 1 }).rows).toEqual([[7, 'text 1', 919]]);
  expect(read(copy, { columns: '_row_id', limit: 1 }).rows).toEqual([[5]]);
  const plan = planFor(copy, { columns: 't,_row_id', limit: 2, sort: '-t' });
  const csv = [...encoders.csv!(plan.shape, runPage(copy.db, plan).rows)].map((chunk) =>
    Buffer.from(chunk).toString(),
  );
  expect(csv.join('')).toBe('t,_row_id\ntext 9,23\ntext 9,49\n');
});

test('64-bit integers of Parquet keep their digits through filter, sort, cursor and JSON', () => {
  const values = [9007199254740993n, 9007199254740992n, 2n ** 63n - 1n, null, -(2n ** 63n), 5];
  const copy = typedCopy({
    columns: [{ name: 'n', type: 'integer' }],
    rows: values.map((value) => [value]),
    blank: 'null',
  });
  expect(read(copy, { filter: '{"n":9007199254740993}' }).ids).toEqual([1]);
  expect(read(copy, { filter: '{"n":{"$gt":9007199254740992}}' }).ids).toEqual([1, 3]);
  expect(read(copy, { filter: '{"n":{"$endswith":"4775807"}}' }).ids).toEqual([3]);
  const walked: number[] = [];
  let page = read(copy, { sort: 'n', limit: 1 });
  while (page.next !== null) {
    walked.push(...page.ids);
    page = read(copy, { sort: 'n', limit: 1, cursor: page.next });
  }
  expect([...walked, ...page.ids]).toEqual([5, 6, 2, 1, 3, 4]);
  const plan = planFor(copy, { sort: '-n', limit: 2 });
  const [json] = encoders.json!(plan.shape, runPage(copy.db, plan).rows);
  expect(Buffer.from(json!).toString()).toBe(
    '[{"_row_id":3,"n":9223372036854775807},{"_row_id":1,"n":9007199254740993}]',
  );
});

test('a table without columns or rows is an empty list', () => {
  const empty = typedCopy({ columns: [], rows: [] });
  expect(read(empty, { q: 'x' })).toMatchObject({ ids: [], total: 0, next: null });
  expect(read(empty, { limit: 5, sort: '_row_id' })).toMatchObject({
    ids: [],
    total: 0,
    next: null,
  });
});

test('a table of 1,999 columns is read, sorted and filtered', () => {
  const columns = Array.from({ length: 1_999 }, (_, index) => ({
    name: `c${index}`,
    type: 'integer' as const,
  }));
  const rows = [2, 1].map((factor) => columns.map((_, index) => String(index * factor)));
  const wide = typedCopy({ columns, rows });
  const { ids, rows: shown } = read(wide, { sort: 'c1998', filter: '{"c1998":{"$gt":0}}' });
  expect(ids).toEqual([2, 1]);
  expect(shown[0]![1_999]).toBe(1_998);
});
