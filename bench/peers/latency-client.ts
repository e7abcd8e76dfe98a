/**
 * How long a small request takes, at a fixed pace. A request that could not be sent in time because the one before it
 * was still waiting counts from when it was due, so that a stall shows in all requests it held up.
 *
 *     bun latency-client.ts <url> <seconds>
 *
 * Prints {"count","p50","p99","max"} in milliseconds as JSON. Fails on any answer but 200.
 */
const PACE_MS = 5;

const [address, seconds] = process.argv.slice(2);
if (address === undefined || seconds === undefined) {
  throw new Error('latency-client.ts <url> <seconds>');
}
const url = new URL(address);
const request = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`;

let received = '';
let answered: (() => void) | null = null;
const socket = await Bun.connect({
  hostname: url.hostname,
  port: Number(url.port),
  socket: {
    data(_socket, data) {
      received += data.toString('latin1');
      const length = /^content-length: (\d+)/im.exec(received)?.[1];
      const head = received.indexOf('\r\n\r\n');
      if (length === undefined || head < 0 || received.length < head + 4 + Number(length)) return;
      if (!received.startsWith('HTTP/1.1 200 ')) fail(`not a 200: ${received.slice(0, 200)}`);
      received = '';
      answered?.();
    },
    close: () => fail('the connection was closed'),
    error: (_socket, error) => fail(String(error)),
  },
});

const milliseconds: number[] = [];
const startedAt = performance.now();
for (let due = startedAt; due < startedAt + Number(seconds) * 1000; due += PACE_MS) {
  const early = due - performance.now();
  if (early > 0) await Bun.sleep(early);
  // Timers are late by up to a millisecond or more; that is no wait for the server.
  const from = early > 0 ? performance.now() : due;
  const { promise, resolve } = Promise.withResolvers<void>();
  answered = resolve;
  socket.write(request);
  await promise;
  milliseconds.push(performance.now() - from);
}
milliseconds.sort((a, b) => a - b);
const at = (share: number): number => milliseconds[Math.floor((milliseconds.length - 1) * share)]!;
console.log(
  JSON.stringify({ count: milliseconds.length, p50: at(0.5), p99: at(0.99), max: at(1) }),
);
process.exit(0);

function fail(reason: string): never {
  console.error(reason);
  process.exit(1);
}

export {};
