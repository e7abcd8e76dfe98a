/**
 * Log events with a fixed seed, and how many of them a service takes a second.
 */
import { join } from 'node:path';
import { output, workFolder } from './processes.ts';
import { NotMeasurable } from './benchmark.ts';

/** One event as a client sends it: about 250 bytes of text. */
interface SentEvent {
  readonly sourcetype: string;
  readonly host: string;
  readonly data: string;
}

const LEVELS = ['info', 'info', 'info', 'warn', 'error'];
const REPORT_LINE = /^report (.+)$/m;

/** The events from a number on, the same for equal arguments. */
export function logEvents(count: number, from = 0): SentEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const at = from + index;
    const hash = Math.imul(at + 1, 2_654_435_761) >>> 0;
    return {
      sourcetype: 'plain',
      host: `host${at % 20}`,
      data:
        `2026-11-20T10:00:${String(at % 60).padStart(2, '0')}Z ${LEVELS[hash % LEVELS.length]} api-${hash % 7} ` +
        `request=${hash.toString(16)} path=/api/items/${hash % 5000} user=u${hash % 300} took=${hash % 997}ms ` +
        'message="the quick brown fox jumps over the lazy dog and comes back again for its hat" ' +
        `trace=${(hash * 40_503).toString(36)} attempt=${at}`,
    };
  });
}

const CLIENT_TEXT =
  '"https://shop.example/cart" "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101"';
const PHRASE = 'the quick brown fox jumps over the lazy dog and comes back again for its hat';

/** What programs write, some 200 bytes a line, a few of them in a second. */
const LINES = {
  prose: (at: number, hash: number) =>
    `connection ${hash.toString(16)} from host${at % 20} was closed after ${hash % 997} ms because the other side did not answer; ${PHRASE}`,
  pairs: (at: number, hash: number) =>
    `${timeOf(at)} info api-${hash % 7} request=${hash.toString(16)} path=/api/items/${hash % 5000} user=u${hash % 300} took=${hash % 997}ms message="${PHRASE}" attempt=${at}`,
  access: (at: number, hash: number) =>
    `10.0.${at % 4}.${hash % 250} - - [20/Nov/2026:${timeOf(at).slice(11, 19)} +0000] "GET /api/items/${hash % 5000}?q=${at} HTTP/1.1" 200 ${hash % 90_000} ${CLIENT_TEXT}`,
  json: (at: number, hash: number) =>
    JSON.stringify({
      timestamp: timeOf(at),
      level: 'info',
      message: PHRASE,
      path: `/api/items/${hash % 5000}`,
      user: `u${hash % 300}`,
      took_ms: hash % 997,
    }),
};

/** Lines of a kind from a number on, the same for equal arguments, in the order of their times. */
export function logLines(kind: keyof typeof LINES, count: number, from: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const at = from + index;
    return LINES[kind](at, Math.imul(at + 1, 2_654_435_761) >>> 0);
  });
}

function timeOf(at: number): string {
  return new Date(Date.parse('2026-11-20T10:00:00Z') + at * 37).toISOString();
}

/** POSTs a second with these bodies, in turns. Throws when one of the answers was no 2xx, and NotMeasurable without `wrk`. */
export async function postsPerSecond(load: {
  readonly url: string;
  readonly bodies: readonly (string | Uint8Array)[];
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
}): Promise<number> {
  const wrk = Bun.which('wrk');
  if (wrk === null) throw new NotMeasurable('wrk is not installed');
  const files = load.bodies.map((_, at) => join(workFolder, `body-${at}`));
  for (const [at, file] of files.entries()) await Bun.write(file, load.bodies[at]!);
  const headers = Object.entries({ 'Content-Type': 'application/json', ...load.headers }).flatMap(
    ([name, value]) => ['-H', `${name}: ${value}`],
  );
  const options = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '10s'];
  const script = join(import.meta.dir, 'post.lua');
  const text = await output([wrk, ...options, '-s', script, ...headers, load.url, '--', ...files], {
    timeoutMs: (load.seconds + 30) * 1000,
  });
  const line = REPORT_LINE.exec(text)?.[1];
  if (line === undefined) throw new Error(`wrk gave no report: ${text}`);
  const report = JSON.parse(line) as {
    requests: number;
    microseconds: number;
    refused: number;
    broken: number;
  };
  if (report.refused + report.broken > 0 || report.requests === 0)
    throw new Error(`the load failed: ${line}`);
  return report.requests / (report.microseconds / 1e6);
}
