/**
 * deep-page: pages far inside a million rows against the first page, in file order and sorted by an indexed column.
 */
import type { Bench, Benchmark, Finding } from '../benchmark.ts';
import { productCsv } from '../data.ts';
import { warm } from '../listed-products.ts';
import { requestsPerSecond } from '../load.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 1_000_000;
const DEPTH = 900_000;
const PAGE = 100;

const orders = [
  { part: 'in file order', sort: '' },
  { part: 'sorted by price', sort: '&sort=price' },
];

export const deepPage: Benchmark = {
  name: 'deep-page',
  work: 'a page of 100 rows at row 900k of 1M rows, one client',
  async run(bench) {
    await using service = await BenchService.start(bench, {
      'products.csv': await productCsv(ROWS),
    });
    const findings: Finding[] = [];
    for (const { part, sort } of orders) {
      if (sort !== '') await warm(service, `/api/products/?limit=${PAGE}${sort}`);
      findings.push(...(await compare(bench, service, part, sort)));
    }
    return findings;
  },
};

async function compare(
  bench: Bench,
  service: BenchService,
  part: string,
  sort: string,
): Promise<Finding[]> {
  const first = `/api/products/?limit=${PAGE}${sort}`;
  const byOffset = `${first}&offset=${DEPTH}`;
  const byCursor = await nextOf(service, `${first}&offset=${DEPTH - PAGE}`);
  const page = await (await service.get(byOffset)).text();
  requireEqual('the page by cursor', await (await service.get(byCursor)).text(), page);
  if (sort === '') requireEqual('the first row', JSON.parse(page)[0]._row_id, DEPTH + 1);
  const milliseconds = async (path: string): Promise<number> => {
    const load = { connections: 1, seconds: 1, answerBytes: page.length / 2 };
    const { url, headers } = service;
    return 1000 / (await requestsPerSecond({ ...load, url: url + path, headers }));
  };
  await milliseconds(first);
  const rounds = await inTurns(bench, {
    first: () => milliseconds(first),
    offset: () => milliseconds(byOffset),
    cursor: () => milliseconds(byCursor),
  });
  const reference = { name: 'the first page', unit: 'ms', values: rounds.first } as const;
  return [
    {
      part: `by offset, ${part}`,
      subject: { name: 'svc', unit: 'ms', values: rounds.offset },
      reference,
      goal: { of: 'ratio', atMost: 20 },
    },
    {
      part: `by cursor, ${part}`,
      subject: { name: 'svc', unit: 'ms', values: rounds.cursor },
      reference,
      goal: { of: 'ratio', atMost: 1.5 },
    },
  ];
}

/** Where the page's `Link` leads. */
async function nextOf(service: BenchService, path: string): Promise<string> {
  const link = (await service.get(path)).headers.get('link');
  const next = /^<([^>]+)>; rel="next"$/.exec(link ?? '')?.[1];
  if (next === undefined) throw new Error(`no next page after ${path}: ${link}`);
  return next;
}
