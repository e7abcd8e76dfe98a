/**
 * search-index: how fast rows become findable once their table has been read, and the memory that takes, at 10k, 100k and
 * 300k rows: `svc reindex --force` beside the running server. The reference puts the same texts into FTS5 in one loop.
 */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Finding } from '../benchmark.ts';
import { productCsv } from '../data.ts';
import { MemoryWatch } from '../memory.ts';
import { output, peer } from '../processes.ts';
import { forOrientation, inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';
import { textUnits } from '../texts.ts';

const SIZES = [10_000, 100_000, 300_000];
/** One round of so many takes as long as three of fewer. */
const MANY_ROWS = 300_000;
const LIMIT_MS = 300_000;
const REFERENCE = 'FTS5 in one loop, from process start';

export const searchIndex: Benchmark = {
  name: 'search-index',
  work: 'rows put into the search index: rate, peak memory of svc and its children, size',
  async run(bench) {
    const findings: Finding[] = [];
    for (const rows of SIZES) {
      const csv = await productCsv(rows);
      const units = await textUnits(rows, 0);
      const folder = join(bench.folder, String(rows));
      const few = forOrientation({ ...bench, folder });
      const sized = rows < MANY_ROWS ? few : { ...few, rounds: 1 };
      await using service = await BenchService.start(sized, { 'products.csv': csv });
      const command = [bench.executable, 'reindex', service.docroot];
      await output(command, { timeoutMs: LIMIT_MS });
      const peaks: number[] = [];
      const rounds = await inTurns(sized, {
        svc: async () => {
          using memory = new MemoryWatch(service.pid);
          const rate = await rateOf(rows, [...command, '--force']);
          peaks.push(memory.peak);
          return rate;
        },
        FTS5: async () => {
          const path = join(folder, 'bare.sqlite');
          for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
          return rateOf(rows, peer('text-floor.ts', units, path));
        },
      });
      const megabytes = statSync(join(service.stateDir, 'search', 'index.sqlite')).size / 1e6;
      findings.push(
        {
          part: `${rows} rows`,
          subject: { name: 'svc', unit: 'rows/s', values: rounds.svc },
          reference: { name: REFERENCE, unit: 'rows/s', values: rounds.FTS5 },
          goal: null,
        },
        memoryOf(`${rows} rows, peak memory`, peaks),
        memoryOf(`${rows} rows, index with what was replaced`, [megabytes]),
      );
    }
    return findings;
  },
};

function memoryOf(part: string, values: readonly number[]): Finding {
  return { part, subject: { name: 'svc', unit: 'MB', values }, reference: null, goal: null };
}

async function rateOf(rows: number, command: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  await output(command, { timeoutMs: LIMIT_MS });
  return rows / ((performance.now() - startedAt) / 1000);
}
