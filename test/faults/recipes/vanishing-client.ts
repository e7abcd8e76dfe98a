/**
 * F20: clients go away in the middle of their request or of the answer, or stop reading it.
 *
 * An edit that was cut off is there as a whole or not at all; whoever stays is served; descriptors and memory come back.
 */
import { connect, type Socket } from 'node:net';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onSharedCores } from '../../support/patience.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { type ProductSubject, startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

const BIG_ROWS = 20_000;
const BIG_PAD = 1_000;
/** As many as there are places for long answers beside those for short ones. */
const SLOW_READERS = 4;
/** What readers that stand still may cost the server together (reliability 2b, 2c). */
const MEMORY_BYTES = 64 << 20;
const SPARE_DESCRIPTORS = 5;
const SETTLED_WITHIN_MS = 3_000;
/** The server itself lets go of a connection that says nothing after some ten seconds: waiting for that would prove nothing. */
const LET_GO_MS = 8_000;
/** Far above what it takes on a busy machine, far below what waiting for a reader would. */
const PROMPT_MS = 10_000;

export const vanishingClient: Recipe = {
  id: 'F20',
  faults: 'F20',
  title: 'clients that vanish or stand still leave no half edit, and cost the others nothing',
  needs: [],
  run: async (trial) => {
    const load = new EditLoad(smallLoad);
    const pad = 'b'.repeat(BIG_PAD);
    const rows = Array.from({ length: BIG_ROWS }, (_, at) => `${at},${pad}\n`);
    await using subject = await startProduct(load, {
      prepare: (docroot) => writeFileSync(join(docroot, 'big.csv'), `id,pad\n${rows.join('')}`),
    });
    // So many child processes are kept that the server has all of its descriptors.
    await Promise.all(Array.from({ length: 4 }, () => whole(subject, '/api/big/')));
    const before = openDescriptors(subject);
    for (let round = 1; round <= trial.times(1, 20); round++) {
      await cutRequests(trial, subject, load, `round ${round}`);
      await cutAnswers(trial, subject, `round ${round}`);
      await standStill(trial, subject, load, `round ${round}`);
    }
    await settled(trial, subject, before);
    await subject.verifyRows(trial, 'at the end');
  },
  control: {
    title: 'connections that are never let go are noticed',
    run: async (trial) => {
      const load = new EditLoad(smallLoad);
      await using subject = await startProduct(load);
      await subject.readRows();
      const before = openDescriptors(subject);
      const sockets = await Promise.all(Array.from({ length: 20 }, () => open(subject)));
      // A connection is taken in when its first byte is there.
      for (const socket of sockets) socket.write('G');
      const deadline = performance.now() + 5_000;
      while (openDescriptors(subject) < before + sockets.length / 2) {
        if (performance.now() > deadline) break;
        await Bun.sleep(5);
      }
      await settled(trial, subject, before);
      for (const socket of sockets) socket.resetAndDestroy();
    },
  },
};

/** Edits whose connection ends after a random part of the request, or right after all of it. */
async function cutRequests(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  where: string,
): Promise<void> {
  for (let time = 0; time < 15; time++) {
    const before = subject.text();
    let sent = 0;
    let size = 0;
    const vanish = async (row: number, value: string): Promise<number> => {
      const isChunked = time % 5 === 4;
      const request = Buffer.from(rawEdit(subject, row, value, isChunked));
      // The chunk of length 0 ends the body; the empty line behind it is all that the runtime does without.
      size = request.length - (isChunked ? 2 : 0);
      sent = time % 3 === 0 ? request.length : trial.integer(1, request.length - 1);
      const socket = await open(subject);
      await new Promise((resolve) => socket.write(request.subarray(0, sent), resolve));
      await Bun.sleep(trial.integer(0, 5));
      if (time % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
      throw new Error('vanished');
    };
    await load.step(vanish).catch(() => null);
    trial.count('requests cut off');
    await whole(subject, '/api/canary/');
    // Time for an edit that was taken in to be done.
    await Bun.sleep(20);
    const after = subject.text();
    if (sent < size)
      trial.check(after === before, `${where}: ${sent} of ${size} bytes did something`);
    for (const text of load.wrong(after)) trial.fail(`${where}: ${text}`);
    const status = await nextEdit(subject, load);
    trial.check(status === 200, `${where}: the edit after it answers ${status}`);
  }
}

/** Goes on from the file and edits once more. */
async function nextEdit(subject: ProductSubject, load: EditLoad): Promise<number> {
  load.resume(subject.text());
  return load.step(subject.send);
}

/** The bytes of an edit; chunked, its length is known at its end only. */
function rawEdit(subject: ProductSubject, row: number, value: string, isChunked: boolean): string {
  const body = subject.editBody(row, value);
  if (!isChunked) {
    return rawHead(subject, 'PATCH', subject.path, `Content-Length: ${body.length}\r\n`) + body;
  }
  const head = rawHead(subject, 'PATCH', subject.path, 'Transfer-Encoding: chunked\r\n');
  return `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
}

function rawHead(subject: ProductSubject, method: string, path: string, more: string): string {
  const { host } = new URL(subject.service.url);
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${subject.key}\r\n${more}\r\n`;
}

/** Answers that nobody reads to their end. */
async function cutAnswers(trial: Trial, subject: ProductSubject, where: string): Promise<void> {
  for (let time = 0; time < 6; time++) {
    const going = new AbortController();
    const answer = await subject.client.fetch('/api/big/', { signal: going.signal });
    trial.check(answer.status === 200, `${where}: the big table answers ${answer.status}`);
    const reader = answer.body!.getReader();
    for (let chunk = trial.integer(0, 3); chunk > 0; chunk--) await reader.read();
    going.abort();
    trial.count('answers cut off');
    await whole(subject, '/api/canary/');
  }
}

/** Readers that ask for much and take nothing, while others go about their business. */
async function standStill(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  where: string,
): Promise<void> {
  const before = memoryOf(subject.pid);
  const sockets: Socket[] = [];
  for (let reader = 0; reader < SLOW_READERS; reader++) {
    const socket = await open(subject);
    socket.pause();
    socket.write(rawHead(subject, 'GET', '/api/big/', ''));
    sockets.push(socket);
  }
  for (let time = 0; time < 10; time++) {
    const started = performance.now();
    const { status } = await subject.readRows('?filter={"key":{"$regex":"^k"}}');
    const edit = await nextEdit(subject, load);
    const tookMs = Math.round(performance.now() - started);
    trial.check(status === 200 && edit === 200, `${where}: others get ${status} and ${edit}`);
    trial.check(tookMs <= onSharedCores(PROMPT_MS), `${where}: others wait ${tookMs} ms`);
    trial.countMost('slowest answer to others, ms', tookMs);
    await Bun.sleep(50);
  }
  const grown = memoryOf(subject.pid) - before;
  trial.countMost('memory for readers that stand still, MB', Math.round(grown / 1e6));
  trial.check(grown <= MEMORY_BYTES, `${where}: ${Math.round(grown / 1e6)} MB more memory`);
  trial.count('readers that stood still', SLOW_READERS);
  for (const socket of sockets) socket.resetAndDestroy();
}

async function settled(trial: Trial, subject: ProductSubject, before: number): Promise<void> {
  const started = performance.now();
  let now = openDescriptors(subject);
  const limitMs = Math.min(onSharedCores(SETTLED_WITHIN_MS), LET_GO_MS);
  while (now > before + SPARE_DESCRIPTORS && performance.now() - started < limitMs) {
    await Bun.sleep(50);
    now = openDescriptors(subject);
  }
  trial.check(now <= before + SPARE_DESCRIPTORS, `${before} descriptors before, ${now} after`);
}

async function whole(subject: ProductSubject, path: string): Promise<void> {
  const answer = await subject.client.fetch(path);
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
}

function open({ service }: ProductSubject): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.on('error', reject);
  });
}

function openDescriptors({ pid }: ProductSubject): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Memory of the process that no file stands for. */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}
