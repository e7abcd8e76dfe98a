import { expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { noteArrival } from '../../src/base/scheduling/arrival.ts';
import { Remembered } from '../../src/store/remembered.ts';
import { openSqliteDatabase } from '../../src/store/sqlite-database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('an answer is remembered until anybody writes, in this process or another', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'a.db');
  const db = openSqliteDatabase(path);
  await db.run('CREATE TABLE t (x INTEGER)');
  const remembered = new Remembered<number>(10);
  let reads = 0;
  const count = async (): Promise<number> =>
    remembered.get(db, 'all', async () => {
      reads++;
      const row = await db.get<{ n: number }>('SELECT count(*) AS n FROM t');
      return row!.n;
    });
  expect([await count(), await count(), reads]).toEqual([0, 0, 1]);
  await db.run('INSERT INTO t VALUES (1)');
  expect([await count(), reads]).toEqual([1, 2]);
  await db.relaxed.run('INSERT INTO t VALUES (2)');
  expect([await count(), reads]).toEqual([2, 3]);
  const other = new Database(path);
  other.run('INSERT INTO t VALUES (3)');
  other.close();
  expect([await count(), await count(), reads]).toEqual([3, 3, 4]);
  await db.transaction(async (tx) => {
    expect(tx.changeCount()).toBeNull();
  });
  await db.close();
});

test('a look counts for the request it was made for and never for the next, also in the same turn', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'a.db');
  const db = openSqliteDatabase(path);
  await db.run('CREATE TABLE t (x INTEGER)');
  using other = new Database(path);
  noteArrival();
  const before = db.changeCount();
  other.run('INSERT INTO t VALUES (1)');
  expect(db.changeCount()).toBe(before);
  noteArrival();
  const next = db.changeCount();
  expect(next).not.toBe(before);
  await db.run('INSERT INTO t VALUES (2)');
  const own = db.changeCount();
  expect(own).not.toBe(next);
  other.run('INSERT INTO t VALUES (3)');
  await new Promise(setImmediate);
  expect(db.changeCount()).not.toBe(own);
  await db.close();
});

test('what changes while it is read is not remembered', async () => {
  using folder = temporaryFolder();
  const db = openSqliteDatabase(join(folder.path, 'a.db'));
  await db.run('CREATE TABLE t (x INTEGER)');
  const remembered = new Remembered<string>(10);
  const first = await remembered.get(db, 'k', async () => {
    await db.run('INSERT INTO t VALUES (1)');
    return 'before';
  });
  const second = await remembered.get(db, 'k', async () => 'after');
  expect([first, second]).toEqual(['before', 'after']);
  await db.close();
});

test('what changed while it was read is not remembered either when another question saw the change first', async () => {
  using folder = temporaryFolder();
  const db = openSqliteDatabase(join(folder.path, 'a.db'));
  await db.run('CREATE TABLE t (x INTEGER)');
  const remembered = new Remembered<string>(10);
  const first = await remembered.get(db, 'k', async () => {
    await db.run('INSERT INTO t VALUES (1)');
    expect(await remembered.get(db, 'other', async () => 'seen')).toBe('seen');
    return 'before';
  });
  const second = await remembered.get(db, 'k', async () => 'after');
  expect([first, second]).toEqual(['before', 'after']);
  await db.close();
});
