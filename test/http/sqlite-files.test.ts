/** SQLite databases of other programs: their tables and views, and that their writers never notice (DS-226). */
import { Database } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { listNoticed } from './listing.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {},
  config: { limits: { parse_timeout_seconds: 5, max_workbook_bytes: 8_000_000 } },
});

const open: Database[] = [];
afterEach(() => {
  for (const db of open.splice(0)) db.close();
});

function database(rel: string, ...statements: string[]): Database {
  const db = new Database(join(shared.service.docroot, rel));
  open.push(db);
  for (const statement of statements) db.run(statement);
  return db;
}

async function rowsOf(name: string): Promise<unknown> {
  const { status, body } = await listNoticed(shared.reader, name);
  return status === 200 ? body : [status, body];
}

/** What the server left in its state besides the copies of tables. */
const scratch = (): string[] =>
  readdirSync(join(shared.service.docroot, '.svc/tmp')).filter((name) =>
    name.startsWith('snapshot'),
  );

describe('a SQLite database', () => {
  test('is a dataset for each table and view, with the types its values have (DS-23, DS-66)', async () => {
    database(
      'shop.db',
      'CREATE TABLE "Order Lines" (id INTEGER PRIMARY KEY, price REAL, paid BOOLEAN, code TEXT, raw BLOB, big INTEGER, mixed)',
      `INSERT INTO "Order Lines" VALUES (3, 5.0, 1, '007', x'00ff', 9007199254740993, 5), (7, 2.0, 0, '', NULL, -1, 'x')`,
      'CREATE VIEW cheap AS SELECT id, price * 2 AS twice, code FROM "Order Lines" WHERE price < 5',
      'CREATE VIRTUAL TABLE words USING fts5(body)',
      `INSERT INTO words VALUES ('hello')`,
    );
    const { text } = await listNoticed(shared.reader, 'shop/Order Lines');
    expect(text).toBe(
      '[{"_row_id":1,"id":3,"price":5,"paid":true,"code":"007","raw":"AP8=","big":9007199254740993,"mixed":"5"},' +
        '{"_row_id":2,"id":7,"price":2,"paid":false,"code":"","raw":null,"big":-1,"mixed":"x"}]',
    );
    expect(await rowsOf('shop/cheap')).toEqual([{ _row_id: 1, id: 7, twice: 4, code: '' }]);
    expect(await rowsOf('shop/words')).toEqual([{ _row_id: 1, body: 'hello' }]);
    const schema = await (await shared.reader.fetch('/schema/shop/Order%20Lines/')).json();
    expect(schema).toMatchObject({
      read_only: expect.stringContaining('SQLite databases are read-only'),
      columns: { price: { type: 'number' }, paid: { type: 'boolean' }, big: { type: 'integer' } },
    });
    const refusal = await shared.writer.fetch('/api/shop/cheap/', { method: 'DELETE' });
    expect([refusal.status, refusal.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const { resources } = (await (await shared.reader.fetch('/')).json()) as {
      resources: string[];
    };
    expect(resources).toContain('shop.db');
    expect((await shared.reader.fetch('/api/shop/words_content/')).status).toBe(404);
  });

  test('is read with its log, at once after each commit, and nothing is left beside it (DS-33)', async () => {
    const db = database('log.sqlite', 'PRAGMA journal_mode = WAL', 'PRAGMA wal_autocheckpoint = 0');
    db.run('CREATE TABLE t (n INTEGER)');
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
    for (let n = 1; n <= 20; n++) {
      db.run('INSERT INTO t VALUES (?)', [n]);
      expect((await listNoticed(shared.reader, 'log/t')).total).toBe(n);
    }
    db.run('BEGIN');
    db.run('INSERT INTO t VALUES (99)');
    expect((await listNoticed(shared.reader, 'log/t')).total).toBe(20);
    db.run('COMMIT');
    expect((await listNoticed(shared.reader, 'log/t')).total).toBe(21);
    expect(
      readdirSync(shared.service.docroot)
        .filter((name) => name.startsWith('log.'))
        .sort(),
    ).toEqual(['log.sqlite', 'log.sqlite-shm', 'log.sqlite-wal']);
    expect(scratch()).toEqual([]);
  });

  test('a transaction that is not finished is not seen, whatever the journal (DS-226)', async () => {
    const db = database(
      'journal.sqlite3',
      'PRAGMA journal_mode = DELETE',
      'PRAGMA cache_size = 5',
      'CREATE TABLE t (n INTEGER, pad TEXT)',
      `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000) INSERT INTO t SELECT n, hex(randomblob(200)) FROM c`,
    );
    expect((await listNoticed(shared.reader, 'journal/t')).total).toBe(2000);
    // So small a cache writes pages of the transaction into the file before it ends.
    db.run('BEGIN');
    db.run('UPDATE t SET n = -n, pad = hex(randomblob(200))');
    expect(existsSync(join(shared.service.docroot, 'journal.sqlite3-journal'))).toBe(true);
    const during = await listNoticed(shared.reader, 'journal/t', { filter: { n: { $lt: 0 } } });
    expect([during.status, during.total]).toEqual([200, 0]);
    db.run('COMMIT');
    const after = await listNoticed(shared.reader, 'journal/t', { filter: { n: { $lt: 0 } } });
    expect(after.total).toBe(2000);
  });

  test('a busy writer never waits, and every answer is one moment of it', async () => {
    const db = database(
      'busy.db',
      'PRAGMA journal_mode = WAL',
      'PRAGMA busy_timeout = 0',
      'CREATE TABLE a (n INTEGER)',
      'INSERT INTO a VALUES (0)',
      'CREATE VIEW both AS SELECT x.n AS x, y.n AS y FROM a x, a y',
    );
    await listNoticed(shared.reader, 'busy/both');
    let writes = 0;
    const until = performance.now() + 2_000;
    const writing = (async () => {
      while (performance.now() < until) {
        // Throws SQLITE_BUSY at once when anybody holds a lock.
        db.run('UPDATE a SET n = n + 1');
        if (++writes % 50 === 0) db.run('PRAGMA wal_checkpoint(TRUNCATE)');
        await Bun.sleep(1);
      }
    })();
    let answers = 0;
    while (performance.now() < until) {
      const { status, rows } = await listNoticed(shared.reader, 'busy/both');
      if (status === 200) {
        answers++;
        expect(rows[0]!['x']).toBe(rows[0]!['y']);
      } else expect([409, 503]).toContain(status);
    }
    await writing;
    expect(answers).toBeGreaterThan(0);
    expect(writes).toBeGreaterThan(100);
    await eventually(async () => {
      const { rows } = await listNoticed(shared.reader, 'busy/both');
      expect(rows[0]).toEqual({ _row_id: 1, x: writes, y: writes });
    });
  });

  test('a view that never ends is stopped, and the others are read (DS-220)', async () => {
    database(
      'endless.db',
      'CREATE TABLE good (n)',
      'INSERT INTO good VALUES (1)',
      'CREATE VIEW rows_without_end AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c',
      'CREATE VIEW work_without_end AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c',
      'CREATE VIEW broken AS SELECT * FROM missing',
    );
    expect(await rowsOf('endless/good')).toEqual([{ _row_id: 1, n: 1 }]);
    expect(await rowsOf('endless/rows_without_end')).toEqual([
      422,
      { detail: expect.stringMatching(/its rows take more than 7.6 MiB|reading it takes longer/) },
    ]);
    expect(await rowsOf('endless/work_without_end')).toEqual([
      422,
      { detail: expect.stringContaining('reading it takes longer than 5 seconds') },
    ]);
    expect(await rowsOf('endless/broken')).toEqual([
      422,
      { detail: expect.stringContaining('the database says: no such table') },
    ]);
    expect(await rowsOf('endless/good')).toEqual([{ _row_id: 1, n: 1 }]);
  }, 30_000);

  test('one larger than its copy may be is not copied (DS-68)', async () => {
    database('large.db', 'CREATE TABLE t (n)', 'INSERT INTO t VALUES (zeroblob(9000000))');
    expect(await listNoticed(shared.reader, 'large.db')).toMatchObject({
      status: 422,
      detail: "Cannot read 'large.db': it is larger than limits.max_workbook_bytes",
    });
  });

  test('damage is named, and a .db of another kind is none', async () => {
    shared.service.write('Thumbs.db', Buffer.from('d0cf11e0a1b11ae1', 'hex'));
    database('torn.db', 'CREATE TABLE t (n)', 'INSERT INTO t VALUES (1)').close();
    open.pop();
    const bytes = Buffer.from(await Bun.file(join(shared.service.docroot, 'torn.db')).bytes());
    shared.service.write(
      'torn.db',
      Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(4096, 7)]),
    );
    await eventually(async () => {
      const { detail } = await listNoticed(shared.reader, 'torn/t');
      expect(detail).toBe(
        "Cannot read 'torn.db': the database says: database disk image is malformed",
      );
    });
    expect((await shared.reader.fetch('/api/Thumbs.db/')).status).toBe(404);
    expect(scratch()).toEqual([]);
  });
});
