/**
 * first-touch-xlsx: from the start of the process on a workbook it has never read to the first page of a hundred thousand
 * rows, and the memory that takes. The reference reads the same workbook, also from the start of its process.
 */
import type { Benchmark } from '../benchmark.ts';
import { productWorkbook, SHEET } from '../data.ts';
import { output, peer } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';
import { touch } from '../touch.ts';

const ROWS = 100_000;

export const firstTouchXlsx: Benchmark = {
  name: 'first-touch-xlsx',
  work: 'a sheet of 100k rows × 10 columns becomes queryable, from process start',
  async run(bench) {
    const workbook = await productWorkbook(ROWS);
    await using service = await BenchService.start(bench);
    await service.stop();
    service.publish('products.xlsx', workbook);
    const peaks: { svc: number[]; sheetjs: number[] } = { svc: [], sheetjs: [] };
    const rounds = await inTurns(bench, {
      svc: async () => {
        const found = await touch(service, `/api/products/${SHEET}/?limit=1`, ROWS);
        peaks.svc.push(found.peakMegabytes);
        return found.milliseconds;
      },
      sheetjs: async () => {
        const startedAt = performance.now();
        const text = await output(peer('read-workbook.ts', workbook));
        const milliseconds = performance.now() - startedAt;
        const { rows, peakMegabytes } = JSON.parse(text) as { rows: number; peakMegabytes: number };
        requireEqual('the rows of SheetJS', rows, ROWS);
        peaks.sheetjs.push(peakMegabytes);
        return milliseconds;
      },
    });
    return [
      {
        part: 'time',
        subject: { name: 'svc', unit: 'ms', values: rounds.svc },
        reference: { name: 'SheetJS read', unit: 'ms', values: rounds.sheetjs },
        goal: { of: 'ratio', atMost: 1.2 },
      },
      {
        part: 'peak memory of svc and its children',
        subject: { name: 'svc', unit: 'MB', values: peaks.svc },
        reference: { name: 'SheetJS read', unit: 'MB', values: peaks.sheetjs },
        goal: { of: 'ratio', atMost: 0.5 },
      },
    ];
  },
};
