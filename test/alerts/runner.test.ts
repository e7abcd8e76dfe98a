/** What runs, how often, and what is written: over downtime, killed servers and two servers on one state. */
import { describe, expect, test } from 'bun:test';
import type { AlertResult } from '../../src/alerts/condition.ts';
import type { AlertDefinition } from '../../src/alerts/definition.ts';
import { AlertRunner, type Perform } from '../../src/alerts/runner.ts';
import {
  askForRun,
  claimRuns,
  getAlert,
  insertAlert,
  KEPT_RUNS,
  listRuns,
  replaceAlert,
  setAlertState,
} from '../../src/alerts/store.ts';
import type { Database } from '../../src/store/database.ts';
import { temporaryDatabase, type TestClock, testClock, testLog } from '../support/database.ts';

const MINUTE = 60_000;
const busy: AlertResult = { columns: ['host', 'n'], rows: [{ host: 'a', n: 9 }], isCut: false };
const calm: AlertResult = { ...busy, rows: [] };
const definition: AlertDefinition = {
  title: 'Busy',
  query: '*',
  schedule: 'every 1m',
  when: { type: 'rows', more_than: 0 },
};

async function make(
  db: Database,
  clock: TestClock,
  more: Partial<AlertDefinition> = {},
): Promise<number> {
  const made = { ...definition, ...more };
  return insertAlert(
    db,
    {
      source: '',
      ownerId: null,
      title: made.title,
      definition: made,
      hash: '',
      approvedHash: null,
      state: 'on',
      problem: null,
    },
    clock.now(),
  );
}

interface Server {
  readonly runner: AlertRunner;
  /** The times for which a query ran. */
  readonly ran: string[];
  outcome: AlertResult | string;
}

function server(db: Database, clock: TestClock): Server {
  const ran: string[] = [];
  const perform: Perform = async (_alert, at) => {
    ran.push(new Date(at).toISOString().slice(11, 16));
    const { outcome } = own;
    if (typeof outcome === 'string')
      return outcome === 'denied'
        ? { kind: 'no rights', text: 'no right' }
        : { kind: 'error', text: outcome };
    return {
      kind: 'result',
      result: outcome,
      query: '*',
      from: at - MINUTE,
      to: at,
      sources: async () => ({ indexes: ['web'], datasets: [] }),
    };
  };
  const runner = new AlertRunner({ db, clock, log: testLog().log, perform, onFired: () => {} });
  const own: Server = { runner, ran, outcome: busy };
  return own;
}

async function tick({ runner }: Server): Promise<void> {
  runner.look();
  await runner.settle();
}

const findings = (db: Database) =>
  db.all('SELECT alert_name, status, count FROM findings ORDER BY id');

describe('a schedule', () => {
  test('runs each time once, with its window, and keeps the history', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock);
    const one = server(at.db, clock);
    await tick(one);
    expect(one.ran).toEqual([]);
    for (let minute = 0; minute < 3; minute++) {
      clock.pass(MINUTE);
      await tick(one);
      await tick(one);
    }
    expect(one.ran).toEqual(['12:01', '12:02', '12:03']);
    const [last] = await listRuns(at.db, id, { limit: 1 });
    expect(last).toMatchObject({
      slot: '2026-11-20T12:03:00.000Z',
      kind: 'scheduled',
      state: 'done',
      row_count: 1,
      fired: 1,
      missed: 0,
      error: null,
    });
    expect((await getAlert(at.db, id))?.dueAt).toBe('2026-11-20T12:04:00.000Z');
    expect(await findings(at.db)).toEqual([{ alert_name: 'Busy', status: 'new', count: 3 }]);
    expect(await at.db.all('SELECT window_from, window_to FROM findings')).toEqual([
      {
        window_from: Date.parse('2026-11-20T12:02Z') * 1000,
        window_to: Date.parse('2026-11-20T12:03Z') * 1000,
      },
    ]);
  });

  test('waits for late data as long as it says, for the same time', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    await make(at.db, clock, { delay: '30s' });
    const one = server(at.db, clock);
    clock.pass(MINUTE);
    await tick(one);
    expect(one.ran).toEqual([]);
    clock.pass(MINUTE / 2);
    await tick(one);
    expect(one.ran).toEqual(['12:01']);
  });

  test('after downtime the last one is caught up and the others are counted', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock);
    clock.pass(60 * MINUTE + 90_000);
    const one = server(at.db, clock);
    await tick(one);
    clock.pass(MINUTE);
    await tick(one);
    expect(one.ran).toEqual(['13:01', '13:02']);
    expect((await getAlert(at.db, id))?.missed).toBe(60);
    expect(one.runner.figures.missed).toBe(60);
    expect((await listRuns(at.db, id, { limit: 9 })).map(({ missed }) => missed)).toEqual([0, 60]);
  });

  test('keeps no more runs than it says', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock, { schedule: 'every 10s' });
    const one = server(at.db, clock);
    one.outcome = calm;
    for (let run = 0; run < KEPT_RUNS + 5; run++) {
      clock.pass(10_000);
      await tick(one);
    }
    expect(
      await at.db.get('SELECT count(*) AS n FROM alert_runs WHERE alert_id = ?', [id]),
    ).toEqual({ n: KEPT_RUNS });
  });
});

describe('servers', () => {
  test('two on one state never run the same time twice', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    for (let n = 0; n < 60; n++) await make(at.db, clock);
    const [one, two] = [server(at.db, clock), server(at.db, clock)];
    clock.pass(MINUTE);
    one.runner.look();
    two.runner.look();
    await Promise.all([one.runner.settle(), two.runner.settle()]);
    expect(one.ran.length + two.ran.length).toBe(60);
    expect(await at.db.get('SELECT count(*) AS n, sum(count) AS c FROM findings')).toEqual({
      n: 60,
      c: 60,
    });
  });

  test('a run whose server was killed is taken up when its lease is over, and recorded once', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock);
    clock.pass(MINUTE);
    const [killed] = await claimRuns(at.db, {
      holder: 'killed',
      now: clock.now(),
      leaseMs: 20_000,
      most: 9,
    });
    expect(killed).toMatchObject({ alertId: id, attempt: 1 });
    const next = server(at.db, clock);
    await tick(next);
    expect(next.ran).toEqual([]);
    clock.pass(21_000);
    await tick(next);
    expect(next.ran).toEqual(['12:01']);
    expect(await listRuns(at.db, id, { limit: 9 })).toMatchObject([
      { state: 'done', attempt: 2, fired: 1 },
    ]);
    expect(await findings(at.db)).toMatchObject([{ count: 1 }]);
  });

  test('a server that was only slow writes nothing of a run that another one took over', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    await make(at.db, clock);
    clock.pass(MINUTE);
    const slow = server(at.db, clock);
    const held = Promise.withResolvers<void>();
    slow.outcome = calm;
    const began = Promise.withResolvers<void>();
    const stuck = new AlertRunner({
      db: at.db,
      clock,
      log: testLog().log,
      perform: async () => {
        began.resolve();
        await held.promise;
        return { kind: 'error', text: 'too late' };
      },
      onFired: () => {},
    });
    stuck.look();
    await began.promise;
    clock.pass(21_000);
    const next = server(at.db, clock);
    await tick(next);
    held.resolve();
    await stuck.settle();
    expect(await listRuns(at.db, 1, { limit: 9 })).toMatchObject([
      { state: 'done', attempt: 2, error: null },
    ]);
  });

  test('a run that ends the server three times counts as failed', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock);
    clock.pass(MINUTE);
    for (let life = 0; life < 4; life++) {
      await claimRuns(at.db, { holder: `life ${life}`, now: clock.now(), leaseMs: 1_000, most: 9 });
      clock.pass(2_000);
    }
    expect(await listRuns(at.db, id, { limit: 9 })).toMatchObject([
      { state: 'failed', attempt: 3, error: 'The server ended 3 times while it ran' },
    ]);
    clock.pass(MINUTE);
    const next = server(at.db, clock);
    await tick(next);
    expect(next.ran).toEqual(['12:02']);
  });

  test('a server that stops gives its runs away at once', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    await make(at.db, clock);
    clock.pass(MINUTE);
    const held = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const stopped = new AlertRunner({
      db: at.db,
      clock,
      log: testLog().log,
      perform: async (_alert, _at, signal) => {
        began.resolve();
        signal.addEventListener('abort', () => held.resolve());
        await held.promise;
        throw new Error('stopped');
      },
      onFired: () => {},
    });
    stopped.look();
    await began.promise;
    await stopped.stop();
    const next = server(at.db, clock);
    await tick(next);
    expect(next.ran).toEqual(['12:01']);
  });
});

describe('outcomes', () => {
  test('an error is one of that run, and changes nothing else', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock, { for: 2 });
    const one = server(at.db, clock);
    for (const outcome of [busy, 'Timed out', busy]) {
      one.outcome = outcome;
      clock.pass(MINUTE);
      await tick(one);
    }
    expect(
      (await listRuns(at.db, id, { limit: 9 })).map(({ state, fired, error }) => [
        state,
        fired,
        error,
      ]),
    ).toEqual([
      ['done', 1, null],
      ['failed', 0, 'Timed out'],
      ['done', 0, null],
    ]);
  });

  test('without the rights of its owner it stops, until somebody turns it on', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock);
    const one = server(at.db, clock);
    one.outcome = 'denied';
    for (let run = 0; run < 3; run++) {
      clock.pass(MINUTE);
      await tick(one);
    }
    expect(one.ran).toEqual(['12:01']);
    const stopped = (await getAlert(at.db, id))!;
    expect(stopped).toMatchObject({ state: 'stopped', problem: 'no right', dueAt: null });
    expect(
      await at.db.all("SELECT action, resource, details FROM audit WHERE action = 'stop_alert'"),
    ).toEqual([{ action: 'stop_alert', resource: `alert/${id}`, details: 'no right' }]);
    one.outcome = busy;
    await setAlertState(at.db, stopped, { state: 'on' }, clock.now());
    clock.pass(MINUTE);
    await tick(one);
    expect(one.ran).toEqual(['12:01', '12:04']);
  });

  test('what a replaced definition found is not recorded', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock);
    clock.pass(MINUTE);
    const runner = new AlertRunner({
      db: at.db,
      clock,
      log: testLog().log,
      perform: async () => {
        const present = (await getAlert(at.db, id))!;
        await replaceAlert(at.db, id, { ...present, definition }, clock.now());
        return {
          kind: 'result',
          result: busy,
          query: '*',
          from: null,
          to: null,
          sources: async () => ({ indexes: [], datasets: [] }),
        };
      },
      onFired: () => {},
    });
    runner.look();
    await runner.settle();
    expect(await listRuns(at.db, id, { limit: 9 })).toMatchObject([{ state: 'done', fired: 0 }]);
    expect(await findings(at.db)).toEqual([]);
  });

  test('it resolves what it found, in the order of its runs', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    await make(at.db, clock, { resolve: 1 });
    const one = server(at.db, clock);
    for (const outcome of [busy, calm, busy]) {
      one.outcome = outcome;
      clock.pass(MINUTE);
      await tick(one);
    }
    expect(await findings(at.db)).toEqual([
      { alert_name: 'Busy', status: 'resolved', count: 1 },
      { alert_name: 'Busy', status: 'new', count: 1 },
    ]);
  });

  test('a search without a condition keeps its last rows, and finds nothing', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock, { when: undefined as never });
    const one = server(at.db, clock);
    clock.pass(MINUTE);
    await tick(one);
    expect(JSON.parse((await getAlert(at.db, id))!.lastRows!)).toEqual({
      columns: ['host', 'n'],
      rows: [{ host: 'a', n: 9 }],
      row_count: 1,
    });
    expect(await findings(at.db)).toEqual([]);
  });

  test('a run that somebody asked for comes first, and never beside another of its alert', async () => {
    await using at = await temporaryDatabase();
    const clock = testClock();
    const id = await make(at.db, clock);
    const one = server(at.db, clock);
    const runId = await askForRun(at.db, id, clock.now());
    clock.pass(MINUTE);
    expect(await one.runner.ended(runId, 5_000)).toMatchObject({
      id: runId,
      kind: 'manual',
      state: 'done',
      fired: 1,
    });
    await tick(one);
    expect(one.ran).toEqual(['12:00', '12:01']);
  });
});
