/** Failures are tried again over an hour, then given up; one that fails holds nobody up. */
import { expect, test } from 'bun:test';
import { defaultConfig } from '../../src/config/settings.ts';
import { Dispatcher } from '../../src/deliveries/dispatcher.ts';
import { enqueue } from '../../src/deliveries/queue.ts';
import { temporaryDatabase, testClock, testLog } from '../support/database.ts';

test('a receiver that fails is asked nine times within an hour, later where it says so', async () => {
  await using at = await temporaryDatabase();
  const clock = testClock();
  const times: number[] = [];
  let retryAfter: string | null = null;
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      times.push(clock.now());
      return new Response('', {
        status: 503,
        headers: retryAfter === null ? {} : { 'Retry-After': retryAfter },
      });
    },
  });
  const config = defaultConfig('/a', '/b');
  const outcomes: string[] = [];
  const dispatcher = new Dispatcher({
    db: at.db,
    clock,
    log: testLog().log,
    config: () => ({
      ...config,
      deliveries: { ...config.deliveries, allowed_hosts: ['127.0.0.1'] },
    }),
    baseUrl: () => 'https://svc.example',
    writeHere: () => Promise.reject(new Error('nothing is written here')),
    audit: async (_delivery, { details }) => void outcomes.push(details),
  });
  const add = (url: string, orderKey: string) =>
    at.db.transaction((tx) =>
      enqueue(
        tx,
        {
          subject: 'a.csv',
          findingId: null,
          ownerId: null,
          target: { type: 'webhook', url },
          message: { kind: 'change', title: 't', text: '', severity: null, links: {}, data: {} },
          orderKey,
        },
        clock.now(),
      ),
    );
  const states = () => at.db.all('SELECT state, attempts, last_error FROM deliveries ORDER BY id');
  await add(`http://127.0.0.1:${server.port}/`, 'a.csv');
  await add('http://nobody.example/', 'a.csv');
  const begin = clock.now();
  await dispatcher.start();
  for (let seconds = 0; seconds <= 3_600; seconds += 10) {
    dispatcher.wake();
    await dispatcher.settled();
    clock.pass(10_000);
  }
  expect(times.map((time) => (time - begin) / 1000)).toEqual([
    0, 10, 40, 100, 220, 520, 1120, 2020, 3600,
  ]);
  // What came behind it in its order was let through then, and refused at once.
  expect(await states()).toEqual([
    { state: 'dead', attempts: 9, last_error: 'answered 503' },
    {
      state: 'dead',
      attempts: 1,
      last_error: expect.stringContaining('not among deliveries.allowed_hosts'),
    },
  ]);
  expect(outcomes.map((text) => text.replace(/:\d+/, ''))).toEqual([
    'webhook to 127.0.0.1: given up, answered 503',
    expect.stringContaining('webhook to nobody.example: given up, the host'),
  ]);
  retryAfter = '120';
  times.length = 0;
  await add(`http://127.0.0.1:${server.port}/`, 'b.csv');
  for (const seconds of [0, 60, 60]) {
    clock.pass(seconds * 1000);
    dispatcher.wake();
    await dispatcher.settled();
  }
  expect(times.length).toBe(2);
  expect(times[1]! - times[0]!).toBe(120_000);
  await dispatcher.stop();
});

test('a receiver that fails again and again is left alone by all that wait for it, until it answers', async () => {
  await using at = await temporaryDatabase();
  const clock = testClock();
  let asked = 0;
  let status = 500;
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      asked++;
      return new Response('', { status });
    },
  });
  const config = defaultConfig('/a', '/b');
  const dispatcher = new Dispatcher({
    db: at.db,
    clock,
    log: testLog().log,
    config: () => ({
      ...config,
      deliveries: { ...config.deliveries, allowed_hosts: ['127.0.0.1'] },
    }),
    baseUrl: () => '',
    writeHere: () => Promise.reject(new Error('nothing is written here')),
    audit: async () => undefined,
  });
  const url = `http://127.0.0.1:${server.port}/`;
  const message = {
    kind: 'change',
    title: '',
    text: '',
    severity: null,
    links: {},
    data: {},
  } as const;
  await at.db.transaction(async (tx) => {
    for (let n = 0; n < 30; n++) {
      const about = { subject: 'a', findingId: null, ownerId: null };
      await enqueue(tx, { ...about, target: { type: 'webhook', url }, message }, clock.now());
    }
  });
  const turn = async (seconds: number) => {
    clock.pass(seconds * 1000);
    dispatcher.wake();
    await dispatcher.settled();
    return asked;
  };
  await dispatcher.start();
  // One more than five, then one after 1, 2, 4 … seconds.
  expect(await turn(0)).toBe(6);
  expect([await turn(0.5), await turn(0.6), await turn(1), await turn(1.1)]).toEqual([6, 7, 7, 8]);
  status = 200;
  await turn(4);
  expect(asked).toBeGreaterThan(29);
  await dispatcher.stop();
});
