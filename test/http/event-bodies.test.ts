/**
 * Bodies with events on their way in: counted against the queue while they are received and inflated (EV-50, EV-53), so that
 * no number of them takes the memory of the machine or the room of other callers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { memoryOf, residentWithChildren } from './process-memory.ts';
import { RawSocket } from './raw-socket.ts';

const MIB = 2 ** 20;
const ROOM = 32 * MIB;
const BOMBS = 40;

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({
    config: {
      events: {
        min_free_bytes: 1,
        queue_bytes: ROOM,
        queue_wait_ms: 500,
        limits: { max_decoded_bytes: ROOM, max_body_bytes: 16 * MIB },
      },
    },
  });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.grant('other', '@events', 'read', 'write');
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

async function post(
  client: Client,
  body: Uint8Array | string | ReadableStream,
  headers: Record<string, string> = {},
  path = '/api/events/',
): Promise<{ readonly status: number; readonly retryAfter: string | null; readonly body: any }> {
  const response = await client.fetch(path, {
    method: 'POST',
    body: body as Bun.BodyInit,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, body: await response.json() };
}

/** Most memory of the service and its children while something is done. */
async function peakDuring(work: Promise<unknown>): Promise<number> {
  let peak = 0;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      peak = Math.max(peak, residentWithChildren(svc.pid));
      await Bun.sleep(10);
    }
  })();
  await work.finally(() => (isDone = true));
  await watching;
  return peak;
}

// First: what bombs leave of memory would be used again.
describe('chunks of one byte', () => {
  test('cost about what is in them, and the events in them are counted', async () => {
    const key = await svc.accounts.apiKey('root');
    // Everything that is only loaded once, is.
    expect((await post(root, '{"data":"x"}')).status).toBe(201);
    const before = memoryOf(svc.pid)!.resident;
    using socket = await RawSocket.open(svc.url);
    const line = '{"data":"x"}\n';
    const count = 60_000;
    socket.send(
      `POST /api/events/ HTTP/1.1\r\nHost: ${new URL(svc.url).host}\r\nX-API-Key: ${key}\r\n` +
        'Content-Type: application/x-ndjson\r\nPrefer: return=minimal\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const chunks = [...line].map((byte) => `1\r\n${byte}\r\n`).join('');
    socket.send(chunks.repeat(count));
    const held = async (): Promise<number> =>
      ((await (await root.fetch('/admin/ingest')).json()) as any).queue.bytes;
    // Everything has come, but for its end.
    await eventually(
      async () => expect(await held()).toBeGreaterThan(line.length * count - 1),
      20_000,
    );
    // Each as a piece of its own they took 140 MB.
    expect(memoryOf(svc.pid)!.resident - before).toBeLessThan(90 * MIB);
    socket.send('0\r\n\r\n');
    expect((await socket.head())!.status).toBe(201);
    await eventually(async () => expect(await held()).toBe(0));
  });
});

describe('bombs', () => {
  test.each([
    ['gzip', gzipSync(Buffer.alloc(ROOM - 1, 32))],
    ['zstd', zstdCompressSync(Buffer.alloc(ROOM - 1, 32))],
  ])(
    '%s: forty at once take no more memory than the queue may hold, and another caller is served',
    async (coding, bomb) => {
      // Everything that is only loaded once, is.
      expect(
        (await post(root, gzipSync('{"data":"x"}'), { 'Content-Encoding': 'gzip' })).status,
      ).toBe(201);
      const other = await svc.as('other');
      const before = residentWithChildren(svc.pid);
      const headers = { 'Content-Encoding': coding };
      const bombs = Array.from({ length: BOMBS }, () => post(root, bomb, headers));
      const served = eventually(
        async () => expect((await post(other, '{"data":"among bombs"}')).status).toBe(201),
        20_000,
      );
      const peak = await peakDuring(Promise.all([...bombs, served]));
      // The room, its way through the writer, and what garbage is not collected yet; forty bombs are 1.3 GB.
      expect(peak - before).toBeLessThan(400 * MIB);
      const answers = await Promise.all(bombs);
      const statuses = new Set(answers.map(({ status }) => status));
      // What had room was read to its end and is no JSON.
      expect([...statuses].filter((status) => ![400, 429, 503].includes(status))).toEqual([]);
      expect(statuses).toContain(429);
      for (const { status, retryAfter, body } of answers) {
        if (status === 400) continue;
        expect(Number(retryAfter)).toBeGreaterThan(0);
        expect(body).toEqual({
          detail:
            status === 429
              ? 'Request was throttled. Expected available in 1 second.'
              : 'Event queue is full.',
        });
      }
      // All of the room is free again.
      await eventually(async () => {
        const { queue } = (await (await root.fetch('/admin/ingest')).json()) as any;
        expect([queue.events, queue.bytes]).toEqual([0, 0]);
      });
      expect((await post(root, '{"data":"after"}')).status).toBe(201);
    },
  );

  test('a body of the largest size passes when it has the room to itself', async () => {
    const line = `${JSON.stringify({ data: 'x'.repeat(100_000) })}\n`;
    const lines = line.repeat(Math.floor((ROOM - MIB) / line.length));
    const headers = { 'Content-Encoding': 'gzip', 'Content-Type': 'application/x-ndjson' };
    const { status, body } = await post(root, gzipSync(lines), headers);
    expect([status, body.rejected, body.accepted]).toEqual([201, 0, lines.length / line.length]);
  });

  test('bodies that only begin hold what they have sent, and give it back when they break off', async () => {
    const other = await svc.as('other');
    const stop = new AbortController();
    const half = 'x'.repeat(7 * MIB);
    const begun = [root, root, other, other].map((client) =>
      client
        .fetch('/api/events/', {
          method: 'POST',
          signal: stop.signal,
          headers: { 'Content-Type': 'application/json' },
          body: new ReadableStream({
            async start(controller) {
              controller.enqueue(Buffer.from(`{"data":"${half}`));
            },
          }),
        })
        .then(({ status }) => status)
        .catch(() => 0),
    );
    const held = async (): Promise<number> =>
      ((await (await root.fetch('/admin/ingest')).json()) as any).queue.bytes;
    await eventually(async () => expect(await held()).toBeGreaterThan(20 * MIB));
    expect(await held()).toBeLessThanOrEqual(ROOM);
    stop.abort();
    await Promise.all(begun);
    await eventually(async () => expect(await held()).toBe(0));
  });
});

describe('damaged codings', () => {
  const text = `${JSON.stringify({ data: 'first' })}\n${JSON.stringify({ data: 'y'.repeat(200_000) })}\n`;
  test.each([
    ['gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['zstd', zstdCompressSync(text)],
  ])(
    'EV-7 a %s body is read whole, and refused when it is cut off anywhere',
    async (coding, whole) => {
      const headers = { 'Content-Encoding': coding, 'Content-Type': 'application/x-ndjson' };
      expect((await post(root, whole, headers)).body).toMatchObject({ accepted: 2, rejected: 0 });
      const total = async (): Promise<string | null> =>
        (await root.fetch('/api/events/?limit=1&count=1')).headers.get('x-total-count');
      const stored = await total();
      for (const part of [0.2, 0.5, 0.9]) {
        const cut = whole.subarray(0, Math.floor(whole.length * part));
        const { status, body } = await post(root, cut, headers);
        expect([part, status, body]).toEqual([
          part,
          400,
          { detail: `The request body is no valid ${coding}` },
        ]);
      }
      expect(await total()).toBe(stored);
    },
  );
});

test('a legal body of more than 128 MiB decompressed is stored (EV-53)', async () => {
  await using large = await startService({ config: { events: { min_free_bytes: 1 } } });
  await large.accounts.user('root', { superuser: true });
  const event = { data: 'x'.repeat(MIB - 1000), index: 'main' };
  const body = gzipSync(JSON.stringify(Array.from({ length: 132 }, () => event)), { level: 1 });
  const answer = await (
    await large.as('root')
  ).fetch('/api/events/', {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
  });
  expect({ status: answer.status, text: (await answer.text()).slice(0, 200) }).toMatchObject({
    status: 201,
  });
});
