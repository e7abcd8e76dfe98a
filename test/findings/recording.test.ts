/** What an alert found and what is sent of it are written down together, once for as long as it lasts. */
import { Value } from '@sinclair/typebox/value';
import { describe, expect, test } from 'bun:test';
import { findTampering } from '../../src/accounts/audit/audit-chain.ts';
import { claimDue, enqueue, MAX_WAITING, settle } from '../../src/deliveries/queue.ts';
import { deliverySchema } from '../../src/deliveries/target.ts';
import type { Firing } from '../../src/findings/finding.ts';
import { recordFinding, resolveFinding } from '../../src/findings/findings.ts';
import type { Database } from '../../src/store/database.ts';
import { FIRED_AT, fire, firing } from '../support/firing.ts';
import { temporaryDatabase } from '../support/database.ts';

const WEBHOOK = { type: 'webhook', url: 'https://example.org/hook' } as const;
const AT = FIRED_AT;

const fired = (db: Database, more: Partial<Firing> = {}) =>
  fire(db, { deliveries: [WEBHOOK], ...more });

const shown = (db: Database) =>
  db.all(
    'SELECT key, status, severity, count, first_seen, last_seen, closed_at FROM findings ORDER BY id',
  );

describe('a finding', () => {
  test('counts while it is open, and begins anew behind its end', async () => {
    await using at = await temporaryDatabase();
    const first = await fired(at.db);
    expect(first).toEqual({ id: 1, isNew: true, count: 1, refused: 0 });
    const second = await fired(at.db, { at: AT + 60e6, severity: 'critical', rows: [] });
    expect(second).toEqual({ id: 1, isNew: false, count: 2, refused: 0 });
    expect((await fired(at.db, { key: '198.51.100.1' })).id).toBe(2);
    const end = await at.db.transaction((tx) => resolveFinding(tx, '7', '203.0.113.9', AT + 120e6));
    expect(end).toBe(1);
    expect((await fired(at.db, { at: AT + 180e6 })).isNew).toBe(true);
    expect(await shown(at.db)).toEqual([
      {
        key: '203.0.113.9',
        status: 'resolved',
        severity: 'critical',
        count: 2,
        first_seen: '2023-11-14T22:13:20.000Z',
        last_seen: '2023-11-14T22:14:20.000Z',
        closed_at: '2023-11-14T22:15:20.000Z',
      },
      expect.objectContaining({ key: '198.51.100.1', status: 'new', count: 1 }),
      expect.objectContaining({ key: '203.0.113.9', status: 'new', count: 1, closed_at: null }),
    ]);
    expect(await at.db.transaction((tx) => resolveFinding(tx, '7', 'of nobody', AT))).toBeNull();
  });

  test('is audited when it begins and ends, as part of the chain', async () => {
    await using at = await temporaryDatabase();
    await fired(at.db);
    await fired(at.db);
    await at.db.transaction((tx) => resolveFinding(tx, '7', '203.0.113.9', AT));
    expect(await at.db.all('SELECT action, resource FROM audit ORDER BY id')).toEqual([
      { action: 'create_finding', resource: 'finding/1' },
      { action: 'resolve_finding', resource: 'finding/1' },
    ]);
    expect(await findTampering(at.db)).toBeNull();
  });

  test('is kept with its deliveries, or neither is', async () => {
    await using at = await temporaryDatabase();
    const failing = at.db.transaction(async (tx) => {
      await recordFinding(tx, firing());
      throw new Error('the run could not be written down');
    });
    await expect(failing).rejects.toThrow('written down');
    expect(await at.db.all('SELECT id FROM findings UNION ALL SELECT id FROM deliveries')).toEqual(
      [],
    );
  });

  test('keeps as many rows as it has room for, and how many there were', async () => {
    await using at = await temporaryDatabase();
    const rows = Array.from({ length: 500 }, (_, n) => ({ n }));
    await fired(at.db, { rows });
    await fired(at.db, { key: 'wide', rows: rows.map(() => ({ text: 'x'.repeat(30_000) })) });
    const kept = await at.db.all<{ rows: string; row_count: number }>(
      'SELECT rows, row_count FROM findings ORDER BY id',
    );
    expect(kept.map((one) => [JSON.parse(one.rows).length, one.row_count])).toEqual([
      [100, 500],
      [2, 500],
    ]);
  });
});

describe('the queue', () => {
  test('takes what the schema of deliveries describes', () => {
    expect(Value.Check(deliverySchema, WEBHOOK)).toBe(true);
    expect(Value.Check(deliverySchema, { type: 'index' })).toBe(false);
  });

  const message = {
    kind: 'change',
    title: '',
    text: '',
    severity: null,
    links: {},
    data: {},
  } as const;
  const add = (db: Database, host: string, orderKey?: string) =>
    db.transaction((tx) =>
      enqueue(
        tx,
        {
          subject: 'a.csv',
          findingId: null,
          ownerId: null,
          target: { type: 'webhook', url: `https://${host}/` },
          message,
          ...(orderKey !== undefined && { orderKey }),
        },
        0,
      ),
    );
  const due = async (db: Database, now: number, busy: readonly string[] = []) =>
    (await claimDue(db, { now, busy, most: 10, claimMs: 60_000 })).map(({ id, attempts }) => [
      id,
      attempts,
    ]);

  test('gives each receiver one at a time, and those of one key in their order', async () => {
    await using at = await temporaryDatabase();
    await add(at.db, 'a.example', 'file');
    await add(at.db, 'a.example');
    await add(at.db, 'b.example', 'file');
    await add(at.db, 'c.example');
    expect(await due(at.db, 0, ['webhook:c.example'])).toEqual([[1, 0]]);
    // What was taken is not taken again before its time; then it is a repeat.
    expect(await due(at.db, 1000, ['webhook:a.example'])).toEqual([[4, 0]]);
    expect(await due(at.db, 60_000)).toEqual([[1, 1]]);
    await settle(at.db, 1, { state: 'dead', error: 'gone' }, 0);
    expect(await due(at.db, 61_000)).toEqual([
      [2, 0],
      [3, 0],
      [4, 1],
    ]);
  });

  test('is bounded: what finds no room is given up and can be sent again', async () => {
    await using at = await temporaryDatabase();
    await at.db.run(
      `INSERT INTO deliveries (uid, kind, subject, channel, receiver, lane, target, message, state, attempts, round, created_at)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${MAX_WAITING})
       SELECT n, 'alert', '7', 'webhook', 'x', 'x', '{}', '{}', 'waiting', 0, 0, '' FROM n`,
    );
    expect(await fired(at.db)).toMatchObject({ isNew: true, refused: 1 });
    const [last] = await at.db.all(
      'SELECT state, last_error FROM deliveries ORDER BY id DESC LIMIT 1',
    );
    expect(last).toEqual({ state: 'dead', last_error: expect.stringContaining('wait already') });
  });
});
