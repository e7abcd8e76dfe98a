/**
 * edit-load: many clients at once, whose edits share replacements of the file; every acknowledged one must be in it.
 */
import type { Benchmark } from '../benchmark.ts';
import { copyMilliseconds } from '../copying.ts';
import { productCsv } from '../data.ts';
import { type AcknowledgedEdit, requireInFile } from '../edits.ts';
import { output, peer } from '../processes.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 100_000;
const CLIENTS = 16;
const SECONDS = 1;
const COPIES = 25;

export const editLoad: Benchmark = {
  name: 'edit-load',
  work: 'PATCH of single rows of that CSV, 16 clients',
  async run(bench) {
    const csv = await productCsv(ROWS);
    await using service = await BenchService.start(bench, { 'products.csv': csv });
    const all: AcknowledgedEdit[] = [];
    const editsPerSecond = async (): Promise<number> => {
      const { seconds, edits } = await editMany(service, all.length + 1);
      all.push(...edits);
      requireInFile(service, 'products', all);
      return edits.length / seconds;
    };
    await editsPerSecond();
    const rounds = await inTurns(bench, {
      svc: editsPerSecond,
      copy: async () => 1000 / (await copyMilliseconds(bench, csv, COPIES)),
    });
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'edits/s', values: rounds.svc },
        reference: {
          name: 'copy, fsync, rename, fsync folder',
          unit: 'edits/s',
          values: rounds.copy,
        },
        goal: { of: 'ratio', atLeast: 3 },
      },
    ];
  },
};

async function editMany(
  service: BenchService,
  firstRowId: number,
): Promise<{ seconds: number; edits: AcknowledgedEdit[] }> {
  const url = `${service.url}/api/products/`;
  const key = service.headers['X-API-Key']!;
  const counts = [CLIENTS, SECONDS, firstRowId].map(String);
  return JSON.parse(await output(peer('edit-clients.ts', url, key, ...counts)));
}
