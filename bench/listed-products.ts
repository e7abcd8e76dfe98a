/**
 * `svc` with the product list, warmed up: the indexes that the list calls for exist, and its answer is right.
 */
import type { Bench } from './benchmark.ts';
import { productCsv } from './data.ts';
import { type Load, requestsPerSecond } from './load.ts';
import { expectedIds, idOf, listPath, manyPrices, PRICE, requireEqual } from './products.ts';
import { BenchService } from './service.ts';

/** Longest wait for an answer that is so much faster than the first. */
const WARMING_MS = 20_000;
const FASTER_BY_INDEX = 4;
/** Answers as fast as this need no index to get faster. */
const FAST_MS = 5;
const FAST_IN_A_ROW = 3;

/** The list asked for in two ways, by 16 clients. */
interface ListLoads {
  /** The same list again and again, as many clients do that look at one thing. */
  readonly same: Load;
  /** Another list with every request, more of them than are remembered; their rows come again and again. */
  readonly varied: Load;
}

/** Checks the list of a side once, asks both ways to warm it up, and gives its loads. */
export async function listLoads(
  side: {
    readonly url: string;
    readonly headers?: Record<string, string>;
    readonly pathOf: (price: number) => string;
    readonly rowsOf?: (answer: unknown) => unknown[];
  },
  rows: number,
): Promise<ListLoads> {
  const { url, headers = {}, pathOf, rowsOf = (answer) => answer as unknown[] } = side;
  const prices = manyPrices();
  const sizes: number[] = [];
  for (const price of [PRICE, ...prices.slice(0, 3)]) {
    const answer = await (await fetch(url + pathOf(price), { headers })).text();
    const ids = rowsOf(JSON.parse(answer)).map(idOf);
    requireEqual(`the list from ${price} on of ${url}`, ids, await expectedIds(rows, price));
    sizes.push(answer.length);
  }
  const common = { url, headers, connections: 16, seconds: 1, answerBytes: Math.min(...sizes) };
  const loads = {
    same: { ...common, paths: [pathOf(PRICE)] },
    varied: { ...common, paths: prices.map(pathOf) },
  };
  // What a just-in-time compiler learns belongs to the warming up.
  for (const load of Object.values(loads)) await requestsPerSecond(load);
  return loads;
}

/** `svc` with so many products and the loads of its list; the API key is in them. */
export async function startListed(
  bench: Bench,
  rows: number,
): Promise<{ service: BenchService; loads: ListLoads }> {
  const service = await BenchService.start(bench, { 'products.csv': await productCsv(rows) });
  try {
    await warm(service, listPath(PRICE));
    const { url, headers } = service;
    return { service, loads: await listLoads({ url, headers, pathOf: listPath }, rows) };
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

/** Asks until answers come much faster than at first, which is when the indexes have been made. */
export async function warm(service: BenchService, path: string): Promise<void> {
  const first = await timed(service, path);
  const until = performance.now() + WARMING_MS;
  let fast = 0;
  for (let asked = 1; performance.now() < until && fast < FAST_IN_A_ROW; asked++) {
    // An answer that is remembered would tell nothing about indexes.
    const taken = await timed(service, `${path}&offset=${asked}`);
    fast = taken < Math.max(first / FASTER_BY_INDEX, FAST_MS) ? fast + 1 : 0;
    await Bun.sleep(50);
  }
}

async function timed(service: BenchService, path: string): Promise<number> {
  const startedAt = performance.now();
  await (await service.get(path)).arrayBuffer();
  return performance.now() - startedAt;
}

/** Paths of so many pages by cursor: where the `Link` of each page leads, from the one given on. */
export async function pagesAfter(
  service: BenchService,
  from: string,
  count: number,
): Promise<string[]> {
  const paths: string[] = [];
  for (let path = from; paths.length < count;) {
    const response = await service.get(path);
    await response.arrayBuffer();
    const link = response.headers.get('link');
    const next = /^<([^>]+)>; rel="next"$/.exec(link ?? '')?.[1];
    if (next === undefined) throw new Error(`no next page after ${path}: ${link}`);
    paths.push(next);
    path = next;
  }
  return paths;
}
