/**
 * edit-xlsx: one cell of a sheet after the other, each on disk before its answer, against a library that reads the
 * workbook, changes the cell and writes all of it, in a process that runs already.
 */
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { median } from '../benchmark.ts';
import { productWorkbook, SHEET } from '../data.ts';
import { output, peer } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 20_000;
const TIMES = 5;
const ADDRESS = `/api/products/${SHEET}/`;

export const editXlsx: Benchmark = {
  name: 'edit-xlsx',
  work: 'PATCH of one cell of a 20k × 10 sheet, on disk before the answer, one client',
  async run(bench) {
    const workbook = await productWorkbook(ROWS);
    await using service = await BenchService.start(bench, { 'products.xlsx': workbook });
    await editMilliseconds(service, 2);
    const rounds = await inTurns(bench, {
      svc: () => editMilliseconds(service, TIMES),
      exceljs: async () => {
        const copy = join(bench.folder, 'rewritten.xlsx');
        return Number(await output(peer('rewrite-workbook.ts', workbook, copy, SHEET)));
      },
    });
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'ms', values: rounds.svc },
        reference: { name: 'exceljs read and write', unit: 'ms', values: rounds.exceljs },
        goal: { of: 'ratio', atMost: 0.1 },
      },
    ];
  },
};

let next = 1;

async function editMilliseconds(service: BenchService, times: number): Promise<number> {
  const taken: number[] = [];
  for (let time = 0; time < times; time++) {
    // 7919 is prime, so every row comes up before one comes up again.
    const data = { _row_id: 1 + ((next * 7919) % ROWS), quantity: 1_000_000 + next++ };
    const startedAt = performance.now();
    const response = await fetch(service.url + ADDRESS, {
      method: 'PATCH',
      headers: { ...service.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ action: 'update', data }),
    });
    const body = await response.text();
    taken.push(performance.now() - startedAt);
    if (response.status !== 200) throw new Error(`row ${data._row_id}: ${response.status} ${body}`);
    const filter = JSON.stringify({ _row_id: data._row_id });
    const found = await service.get(`${ADDRESS}?${new URLSearchParams({ filter })}`);
    const [row] = (await found.json()) as { quantity: number }[];
    requireEqual('the cell', row?.quantity, data.quantity);
  }
  return median(taken);
}
