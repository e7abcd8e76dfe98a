/**
 * first-touch: from the start of the process on a folder it has never read to the first page of a million rows, and the
 * memory that takes. The reference loads the same file into SQLite, also from the start of its process.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Benchmark } from '../benchmark.ts';
import { productCsv } from '../data.ts';
import { output, peer } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';
import { touch } from '../touch.ts';

const ROWS = 1_000_000;

export const firstTouch: Benchmark = {
  name: 'first-touch',
  work: 'a CSV of 1M rows × 8 columns (61 MB) becomes queryable, from process start',
  async run(bench) {
    const csv = await productCsv(ROWS);
    await using service = await BenchService.start(bench);
    await service.stop();
    service.publish('products.csv', csv);
    const peaks: number[] = [];
    const rounds = await inTurns(bench, {
      svc: async () => {
        const { milliseconds, peakMegabytes } = await touch(
          service,
          '/api/products/?limit=1',
          ROWS,
        );
        peaks.push(peakMegabytes);
        return milliseconds;
      },
      papaparse: () => loadBarely(bench, csv),
    });
    return [
      {
        part: 'time',
        subject: { name: 'svc', unit: 'ms', values: rounds.svc },
        reference: { name: 'papaparse and SQLite', unit: 'ms', values: rounds.papaparse },
        goal: { of: 'ratio', atMost: 1.3 },
      },
      {
        part: 'peak memory of svc and its children',
        subject: { name: 'svc', unit: 'MB', values: peaks },
        reference: null,
        goal: { of: 'value', atMost: 600 },
      },
    ];
  },
};

async function loadBarely(bench: Bench, csv: string): Promise<number> {
  const path = join(bench.folder, 'bare.sqlite');
  rmSync(path, { force: true });
  const startedAt = performance.now();
  const rows = await output(peer('load-csv.ts', csv, path));
  const milliseconds = performance.now() - startedAt;
  requireEqual('the rows of the loop', Number(rows), ROWS);
  return milliseconds;
}
