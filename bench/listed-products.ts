/**
 * `svc` with the product list, warmed up: the indexes that the list calls for exist, and its answer is right.
 */
import type { Bench } from './benchmark.ts';
import { productCsv } from './data.ts';
import { type Load, requestsPerSecond } from './load.ts';
import { expectedIds, idOf, LIST_PATH, requireEqual } from './products.ts';
import { BenchService } from './service.ts';

/** Answers before indexes are made, and longest wait for one that is so much faster. */
const WARMING_MS = 20_000;
const FASTER_BY_INDEX = 4;

/** Starts it. The load asks for the list with the API key, 16 clients. */
export async function startListed(
  bench: Bench,
  rows: number,
): Promise<{ service: BenchService; load: Load }> {
  const service = await BenchService.start(bench, { 'products.csv': await productCsv(rows) });
  try {
    await warm(service, LIST_PATH);
    const response = await service.get(LIST_PATH);
    const body = await response.text();
    requireEqual(`the list of ${rows} rows`, JSON.parse(body).map(idOf), await expectedIds(rows));
    const load = {
      url: service.url + LIST_PATH,
      headers: service.headers,
      connections: 16,
      seconds: 2,
      answerBytes: body.length,
    };
    // What a just-in-time compiler learns belongs to the warming up.
    await requestsPerSecond(load);
    return { service, load };
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

/** Asks until the answer comes much faster than at first, which is when the indexes have been made. */
export async function warm(service: BenchService, path: string): Promise<void> {
  const first = await timed(service, path);
  const until = performance.now() + WARMING_MS;
  for (let asked = 1; performance.now() < until; asked++) {
    const taken = await timed(service, path);
    // Tables of a few thousand rows are fast without indexes.
    if (asked >= 3 && (taken < first / FASTER_BY_INDEX || first < 20)) return;
    await Bun.sleep(50);
  }
}

async function timed(service: BenchService, path: string): Promise<number> {
  const startedAt = performance.now();
  await (await service.get(path)).arrayBuffer();
  return performance.now() - startedAt;
}
