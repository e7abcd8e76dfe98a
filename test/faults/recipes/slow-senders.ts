/**
 * R10: connections that send their heads or bodies a byte at a time, or not at all. Others are served meanwhile, and the
 * server lets go of those that never come to an end.
 */
import { createServer } from 'node:net';
import { RawSocket } from '../../http/raw-socket.ts';
import { memoryOf } from '../../http/process-memory.ts';
import { onSharedCores } from '../../support/patience.ts';
import { startService } from '../../support/service.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

const DRIP_EVERY_MS = 500;
const ASKED = 40;
/** A busy machine answers in this time, too. */
const OTHERS_LIMIT_MS = 10_000;
/** A head that is not complete by then is given up (reliability M11). */
const HEAD_LIMIT_MS = 60_000;
const MIB = 1024 * 1024;
const MOST_BYTES_A_CONNECTION = 256 * 1024;

export const slowSenders: Recipe = {
  id: 'R10',
  faults: 'F20, S-D1',
  title: 'senders that drip keep nobody from being served, and are let go',
  needs: [],
  run: async (trial) => {
    await using service = await startService({ files: { 't.csv': 'a\n1\n' } });
    await service.accounts.grant('reader', '*', 'read', 'write');
    const key = await service.accounts.apiKey('reader');
    const before = memoryOf(service.pid)!.resident;
    const count = trial.times(100, 500);
    const starts = [
      () => `GET /health HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nX-Slow: `,
      () =>
        `PATCH /api/t/ HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nX-API-Key: ${key}\r\nContent-Length: 9999\r\n\r\n{`,
      () => '',
    ];
    await drip(trial, service.url, count, starts);
    const grown = memoryOf(service.pid)!.resident - before;
    trial.countMost('memory for them, MB', Math.round(grown / MIB));
    trial.check(
      grown <= 64 * MIB + count * MOST_BYTES_A_CONNECTION,
      `${count} connections took ${Math.round(grown / MIB)} MB`,
    );
    const health = await service.fetch('/health');
    trial.check(health.status === 200, `/health answers ${health.status}`);
    trial.check((await service.kill('SIGTERM')) === 0, 'it did not end in order');
  },
  control: {
    title: 'a server that reads one request after the other keeps everybody waiting',
    run: async (trial) => {
      let isBusy = false;
      const server = createServer((socket) => {
        socket.on('error', () => {});
        socket.on('data', (chunk) => {
          // The first to send anything has the server to itself until its head is complete.
          if (isBusy) return;
          isBusy = true;
          if (String(chunk).includes('\r\n\r\n')) isBusy = false;
          if (!isBusy) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      try {
        await drip(trial, `http://127.0.0.1:${port}`, 5, [() => 'GET / HTTP/1.1\r\nX-Slow: '], 1);
      } finally {
        server.close();
      }
    },
  },
};

async function drip(
  trial: Trial,
  url: string,
  count: number,
  starts: readonly (() => string)[],
  asked = ASKED,
): Promise<void> {
  using open = new DisposableStack();
  const sockets: RawSocket[] = [];
  for (let at = 0; at < count; at++) {
    const socket = open.use(await RawSocket.open(url));
    const start = starts[at % starts.length]!();
    if (start !== '') socket.send(start);
    sockets.push(socket);
  }
  trial.count('connections that drip', count);
  const timer = setInterval(() => {
    for (const [at, socket] of sockets.entries()) {
      if (starts[at % starts.length]!() !== '' && !socket.isOver) socket.send('x');
    }
  }, DRIP_EVERY_MS);
  try {
    for (let at = 0; at < asked; at++) {
      const started = performance.now();
      const status = await fetch(`${url}/health`, {
        signal: AbortSignal.timeout(onSharedCores(OTHERS_LIMIT_MS)),
      }).then(
        (answer) => answer.status,
        () => 0,
      );
      trial.countMost('slowest answer to others, ms', Math.round(performance.now() - started));
      trial.check(status === 200, `others are answered ${status || 'nothing in time'}`);
      await Bun.sleep(10);
    }
    if (trial.size === 'short') return;
    const until = performance.now() + HEAD_LIMIT_MS;
    const isOpen = (socket: RawSocket): boolean => !socket.isOver;
    while (sockets.some(isOpen) && performance.now() < until) await Bun.sleep(200);
    const left = sockets.filter(isOpen).length;
    trial.count('let go by the server', count - left);
    trial.check(left === 0, `${left} connections are still open after a minute`);
  } finally {
    clearInterval(timer);
  }
}
