/**
 * deep-page: pages far inside a million rows against pages at the beginning, in file order and sorted by an indexed
 * column. Every side goes through a hundred neighbouring pages, so that none is answered from memory.
 */
import type { Bench, Benchmark, Finding } from '../benchmark.ts';
import { productCsv } from '../data.ts';
import { pagesAfter, warm } from '../listed-products.ts';
import { requestsPerSecond } from '../load.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 1_000_000;
const DEPTH = 900_000;
const PAGE = 100;
const PAGES = 100;

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
  const pagesFrom = (offset: number): string[] =>
    Array.from({ length: PAGES }, (_, page) => {
      return `/api/products/?limit=${PAGE}${sort}&offset=${offset + page * PAGE}`;
    });
  const first = pagesFrom(0);
  const byOffset = pagesFrom(DEPTH);
  const byCursor = await pagesAfter(
    service,
    `/api/products/?limit=${PAGE}${sort}&offset=${DEPTH - PAGE}`,
    PAGES,
  );
  const page = await (await service.get(byOffset[0]!)).text();
  requireEqual('the page by cursor', await (await service.get(byCursor[0]!)).text(), page);
  if (sort === '') requireEqual('the first row', JSON.parse(page)[0]._row_id, DEPTH + 1);
  const milliseconds = async (paths: readonly string[]): Promise<number> => {
    const { url, headers } = service;
    const load = { url, headers, paths, connections: 1, seconds: 1 };
    return 1000 / (await requestsPerSecond({ ...load, answerBytes: page.length / 2 }));
  };
  await milliseconds(first);
  const rounds = await inTurns(bench, {
    first: () => milliseconds(first),
    offset: () => milliseconds(byOffset),
    cursor: () => milliseconds(byCursor),
  });
  const reference = { name: 'the first pages', unit: 'ms', values: rounds.first } as const;
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
