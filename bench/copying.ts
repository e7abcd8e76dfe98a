/**
 * The reference of every edit: copies of the same file, made as safely, in a process of their own.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, median } from './benchmark.ts';
import { output, peer } from './processes.ts';

/** Median milliseconds of replacing the file by a copy of itself so many times. */
export async function copyMilliseconds(bench: Bench, path: string, times: number): Promise<number> {
  const own = join(bench.folder, 'copied.csv');
  copyFileSync(path, own);
  return median(JSON.parse(await output(peer('replace-loop.ts', own, String(times)))));
}
