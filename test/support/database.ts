/**
 * A state database, a clock to move and a log to read, for tests below the HTTP door.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/base/clock.ts';
import type { Log } from '../../src/base/log.ts';
import { createLog } from '../../src/base/log.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { openSqliteDatabase } from '../../src/store/sqlite-database.ts';
import { patienceFor } from './patience.ts';

/** A temporary directory, removed at the end of an `await using` or `using` block. */
export function temporaryDirectory(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'svc-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A migrated database of its own; `path` is its file. */
export async function temporaryDatabase(): Promise<
  { db: Database; path: string } & AsyncDisposable
> {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'svc.db');
  const db = openSqliteDatabase(path);
  await migrate(db, migrations);
  return {
    db,
    path,
    async [Symbol.asyncDispose]() {
      await db.close();
      directory[Symbol.dispose]();
    },
  };
}

/** A clock that stands still until it is moved. */
export interface TestClock extends Clock {
  /** Moves both times on. */
  pass(ms: number): void;
  /** Sets the wall time alone, as an administrator does. */
  setWall(epochMs: number): void;
}

/** Starts at 2026-11-20T12:00:00.000Z. */
export function testClock(): TestClock {
  let wall = Date.UTC(2026, 10, 20, 12);
  let monotonic = 1000;
  return {
    now: () => wall,
    monotonic: () => monotonic,
    pass(ms) {
      wall += ms;
      monotonic += ms;
    },
    setWall(epochMs) {
      wall = epochMs;
    },
  };
}

/** A log that keeps its lines. */
export function testLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: (line) => lines.push(line) });
  return { log, lines };
}

/** Resolves when `condition` holds; fails when it does not come to hold. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + patienceFor(5_000);
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error('The condition did not come true');
    await Bun.sleep(5);
  }
}
