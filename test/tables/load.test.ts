/** Typed copies from rows: types over all rows, restarts, ids, extra columns (DS-47, DS-48, DS-59, DS-63, DS-70). */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../src/base/errors.ts';
import { classOf, emptyCounts, storedValue, typeOfCounts } from '../../src/tables/infer/infer.ts';
import { MAX_COLUMNS } from '../../src/tables/limits.ts';
import {
  type LoadedTable,
  type LoadOptions,
  loadTable,
  SAMPLE_BYTES,
} from '../../src/tables/copy/load.ts';
import type { Cell, RowSink } from '../../src/tables/types.ts';

interface Loaded {
  readonly table: LoadedTable;
  /** `_row_id` and the columns by name. */
  readonly rows: Record<string, unknown>[];
  readonly segments: unknown[][];
  readonly reads: number;
}

/** Segments of `segmentRows` rows; `bytesOfSegment` decides when the sample is full. */
interface Source {
  readonly names: string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly segmentRows?: number;
  readonly bytesOfSegment?: number;
}

function deliver(source: Source, sink: RowSink): void {
  const { names, rows, segmentRows = 3, bytesOfSegment = SAMPLE_BYTES / 2 } = source;
  sink.header(names);
  for (let at = 0; at < rows.length; at += segmentRows) {
    const part = rows.slice(at, at + segmentRows);
    sink.segment({ rows: part.length, bytes: bytesOfSegment }, part);
  }
  sink.layout({ style: 'plain' }, 4);
}

async function load(source: Source, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const folder = await mkdtemp(join(tmpdir(), 'load-test-'));
  const path = join(folder, 'copy.sqlite');
  let reads = 0;
  try {
    const table = await loadTable({
      path,
      companion: null,
      read: async (sink) => {
        reads++;
        deliver(source, sink);
      },
      ...options,
    });
    expect(await readdir(folder)).toEqual(['copy.sqlite']);
    return { table, reads, ...contentOf(path, table) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function contentOf(path: string, table: LoadedTable): Pick<Loaded, 'rows' | 'segments'> {
  const db = new Database(path);
  try {
    expect(db.query('PRAGMA journal_mode').values()).toEqual([['wal']]);
    expect(db.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
    const columns = table.columns.map(({ name, position }) => `, c${position} AS "${name}"`);
    const rows = db.query(`SELECT _row_id${columns.join('')} FROM rows ORDER BY 1`).all();
    return { rows: rows as Loaded['rows'], segments: db.query('SELECT * FROM segments').values() };
  } finally {
    db.close();
  }
}

function declaring(types: Record<string, string>): LoadOptions['companion'] {
  return { columns: new Map(Object.entries(types).map(([name, type]) => [name, { type }])) };
}

test('a table is copied with inferred types, ids 1…n and its segments (DS-47, DS-59)', async () => {
  const rows = [
    ['1', '1', 'true', 'x', ''],
    [' 2 ', '1.5', 'FALSE', '', ' '],
    ['', '2', '', '007', ''],
    ['-0'],
  ];
  const { table, rows: copied, segments } = await load({ names: ['i', 'n', 'b', 's', 'e'], rows });
  expect(table.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
    'i integer',
    'n number',
    'b boolean',
    's string',
    'e string',
  ]);
  expect(copied).toEqual([
    { _row_id: 1, i: 1, n: 1, b: 1, s: 'x', e: '' },
    { _row_id: 2, i: 2, n: 1.5, b: 0, s: '', e: '' },
    { _row_id: 3, i: null, n: 2, b: null, s: '007', e: '' },
    { _row_id: 4, i: 0, n: null, b: null, s: '', e: '' },
  ]);
  expect(table.columns.map((column) => column.counts)).toEqual([
    { ...emptyCounts(), integer: 3 },
    { ...emptyCounts(), integer: 2, number: 1 },
    { ...emptyCounts(), boolean: 2 },
    { ...emptyCounts(), string: 2 },
    emptyCounts(),
  ]);
  expect([table.rowCount, table.lastRowId, table.keptIds]).toEqual([4, 4, true]);
  const bytes = SAMPLE_BYTES / 2;
  expect(table.layout).toEqual({
    dialect: { style: 'plain' },
    bodyOffset: 4,
    segments: [
      { rows: 3, bytes },
      { rows: 1, bytes },
    ],
  });
  expect(segments).toEqual([
    [0, 1, 3, bytes],
    [1, 4, 1, bytes],
  ]);
});

const plainRows = (count: number, cell: (row: number) => Cell) =>
  Array.from({ length: count }, (_, row) => [cell(row), 'x']);

test.each<[string, (row: number) => string, string, number]>([
  ['an integer column that stays one', (row) => `${row}`, 'integer', 1],
  [
    'integers that turn out numbers are the same values',
    (row) => (row < 90 ? '1' : '1.5'),
    'number',
    1,
  ],
  ['integers that turn out text', (row) => (row < 90 ? '1' : '007'), 'string', 2],
  ['booleans that turn out text', (row) => (row < 90 ? 'true' : 'yes'), 'string', 2],
  ['booleans and integers', (row) => (row < 90 ? 'true' : '1'), 'string', 2],
  ['blanks that turn out integers', (row) => (row < 90 ? '' : '1'), 'integer', 2],
  ['blanks that turn out text', (row) => (row < 90 ? '' : 'x'), 'string', 1],
  ['blanks only', () => ' ', 'string', 1],
])('%s: the type is decided over all rows (DS-59, DS-60)', async (_, cell, type, expectedReads) => {
  const { table, rows, reads } = await load({ names: ['a', 'b'], rows: plainRows(100, cell) });
  expect([table.columns[0]!.type, reads]).toEqual([type as never, expectedReads]);
  const expected = plainRows(100, cell).map(([text]) => storedValue(text!, table.columns[0]!));
  expect(rows.map((row) => row['a'] as never)).toEqual(expected as never);
  expect(Object.values(table.columns[0]!.counts).reduce((a, b) => a + b)).toBe(
    plainRows(100, cell).filter(([text]) => classOf(text!) !== 'blank').length,
  );
});

test('any rows, however cut into segments, are copied by the types of all of them', async () => {
  const cell = fc.constantFrom<Cell>(
    '1',
    '-2',
    2,
    1.5,
    '1.5',
    'true',
    'x',
    '',
    ' ',
    '007',
    '1e400',
  );
  const arbitrary = fc.record({
    rows: fc.array(fc.array(cell, { maxLength: 5 }), { maxLength: 12 }),
    segmentRows: fc.integer({ min: 1, max: 4 }),
    bytesOfSegment: fc.constantFrom(10, SAMPLE_BYTES),
  });
  const property = fc.asyncProperty(arbitrary, async ({ rows, ...cut }) => {
    const { table, rows: copied, reads } = await load({ names: ['a', 'b'], rows, ...cut });
    expect(reads).toBeLessThanOrEqual(2);
    const expected = [0, 1, 2, 3, 4].flatMap((position) => {
      const counts = emptyCounts();
      for (const row of rows) {
        const found = classOf(row[position] ?? '');
        if (found !== 'blank') counts[found]++;
      }
      const { forms } = table.columns.find((column) => column.position === position) ?? {};
      const isExtra = position >= 2;
      const isEmpty = Object.values(counts).every((count) => count === 0);
      if (isExtra && isEmpty) return [];
      const name = isExtra ? `column_${position + 1}` : 'ab'[position]!;
      return [
        {
          name,
          position,
          type: typeOfCounts(counts),
          declared: false,
          extra: isExtra,
          counts,
          forms: forms!,
        },
      ];
    });
    expect(table.columns).toEqual(expected);
    expect(copied).toEqual(
      rows.map((row, index) => ({
        _row_id: index + 1,
        ...Object.fromEntries(
          expected.map((column) => [column.name, storedValue(row[column.position] ?? '', column)]),
        ),
      })),
    );
  });
  await fc.assert(property, { numRuns: 60 });
});

test('cells past the header make columns only where one is not blank (DS-63)', async () => {
  const rows = [['1'], ['2', ' ', '', 'late'], ['3', '', '']];
  const { table, reads } = await load({ names: ['a'], rows });
  expect(table.columns.map(({ name, position, extra }) => [name, position, extra])).toEqual([
    ['a', 0, false],
    ['column_4', 3, true],
  ]);
  expect(reads).toBe(1);
  const late = [...plainRows(50, () => '1'), ['1', 'x', '', '7']];
  const second = await load({ names: ['a', 'b'], rows: late });
  expect([second.table.columns.at(-1)!.name, second.reads]).toEqual(['column_4', 2]);
  expect(second.rows.at(-1)).toEqual({ _row_id: 51, a: 1, b: 'x', column_4: 7 });
  expect(second.rows[0]).toEqual({ _row_id: 1, a: 1, b: 'x', column_4: null });
});

test('an extra column whose name is taken gets another', async () => {
  const { table } = await load({ names: ['column_2'], rows: [['1', '2']] });
  expect(table.columns.map((column) => column.name)).toEqual(['column_2', 'column_2_2']);
});

test('declared columns keep what does not fit as text and are never read twice (DS-61, DS-71)', async () => {
  const rows = [
    ['+5', 'yes', '1.50', '1'],
    ...plainRows(50, () => '007').map(() => ['x', '2', '', 'y']),
  ];
  const companion = declaring({ i: 'int64', b: 'bool', raw: 'money', absent: 'integer' });
  const {
    table,
    rows: copied,
    reads,
  } = await load({ names: ['i', 'b', 'raw', 'free'], rows }, { companion });
  expect(
    table.columns.map(({ type, declared, declaredType }) => [type, declared, declaredType]),
  ).toEqual([
    ['integer', true, 'int64'],
    ['boolean', true, 'bool'],
    ['string', true, 'money'],
    ['string', false, undefined],
  ]);
  expect(copied.slice(0, 2)).toEqual([
    { _row_id: 1, i: 5, b: 1, raw: '1.50', free: '1' },
    { _row_id: 2, i: 'x', b: '2', raw: '', free: 'y' },
  ]);
  expect(reads).toBe(1);
});

test('given ids are kept, also when the file is read twice (DS-48)', async () => {
  const ids = [2, 3, 7, 20, 21, 22, 40];
  for (const last of ['7', 'text']) {
    const rows = [...plainRows(6, (row) => `${row}`), [last]];
    const {
      table,
      rows: copied,
      segments,
    } = await load(
      { names: ['a', 'b'], rows, segmentRows: 2, bytesOfSegment: SAMPLE_BYTES },
      { ids: () => ids },
    );
    expect(copied.map((row) => row['_row_id'])).toEqual(ids);
    expect([table.lastRowId, table.rowCount, table.keptIds]).toEqual([40, 7, true]);
    expect(segments.map((segment) => segment[1])).toEqual([2, 7, 21, 40]);
  }
});

test('given ids are let go of, however the copy ends', async () => {
  let open = 0;
  const ids = function* (): Generator<number> {
    open++;
    try {
      for (let id = 1; id <= 5; id++) yield id;
    } finally {
      open--;
    }
  };
  for (const count of [2, 5, 9]) {
    await load({ names: ['a', 'b'], rows: plainRows(count, () => '1') }, { ids });
    expect(open).toBe(0);
  }
  const failing = {
    names: Array.from({ length: MAX_COLUMNS }, (_, index) => `n${index}`),
    rows: [],
  };
  const read = async (sink: RowSink) => {
    deliver({ ...failing, rows: [['1']], bytesOfSegment: SAMPLE_BYTES }, sink);
    throw new AppError('unreadable-file', 'broken');
  };
  await expect(load(failing, { ids, read })).rejects.toThrow('broken');
  expect(open).toBe(0);
});

test.each([
  ['too few', [5, 6]],
  ['too many', [5, 6, 7, 8]],
  ['falling', [5, 4, 9]],
  ['repeated', [5, 5, 9]],
  ['not positive', [0, 1, 2]],
])('ids that are %s are reported and replaced by 1…n', async (_, ids) => {
  const rows = plainRows(3, () => '1');
  const { table, rows: copied } = await load({ names: ['a', 'b'], rows }, { ids: () => ids });
  expect(table.keptIds).toBe(false);
  expect(copied.map((row) => row['_row_id'])).toEqual([1, 2, 3]);
  expect(table.lastRowId).toBe(3);
});

test('a segment without rows begins at the next id', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'load-test-'));
  const path = join(folder, 'copy.sqlite');
  const table = await loadTable({
    path,
    companion: null,
    read: async (sink) => {
      sink.header(['a']);
      sink.segment({ rows: 0, bytes: 5 }, []);
      sink.segment({ rows: 2, bytes: 4 }, [['1'], ['2']]);
      sink.segment({ rows: 0, bytes: 3 }, []);
      sink.layout({}, 2);
    },
  });
  expect(contentOf(path, table).segments).toEqual([
    [0, 1, 0, 5],
    [1, 1, 2, 4],
    [2, 3, 0, 3],
  ]);
  await rm(folder, { recursive: true });
});

test('a table without columns or rows is a table', async () => {
  const { table, rows } = await load({ names: [], rows: [] });
  expect([table.columns, table.rowCount, table.lastRowId, rows]).toEqual([[], 0, 0, []]);
});

test('native cells and nulls are stored as they are where blanks are nulls (DS-64)', async () => {
  const rows: Cell[][] = [
    [9007199254740993n, null, '  '],
    [1n, 1.5, null],
    [null, null, '007'],
  ];
  const { table, rows: copied } = await load({ names: ['i', 'n', 's'], rows }, { blank: 'null' });
  expect(table.columns.map((column) => column.type)).toEqual(['integer', 'number', 'string']);
  expect(copied.map(({ n, s }) => [n as Cell, s as Cell])).toEqual([
    [null, '  '],
    [1.5, null],
    [null, '007'],
  ]);
});

test('as many columns as SQLite holds are accepted, one more is refused', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
  const { table } = await load({ names: names(MAX_COLUMNS), rows: [['1'], ['2']] });
  expect(table.columns).toHaveLength(MAX_COLUMNS);
  await expect(load({ names: names(MAX_COLUMNS + 1), rows: [] })).rejects.toMatchObject({
    code: 'unreadable-file',
  });
  await expect(
    load({ names: names(MAX_COLUMNS), rows: [[...names(MAX_COLUMNS), 'x']] }),
  ).rejects.toMatchObject({
    code: 'unreadable-file',
  });
});

test('a failing read leaves no file, and its own error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'load-test-'));
  const path = join(folder, 'copy.sqlite');
  for (const bytes of [10, SAMPLE_BYTES]) {
    const read = async (sink: RowSink) => {
      sink.header(['a']);
      sink.segment({ rows: 1, bytes }, [['1']]);
      throw new AppError('unreadable-file', 'broken at byte offset 3');
    };
    await expect(loadTable({ path, companion: null, read })).rejects.toThrow(
      'broken at byte offset 3',
    );
    expect(existsSync(path)).toBe(false);
  }
  await rm(folder, { recursive: true });
});

test('a file that reads differently each time is `unavailable`', async () => {
  let reads = 0;
  const read = async (sink: RowSink) => {
    const last = ++reads % 2 === 1 ? 'text' : '1';
    deliver({ names: ['a', 'b'], rows: [...plainRows(50, () => '1'), [last, 'x']] }, sink);
  };
  await expect(load({ names: [], rows: [] }, { read })).rejects.toMatchObject({
    code: 'unavailable',
  });
});
