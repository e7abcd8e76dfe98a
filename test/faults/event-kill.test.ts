/**
 * Events under kill -9 (EV-48, R-recipes on events): whatever was acknowledged is there once, when the process that writes or
 * the whole server is killed at a write, at a sync, or anywhere. `EVENT_KILLS=200` for the long form. The control answers
 * before it writes; the same check must catch it.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../support/service.ts';
import { eventually } from '../http/eventually.ts';
import { AttachedStrace } from './attached-strace.ts';
import { isExcused } from './recipe.ts';

const KILLS = Number(process.env['EVENT_KILLS'] ?? 4);
const CLIENTS = 6;
const CALLS = ['pwrite64', 'fsync'] as const;

/** Posts numbered events until stopped; the numbers of those that were acknowledged. */
function load(post: (data: string) => Promise<boolean>): {
  acknowledged: Set<string>;
  stop: () => Promise<void>;
} {
  const acknowledged = new Set<string>();
  let isOn = true;
  let next = 0;
  const client = async (): Promise<void> => {
    while (isOn) {
      const data = `event ${(next += 1)} of ${crypto.randomUUID()}`;
      if (await post(data).catch(() => false)) acknowledged.add(data);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  return {
    acknowledged,
    stop: async () => {
      isOn = false;
      await Promise.all(clients);
    },
  };
}

/** How often each text stands in the store; and of the acknowledged ones those that do not stand there once. */
function wrong(path: string, acknowledged: ReadonlySet<string>): string[] {
  const db = new Database(path, { readonly: true });
  const counts = new Map(
    db
      .query<{ data: string; n: number }, []>(
        'SELECT data, count(*) AS n FROM events GROUP BY data',
      )
      .all()
      .map(({ data, n }) => [data, n]),
  );
  db.close();
  return [...acknowledged].filter((data) => counts.get(data) !== 1);
}

function writerOf(server: number): number | null {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
      if (Number(parent) === server && command.includes('child') && command.includes('events'))
        return Number(name);
    } catch {
      // It has ended meanwhile.
    }
  }
  return null;
}

test.skipIf(isExcused() || Bun.which('strace') === null)(
  'every acknowledged event is there once after kills at writes and syncs',
  async () => {
    await using svc = await startService({ config: { events: { min_free_bytes: 1 } } });
    await svc.accounts.grant('load', '@events', 'write');
    const client = await svc.as('load');
    const { acknowledged, stop } = load(async (data) => {
      const body = JSON.stringify({ data });
      const { status } = await client.fetch('/api/events/', {
        method: 'POST',
        body,
        signal: AbortSignal.timeout(5_000),
      });
      if (status !== 201) await Bun.sleep(20);
      return status === 201;
    });
    for (let kill = 0; kill < KILLS; kill++) {
      const before = acknowledged.size;
      await eventually(() => expect(acknowledged.size).toBeGreaterThan(before + 10), 15_000);
      const writer = await eventually(() => {
        const found = writerOf(svc.pid);
        expect(found).not.toBeNull();
        return found!;
      }, 15_000);
      if (kill % 4 === 3) {
        await svc.kill('SIGKILL');
        await svc.start();
        continue;
      }
      const call = CALLS[kill % CALLS.length]!;
      await using trace = await AttachedStrace.attach(writer, {
        injections: [`${call}:signal=SIGKILL:when=${1 + (kill % 5)}`],
      });
      void trace;
      await eventually(() => expect(writerOf(svc.pid)).not.toBe(writer), 10_000);
    }
    const before = acknowledged.size;
    await eventually(() => expect(acknowledged.size).toBeGreaterThan(before + 10), 15_000);
    await stop();
    expect(wrong(join(svc.stateDir, 'events.sqlite'), acknowledged)).toEqual([]);
  },
  Math.max(60_000, KILLS * 3_000),
);

test('the check catches a store that answers before it writes', async () => {
  await using svc = await startService({});
  const path = join(svc.stateDir, 'careless.sqlite');
  const db = new Database(path, { create: true });
  db.run('CREATE TABLE events (data TEXT)');
  const pending: string[] = [];
  const acknowledged = new Set<string>();
  for (let at = 0; at < 10; at++) {
    pending.push(`event ${at}`);
    acknowledged.add(`event ${at}`);
    // Killed with a part of the queue unwritten, and the last one written twice by a careless repeat.
    if (at < 7) db.run('INSERT INTO events VALUES (?)', [pending[at]!]);
  }
  db.run('INSERT INTO events VALUES (?)', ['event 0']);
  db.close();
  expect(wrong(path, acknowledged)).toEqual(['event 0', 'event 7', 'event 8', 'event 9']);
});
