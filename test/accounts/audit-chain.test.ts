/** An audit that somebody changed behind our back is noticed; what the product does to it itself is not. */
import { describe, expect, test } from 'bun:test';
import { findTampering } from '../../src/accounts/audit/audit-chain.ts';
import { Audit, pruneAudit } from '../../src/accounts/audit/audit.ts';
import { createUser, deleteUser } from '../../src/accounts/identity/users.ts';
import type { Database } from '../../src/store/database.ts';
import { temporaryDatabase, testClock, testLog } from '../support/database.ts';

async function audited(db: Database, entries: number) {
  const clock = testClock();
  const audit = new Audit({ db, clock, log: testLog().log });
  const ada = await createUser(db, {
    username: 'ada',
    passwordHash: null,
    isSuperuser: false,
    now: 0,
  });
  for (let entry = 1; entry <= entries; entry++) {
    clock.pass(1000);
    await audit.record({
      userId: ada.id,
      action: 'login',
      resource: 'auth',
      details: `entry ${entry}`,
      ipAddress: '::1',
    });
  }
  return { audit, clock, ada };
}

describe('an audit nobody touched', () => {
  test('is whole while a server prunes it, in part or altogether', async () => {
    for (const [kept, pruned] of [
      [2500, 3],
      [-1, 6],
    ] as const) {
      await using at = await temporaryDatabase();
      const { clock } = await audited(at.db, 6);
      let isPruned = false;
      const all: Database['all'] = async (sql, params) => {
        if (!isPruned) expect(await pruneAudit(at.db, clock.now() - kept)).toBe(pruned);
        isPruned = true;
        return at.db.all(sql, params);
      };
      expect(await findTampering({ all, get: at.db.get.bind(at.db) } as Database)).toBeNull();
    }
  });

  test('is whole, empty or not, and after entries of several batches at once', async () => {
    await using at = await temporaryDatabase();
    expect(await findTampering(at.db)).toBeNull();
    const { audit } = await audited(at.db, 3);
    const note = { userId: null, action: 'x', resource: null, details: null, ipAddress: null };
    await Promise.all(Array.from({ length: 50 }, () => audit.record(note)));
    expect(await findTampering(at.db)).toBeNull();
  });

  test('DS-139 stays whole when a user is deleted', async () => {
    await using at = await temporaryDatabase();
    const { ada } = await audited(at.db, 3);
    await deleteUser(at.db, ada.id);
    expect(await findTampering(at.db)).toBeNull();
  });

  test('DS-140 stays whole when its oldest entries are pruned, and all of them', async () => {
    await using at = await temporaryDatabase();
    const { audit, clock } = await audited(at.db, 6);
    expect(await pruneAudit(at.db, clock.now() - 2500)).toBe(3);
    expect(await findTampering(at.db)).toBeNull();
    expect(await pruneAudit(at.db, clock.now() + 1)).toBe(3);
    expect(await findTampering(at.db)).toBeNull();
    await audit.record({
      userId: null,
      action: 'x',
      resource: null,
      details: null,
      ipAddress: null,
    });
    expect(await findTampering(at.db)).toBeNull();
  });

  test('is whole beside another process that writes to it', async () => {
    await using at = await temporaryDatabase();
    const { audit } = await audited(at.db, 1);
    const other = new Audit({ db: at.db, clock: testClock(), log: testLog().log });
    const note = { userId: null, action: 'x', resource: null, details: null, ipAddress: null };
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? audit : other).record(note)),
    );
    expect(await findTampering(at.db)).toBeNull();
  });

  test('may begin with entries of a version without hashes', async () => {
    await using at = await temporaryDatabase();
    await at.db.run(
      "INSERT INTO audit (timestamp, action) VALUES ('2026-01-01T00:00:00.000Z', 'x')",
    );
    await at.db.run("UPDATE settings SET value = '1' WHERE name = 'audit_unchained'");
    await audited(at.db, 2);
    expect(await findTampering(at.db)).toBeNull();
  });
});

describe('an audit that was changed is found out, with the first bad entry', () => {
  test.each([
    ["UPDATE audit SET details = 'nothing' WHERE id = 3", 'entry 3'],
    ["UPDATE audit SET timestamp = '2020-01-01T00:00:00.000Z' WHERE id = 1", 'entry 1'],
    ['UPDATE audit SET user_id = NULL, actor_id = NULL WHERE id = 2', 'entry 2'],
    ["UPDATE audit SET ip_address = '10.0.0.1' WHERE id = 5", 'entry 5'],
    ['DELETE FROM audit WHERE id = 2', 'entry 3 does not follow entry 1'],
    ['DELETE FROM audit WHERE id = 1', 'entry 2 does not follow entry 0'],
    ['DELETE FROM audit WHERE id > 3', 'entries after 3 were removed'],
    ['DELETE FROM audit', 'entries after 0 were removed'],
    ['UPDATE audit SET hash = NULL', 'entry 1'],
    ["DELETE FROM settings WHERE name = 'audit_head'", 'the record of the newest entry'],
    [
      "INSERT INTO audit (id, timestamp, action) VALUES (9, '2026-11-20T13:00:00.000Z', 'login')",
      'entry 9',
    ],
  ])('%s', async (sql, finding) => {
    await using at = await temporaryDatabase();
    await audited(at.db, 5);
    await at.db.run(sql);
    expect(await findTampering(at.db)).toContain(finding);
  });
});
