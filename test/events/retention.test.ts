/**
 * What retention deletes, and what the audit has of it (EV-84, EV-85).
 */
import { afterAll, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Audit, AuditNote } from '../../src/accounts/audit/audit.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import type { Config } from '../../src/config/settings.ts';
import { EventReader } from '../../src/events/store/reader.ts';
import { DirectStore } from '../../src/events/store/direct-store.ts';
import { previewRetention } from '../../src/events/retention/prune-preview.ts';
import { type PrunedStore, Retention } from '../../src/events/retention/retention.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const SETTINGS = {
  limits: {
    maxDecodedBytes: 2 ** 20,
    maxEventBytes: 2 ** 20,
    maxEvents: 100_000,
    maxDepth: 32,
    maxFields: 1000,
  },
  extraction: { extractors: [], syslogTimezone: 'UTC' },
};

test('over the total size the oldest go until 95 % of it is left, not more', async () => {
  const direct = new DirectStore(folder.at('total'), SETTINGS);
  // In the pages of the database a small event takes several times its text, a large one no more than that.
  insert(
    direct,
    Array.from({ length: 40_000 }, () => draftEvent({ data: 'x' })),
  );
  insert(
    direct,
    Array.from({ length: 80 }, () => draftEvent({ data: 'x'.repeat(100_000) })),
  );
  const max = Math.floor(direct.sizeInUse() * 0.97);
  const rules = { max_age_days: null, max_bytes: null, total_max_bytes: max, indexes: {} };
  const facts = { totals: direct.indexTotals(), sizeInUse: direct.sizeInUse(), now: 0 };
  const reader = new EventReader(folder.at('total'));
  const [expected] = reader.snapshot(() =>
    previewRetention(reader, { ...rules, interval_seconds: 1 }, facts),
  );
  reader.close();
  const { retention, notes } = retentionOf(direct, rules);
  const [pruned] = await retention.run();
  const left = direct.sizeInUse() / max;
  direct.close();
  expect([left <= 0.95, left > 0.92]).toEqual([true, true]);
  expect(notes).toHaveLength(1);
  // What a dry run tells is about that.
  expect(Math.abs(1 - expected!.events / pruned!.events)).toBeLessThan(0.25);
});

test('space of deleted events goes back to the disk, also of a store of an earlier version', async () => {
  for (const isOld of [false, true]) {
    const place = folder.at(isOld ? 'old-space' : 'space');
    let direct = new DirectStore(place, SETTINGS);
    if (isOld) {
      direct.store.db.run('PRAGMA auto_vacuum = NONE');
      direct.store.db.run('VACUUM');
    }
    const events = Array.from({ length: 30_000 }, () => draftEvent({ data: 'x'.repeat(500) }));
    insert(direct, events);
    direct.close();
    const file = join(place, 'events.sqlite');
    const full = statSync(file).size;
    direct = new DirectStore(place, SETTINGS);
    const rules = {
      max_age_days: null,
      max_bytes: 1_000_000,
      total_max_bytes: null,
      indexes: {},
    };
    const { retention } = retentionOf(direct, rules);
    // Events come in between the steps.
    const run = retention.run();
    insert(
      direct,
      events.slice(0, 100).map((event) => ({ ...event, index: 'other' })),
    );
    await run;
    const kept = direct.indexTotals().map(({ index, events: count }) => [index, count]);
    expect(kept).toEqual([
      ['default', expect.any(Number)],
      ['other', 100],
    ]);
    expect(direct.store.db.query('PRAGMA integrity_check').get()).toEqual({
      integrity_check: 'ok',
    });
    direct.close();
    expect([isOld, statSync(file).size < full / 5]).toEqual([isOld, true]);
  }
});

test('a large store of an earlier version is compacted when asked to', () => {
  const place = folder.at('compact');
  const direct = new DirectStore(place, SETTINGS);
  const { db } = direct.store;
  db.run('PRAGMA auto_vacuum = NONE');
  db.run('VACUUM');
  const events = Array.from({ length: 5_000 }, () => draftEvent({ data: 'x'.repeat(500) }));
  insert(direct, events);
  direct.store.begin();
  direct.store.delete(Array.from({ length: 4_900 }, (_, at) => at + 1));
  direct.store.commit();
  db.query('PRAGMA wal_checkpoint(TRUNCATE)').all();
  const file = join(place, 'events.sqlite');
  const full = statSync(file).size;
  expect(direct.store.reclaim()).toBe(false);
  direct.store.compact(join(place, 'tmp'));
  insert(direct, events.slice(0, 10));
  expect(direct.indexTotals()).toMatchObject([{ index: 'default', events: 110 }]);
  expect(db.query('PRAGMA auto_vacuum').values()).toEqual([[2]]);
  direct.close();
  expect(statSync(file).size).toBeLessThan(full / 10);
});

test('oldest and newest of an index are times of its events, its age that of their storing', async () => {
  const direct = new DirectStore(folder.at('times'), SETTINGS);
  const year = (text: string): number => Date.parse(`${text}-01-01T00:00:00Z`) * 1000;
  insert(
    direct,
    ['2020', '2030', '1999'].map((text) => draftEvent({ data: text, eventTime: year(text) })),
  );
  const [totals] = direct.indexTotals();
  expect(totals).toMatchObject({ oldest: year('1999'), newest: year('2030') });
  const rules = { max_age_days: 30, max_bytes: null, total_max_bytes: null, indexes: {} };
  expect(await retentionOf(direct, rules).retention.run()).toEqual([]);
  direct.close();
});

test('what a run deleted before it was broken off is in the audit', async () => {
  const direct = new DirectStore(folder.at('broken'), SETTINGS);
  insert(
    direct,
    Array.from({ length: 5_000 }, () => draftEvent({ data: 'x' })),
  );
  let steps = 0;
  const store: PrunedStore = {
    open: () => direct.open(),
    indexTotals: () => direct.indexTotals(),
    sizeInUse: () => direct.sizeInUse(),
    ingest: {
      submit: async (order) => {
        if (order.kind === 'prune' && ++steps > 2) throw new Error('Server is shutting down.');
        return direct.ingest.submit(order, new Uint8Array());
      },
    },
  };
  const rules = { max_age_days: null, max_bytes: 1, total_max_bytes: null, indexes: {} };
  const { retention, notes } = retentionOf(store, rules);
  await expect(retention.run()).rejects.toThrow('shutting down');
  direct.close();
  expect(notes.map(({ resource, details }) => [resource, details?.split(',', 1)[0]])).toEqual([
    ['@events/default', 'Deleted 2000 events'],
  ]);
  expect(retention.counts.get('size')).toBe(2_000);
});

function insert({ store }: DirectStore, drafts: readonly ReturnType<typeof draftEvent>[]): void {
  store.begin();
  store.insert(drafts, Date.now() * 1000);
  store.commit();
}

function retentionOf(
  events: PrunedStore,
  rules: Omit<Config['events']['retention'], 'interval_seconds'>,
): { retention: Retention; notes: AuditNote[] } {
  const notes: AuditNote[] = [];
  const audit = { record: async (note: AuditNote) => void notes.push(note) } as unknown as Audit;
  const config = { events: { idempotency_hours: 24, retention: rules } } as unknown as Config;
  const log = createLog({ level: 'error', format: 'text', write: () => undefined });
  const options = { events, audit, clock: systemClock, log, config: () => config };
  return { retention: new Retention(options), notes };
}
