/**
 * Events under kill -9 and power loss (EV-48): the process that writes, or the whole server, is killed at a chosen write or
 * sync or at any moment; then everything the kernel was never asked to sync is taken away from the log, as a power loss
 * may. Every acknowledged event is stored once afterwards.
 */
import { Database } from 'bun:sqlite';
import { closeSync, existsSync, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AttachedStrace } from '../attached-strace.ts';
import { type EventSubject, startCarelessEvents, startEventProduct } from '../event-subject.ts';
import type { Recipe } from '../recipe.ts';
import { Trial } from '../trial.ts';

const CLIENTS = 6;
const CALLS = ['pwrite64', 'fsync', 'fdatasync', 'sendto'];
const LATEST = 9;
const MOST_EVENTS = 60;
const ENOUGH_MS = 20_000;

export const eventKill: Recipe = {
  id: 'R5e',
  faults: 'F1, F2',
  title:
    'killed at a write, a sync or anywhere, with unsynced bytes lost, the store keeps every acknowledged event once',
  needs: ['strace'],
  run: (trial) => killAmongEvents(trial, trial.times(6, 200), startEventProduct),
  control: {
    title: 'a store that never syncs, and one that answers before it writes, are noticed',
    run: async (trial) => {
      const found: string[] = [];
      for (const mode of ['unsynced', 'early'] as const) {
        const inner = new Trial(trial.size, trial.seed);
        await killAmongEvents(inner, 2, () => startCarelessEvents(mode));
        // One that passes makes the control pass, which is reported.
        if (inner.failures.length === 0) return;
        found.push(...inner.failures);
      }
      for (const text of found) trial.fail(text);
    },
  },
};

async function killAmongEvents(
  trial: Trial,
  times: number,
  make: () => Promise<EventSubject>,
): Promise<void> {
  await using subject = await make();
  const acknowledged = new Set<string>();
  let sent = 0;
  for (let time = 1; time <= times && trial.failures.length === 0; time++) {
    const goal = acknowledged.size + trial.integer(5, MOST_EVENTS);
    const call = trial.pick(CALLS);
    const isChosen = trial.random() < 0.75;
    const injections = isChosen ? [`${call}:signal=SIGKILL:when=${trial.integer(1, LATEST)}`] : [];
    const writer = await subject.writer();
    const strace = await AttachedStrace.attach(writer, {
      injections,
      calls: ['pwrite64', 'fsync', 'fdatasync', 'ftruncate'],
    });
    // Another writer takes over what the killed one was working on, and answers it.
    const successors =
      subject.starter === null
        ? null
        : await AttachedStrace.attach(subject.starter, {
            calls: ['pwrite64', 'fsync', 'fdatasync'],
          });
    let isOver = false;
    const client = async (): Promise<void> => {
      while (!isOver) {
        const data = `event ${(sent += 1)} of ${trial.seed}`;
        const status = await subject.send(data).catch(() => 0);
        if (status === 201) acknowledged.add(data);
        else isOver = true;
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, client));
    const deadline = performance.now() + ENOUGH_MS;
    while (!isOver && acknowledged.size < goal && performance.now() < deadline) await Bun.sleep(1);
    trial.count(isOver ? `kills at ${call}` : 'kills of everything');
    await subject.kill();
    isOver = true;
    await clients;
    await strace.ended();
    await successors?.ended();
    const calls = [...strace.finishedCalls(), ...(successors?.finishedCalls() ?? [])];
    trial.count('bytes lost with the power', losePower(calls, subject.stateDir));
    await strace[Symbol.asyncDispose]();
    await successors?.[Symbol.asyncDispose]();
    await subject.start();
    await subject.writer();
    for (const problem of problemsOf(subject, acknowledged)) {
      trial.fail(`kill ${time}: ${problem}`);
    }
    trial.count('kills');
  }
  trial.count('acknowledged events', acknowledged.size);
}

/** Zeroes what was written to the log and never synced; how many bytes. */
function losePower(calls: readonly string[], stateDir: string): number {
  const log = join(stateDir, 'events.sqlite-wal');
  let unsynced: { at: number; length: number }[] = [];
  for (const call of calls) {
    if (!call.includes(`<${log}>`)) continue;
    if (/^f(?:data)?sync\(.*= 0$/.test(call)) unsynced = [];
    const written = /^pwrite64\(.*, (\d+), (\d+)\) += \d+$/.exec(call);
    if (written !== null) unsynced.push({ length: Number(written[1]), at: Number(written[2]) });
  }
  if (unsynced.length === 0 || !existsSync(log)) return 0;
  const file = openSync(log, 'r+');
  const { size } = fstatSync(file);
  let lost = 0;
  for (const { at, length } of unsynced) {
    const end = Math.min(size, at + length);
    if (end <= at) continue;
    writeSync(file, Buffer.alloc(end - at), 0, end - at, at);
    lost += end - at;
  }
  closeSync(file);
  return lost;
}

function problemsOf({ stateDir }: EventSubject, acknowledged: ReadonlySet<string>): string[] {
  const db = new Database(join(stateDir, 'events.sqlite'), { readonly: true });
  try {
    db.run('PRAGMA busy_timeout = 5000');
    const counts = new Map(
      db
        .query<{ data: string; n: number }, []>(
          'SELECT data, count(*) AS n FROM events GROUP BY data',
        )
        .all()
        .map(({ data, n }) => [data, n]),
    );
    const totals = db
      .query<{ held: number; counted: number }, []>(
        'SELECT (SELECT count(*) FROM events) AS held, (SELECT coalesce(sum(events), 0) FROM indexes) AS counted',
      )
      .get()!;
    const wrong = [...acknowledged].filter((data) => counts.get(data) !== 1);
    return [
      ...wrong.map((data) => `${data} is there ${counts.get(data) ?? 0} times`).slice(0, 5),
      ...(totals.held === totals.counted
        ? []
        : [`${totals.held} events, ${totals.counted} counted`]),
    ];
  } finally {
    db.close();
  }
}
