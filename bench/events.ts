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

/** POSTs a second with that body. Throws when one of the answers was no 2xx, and NotMeasurable without `wrk`. */
export async function postsPerSecond(load: {
  readonly url: string;
  readonly body: string | Uint8Array;
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
}): Promise<number> {
  const wrk = Bun.which('wrk');
  if (wrk === null) throw new NotMeasurable('wrk is not installed');
  const file = join(workFolder, 'body.json');
  await Bun.write(file, load.body);
  const headers = Object.entries({ 'Content-Type': 'application/json', ...load.headers }).flatMap(
    ([name, value]) => ['-H', `${name}: ${value}`],
  );
  const options = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '10s'];
  const script = join(import.meta.dir, 'post.lua');
  const text = await output([wrk, ...options, '-s', script, ...headers, load.url, '--', file], {
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
