/**
 * edit: one row after the other, each on disk before its answer, against the bare copy that this takes at least.
 */
import type { Benchmark } from '../benchmark.ts';
import { copyMilliseconds } from '../copying.ts';
import { productCsv } from '../data.ts';
import { Editor } from '../edits.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 100_000;
const TIMES = 25;

export const edit: Benchmark = {
  name: 'edit',
  work: 'PATCH of one row of a 100k × 8 CSV (6 MB), on disk before the answer, one client',
  async run(bench) {
    const csv = await productCsv(ROWS);
    await using service = await BenchService.start(bench, { 'products.csv': csv });
    const editor = new Editor(service, 'products', ROWS);
    await editor.milliseconds(5);
    const rounds = await inTurns(bench, {
      svc: () => editor.milliseconds(TIMES),
      copy: () => copyMilliseconds(bench, csv, TIMES),
    });
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'ms', values: rounds.svc },
        reference: { name: 'copy, fsync, rename, fsync folder', unit: 'ms', values: rounds.copy },
        goal: { of: 'ratio', atMost: 2 },
      },
    ];
  },
};
