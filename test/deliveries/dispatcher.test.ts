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
