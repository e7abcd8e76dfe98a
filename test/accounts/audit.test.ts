import { describe, expect, test } from 'bun:test';
import type { AuditNote } from '../../src/accounts/audit/audit.ts';
import { Audit, pruneAudit } from '../../src/accounts/audit/audit.ts';
import { createUser, deleteUser } from '../../src/accounts/identity/users.ts';
import type { Database } from '../../src/store/database.ts';
import { listAudit } from '../support/audit.ts';
import { temporaryDatabase, testClock, testLog } from '../support/database.ts';

const everything = { limit: 10_000, offset: 0 };

function note(more: Partial<AuditNote> = {}): AuditNote {
  return { userId: null, action: 'x', resource: null, details: null, ipAddress: '::1', ...more };
}

function auditOf(db: Database, isCommandLine = false) {
  const clock = testClock();
  const { log, lines } = testLog();
  return { audit: new Audit({ db, clock, log, isCommandLine }), clock, lines };
}

async function rows(db: Database): Promise<number> {
  return (await listAudit(db, everything)).total;
}

describe('recording (DS-140)', () => {
  test('resolves when the entry is stored', async () => {
    await using at = await temporaryDatabase();
    const { audit } = auditOf(at.db);
    const user = await createUser(at.db, {
      username: 'ada',
      passwordHash: null,
      isSuperuser: false,
      now: 0,
    });
    await audit.record(
      note({ userId: user.id, action: 'login', resource: 'auth', details: 'User logged in' }),
    );
    expect(await listAudit(at.db, everything)).toEqual({
      total: 1,
      entries: [
        {
          id: 1,
          timestamp: '2026-11-20T12:00:00.000Z',
          userId: user.id,
          action: 'login',
          resource: 'auth',
          details: 'User logged in',
          ipAddress: '::1',
        },
      ],
    });
  });

  test('keeps the order and shares transactions', async () => {
    await using at = await temporaryDatabase();
    let transactions = 0;
    const counted: Database = {
      all: (sql, params) => at.db.all(sql, params),
      get: (sql, params) => at.db.get(sql, params),
      run: (sql, params) => at.db.run(sql, params),
      transaction(work) {
        transactions++;
        return at.db.transaction(work);
      },
      changeCount: () => at.db.changeCount(),
      relaxed: at.db.relaxed,
    };
    const { audit } = auditOf(counted);
    await Promise.all(
      Array.from({ length: 200 }, (_, n) => audit.record(note({ details: String(n) }))),
    );
    const { entries } = await listAudit(at.db, { ...everything, order: 'asc' });
    expect(entries.map(({ details }) => details)).toEqual(
      Array.from({ length: 200 }, (_, n) => String(n)),
    );
    expect(transactions).toBe(1);
  });

  test('keeps the entry of a user who was deleted meanwhile', async () => {
    await using at = await temporaryDatabase();
    const { audit } = auditOf(at.db);
    const user = await createUser(at.db, {
      username: 'ada',
      passwordHash: null,
      isSuperuser: false,
      now: 0,
    });
    const recorded = [audit.record(note({ userId: user.id })), audit.record(note({ userId: 99 }))];
    await deleteUser(at.db, user.id);
    await Promise.all(recorded);
    const { entries } = await listAudit(at.db, everything);
    expect(entries.map(({ userId }) => userId)).toEqual([null, null]);
  });

  test('logs what cannot be written, fails nobody and goes on afterwards', async () => {
    await using at = await temporaryDatabase();
    const { audit, lines } = auditOf(at.db);
    await at.db.run('ALTER TABLE audit RENAME TO gone');
    await Promise.all([
      audit.record(note({ action: 'one' })),
      audit.record(note({ action: 'two' })),
    ]);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('"action":"one"');
    await at.db.run('ALTER TABLE gone RENAME TO audit');
    await audit.record(note());
    expect(await rows(at.db)).toBe(1);
  });

  test('is finished when drained', async () => {
    await using at = await temporaryDatabase();
    const { audit } = auditOf(at.db);
    await audit.drain();
    void audit.record(note());
    void audit.record(note());
    await audit.drain();
    expect(await rows(at.db)).toBe(2);
  });

  test('marks the command line (DS-141)', async () => {
    await using at = await temporaryDatabase();
    const { audit } = auditOf(at.db, true);
    await audit.record(note({ details: 'Created user ada', ipAddress: null }));
    expect((await listAudit(at.db, everything)).entries[0]?.details).toBe('Created user ada (cli)');
  });
});

describe('limits (DS-141)', () => {
  const failed = (name: string, ipAddress = '::1') =>
    note({
      action: 'login_failed',
      resource: 'auth',
      details: `Failed login for user ${name}`,
      ipAddress,
    });

  test('one row a minute for the same name, address, resource and action', async () => {
    await using at = await temporaryDatabase();
    const { audit, clock } = auditOf(at.db);
    for (let n = 0; n < 5; n++) await audit.record(failed('ada'));
    expect(await rows(at.db)).toBe(1);
    await audit.record(failed('bob'));
    await audit.record(failed('ada', '::2'));
    expect(await rows(at.db)).toBe(3);
    clock.pass(59_999);
    await audit.record(failed('ada'));
    expect(await rows(at.db)).toBe(3);
    clock.pass(1);
    await audit.record(failed('ada'));
    expect(await rows(at.db)).toBe(4);
  });

  test('denied reads and writes of one resource are two things', async () => {
    await using at = await temporaryDatabase();
    const { audit } = auditOf(at.db);
    const denied = (details: string, resource = 'notes') =>
      audit.record(note({ userId: 1, action: 'permission_denied', resource, details }));
    for (let n = 0; n < 3; n++) {
      await denied('read');
      await denied('write');
      await denied('read', 'other');
    }
    expect(await rows(at.db)).toBe(3);
  });

  test('anonymous denied uploads count whatever the reason, those of users not at all', async () => {
    await using at = await temporaryDatabase();
    const { audit } = auditOf(at.db);
    const user = await createUser(at.db, {
      username: 'ada',
      passwordHash: null,
      isSuperuser: false,
      now: 0,
    });
    const denied = (userId: number | null, details: string) =>
      audit.record(note({ userId, action: 'upload_denied', resource: 'a.csv', details }));
    await denied(null, 'one');
    await denied(null, 'two');
    await denied(user.id, 'one');
    await denied(user.id, 'one');
    expect(await rows(at.db)).toBe(3);
  });

  const texts = async (db: Database): Promise<(string | null)[]> =>
    (await db.all<{ details: string | null }>('SELECT details FROM audit ORDER BY id')).map(
      ({ details }) => details,
    );

  test('a caller has an allowance for each action, and what is left out is one row', async () => {
    await using at = await temporaryDatabase();
    const { audit, clock } = auditOf(at.db);
    const denied = (resource: string) =>
      audit.record(note({ userId: null, action: 'permission_denied', resource, details: 'read' }));
    const tries = (from: number, to: number, address: (n: number) => string) =>
      Promise.all(
        Array.from({ length: to - from }, (_, n) =>
          audit.record(failed(`u${from + n}`, address(n))),
        ),
      );
    await Promise.all(Array.from({ length: 700 }, (_, n) => denied(`r${n}`)));
    expect(await rows(at.db)).toBe(100);
    // One customer has all addresses of a /64.
    await tries(0, 700, (n) => `2001:db8::${n.toString(16)}`);
    await audit.record(failed('ada', '2001:db8:0:1::1'));
    expect(await rows(at.db)).toBe(201);
    expect((await texts(at.db)).at(-1)).toBe('Failed login for user ada');
    await Promise.all(Array.from({ length: 3 }, () => audit.record(note({ action: 'login' }))));
    await audit.drain();
    expect(await rows(at.db)).toBe(206);
    const summaries = (await listAudit(at.db, everything)).entries.slice(0, 2).toReversed();
    expect(summaries).toMatchObject([
      { action: 'permission_denied', details: '600 more within a minute, not listed one by one' },
      { action: 'login_failed', details: '600 more within a minute, not listed one by one' },
    ]);
    clock.pass(60_000);
    await tries(0, 1, () => '2001:db8::1');
    await audit.drain();
    expect(await rows(at.db)).toBe(207);
  });

  test('all callers together write 600 rows of an action a minute', async () => {
    await using at = await temporaryDatabase();
    const { audit } = auditOf(at.db);
    await Promise.all(
      Array.from({ length: 700 }, (_, n) =>
        audit.record(failed('ada', `10.0.${n >> 8}.${n & 255}`)),
      ),
    );
    await audit.drain();
    expect(await rows(at.db)).toBe(601);
    expect((await texts(at.db)).at(-1)).toStartWith('100 more');
  });

  test('texts that anybody may send are cut', async () => {
    await using at = await temporaryDatabase();
    const { audit } = auditOf(at.db);
    await audit.record(failed('n'.repeat(10_000)));
    expect((await texts(at.db))[0]).toEndWith('nnn…');
    expect((await texts(at.db))[0]).toHaveLength(4097);
    const note = { userId: 1, ipAddress: '10.0.0.1', details: 'd'.repeat(10_000) };
    for (const action of ['upload_denied', 'upload_failed'])
      await audit.record({ ...note, action, resource: 'r'.repeat(10_000) });
    const lengths = await at.db.all(
      'SELECT length(resource) AS r, length(details) AS d FROM audit',
    );
    expect(lengths.slice(1)).toEqual([
      { r: 4097, d: 4097 },
      { r: 4097, d: 4097 },
    ]);
  });
});

describe('the list', () => {
  async function filled(db: Database) {
    const { audit, clock } = auditOf(db);
    for (const [action, resource] of [
      ['b', 'r1'],
      ['a', 'r2'],
      ['b', 'r2'],
      ['c', null],
    ] as const) {
      await audit.record(note({ action, resource }));
      clock.pass(1000);
    }
    return clock;
  }
  const ids = async (db: Database) => (await listAudit(db, everything)).entries.map(({ id }) => id);

  test('is cut at its old end', async () => {
    await using at = await temporaryDatabase();
    const clock = await filled(at.db);
    expect(await pruneAudit(at.db, clock.now() - 2500)).toBe(2);
    expect(await ids(at.db)).toEqual([4, 3]);
    expect(await pruneAudit(at.db, clock.now())).toBe(2);
  });
});
