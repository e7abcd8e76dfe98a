/**
 * growth: what a hundred times the rows do to the list (as good as nothing, with indexes) and to an edit (as much as to
 * a copy of the file).
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, type Finding, median } from '../benchmark.ts';
import { copyMilliseconds } from '../copying.ts';
import { productCsv } from '../data.ts';
import { Editor } from '../edits.ts';
import { startListed } from '../listed-products.ts';
import { requestsPerSecond } from '../load.ts';
import { inTurns, type Rounds } from '../rounds.ts';

const SIZES = [10_000, 100_000, 1_000_000] as const;
const EDITS = 5;
/** Copies a round: the copy of a small file is over too soon for few of them. */
const COPIES = 9;

const names = { 10_000: '10k', 100_000: '100k', 1_000_000: '1M' } as const;
type Size = (typeof names)[keyof typeof names];

export const growth: Benchmark = {
  name: 'growth',
  work: 'the list and the edit on 10k, 100k and 1M rows',
  async run(bench) {
    const disposal = new AsyncDisposableStack();
    await using _ = disposal;
    const lists = {} as Record<Size, () => Promise<number>>;
    const edits = {} as Record<Size, () => Promise<number>>;
    const copies = {} as Record<`copy ${Size}`, () => Promise<number>>;
    for (const rows of SIZES) {
      const name = names[rows];
      const { service, load } = await startListed(
        { ...bench, folder: join(bench.folder, name) },
        rows,
      );
      disposal.use(service);
      lists[name] = async () => 1000 / (await requestsPerSecond({ ...load, seconds: 1 }));
      const editor = new Editor(service, 'products', rows);
      edits[name] = () => editor.milliseconds(EDITS);
      const csv = await productCsv(rows);
      copies[`copy ${name}`] = () => copyMilliseconds(bench, csv, COPIES);
    }
    const listRounds = await inTurns(bench, lists);
    for (const warmUp of Object.values(edits)) await warmUp();
    const editRounds = await inTurns(bench, { ...edits, ...copies });
    return [...listFindings(listRounds), ...(await editFindings(editRounds))];
  },
};

function listFindings(rounds: Rounds<Size>): Finding[] {
  return (['100k', '1M'] as const).map((size) => ({
    part: `list of ${size} rows, time a request`,
    subject: { name: `svc, ${size} rows`, unit: 'ms', values: rounds[size] },
    reference: { name: 'svc, 10k rows', unit: 'ms', values: rounds['10k'] },
    goal: size === '1M' ? { of: 'ratio', atMost: 2 } : null,
  }));
}

async function editFindings(rounds: Rounds<Size | `copy ${Size}`>): Promise<Finding[]> {
  const findings: Finding[] = (['10k', '100k', '1M'] as const).map((size) => ({
    part: `edit of ${size} rows`,
    subject: { name: `svc, ${size} rows`, unit: 'ms', values: rounds[size] },
    reference: { name: `copy of ${size} rows`, unit: 'ms', values: rounds[`copy ${size}`] },
    goal: null,
  }));
  const bytes = await Promise.all(SIZES.map(async (rows) => statSync(await productCsv(rows)).size));
  const megabytes = (bytes[2]! - bytes[0]!) / 1e6;
  const slopes = (small: readonly number[], large: readonly number[]): number[] =>
    large.map((value) => (value - median(small)) / megabytes);
  findings.push({
    part: 'edit, slope over file size',
    subject: { name: 'svc', unit: 'ms/MB', values: slopes(rounds['10k'], rounds['1M']) },
    reference: {
      name: 'copy',
      unit: 'ms/MB',
      values: slopes(rounds['copy 10k'], rounds['copy 1M']),
    },
    goal: { of: 'ratio', atMost: 2 },
  });
  return findings;
}
