/**
 * Load from a second process: `wrk`, one thread, so that one core is left to the server. Errors, answers that are no
 * 2xx and answers that are too short fail the measurement instead of counting as fast ones.
 */
import { join } from 'node:path';
import { NotMeasurable } from './benchmark.ts';
import { output, workFolder } from './processes.ts';

const SCRIPT = join(import.meta.dir, 'load.lua');
const REPORT_LINE = /^report (.+)$/m;

export interface Load {
  /** Address of the server. */
  readonly url: string;
  /** What is asked for, one after the other and again from the start. */
  readonly paths: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Least bytes of an answer, as seen when its content was checked; the mean of all must reach it. */
  readonly answerBytes: number;
}

/** Answers per second. Throws when one of them was an error, and NotMeasurable without `wrk`. */
export async function requestsPerSecond(load: Load): Promise<number> {
  const wrk = Bun.which('wrk');
  if (wrk === null) throw new NotMeasurable('wrk is not installed');
  const headers = Object.entries(load.headers ?? {}).flatMap(([name, value]) => [
    '-H',
    `${name}: ${value}`,
  ]);
  const { url, paths, connections, seconds } = load;
  const list = join(workFolder, 'paths.txt');
  await Bun.write(list, paths.map((path) => `${path}\n`).join(''));
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', SCRIPT];
  const text = await output([wrk, ...options, ...headers, url, '--', list], {
    timeoutMs: (seconds + 30) * 1000,
  });
  return rateOf(text, load);
}

interface Report {
  readonly requests: number;
  readonly microseconds: number;
  readonly bytes: number;
  readonly refused: number;
  readonly broken: number;
}

function rateOf(text: string, load: Load): number {
  const line = REPORT_LINE.exec(text)?.[1];
  if (line === undefined) throw new Error(`wrk gave no report: ${text}`);
  const report = JSON.parse(line) as Report;
  if (report.refused + report.broken > 0) {
    throw new Error(`${report.refused} answers were no 2xx, ${report.broken} connections broke`);
  }
  if (report.requests === 0) throw new Error('there was no answer');
  if (report.bytes / report.requests < load.answerBytes) {
    throw new Error(`the answers had ${report.bytes / report.requests} bytes on average`);
  }
  return report.requests / (report.microseconds / 1e6);
}
