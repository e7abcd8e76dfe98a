/**
 * Many tails at once, while much comes in (EV-77, EV-79): each gets what is its own in order or hears how much it missed, slow
 * readers cost no memory, and other requests are answered meanwhile.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { memoryOf } from './process-memory.ts';

const TAILS = 100;
const MIB = 2 ** 20;

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1, tail_per_user: 500 } } });
  await svc.accounts.user('root', { superuser: true });
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

interface Tail {
  readonly ids: () => readonly number[];
  /** Messages it was told it has missed. */
  readonly dropped: () => number;
  readonly end: () => void;
}

/** Follows; `reads` false: takes nothing but the head of the answer. */
async function follow(query: string, reads = true): Promise<Tail> {
  const stop = new AbortController();
  const response = await root.fetch(`/api/events/tail?${query}`, { signal: stop.signal });
  expect(response.status).toBe(200);
  const ids: number[] = [];
  let dropped = 0;
  if (reads)
    void (async () => {
      let rest = '';
      const decoder = new TextDecoder();
      for await (const chunk of response.body!) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop()!;
        for (const line of lines) {
          // Without an event it only says where to resume.
          const id = /^data: \{"id":(\d+)/.exec(line)?.[1];
          if (id !== undefined) ids.push(Number(id));
          const count = /^data: \{"count":(\d+)\}$/.exec(line)?.[1];
          if (count !== undefined) dropped += Number(count);
        }
      }
    })().catch(() => undefined);
  return { ids: () => ids, dropped: () => dropped, end: () => stop.abort() };
}

/** Sends so many events, every fourth of them with the mark; the ids they got. */
async function send(batches: number, mark: string, size = 200): Promise<number[]> {
  const ids: number[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    const events = Array.from({ length: 1_000 }, (_, at) => ({
      index: 'tail',
      host: `h${at % 4}`,
      data: `${at % 4 === 0 ? mark : 'Ünseen'} ${'x'.repeat(size)} ${batch} ${at}`,
    }));
    const answer = await root.fetch('/api/events/', {
      method: 'POST',
      body: JSON.stringify(events),
      headers: { Prefer: 'return=minimal', 'Content-Type': 'application/json' },
    });
    expect(answer.status).toBe(201);
    const { first_id: first, last_id: last } = (await answer.json()) as Record<string, number>;
    for (let id = first!; id <= last!; id += 1) ids.push(id);
  }
  return ids;
}

test('a hundred tails get what is theirs in order, or hear how much they missed', async () => {
  const queries = [
    'index=tail',
    'host=h0',
    'search=WANTED%20x',
    'search=%C3%BCnseen',
    'index=other',
  ];
  const tails = await Promise.all(
    Array.from({ length: TAILS }, (_, at) => follow(queries[at % queries.length]!)),
  );
  const ids = await send(3, 'wanted');
  const wanted: readonly (readonly number[])[] = [
    ids,
    ids.filter((_, at) => at % 4 === 0),
    ids.filter((_, at) => at % 4 === 0),
    ids.filter((_, at) => at % 4 !== 0),
    [],
  ];
  await eventually(() => {
    for (const [at, tail] of tails.entries()) {
      const all = wanted[at % queries.length]!;
      expect([at, tail.ids().length + tail.dropped()]).toEqual([at, all.length]);
    }
  }, 30_000);
  for (const [at, tail] of tails.entries()) {
    const all = new Set(wanted[at % queries.length]!);
    const got = tail.ids();
    expect(got.every((id, index) => all.has(id) && (index === 0 || got[index - 1]! < id))).toBe(
      true,
    );
    tail.end();
  }
});

test('readers that take nothing cost a bounded memory, and hold nobody up', async () => {
  await send(1, 'warm');
  const before = memoryOf(svc.pid)!.resident;
  const slow = await Promise.all(Array.from({ length: TAILS }, () => follow('index=tail', false)));
  const reader = await follow('index=tail&host=h1');
  const ids = await send(10, 'flood', 2_000);
  await eventually(
    () => expect(reader.ids().length + reader.dropped()).toBe(ids.length / 4),
    20_000,
  );
  // 20 MiB of events for each of them would be 2 GiB; a buffer holds 1 MiB, most of it shared.
  expect(memoryOf(svc.pid)!.resident - before).toBeLessThan(500 * MIB);
  for (const tail of [...slow, reader]) tail.end();
});

test('tails with a query all come to their turn', async () => {
  const tails: Tail[] = [];
  // More than the workers and those who wait for them: each look of a tail needs one.
  while (tails.length < TAILS) {
    const query = `query=${encodeURIComponent(`where host="h${tails.length % 4}"`)}&index=tail`;
    tails.push(await follow(query));
  }
  const ids = await send(1, 'query');
  await eventually(() => {
    for (const [at, tail] of tails.entries())
      expect([at, tail.ids().length + tail.dropped()]).toEqual([at, ids.length / 4]);
  }, 30_000);
  for (const tail of tails) tail.end();
});

/** Begins a tail over a connection of its own, reads no more than its first bytes, and cuts it off. */
async function beginAndLeave(query: string, key: string): Promise<void> {
  const { hostname, port } = new URL(svc.url);
  const socket = connect(Number(port), hostname);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.on('error', reject);
  socket.once('readable', resolve);
  socket.write(
    `GET /api/events/tail?${query} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-API-Key: ${key}\r\n\r\n`,
  );
  await promise;
  socket.destroy();
}

// A worker whose answer nobody reads would be waited for for half a minute.
test('tails that are left while they catch up leave their workers', async () => {
  const key = await svc.accounts.apiKey('root');
  for (let count = 0; count < 24; count += 1) {
    const body = JSON.stringify({ index: 'long', data: `${count} ${'y'.repeat(1_000_000)}` });
    const headers = { 'Content-Type': 'application/json', Prefer: 'return=minimal' };
    expect((await root.fetch('/api/events/', { method: 'POST', body, headers })).status).toBe(201);
  }
  for (let round = 0; round < 8; round += 1)
    await Promise.all([1, 2, 3].map(() => beginAndLeave('index=long&backlog=1000', key)));
  const listed = await root.fetch('/api/events/?index=long&limit=1');
  expect(listed.status).toBe(200);
  await listed.text();
});
