/**
 * Stopping in order (DS-21, F13): what runs is finished, what was acknowledged is there, nothing is left behind.
 */
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { bytesOf, create, locksOn } from './changes.ts';
import { eventually } from './eventually.ts';
import { RawSocket } from './raw-socket.ts';
import { onSharedCores } from '../support/patience.ts';

const GRACE_MS = 10_000;

/** Appends numbered rows until the service is gone; answers the acknowledged ones. */
async function keepWriting(service: Service, writer: number): Promise<string[]> {
  const client = await service.as('writer');
  const acked: string[] = [];
  for (let count = 0; ; count++) {
    const row = `w${writer}-${Date.now()}-${count}`;
    try {
      const { status } = await create(client, 'a', [{ t: row }]);
      if (status !== 200) return acked;
    } catch {
      // The connection was refused or cut: this row may be there or not.
      return acked;
    }
    acked.push(row);
  }
}

test('SIGTERM and SIGINT under load: exit 0, no acknowledged change is lost, no temporary file or lock stays', async () => {
  await using service = await startService({ files: { 'a.csv': 't\n' } });
  await service.accounts.grant('writer', '*', 'read', 'write');
  const acked: string[] = [];
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
    const before = bytesOf(service, 'a.csv').length;
    const writers = Array.from({ length: 8 }, (_, index) => keepWriting(service, index));
    await eventually(() => expect(bytesOf(service, 'a.csv').length).toBeGreaterThan(before + 500));
    const start = performance.now();
    expect(await service.kill(signal)).toBe(0);
    expect(performance.now() - start).toBeLessThan(onSharedCores(GRACE_MS));
    acked.push(...(await Promise.all(writers)).flat());
    const rows = bytesOf(service, 'a.csv').trimEnd().split('\n').slice(1);
    expect(new Set(rows).size).toBe(rows.length);
    const present = new Set(rows);
    expect(acked.filter((row) => !present.has(row))).toEqual([]);
    expect(readdirSync(service.docroot).sort()).toEqual(['.svc', 'a.csv']);
    expect(await locksOn(service, 'a.csv')).toEqual([]);
    await expect(service.fetch('/health')).rejects.toThrow();
    await service.start();
    expect((await service.fetch('/health')).status).toBe(200);
  }
  expect(acked.length).toBeGreaterThan(50);
  expect(service.stderr()).not.toMatch(/"level":"error"/);
  console.log(`${acked.length} acknowledged rows over 5 stops`);
});

test('an answer that is under way is finished, however long its reader takes within the grace', async () => {
  const rows = 60_000;
  const line = 'some text that makes the answer long enough to fill every buffer on the way';
  await using service = await startService({
    files: {
      'big.csv': `n,t\n${Array.from({ length: rows }, (_, n) => `${n},${line}`).join('\n')}\n`,
    },
  });
  await service.accounts.user('root', { superuser: true });
  const key = await service.accounts.apiKey('root');
  const counted = await service.fetch('/api/big/?limit=1', { headers: { 'X-API-Key': key } });
  expect(counted.headers.get('X-Total-Count')).toBe(String(rows));
  const response = await service.fetch('/api/big/?format=ndjson', {
    headers: { 'X-API-Key': key, 'Accept-Encoding': 'identity' },
  });
  expect(response.status).toBe(200);
  const reader = response.body!.getReader();
  const first = await reader.read();
  const stopped = service.kill('SIGTERM');
  await eventually(async () => {
    await expect(service.fetch('/health', { headers: { Connection: 'close' } })).rejects.toThrow();
  });
  let text = new TextDecoder().decode(first.value);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  const lines = text.trimEnd().split('\n');
  expect(lines.length).toBe(rows);
  expect(JSON.parse(lines.at(-1)!)).toEqual({ _row_id: rows, n: rows - 1, t: line });
  expect(await stopped).toBe(0);
});

test('idle connections hold nothing up', async () => {
  await using service = await startService();
  using open = new DisposableStack();
  const host = new URL(service.url).host;
  for (let count = 0; count < 20; count++) {
    const socket = open.use(await RawSocket.open(service.url));
    if (count % 2 === 0) continue;
    socket.send(`GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await socket.head();
  }
  const start = performance.now();
  expect(await service.kill('SIGTERM')).toBe(0);
  expect(performance.now() - start).toBeLessThan(onSharedCores(5_000));
});

test('a request that never ends is cut off after the grace, and the exit is 0 all the same', async () => {
  await using service = await startService({ files: { 'a.csv': 't\n' } });
  await service.accounts.grant('writer', '*', 'read', 'write');
  const key = await service.accounts.apiKey('writer');
  using socket = await RawSocket.open(service.url);
  const host = new URL(service.url).host;
  socket.send(
    `POST /api/a/ HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\nContent-Length: 100\r\n\r\n{"action"`,
  );
  // The head was taken when a second request on another connection is answered after it.
  expect((await service.fetch('/health')).status).toBe(200);
  const start = performance.now();
  expect(await service.kill('SIGTERM')).toBe(0);
  const took = performance.now() - start;
  expect(took).toBeGreaterThan(GRACE_MS / 2);
  expect(took).toBeLessThan(GRACE_MS + onSharedCores(10_000));
  await socket.closed();
  expect(bytesOf(service, 'a.csv')).toBe('t\n');
});
