/** Pages written straight into a copy: SQLite reads what binding the same values to a statement would have stored. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { CopyFile } from '../../src/tables/copy/copy-file.ts';
import { putVarint, varintSize } from '../../src/tables/copy/record-buffer.ts';
import { pageAfter } from '../../src/tables/copy/row-pages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { StoredValue } from '../../src/tables/types.ts';

interface Row {
  readonly id: number;
  readonly values: readonly StoredValue[];
}

/** Writes the rows as a copy and hands it over, open for changes. */
async function withCopy(
  width: number,
  rows: readonly Row[],
  look: (db: Database) => void,
): Promise<void> {
  for (const fileBytes of [1, 500_000, Infinity]) await withCopyOf(fileBytes, width, rows, look);
}

/** Copies of small files have smaller pages. */
async function withCopyOf(
  fileBytes: number,
  width: number,
  rows: readonly Row[],
  look: (db: Database) => void,
): Promise<void> {
  using folder = temporaryFolder();
  const path = folder.at('copy.sqlite');
  const copy = new CopyFile(
    path,
    Array.from({ length: width }, (_, position) => `c${position}`),
    fileBytes,
  );
  for (const { id, values } of rows) {
    for (const value of values) copy.add(value);
    copy.endRow(id);
  }
  await copy.finish([{ rows: rows.length, bytes: 1, firstRowId: rows[0]?.id ?? 1 }]);
  using db = new Database(path, { readwrite: true });
  look(db);
}

function expectSound(db: Database): void {
  expect(db.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
}

/** Rows as they are stored: ids, and of every value its storage class and its bytes. */
function stored(db: Database, width: number): unknown[][] {
  const cells = Array.from({ length: width }, (_, at) => `typeof(c${at}), quote(c${at})`);
  return db.query(`SELECT ${['_row_id', ...cells].join(', ')} FROM rows ORDER BY _row_id`).values();
}

/** The same of rows that were bound to a statement. */
function bound(width: number, rows: readonly Row[]): unknown[][] {
  using db = new Database(':memory:');
  const names = Array.from({ length: width }, (_, at) => `c${at}`);
  db.run(`CREATE TABLE rows (${['_row_id INTEGER PRIMARY KEY', ...names].join(', ')})`);
  const insert = db.prepare(`INSERT INTO rows VALUES (${['?', ...names.map(() => '?')].join()})`);
  for (const { id, values } of rows) insert.run(id, ...values);
  return stored(db, width);
}

/** Where another number of bytes, or another class, begins. */
const edges = [0, 1, 2, 2 ** 7, 2 ** 15, 2 ** 23, 2 ** 31, 2 ** 32, 2 ** 47, 2 ** 53, 2 ** 63]
  .flatMap((edge) => [edge - 1, edge, edge + 1])
  .flatMap((edge) => [edge, -edge]);
const longs = [2n ** 31n, 2n ** 47n, 2n ** 53n, 2n ** 62n, 2n ** 63n - 1n]
  .flatMap((edge) => [edge - 1n, edge])
  .flatMap((edge) => [edge, -edge]);

const value: fc.Arbitrary<StoredValue> = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.double(),
  fc.constantFrom(...edges, ...longs),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary', minLength: 40, maxLength: 200 }),
  // Around what a page holds of a row, and what its rest needs.
  fc.integer({ min: 16_200, max: 16_400 }).map((size) => 'x'.repeat(size)),
  fc.integer({ min: 0, max: 70_000 }).map((size) => 'ü'.repeat(size)),
);

function rowsOf(width: number): fc.Arbitrary<Row[]> {
  const values = fc.array(value, { minLength: width, maxLength: width });
  const gap = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 2 ** 40 }));
  return fc.array(fc.tuple(gap, values), { maxLength: 60 }).map((found) => {
    let id = 0;
    return found.map(([step, own]) => ({ id: (id += step), values: own }));
  });
}

test('any values are stored as a statement would store them, and the file is sound', async () => {
  const tables = fc
    .oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 120, max: 130 }))
    .chain((width) => rowsOf(width).map((rows) => ({ width, rows })));
  await fc.assert(
    fc.asyncProperty(tables, ({ width, rows }) =>
      withCopy(width, rows, (db) => {
        expect(stored(db, width)).toEqual(bound(width, rows));
        expectSound(db);
      }),
    ),
    { numRuns: 40 },
  );
});

test('a copy of more pages than one page of pages names is sound and may be edited', async () => {
  // A row a page, with some of several: the leaves need two levels above them.
  const rows = Array.from({ length: 1_300 }, (_, index) => ({
    id: index * 3 + 1,
    values: [
      index,
      (index % 100 === 7 ? 'long ' : 'text ').repeat(index % 100 === 7 ? 9_000 : 3_000),
    ],
  }));
  await withCopy(2, rows, (db) => {
    expectSound(db);
    expect(db.query('SELECT count(*), sum(c0), max(_row_id) FROM rows').values()).toEqual([
      [1_300, (1_299 * 1_300) / 2, 1_299 * 3 + 1],
    ]);
    expect(db.query('SELECT c0 FROM rows WHERE _row_id = ?').values(1_000 * 3 + 1)).toEqual([
      [1_000],
    ]);
    db.run('UPDATE rows SET c1 = c1 || c1 WHERE c0 % 10 = 3');
    db.run('DELETE FROM rows WHERE c0 % 2 = 0');
    db.run(`INSERT INTO rows VALUES (2, -1, 'between'), (99999, -2, 'behind')`);
    expectSound(db);
    expect(db.query('SELECT count(*) FROM rows').values()).toEqual([[652]]);
  });
});

test('a row of two thousand columns is stored whole', async () => {
  const width = 1_999;
  const rows = [1, 2].map((id) => ({
    id,
    values: Array.from({ length: width }, (_, at) => (at % 3 === 0 ? at * id : `${at}`.repeat(40))),
  }));
  await withCopy(width, rows, (db) => {
    expectSound(db);
    expect(db.query('SELECT * FROM rows').values()).toEqual(
      rows.map(({ id, values }) => [id, ...values]),
    );
  });
});

test('variable-length integers take as many bytes as they are said to', () => {
  const sizes = [127, 128, 16_383, 16_384, 2 ** 21, 2 ** 28, 2 ** 35, 2 ** 53 - 1].map(varintSize);
  expect(sizes).toEqual([1, 2, 2, 3, 4, 5, 6, 8]);
  const bytes = new Uint8Array(9);
  expect(putVarint(bytes, 1, 300)).toBe(3);
  expect([...bytes.subarray(0, 4)]).toEqual([0, 0x82, 0x2c, 0]);
});

test('the page of the lock byte is left out', () => {
  expect([65_535, 65_536, 65_538].map((page) => pageAfter(page, 16_384))).toEqual([
    65_536, 65_538, 65_539,
  ]);
});
