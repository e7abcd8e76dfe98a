/**
 * ingest-growth: what a store of a million events does to the import of further ones, and how much disk an event takes.
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { logEvents } from '../events.ts';
import { output } from '../processes.ts';

const STEP = 100_000;
const STEPS = 10;
/** Steps at either end that are compared. */
const COMPARED = 3;

export const ingestGrowth: Benchmark = {
  name: 'ingest-growth',
  work: 'svc events import of 100k events, ten times into one store',
  async run(bench) {
    const docroot = join(bench.folder, 'docroot');
    mkdirSync(docroot, { recursive: true });
    const file = join(bench.folder, 'events.ndjson');
    const lines = logEvents(STEP).map((event) => JSON.stringify(event));
    await Bun.write(file, `${lines.join('\n')}\n`);
    const rates: number[] = [];
    for (let step = 0; step < STEPS; step++) {
      const startedAt = performance.now();
      const text = await output([bench.executable, 'events', 'import', docroot, file], {
        timeoutMs: 120_000,
      });
      if (!text.includes(`: ${STEP} event(s) imported`)) throw new Error(`not imported: ${text}`);
      rates.push(STEP / ((performance.now() - startedAt) / 1000));
    }
    const bytes = statSync(join(docroot, '.svc', 'events.sqlite')).size;
    return [
      {
        part: 'the last 300k of a million against the first',
        subject: { name: 'svc, full', unit: 'rows/s', values: rates.slice(-COMPARED) },
        reference: { name: 'svc, empty', unit: 'rows/s', values: rates.slice(0, COMPARED) },
        goal: { of: 'ratio', atLeast: 0.5 },
      },
      {
        part: 'disk for an event of 250 bytes of JSON',
        subject: { name: 'svc', unit: 'bytes', values: [bytes / (STEP * STEPS)] },
        reference: null,
        goal: null,
      },
    ];
  },
};
