/**
 * The log of a database stays small while searches follow upon each other without a gap.
 */
import { afterAll, expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { existsSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdOff, WriteAheadLog } from '../../src/events/store/write-ahead-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const MAX_BYTES = 1024 * 1024;
const COMMIT_BYTES = 256 * 1024;
const COMMITS = 40;

test('a log is emptied between readers of which there is always one', async () => {
  const path = folder.at('read.sqlite');
  using db = database(path);
  await using _ = await overlappingReaders(path);
  const log = new WriteAheadLog(db, 'main', path, MAX_BYTES);
  let largest = 0;
  for (let at = 0; at < COMMITS; at++) {
    write(db);
    log.fold();
    largest = Math.max(largest, logBytes(path));
    await Bun.sleep(5);
  }
  // A busy machine may miss one or two moments.
  expect(largest).toBeLessThan(5 * MAX_BYTES);
  // Nothing is changed for those who write after it.
  expect(db.query('PRAGMA busy_timeout').get()).toEqual({ timeout: 5000 });
});

test('and grows without that, which is what the readers are for', async () => {
  const path = folder.at('grows.sqlite');
  using db = database(path);
  await using _ = await overlappingReaders(path);
  for (let at = 0; at < COMMITS; at++) {
    write(db);
    await Bun.sleep(5);
  }
  expect(logBytes(path)).toBeGreaterThan(8 * MAX_BYTES);
});

test('a reader who stays is waited for once, and again only when the log is twice as large', () => {
  const path = folder.at('held.sqlite');
  using db = database(path);
  using reader = new Database(path, { readonly: true });
  reader.run('BEGIN');
  reader.query('SELECT count(*) FROM sqlite_schema').get();
  const log = new WriteAheadLog(db, 'main', path, MAX_BYTES);
  const waits: number[] = [];
  while (logBytes(path) < 1.8 * MAX_BYTES) {
    write(db);
    const startedAt = performance.now();
    log.fold();
    waits.push(performance.now() - startedAt);
  }
  expect(waits.filter((ms) => ms > 1_000)).toHaveLength(1);
  reader.run('COMMIT');
  while (logBytes(path) > MAX_BYTES) {
    write(db);
    log.fold();
  }
  expect(db.query('SELECT count(*) AS n FROM texts').get()).not.toEqual({ n: 0 });
});

test('readers that take longer than a moment are not followed by others while a log is emptied', async () => {
  const path = folder.at('slow.sqlite');
  using db = database(path);
  await using _ = await overlappingReaders(path, 2_500);
  const log = new WriteAheadLog(db, 'main', path, MAX_BYTES);
  let largest = 0;
  for (let at = 0; at < 12; at++) {
    write(db);
    log.fold();
    largest = Math.max(largest, logBytes(path));
    await Bun.sleep(5);
  }
  // A busy machine may miss it once; without holding off it takes five seconds, which is longer than anybody waits.
  expect(largest).toBeLessThan(2.5 * MAX_BYTES);
  expect(existsSync(`${path}-folding`)).toBe(false);
});

test('a reader holds off as long as it is asked to, and not for one who was killed', async () => {
  const path = folder.at('asked.sqlite');
  const asked = folder.write('asked.sqlite-folding', '');
  const child = Bun.spawn(['sh', '-c', `sleep 1; rm ${asked}`]);
  const startedAt = performance.now();
  holdOff(path);
  expect(performance.now() - startedAt).toBeGreaterThan(200);
  expect(existsSync(asked)).toBe(false);
  await child.exited;
  writeFileSync(asked, '');
  const longAgo = Date.now() / 1000 - 60;
  utimesSync(asked, longAgo, longAgo);
  const again = performance.now();
  holdOff(path);
  expect(performance.now() - again).toBeLessThan(2_500);
});

function database(path: string): Database {
  const db = new Database(path, { create: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA busy_timeout = 5000');
  db.run('CREATE TABLE texts (text BLOB)');
  return db;
}

function write(db: Database): void {
  db.query('INSERT INTO texts VALUES (randomblob(?))').run(COMMIT_BYTES);
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`).size;
}

/** `heldMs`: how long each of them reads. */
async function overlappingReaders(path: string, heldMs = 80): Promise<AsyncDisposable> {
  const program = join(import.meta.dir, 'overlapping-readers.ts');
  const child = Bun.spawn([process.execPath, program, path, String(heldMs)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  await child.stdout.getReader().read();
  return {
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await child.exited;
    },
  };
}
