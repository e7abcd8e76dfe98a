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
import { pagesAfter, startListed } from '../listed-products.ts';
import { requestsPerSecond } from '../load.ts';
import { listPath, PRICE } from '../products.ts';
import { forOrientation, inTurns, type Rounds } from '../rounds.ts';

const SIZES = [10_000, 100_000, 1_000_000] as const;
/** Pages that are asked for in turn, so that none is answered from memory. */
const PAGES = 40;
const EDITS = 5;
/** Copies a round: the copy of a small file is over too soon for few of them. */
const COPIES = 9;

const names = { 10_000: '10k', 100_000: '100k', 1_000_000: '1M' } as const;
type Size = (typeof names)[keyof typeof names];

/** What is measured of each size, in milliseconds. */
interface Measures {
  readonly pages: Record<Size, () => Promise<number>>;
  readonly varied: Record<Size, () => Promise<number>>;
  readonly edits: Record<Size, () => Promise<number>>;
  readonly copies: Record<`copy ${Size}`, () => Promise<number>>;
}

export const growth: Benchmark = {
  name: 'growth',
  work: 'the list and the edit on 10k, 100k and 1M rows',
  async run(bench) {
    await using services = new AsyncDisposableStack();
    const { pages, varied, edits, copies } = {
      pages: {},
      varied: {},
      edits: {},
      copies: {},
    } as Measures;
    for (const rows of SIZES) {
      const size = names[rows];
      const own = { ...bench, folder: join(bench.folder, size) };
      const { service, loads } = await startListed(own, rows);
      services.use(service);
      const paths = await pagesAfter(service, listPath(PRICE), PAGES);
      const common = { seconds: 1, answerBytes: 1000 };
      pages[size] = async () =>
        1000 / (await requestsPerSecond({ ...loads.same, ...common, paths }));
      varied[size] = async () => 1000 / (await requestsPerSecond({ ...loads.varied, ...common }));
      const editor = new Editor(service, 'products', rows);
      edits[size] = () => editor.milliseconds(EDITS);
      const csv = await productCsv(rows);
      copies[`copy ${size}`] = () => copyMilliseconds(bench, csv, COPIES);
    }
    const findings = [
      ...listFindings('pages of the list', 'list', await inTurns(bench, pages), 2),
      ...listFindings(
        'list with another price every time',
        'list, another price',
        await inTurns(forOrientation(bench), varied),
        null,
      ),
    ];
    for (const warmUp of Object.values(edits)) await warmUp();
    const editRounds = await inTurns(bench, { ...edits, ...copies });
    return [...findings, ...(await editFindings(editRounds))];
  },
};

function listFindings(
  what: string,
  curve: string,
  rounds: Rounds<Size>,
  atMost: number | null,
): Finding[] {
  return SIZES.map((rows) => ({
    part: `${what}, ${names[rows]} rows, time a request`,
    subject: { name: `svc, ${names[rows]} rows`, unit: 'ms', values: rounds[names[rows]] },
    reference: { name: 'svc, 10k rows', unit: 'ms', values: rounds['10k'] },
    goal: rows === 1_000_000 && atMost !== null ? { of: 'ratio', atMost } : null,
    growth: { curve, rows },
  }));
}

async function editFindings(rounds: Rounds<Size | `copy ${Size}`>): Promise<Finding[]> {
  const findings: Finding[] = SIZES.map((rows) => {
    const size = names[rows];
    return {
      part: `edit of ${size} rows`,
      subject: { name: 'svc', unit: 'ms', values: rounds[size] },
      reference: { name: `copy of ${size} rows`, unit: 'ms', values: rounds[`copy ${size}`] },
      goal: null,
      growth: { curve: 'edit', rows, reference: 'copy of the file' },
    };
  });
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
