/**
 * sealed: the twelve patterns of the search language and a dashboard of twelve panels over sealed events, against the same
 * events as rows with their index of texts; and the disk they take, against their lines.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Finding } from '../benchmark.ts';
import { EVENTS, eventData, LAST_DAY, sealedBytes, sealedEventData } from '../event-data.ts';
import { asked, startWithEvents, startWithSealed } from '../event-queries.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { figures, milliseconds, patterns } from './pipeline.ts';

const PANELS = [
  '* | stats count',
  '* | stats count BY host',
  '* | stats count BY level',
  '* | stats count BY status',
  '* | stats avg(bytes), p95(bytes) BY host',
  '* | stats dc(user) BY host',
  '* | timechart span=1h count',
  '* | timechart span=1h count BY host',
  '* | timechart span=1h count BY level',
  '* | timechart span=1h avg(bytes) BY status',
  'status>=500 | timechart span=1h count BY host',
  `earliest=${LAST_DAY} level=error | top limit=10 host`,
];

export const sealed: Benchmark = {
  name: 'sealed',
  work: `${EVENTS.toLocaleString('en-US')} sealed events`,
  async run(bench) {
    const data = await eventData(EVENTS);
    const folder = await sealedEventData(EVENTS);
    const inFolder = (name: string) => ({ ...bench, folder: join(bench.folder, name) });
    await using rows = await startWithEvents(inFolder('rows'), data);
    await using parts = await startWithSealed(inFolder('parts'), folder);
    const findings: Finding[] = [];
    for (const { name, query } of patterns) {
      const [given, wanted] = [await asked(parts, query), await asked(rows, query)];
      requireEqual(`${name}: rows`, given.rows.map(figures), wanted.rows.map(figures));
      bench.say(name);
      const rounds = await inTurns(bench, {
        parts: () => milliseconds(() => asked(parts, query)),
        rows: () => milliseconds(() => asked(rows, query)),
      });
      findings.push({
        part: name,
        subject: { name: 'svc, sealed', unit: 'ms', values: rounds.parts },
        reference: { name: 'svc, rows', unit: 'ms', values: rounds.rows },
        goal: null,
      });
    }
    const panels = async (service: typeof rows): Promise<number> => {
      const from = performance.now();
      const left = PANELS.values();
      // As many at a time as one user may run.
      const ask = async (): Promise<void> => {
        for (const query of left) await asked(service, query);
      };
      await Promise.all([ask(), ask()]);
      return performance.now() - from;
    };
    const rounds = await inTurns(bench, { parts: () => panels(parts), rows: () => panels(rows) });
    findings.push({
      part: 'a dashboard of twelve panels',
      subject: { name: 'svc, sealed', unit: 'ms', values: rounds.parts },
      reference: { name: 'svc, rows', unit: 'ms', values: rounds.rows },
      goal: { of: 'value', atMost: 2_000 },
    });
    findings.push({
      part: 'disk, the filter of texts included',
      subject: { name: 'Parquet', unit: 'MB', values: [sealedBytes(folder) / 1e6] },
      reference: { name: 'JSON lines', unit: 'MB', values: [statSync(data.lines).size / 1e6] },
      goal: { of: 'ratio', atMost: 0.25 },
    });
    return findings;
  },
};
