/**
 * The writer's process hangs or dies, and the queue before it is full: what every kind of client is told (EV-50, EV-51,
 * EV-65). Nothing of it is a 500, and all of it says when to come back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { EventWriter } from './event-writer.ts';
import { eventually } from './eventually.ts';

const QUEUE = 20;
const FULL = 'Event queue is full.';
const THROTTLED = 'Request was throttled. Expected available in 1 second.';

let svc: Service;
let root: Client;
let writer: EventWriter;
beforeAll(async () => {
  svc = await startService({
    config: { events: { min_free_bytes: 1, queue_events: QUEUE, queue_wait_ms: 300 } },
  });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.grant('other', '@events', 'read', 'write');
  root = await svc.as('root');
  writer = new EventWriter(svc);
});
afterAll(() => svc[Symbol.asyncDispose]());

interface Door {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  /** One event. */
  readonly body: string | Uint8Array;
  readonly throttled: unknown;
  readonly unavailable: (message: string) => unknown;
}

const otlpRecord = { body: { stringValue: 'x' } };
const rest = {
  throttled: { detail: THROTTLED },
  unavailable: (message: string) => ({ detail: message }),
};
const hec = {
  throttled: { text: 'Server is busy', code: 9 },
  unavailable: () => ({ text: 'Server is busy', code: 9 }),
};
const elastic = (status: number, reason: string) => ({
  error: { type: 'es_rejected_execution_exception', reason },
  status,
});
const grpc = (code: number, message: string): Uint8Array =>
  Buffer.concat([
    Uint8Array.of(8, code, 18, Buffer.byteLength(message)),
    Buffer.from(message),
  ]) as Uint8Array;

const DOORS: readonly Door[] = [
  {
    name: 'REST',
    path: '/api/events/',
    type: 'application/json',
    body: '{"data":"x"}',
    ...rest,
  },
  {
    name: 'NDJSON',
    path: '/api/events/',
    type: 'application/x-ndjson',
    body: '{"data":"x"}\n',
    ...rest,
  },
  {
    name: 'HEC',
    path: '/services/collector',
    type: 'application/json',
    body: '{"event":"x"}',
    ...hec,
  },
  {
    name: 'HEC raw',
    path: '/services/collector/raw',
    type: 'text/plain',
    body: 'x\n',
    ...hec,
  },
  {
    name: '_bulk',
    path: '/_bulk',
    type: 'application/x-ndjson',
    body: '{"create":{}}\n{"m":"x"}\n',
    throttled: elastic(429, THROTTLED),
    unavailable: (message) => elastic(503, message),
  },
  {
    name: 'OTLP JSON',
    path: '/v1/logs',
    type: 'application/json',
    body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [otlpRecord] }] }] }),
    throttled: { code: 8, message: THROTTLED },
    unavailable: (message) => ({ code: 14, message }),
  },
  {
    name: 'OTLP protobuf',
    path: '/v1/logs',
    type: 'application/x-protobuf',
    // resource_logs { scope_logs { log_records { body { string_value: "x" } } } }
    body: Uint8Array.of(10, 9, 18, 7, 18, 5, 42, 3, 10, 1, 120),
    throttled: grpc(8, THROTTLED),
    unavailable: (message) => grpc(14, message),
  },
  {
    name: 'Loki',
    path: '/loki/api/v1/push',
    type: 'application/json',
    body: '{"streams":[{"stream":{},"values":[["1795168800000000000","x"]]}]}',
    throttled: `${THROTTLED}\n`,
    unavailable: (message) => `${message}\n`,
  },
];

async function post(client: Client, { path, type, body }: Door): Promise<Response> {
  const headers = { 'Content-Type': type };
  return client.fetch(path, { method: 'POST', body: body as Bun.BodyInit, headers });
}

/** Status, whether it says when to come back, and the body as its type says. */
async function told(response: Response): Promise<[number, boolean, unknown]> {
  const type = response.headers.get('content-type') ?? '';
  const body = type.startsWith('application/json')
    ? await response.json()
    : type === 'application/x-protobuf'
      ? Buffer.from(await response.bytes())
      : await response.text();
  return [response.status, Number(response.headers.get('retry-after')) >= 1, body];
}

async function waiting(): Promise<number> {
  const { queue } = (await (await root.fetch('/admin/ingest')).json()) as {
    queue: { events: number };
  };
  return queue.events;
}

/** All doors take an event again. */
async function expectRecovered(): Promise<void> {
  await eventually(async () => {
    const statuses = await Promise.all(DOORS.map(async (door) => (await post(root, door)).status));
    expect(statuses).toEqual([201, 201, 200, 200, 200, 200, 200, 204]);
  }, 10_000);
}

const expected = (body: (door: Door) => unknown, status: number) =>
  DOORS.map((door) => {
    const one = body(door);
    return [door.name, status, true, one instanceof Uint8Array ? Buffer.from(one) : one];
  });

describe('while the writer hangs', () => {
  test('EV-49 when it is killed the next one answers what was asked of it, stored once', async () => {
    await expectRecovered();
    const held = await writer.hold();
    const posts = DOORS.map(async (door) => [door.name, ...(await told(await post(root, door)))]);
    // About as many events: a document of _bulk has two lines.
    await eventually(async () => expect(await waiting()).toBe(DOORS.length + 1));
    process.kill(held, 'SIGKILL');
    for (const [name, status] of await Promise.all(posts))
      expect([name, [200, 201, 204].includes(Number(status))]).toEqual([name, true]);
    expect(await writer.pid()).not.toBe(held);
  });

  test('EV-50 a full queue refuses its largest holder as throttled, the others as full', async () => {
    const held = await writer.hold();
    // Fills the queue: one request may.
    const lines = '{"data":"filler"}\n'.repeat(QUEUE);
    const filler = post(root, { ...DOORS[1]!, body: lines });
    await eventually(async () => expect(await waiting()).toBe(QUEUE));
    const other = await svc.as('other');
    const answers = (client: Client) =>
      Promise.all(
        DOORS.map(async (door) => [door.name, ...(await told(await post(client, door)))]),
      );
    expect(await answers(root)).toEqual(expected((door) => door.throttled, 429));
    expect(await answers(other)).toEqual(expected((door) => door.unavailable(FULL), 503));
    const health = await svc.fetch('/services/collector/health');
    expect([health.status, await health.json()]).toEqual([
      503,
      { text: 'HEC is unhealthy, queues are full', code: 18 },
    ]);
    process.kill(held, 'SIGCONT');
    expect((await filler).status).toBe(201);
    await expectRecovered();
  });

  test('a writer that never answers is replaced', async () => {
    const held = await writer.hold();
    expect((await post(root, DOORS[0]!)).status).toBe(201);
    await expectRecovered();
    expect(await writer.pid()).not.toBe(held);
    // What was acknowledged before is there, and the server still ends in an orderly way.
    expect(await svc.kill('SIGTERM')).toBe(0);
    await svc.start();
    await expectRecovered();
  });
});
