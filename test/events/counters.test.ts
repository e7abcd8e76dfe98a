/**
 * Counters of senders outlive the process, and a database that fails for a moment (EV-60).
 */
import { expect, test } from 'bun:test';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { IngestCounters, type Sender } from '../../src/events/intake/counters.ts';
import type { Database } from '../../src/store/database.ts';
import { temporaryDatabase } from '../support/database.ts';

const SENDER: Sender = { kind: 'token', id: '1', label: 'root' };
const log = createLog({ level: 'error', format: 'text', write: () => undefined });

function countersOf(db: Database): IngestCounters {
  return new IngestCounters({ db, clock: systemClock, log });
}

test('the last error of a sender is known after a restart', async () => {
  await using state = await temporaryDatabase();
  const before = countersOf(state.db);
  before.noteRefusal(SENDER, 'rest', 'too large', 'too_large');
  await before.flush();
  const after = countersOf(state.db);
  after.noteRefusal({ ...SENDER, id: '2' }, 'rest', 'other', 'invalid');
  after.noteResult(SENDER, 'rest', 10, {
    ...{
      status: 201,
      headers: {},
      hasBody: false,
      spooledBytes: null,
      accepted: 1,
      rejected: 0,
      isReplay: false,
    },
    ...{ rejects: [], problem: null, indexes: [], pruned: [], hasMore: false },
  });
  await after.flush();
  const kept = await countersOf(state.db).credentials();
  expect(kept.find(({ id }) => id === '1')).toMatchObject({
    requests: 2,
    accepted: 1,
    last_error: 'too large',
    last_error_at: expect.any(String),
  });
});

for (const failing of ['read', 'written'] as const) {
  test(`what could not be ${failing} once is so the next time`, async () => {
    await using state = await temporaryDatabase();
    const { db, fail } = failingOnce(state.db);
    const counters = countersOf(db);
    counters.noteRefusal(SENDER, 'rest', 'too large', 'too_large');
    fail(failing);
    await counters.flush();
    await counters.flush();
    const [kept] = await countersOf(state.db).credentials();
    expect([kept?.requests, (await counters.credentials())[0]?.requests]).toEqual([1, 1]);
  });
}

/** The database with one call that fails, as with a disk that is gone for a moment. */
function failingOnce(db: Database): { db: Database; fail: (what: 'read' | 'written') => void } {
  let failing: 'read' | 'written' | null = null;
  const failIf = (what: 'read' | 'written'): void => {
    if (failing !== what) return;
    failing = null;
    throw new Error('disk I/O error');
  };
  const all: Database['all'] = async (sql, params) => {
    failIf('read');
    return db.all(sql, params);
  };
  const run: Database['run'] = async (sql, params) => {
    failIf('written');
    return db.relaxed.run(sql, params);
  };
  const failingDb = { all, relaxed: { run } } as unknown as Database;
  return { db: failingDb, fail: (what) => (failing = what) };
}
