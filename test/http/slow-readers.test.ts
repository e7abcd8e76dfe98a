/**
 * Readers that take their time: whatever one person leaves unread, everybody else is answered (NF-4), memory stays where it
 * was, and nothing is left on the disk.
 */
import { dlopen, ptr } from 'bun:ffi';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { patienceFor } from '../support/patience.ts';
import { startService, type Service } from '../support/service.ts';
import { soon } from './eventually.ts';
import { childrenOf, memoryOf, ownMemoryOf } from './process-memory.ts';

const ROWS = 120_000;
const EVENTS = 1_500;
const EVENT_BYTES = 20_000;
const AUDIT_ROWS = 60_000;
const LAST_CHUNK = '0\r\n\r\n';
const MIB = 2 ** 20;
/** Far below the 30 s after which a request for a worker is refused. */
const SOON_MS = patienceFor(10_000);
const FLOOD = `
import { Elysia } from 'elysia';
let [running, most] = [0, 0];
export const router = new Elysia()
  .get('/held', async () => {
    most = Math.max(most, ++running);
    await Bun.sleep(200);
    running--;
  })
  .get('/most', () => most)
  .get('/all', () => new Response(new ReadableStream({
  left: 400,
  pull(controller) {
    if (this.left-- === 0) controller.close();
    else controller.enqueue(new Uint8Array(65536).fill(97));
  },
})));
`;

let svc: Service;
beforeAll(async () => {
  const text = 'lorem ipsum dolor sit amet '.repeat(10);
  const rows = Array.from({ length: ROWS }, (_, n) => `${n},${n % 97},${n * 7919},${text}${n}`);
  svc = await startService({
    files: {
      'wide.csv': `id,group,number,text\n${rows.join('\n')}\n`,
      'small.csv': 'name,age\nanna,41\nben,17\n',
      'notes.md': '# Notes\n\nA word to be found: heliotrope.\n',
      'flood.ts': FLOOD,
      'film.mp4': 'b'.repeat(30 * MIB),
    },
    config: { events: { min_free_bytes: 1, search: { export_max_rows: 10_000 } } },
  });
  await svc.accounts.user('slow', { superuser: true });
  await svc.accounts.user('quick', { superuser: true });
  const sender = await svc.as('quick');
  for (let sent = 0; sent < EVENTS; sent += 300) {
    const event = { index: 'bulk', data: 'x'.repeat(EVENT_BYTES) };
    const body = JSON.stringify(Array.from({ length: 300 }, () => event));
    expect((await sender.fetch('/api/events/', { method: 'POST', body })).status).toBe(201);
  }
  await svc.accounts.db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${AUDIT_ROWS})
     INSERT INTO audit (timestamp, action, resource, details)
     SELECT '2026-01-01T00:00:00.000Z', 'login', 'auth', printf('%.600c', 'x') FROM n`,
  );
  for (const path of ['/api/wide?limit=1', '/api/small']) {
    expect((await sender.fetch(path)).status).toBe(200);
  }
});
afterAll(() => svc[Symbol.asyncDispose]());

const query = (text: string, format: string): string =>
  `POST /search2/api/run/\n${JSON.stringify({ query: text, format })}`;
const ANSWERS = [
  'GET /api/wide?format=csv',
  'GET /api/wide?format=ndjson',
  'GET /api/wide?format=xlsx',
  'GET /api/wide?format=parquet',
  'GET /api/wide?format=json&sort=text&order=desc',
  'GET /api/wide?format=csv&q=ipsum',
  'GET /api/events/?format=ndjson&index=bulk',
  'GET /api/events/?format=csv&index=bulk',
  query('index=bulk | table data', 'ndjson'),
  'GET /admin/audit-logs?format=ndjson',
  'GET /api/flood/all',
  'GET /media/film',
];

const libc = dlopen('libc.so.6', {
  socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
  connect: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
  send: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
  recv: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
  close: { args: ['i32'], returns: 'i32' },
}).symbols;
const [SOL_SOCKET, SO_RCVBUF, MSG_DONTWAIT] = [1, 8, 0x40];
/** Left to itself the system takes 32 MiB in for a reader who wants none of it. */
const RECEIVE_BYTES = 64 * 1024;

/** A request on a slow line: 300 KB a second. */
class SlowReader {
  readonly #socket = libc.socket(2, 1, 0);
  readonly #piece = new Uint8Array(RECEIVE_BYTES);
  readonly #timer: Timer;
  #head = '';
  #tail = '';
  #hasEnded = false;
  bytes = 0;

  constructor(request: string, key: string) {
    const { hostname, port } = new URL(svc.url);
    const size = new Int32Array([RECEIVE_BYTES]);
    libc.setsockopt(this.#socket, SOL_SOCKET, SO_RCVBUF, ptr(size), 4);
    const address = new Uint8Array([
      2,
      0,
      Number(port) >> 8,
      Number(port) & 255,
      127,
      0,
      0,
      1,
      ...Array<number>(8).fill(0),
    ]);
    if (libc.connect(this.#socket, ptr(address), address.length) !== 0)
      throw new Error('no server');
    const [line, body = ''] = request.split('\n');
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    const text = `${line} HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${key}\r\n${length}\r\n${body}`;
    const sent = Buffer.from(text);
    libc.send(this.#socket, ptr(sent), sent.length, 0);
    this.#timer = setInterval(() => this.#read(), 200);
  }

  /** Whether there was anything. */
  #read(): boolean {
    const bytes = Number(
      libc.recv(this.#socket, ptr(this.#piece), this.#piece.length, MSG_DONTWAIT),
    );
    if (bytes === 0) this.#hasEnded = true;
    if (bytes <= 0) return false;
    this.bytes += bytes;
    const text = Buffer.from(this.#piece.subarray(0, bytes)).toString('latin1');
    if (this.#head.length < 2_000) this.#head += text.slice(0, 2_000);
    this.#tail = (this.#tail + text.slice(-5)).slice(-5);
    return true;
  }

  get status(): number {
    return Number(this.#head.slice(9, 12));
  }

  get isWhole(): boolean {
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1] ?? Number.NaN);
    const head = this.#head.indexOf('\r\n\r\n') + 4;
    return Number.isNaN(length) ? this.#tail === LAST_CHUNK : this.bytes === head + length;
  }

  async readOn(): Promise<void> {
    clearInterval(this.#timer);
    const deadline = performance.now() + patienceFor(120_000);
    while (!this.isWhole && !this.#hasEnded && performance.now() < deadline)
      if (!this.#read()) await Bun.sleep(1);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    libc.close(this.#socket);
  }
}

/** What a bystander does, and how long each took; throws when one is not answered. */
async function bystander(): Promise<Record<string, number>> {
  const client = await svc.as('quick');
  const took: Record<string, number> = {};
  const requests: Record<string, RequestInit> = {
    '/health': {},
    '/api/small?limit=1': {},
    '/api/wide?limit=20': {},
    '/api/wide?limit=5&sort=number&order=desc&q=99': {},
    '/search?q=heliotrope': {},
    '/api/events/?limit=5': {},
    '/api/events/?limit=5&index=bulk&data=xxxx': {},
    '/admin/audit-logs?limit=5': {},
    '/ui/wide/': { headers: { accept: 'text/html' } },
    '/notes.md': { headers: { accept: 'text/html' } },
    '/search2/api/run/': {
      method: 'POST',
      body: JSON.stringify({ query: 'index=bulk | stats count' }),
    },
    '/api/wide?format=csv': {},
  };
  for (const [path, init] of Object.entries(requests)) {
    const startedAt = performance.now();
    const response = await client.fetch(path, init);
    await response.bytes();
    took[path] = Math.round(performance.now() - startedAt);
    if (response.status !== 200) throw new Error(`${path} is answered ${response.status}`);
  }
  return took;
}

/** Files without a name that the server holds open in its state folder. */
function spools(): string[] {
  const folder = `/proc/${svc.pid}/fd`;
  return readdirSync(folder).flatMap((fd) => {
    try {
      const path = readlinkSync(join(folder, fd));
      return path.includes('nameless-') ? [path] : [];
    } catch {
      return [];
    }
  });
}

/** Bytes that the processes of searches have for themselves. */
function memoryOfSearches(): number {
  const searching = childrenOf(svc.pid).filter(({ command }) => command.includes(' query '));
  return searching.reduce((sum, { pid }) => sum + ownMemoryOf(pid), 0);
}

test('two whole tables in another order take no more than 120 MB together (S-D1)', async () => {
  const key = await svc.accounts.apiKey('slow');
  using readers = new DisposableStack();
  const slow = ['number', '-number'].map((by) =>
    readers.use(new SlowReader(query(`from wide | sort 0 ${by}`, 'ndjson'), key)),
  );
  let most = 0;
  for (const until = Date.now() + patienceFor(60_000); Date.now() < until; await Bun.sleep(5)) {
    most = Math.max(most, memoryOfSearches());
    if (slow.every(({ bytes }) => bytes > 2 * RECEIVE_BYTES)) break;
  }
  expect(slow.map(({ status }) => status)).toEqual([200, 200]);
  expect(most / MIB).toBeLessThan(120);
});

test.each([12, 64])('%i slow readers of one user hold nobody else up', async (count) => {
  await bystander();
  const before = memoryOf(svc.pid)!.resident;
  const key = await svc.accounts.apiKey('slow');
  using readers = new DisposableStack();
  const slow = Array.from({ length: count }, (_, n) =>
    readers.use(new SlowReader(ANSWERS[n % ANSWERS.length]!, key)),
  );
  await soon(() => slow.filter(({ bytes }) => bytes > 0).length).toBeGreaterThan(0);
  for (let round = 0; round < 3; round++) {
    const took = await bystander();
    expect(Math.max(...Object.values(took)), JSON.stringify(took)).toBeLessThan(SOON_MS);
  }
  const grown = memoryOf(svc.pid)!.resident - before;
  expect(grown).toBeLessThan(256 * MIB);
  expect(
    readdirSync(join(svc.stateDir, 'tmp')).filter((name) => name.startsWith('nameless')),
  ).toEqual([]);
  if (count > 12) return;
  await Promise.all(slow.map((reader) => reader.readOn()));
  const outcomes = slow.map(
    ({ status, isWhole }, n) => `${ANSWERS[n % ANSWERS.length]}: ${status} ${isWhole}`,
  );
  expect(outcomes.filter((outcome) => !outcome.endsWith(': 200 true'))).toEqual([]);
  // Only finished exports, each once: they are kept for a minute.
  const exports = ANSWERS.filter((answer) => answer.includes('format='));
  expect(spools().length).toBeLessThanOrEqual(exports.length);
});

test('an export does not wait for twelve of another user that each take seconds to make', async () => {
  const key = await svc.accounts.apiKey('slow');
  using readers = new DisposableStack();
  // Of other rows each: equal ones would be made once.
  const slow = Array.from({ length: 12 }, (_, n) =>
    readers.use(new SlowReader(`GET /api/wide?format=xlsx&offset=${n}`, key)),
  );
  const begun = (): number => slow.filter(({ bytes }) => bytes > 0).length;
  await soon(begun).toBeGreaterThan(0);
  const response = await (await svc.as('quick')).fetch('/api/wide?format=csv');
  await response.bytes();
  expect(response.status).toBe(200);
  // Four are made at a time: whoever waits in line begins when the ninth has ended.
  expect(begun()).toBeLessThan(9);
});

test('calls of one user leave room in a host of handlers for those of others', async () => {
  const key = await svc.accounts.apiKey('slow');
  const quick = await svc.as('quick');
  using readers = new DisposableStack();
  const calls = Array.from({ length: 40 }, () =>
    readers.use(new SlowReader('GET /api/flood/held', key)),
  );
  expect((await quick.fetch('/api/flood/most')).status).toBe(200);
  await soon(() => calls.filter(({ status }) => status === 200).length).toBe(40);
  expect(Number(await (await quick.fetch('/api/flood/most')).text())).toBeLessThanOrEqual(16);
});

test('of answers that wait for their readers nothing is left when the server is killed', async () => {
  const tmp = join(svc.stateDir, 'tmp');
  const key = await svc.accounts.apiKey('slow');
  using readers = new DisposableStack();
  for (const answer of ANSWERS) readers.use(new SlowReader(answer, key));
  await soon(() => spools().length).toBeGreaterThan(0);
  await svc.kill('SIGKILL');
  // As in the moment between the making of such a file and the loss of its name.
  writeFileSync(join(tmp, 'nameless-0123456789abcdef'), 'x');
  await svc.start();
  expect(readdirSync(tmp)).toEqual([]);
  expect(readdirSync(svc.stateDir).filter((name) => name.startsWith('.'))).toEqual([]);
});
