/**
 * Columns beside a typed copy (SL-150): made once, remade after an edit or damage, bounded, and never needed.
 */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryAt, type Entry } from '../../src/columns/column.ts';
import { DamagedColumn } from '../../src/columns/column-file.ts';
import { CopyFolder } from '../../src/tables/copy/copy-folder.ts';
import { TableColumns } from '../../src/tables/copy/table-columns.ts';
import { initialiseMeta, type TableState, writeMeta } from '../../src/tables/copy/table-meta.ts';
import { STRATEGY } from '../../src/tables/limits.ts';
import { lowered } from '../support/lowered.ts';

const ID = '0123456789abcdef0123456789abcdef';
const STATE: TableState = {
  stamp: { size: 1, mtimeNs: '1', ctimeNs: '1', inode: '1' },
  stampTakenAt: 0,
  hash: null,
  sequence: 0,
  rowCount: 200,
  lastRowId: 230,
  counts: [],
  forms: [],
  dialect: {},
};
/** Every class of storage, texts that JSON has to escape, and decimals that no double has exactly. */
const CELLS: readonly Entry[] = [
  null,
  0,
  1,
  -1,
  1.5,
  0.1,
  123456.78,
  1e300,
  5e-324,
  2n ** 60n,
  -(2n ** 63n),
  '',
  'a',
  'Ä"\n\0',
  '1',
];

let folder = '';
let path = '';
let db: Database;
let thresholds: Disposable;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-columns-'));
  path = join(folder, `${ID}.copy.sqlite`);
  db = new Database(path);
  thresholds = lowered(STRATEGY, { columnsFromRows: 100, columnBatchRows: 64, columnShare: 10 });
  db.run('PRAGMA synchronous = OFF');
  db.run('BEGIN');
  db.run('CREATE TABLE rows (_row_id INTEGER PRIMARY KEY, c0, c1, c2)');
  const insert = db.prepare('INSERT INTO rows VALUES (?, ?, ?, ?)');
  for (let row = 0; row < 200; row++) {
    // Some ids are missing.
    const id = row < 100 ? row + 1 : row + 31;
    insert.run(id, CELLS[row % CELLS.length]!, row / 8, `text ${row}`);
  }
  insert.finalize();
  initialiseMeta(db, {} as never, STATE);
  db.run('COMMIT');
});

afterEach(() => {
  thresholds[Symbol.dispose]();
  db.close();
  rmSync(folder, { recursive: true });
});

const columnsFolder = (): string => `${path}-columns`;
/** `<sequence>.<column>`, without what tells the state besides. */
const shortOf = (name: string): string => name.replace(/-[^.]+/, '');
const fileOf = (short: string): string =>
  join(
    columnsFolder(),
    readdirSync(columnsFolder()).find((name) => shortOf(name) === short)!,
  );
const files = (): string[] =>
  existsSync(columnsFolder()) ? readdirSync(columnsFolder()).map(shortOf).sort() : [];

/** Rows of the columns; null when they cannot be had. */
function read(names: readonly string[]): Entry[][] | null {
  const batches = TableColumns.of(db, path)!.read(names, () => {});
  if (batches === null) return null;
  const rows: Entry[][] = [];
  for (const batch of batches) {
    for (let row = 0; row < batch.rows; row++)
      rows.push(batch.columns.map((column) => entryAt(column, row)));
  }
  return rows;
}

function stored(names: readonly string[]): Entry[][] {
  const sql = `SELECT ${names.join(', ')} FROM rows ORDER BY _row_id`;
  return (db.prepare(sql).safeIntegers(true).values() as Entry[][]).map((row) =>
    row.map((cell) => {
      const isSafe = typeof cell === 'bigint' && Number.isSafeInteger(Number(cell));
      return isSafe ? Number(cell) : cell;
    }),
  );
}

test('columns have every value of the copy, and are made once', () => {
  const names = ['c0', 'c1', 'c2', '_row_id'];
  expect(read(names)).toEqual(stored(names));
  expect(files()).toEqual(['0._row_id', '0.c0', '0.c1', '0.c2']);
  const { mtimeMs } = statSync(fileOf('0.c0'));
  expect(read(['c2', 'c0'])).toEqual(stored(['c2', 'c0']));
  expect(statSync(fileOf('0.c0')).mtimeMs).toBe(mtimeMs);
});

test('a table below the threshold has none', () => {
  writeMeta(db, 'state', { ...STATE, rowCount: 99 });
  expect(TableColumns.of(db, path)).toBeNull();
});

test('after an edit they are made anew, and the old ones go', () => {
  read(['c0', 'c1']);
  db.run('UPDATE rows SET c1 = 1000 WHERE _row_id = 5');
  writeMeta(db, 'state', { ...STATE, sequence: 1 });
  expect(read(['c1'])).toEqual(stored(['c1']));
  expect(files()).toEqual(['1.c1']);
});

test('columns of a copy that had the same name and sequence are not taken for its own', () => {
  read(['c1']);
  db.run('UPDATE rows SET c1 = -1');
  writeMeta(db, 'state', { ...STATE, stamp: { ...STATE.stamp, mtimeNs: '2' } });
  expect(read(['c1'])).toEqual(stored(['c1']));
});

test('a damaged file is found, and made anew', () => {
  read(['c1', 'c2']);
  for (const name of ['0.c1', '0.c2']) {
    const file = fileOf(name);
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at += 97) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 0x10;
      writeFileSync(file, bytes);
      // Found in the list of chunks at once, in a chunk when it is read.
      let rows: Entry[][] | null = null;
      try {
        rows = read(['c1', 'c2']);
      } catch (error) {
        expect(error).toBeInstanceOf(DamagedColumn);
        rows = read(['c1', 'c2']);
      }
      expect(rows).toEqual(stored(['c1', 'c2']));
    }
    for (const size of [0, 9, 50]) {
      truncateSync(file, size);
      expect(read(['c1', 'c2'])).toEqual(stored(['c1', 'c2']));
    }
  }
});

test('one that would take too much of the disk is not made, and not tried again', () => {
  using _share = lowered(STRATEGY, { columnShare: 0.0001 });
  expect(read(['c2'])).toBeNull();
  expect(readFileSync(fileOf('0.c2'), 'latin1')).toBe('too large');
  expect(read(['c2'])).toBeNull();
  expect(files()).toEqual(['0.c2']);
});

test('where nothing can be written the rows are left to be read', () => {
  writeFileSync(columnsFolder(), 'a file stands where the folder would be');
  expect(read(['c1'])).toBeNull();
});

test('a reading that is stopped leaves nothing, and one that was killed leaves a draft that goes', () => {
  let ticks = 0;
  const stop = (): void => {
    if (++ticks === 2) throw new Error('the time is up');
  };
  expect(() => TableColumns.of(db, path)!.read(['c1'], stop)).toThrow('the time is up');
  expect(files()).toEqual([]);
  expect(read(['c1'])).toEqual(stored(['c1']));
  const draft = `${fileOf('0.c1')}.abc.draft`;
  writeFileSync(draft, 'begun');
  expect(read(['_row_id'])).toEqual(stored(['_row_id']));
  // Somebody may be at work on it.
  expect(existsSync(draft)).toBe(true);
  utimesSync(draft, 1, 1);
  read(['c2']);
  expect(files()).toEqual(['0._row_id', '0.c1', '0.c2']);
});

test('they go with their copy, and without it at the next start', () => {
  read(['c1']);
  const orphan = join(folder, `${ID}.gone.sqlite-columns`);
  mkdirSync(orphan);
  writeFileSync(join(orphan, '0.c1'), 'of a copy that was deleted');
  const copies = new CopyFolder(folder, { warning: () => {} } as never);
  expect(existsSync(orphan)).toBe(false);
  expect(files()).toEqual(['0.c1']);
  copies.remove(path);
  expect(existsSync(columnsFolder())).toBe(false);
});
