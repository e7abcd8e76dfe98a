/**
 * first-touch-parquet: from the start of the process on a Parquet file it has never read to the first page of a million
 * rows. The reference decodes all columns of the same file, also from the start of its process.
 */
import type { Benchmark } from '../benchmark.ts';
import { productParquet } from '../data.ts';
import { output, peer } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';
import { touch } from '../touch.ts';

const ROWS = 1_000_000;

export const firstTouchParquet: Benchmark = {
  name: 'first-touch-parquet',
  work: 'Parquet of 1M rows × 8 columns becomes queryable, from process start',
  async run(bench) {
    const parquet = await productParquet(ROWS);
    await using service = await BenchService.start(bench);
    await service.stop();
    service.publish('products.parquet', parquet);
    const peaks: number[] = [];
    const rounds = await inTurns(bench, {
      svc: async () => {
        const found = await touch(service, '/api/products/?limit=1', ROWS);
        peaks.push(found.peakMegabytes);
        return found.milliseconds;
      },
      hyparquet: async () => {
        const startedAt = performance.now();
        const rows = await output(peer('read-parquet.ts', parquet));
        const milliseconds = performance.now() - startedAt;
        requireEqual('the rows of hyparquet', Number(rows), ROWS);
        return milliseconds;
      },
    });
    return [
      {
        part: 'time',
        subject: { name: 'svc', unit: 'ms', values: rounds.svc },
        reference: { name: 'hyparquet, all columns', unit: 'ms', values: rounds.hyparquet },
        goal: { of: 'ratio', atMost: 1.5 },
      },
      {
        part: 'peak memory of svc and its children',
        subject: { name: 'svc', unit: 'MB', values: peaks },
        reference: null,
        goal: null,
      },
    ];
  },
};
