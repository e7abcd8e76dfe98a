import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../src/base/errors.ts';
import type { Database } from '../../src/store/database.ts';
import type { SqliteDatabase } from '../../src/store/sqlite-database.ts';
import { openSqliteDatabase } from '../../src/store/sqlite-database.ts';
import { temporaryDirectory } from '../support/database.ts';
import { onSharedCores, patienceFor } from '../support/patience.ts';

interface Fixture extends AsyncDisposable {
  db: SqliteDatabase;
  path: string;
}

async function fixture(busyWaitMs?: number): Promise<Fixture> {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'x.db');
  const db = openSqliteDatabase(path, { busyWaitMs });
  await db.run('CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT UNIQUE)');
  return {
    db,
    path,
    async [Symbol.asyncDispose]() {
      await db.close();
      directory[Symbol.dispose]();
    },
  };
}

async function values(db: Database): Promise<unknown[]> {
  return (await db.all<{ v: unknown }>('SELECT v FROM t ORDER BY id')).map((row) => row.v);
}

describe('statements', () => {
  test('write, count and read back rows', async () => {
    await using at = await fixture();
    expect(await at.db.run('INSERT INTO t (v) VALUES (?)', ['a'])).toEqual({
      changes: 1,
      lastId: 1,
    });
    expect(await at.db.get<{ v: string }>('SELECT v FROM t WHERE id = ?', [1])).toEqual({ v: 'a' });
    expect(await at.db.get('SELECT v FROM t WHERE id = ?', [2])).toBeNull();
    expect((await at.db.run('UPDATE t SET v = ?', ['b'])).changes).toBe(1);
    expect(await values(at.db)).toEqual(['b']);
  });

  test('refuse a wrong number of parameters instead of binding NULL', async () => {
    await using at = await fixture();
    await expect(at.db.run('INSERT INTO t (v) VALUES (?)', [])).rejects.toThrow();
    await expect(at.db.all('SELECT ?', ['a', 'b'])).rejects.toThrow();
  });

  test('have their pragmas on every connection', async () => {
    await using at = await fixture();
    const pragma = async (db: Database, name: string) =>
      Object.values((await db.get(`PRAGMA ${name}`)) ?? {})[0];
    for (const db of [at.db, at.db.relaxed]) {
      await db.transaction(async (tx) => {
        expect(await pragma(tx, 'journal_mode')).toBe('wal');
        expect(await pragma(tx, 'foreign_keys')).toBe(1);
        expect(await pragma(tx, 'trusted_schema')).toBe(0);
        expect(await pragma(tx, 'cell_size_check')).toBe(1);
        expect(await pragma(tx, 'mmap_size')).toBe(0);
        expect(await pragma(tx, 'synchronous')).toBe(db === at.db ? 2 : 1);
      });
    }
    expect(await pragma(at.db, 'query_only')).toBe(0);
    await expect(at.db.all("INSERT INTO t (v) VALUES ('x')")).rejects.toThrow(/readonly/);
  });

  test('survive more different texts than the cache keeps', async () => {
    await using at = await fixture();
    for (let n = 0; n < 600; n++) {
      expect(await at.db.get(`SELECT ${n} AS n`)).toEqual({ n });
    }
    expect(await at.db.get('SELECT 0 AS n')).toEqual({ n: 0 });
  });

  test('leave no snapshot behind that keeps the write-ahead log from being folded in', async () => {
    await using at = await fixture();
    await at.db.run("INSERT INTO t (v) VALUES ('a'), ('b')");
    await at.db.get('SELECT * FROM t');
    await at.db.run("INSERT INTO t (v) VALUES ('c')");
    const row = await at.db.transaction(async () => null).then(() => at.db.get('SELECT 1'));
    expect(row).not.toBeNull();
    const other = new Sqlite(at.path);
    const result = other.query('PRAGMA wal_checkpoint(TRUNCATE)').get();
    other.close();
    expect(result).toMatchObject({ busy: 0, log: 0 });
  });
});

describe('transactions', () => {
  test('commit what they did, and give their result', async () => {
    await using at = await fixture();
    const result = await at.db.transaction(async (tx) => {
      await tx.run("INSERT INTO t (v) VALUES ('a')");
      expect(await values(tx)).toEqual(['a']);
      expect(await values(at.db)).toEqual([]);
      return 7;
    });
    expect(result).toBe(7);
    expect(await values(at.db)).toEqual(['a']);
  });

  test('undo everything when the work throws', async () => {
    await using at = await fixture();
    const work = at.db.transaction(async (tx) => {
      await tx.run("INSERT INTO t (v) VALUES ('a')");
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(await values(at.db)).toEqual([]);
    await at.db.run("INSERT INTO t (v) VALUES ('b')");
  });

  test('are not joined by statements from outside, durable or relaxed', async () => {
    await using at = await fixture();
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const transaction = at.db.transaction(async (tx) => {
      await tx.run("INSERT INTO t (v) VALUES ('inside')");
      begun.resolve();
      await gate.promise;
      throw new Error('undone');
    });
    await begun.promise;
    const outside = [
      at.db.run("INSERT INTO t (v) VALUES ('durable')"),
      at.db.relaxed.run("INSERT INTO t (v) VALUES ('relaxed')"),
      at.db.transaction(async (tx) => tx.run("INSERT INTO t (v) VALUES ('second')")),
    ];
    gate.resolve();
    await expect(transaction).rejects.toThrow('undone');
    await Promise.all(outside);
    expect(await values(at.db)).toEqual(['durable', 'relaxed', 'second']);
  });

  test('cannot be nested, and their handle dies with them', async () => {
    await using at = await fixture();
    let leaked: Database | null = null;
    await at.db.transaction(async (tx) => {
      leaked = tx;
      await expect(tx.transaction(async () => 1)).rejects.toThrow('inside another');
      expect(tx.relaxed).toBe(tx);
    });
    await expect(leaked!.run("INSERT INTO t (v) VALUES ('late')")).rejects.toThrow('ended');
  });

  test('go on after a failed statement that the work caught', async () => {
    await using at = await fixture();
    await at.db.run("INSERT INTO t (v) VALUES ('a')");
    await at.db.transaction(async (tx) => {
      await tx.run("INSERT INTO t (v) VALUES ('a')").catch(() => {});
      await tx.run("INSERT INTO t (v) VALUES ('b')");
    });
    expect(await values(at.db)).toEqual(['a', 'b']);
  });

  test('keep the order in which they were asked for', async () => {
    await using at = await fixture();
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        at.db.transaction(async (tx) => {
          await Promise.resolve();
          await tx.run('INSERT INTO t (v) VALUES (?)', [String(n)]);
        }),
      ),
    );
    expect(await values(at.db)).toEqual(Array.from({ length: 50 }, (_, n) => String(n)));
  });
});

describe('another process', () => {
  test('that writes for a moment is waited for without holding the event loop', async () => {
    await using at = await fixture(patienceFor(5_000));
    const other = new Sqlite(at.path);
    other.run('BEGIN IMMEDIATE');
    const written = at.db.run("INSERT INTO t (v) VALUES ('waited')");
    const begun = at.db.transaction(async (tx) => tx.run("INSERT INTO t (v) VALUES ('too')"));
    expect(await values(at.db)).toEqual([]);
    // A loop that is held until the waiting is given up does not get round so often.
    for (let turn = 0; turn < 50; turn++) await Bun.sleep(3);
    other.run('COMMIT');
    await written;
    await begun;
    other.close();
    expect(await values(at.db)).toEqual(['waited', 'too']);
  });

  test('that never stops writing is given up on as unavailable, all waiters together', async () => {
    const waitMs = onSharedCores(700);
    await using at = await fixture(waitMs);
    const other = new Sqlite(at.path);
    other.run('BEGIN IMMEDIATE');
    const started = performance.now();
    const ends: number[] = [];
    const outcomes = await Promise.allSettled(
      [
        at.db.run("INSERT INTO t (v) VALUES ('a')"),
        at.db.relaxed.run("INSERT INTO t (v) VALUES ('b')"),
        at.db.transaction(async () => {}),
      ].map((work) => work.finally(() => ends.push(performance.now()))),
    );
    expect(ends[0]! - started).toBeGreaterThan(waitMs - 10);
    // One after the other the last would end two such times after the first.
    expect(ends.at(-1)! - ends[0]!).toBeLessThan(waitMs);
    other.run('ROLLBACK');
    other.close();
    for (const outcome of outcomes) {
      expect(outcome.status).toBe('rejected');
      const error = (outcome as PromiseRejectedResult).reason;
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });
    }
    await at.db.run("INSERT INTO t (v) VALUES ('a')");
  });
});

describe('a full disk', () => {
  test('is no-space, undoes the transaction and does no lasting harm', async () => {
    await using at = await fixture();
    await at.db.run("INSERT INTO t (v) VALUES ('kept')");
    // The same error as ENOSPC gives, without having to fill a disk.
    await at.db.transaction(async (tx) => {
      const row = await tx.get<{ page_count: number }>('PRAGMA page_count');
      await tx.run(`PRAGMA max_page_count = ${row?.page_count ?? 0}`);
    });
    const fill = at.db.transaction(async (tx) => {
      for (let n = 0; n < 100; n++)
        await tx.run('INSERT INTO t (v) VALUES (?)', [`${n}`.repeat(4000)]);
    });
    await expect(fill).rejects.toMatchObject({ code: 'no-space', message: 'Insufficient storage' });
    expect(await values(at.db)).toEqual(['kept']);
    await at.db.transaction(async (tx) => {
      await tx.run('PRAGMA max_page_count = 1000000');
    });
    await at.db.run("INSERT INTO t (v) VALUES ('again')");
  });
});

test('closing folds the write-ahead log into the file and may be asked for twice', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'x.db');
  const db = openSqliteDatabase(path);
  await db.run('CREATE TABLE t (v)');
  await db.relaxed.run("INSERT INTO t VALUES ('a')");
  await db.close();
  await db.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
  expect(statSync(path).size).toBeGreaterThan(0);
  await expect(db.run("INSERT INTO t VALUES ('b')")).rejects.toThrow();
});

test('a file that cannot be opened leaves SQLite’s own error', () => {
  using directory = temporaryDirectory();
  expect(() => openSqliteDatabase(join(directory.path, 'missing', 'x.db'))).toThrow(/open/);
});
