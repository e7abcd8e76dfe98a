/**
 * search: two words over 100k rows and 2,000 documents, twenty results with snippets, 8 clients. `svc` also checks who
 * asks and what he may read. Queries repeat after ninety, and nothing of them is remembered.
 */
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { productCsv } from '../data.ts';
import { type Load, requestsPerSecond } from '../load.ts';
import { groongaPath, startGroonga } from '../peers/groonga.ts';
import { peer, ServerProcess } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';
import { textUnits, twoWords, writeDocuments } from '../texts.ts';

const ROWS = 100_000;
const DOCUMENTS = 2_000;

export const search: Benchmark = {
  name: 'search',
  work: 'two words over 100k rows and 2,000 documents, 8 clients',
  async run(bench) {
    const units = await textUnits(ROWS, DOCUMENTS);
    await using floor = await ServerProcess.start({
      command: peer('text-floor.ts', units, join(bench.folder, 'floor.sqlite'), 'serve'),
      cwd: bench.folder,
      logFile: join(bench.folder, 'floor.log'),
    });
    await using groonga = await startGroonga(units, bench.folder);
    await using service = await BenchService.start(bench, {
      'products.csv': await productCsv(ROWS),
    });
    writeDocuments(join(service.docroot, 'documents'), DOCUMENTS);
    // A section of its own, and the dataset itself.
    await indexed(service, ROWS + 1 + DOCUMENTS);
    const paths = twoWords().map((q) => `/search?q=${encodeURIComponent(q)}`);
    for (const path of paths.slice(0, 5)) {
      const { count } = (await (await service.get(path)).json()) as { count: number };
      requireEqual(`the results of ${path}`, count, 20);
    }
    const common = { paths, connections: 8, seconds: 2, answerBytes: 2_000 };
    const loads: Record<'svc' | 'FTS5' | 'groonga', Load> = {
      svc: { ...common, url: service.url, headers: service.headers },
      FTS5: { ...common, url: floor.url },
      groonga: {
        ...common,
        url: new URL(groonga.url).origin,
        paths: twoWords().map(groongaPath),
      },
    };
    for (const load of Object.values(loads)) await requestsPerSecond({ ...load, seconds: 1 });
    const rounds = await inTurns(bench, {
      svc: () => requestsPerSecond(loads.svc),
      FTS5: () => requestsPerSecond(loads.FTS5),
      groonga: () => requestsPerSecond(loads.groonga),
    });
    const subject = { name: 'svc', unit: 'requests/s', values: rounds.svc } as const;
    return [
      {
        part: 'to groonga',
        subject,
        reference: { name: 'groonga', unit: 'requests/s', values: rounds.groonga },
        goal: { of: 'ratio', atLeast: 1 },
      },
      {
        part: 'to bare FTS5',
        subject,
        reference: { name: 'FTS5 behind Bun.serve', unit: 'requests/s', values: rounds.FTS5 },
        goal: { of: 'ratio', atLeast: 0.4 },
      },
    ];
  },
};

/** Waits until so many entries can be found. */
async function indexed(service: BenchService, entries: number): Promise<void> {
  for (const until = performance.now() + 120_000; performance.now() < until; await Bun.sleep(200)) {
    const metrics = await (await service.get('/metrics')).text();
    if (Number(/^svc_search_documents (\d+)$/m.exec(metrics)?.[1]) >= entries) return;
  }
  throw new Error('the index did not get ready');
}
