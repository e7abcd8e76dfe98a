/**
 * sealed: the twelve patterns of the search language and a dashboard of twelve panels over sealed events, against the same
 * events as rows with their index of texts; five aggregates against DuckDB over the same files; and the disk they take,
 * against their lines.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Finding } from '../benchmark.ts';
import { EVENTS, eventData, LAST_DAY, sealedBytes, sealedEventData } from '../event-data.ts';
import { asked, startWithEvents, startWithSealed } from '../event-queries.ts';
import { output, peer } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { figures, milliseconds, patterns } from './pipeline.ts';

export const PANELS = [
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

/** Of `svc` and of DuckDB. */
const AGGREGATES: readonly (readonly [string, string])[] = [
  ['* | stats count BY host', 'SELECT host, count(*) FROM {} GROUP BY host'],
  [
    '* | stats avg(bytes) BY host',
    'SELECT host, avg(CAST("fields.bytes" AS DOUBLE)) FROM {} GROUP BY host',
  ],
  [
    '* | timechart span=1h count',
    `SELECT date_trunc('hour', time) AS t, count(*) FROM {} GROUP BY t ORDER BY t`,
  ],
  [
    '* | stats p95(bytes) AS p BY status | sort -p | head 10',
    'SELECT "fields.status" AS s, quantile_cont(CAST("fields.bytes" AS DOUBLE), 0.95) AS p FROM {} GROUP BY s ORDER BY p DESC LIMIT 10',
  ],
  [
    '* | stats dc(user) BY host',
    'SELECT host, count(DISTINCT "fields.user") FROM {} GROUP BY host',
  ],
];

async function aggregatesOfDuckdb(folder: string): Promise<number> {
  const files = join(folder, 'events/*/*.parquet');
  let sum = 0;
  for (const [, sql] of AGGREGATES) {
    // The first time it also reads the files from the disk.
    const text = await output(peer('duckdb-stats.ts', '', files, sql, '3'));
    sum += Math.min(...(JSON.parse(text) as number[]).slice(1));
  }
  return sum;
}

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
    const five = await inTurns(bench, {
      svc: async () => {
        let sum = 0;
        for (const [query] of AGGREGATES) {
          await asked(parts, query);
          sum += Math.min((await asked(parts, query)).ms, (await asked(parts, query)).ms);
        }
        return sum;
      },
      duckdb: () => aggregatesOfDuckdb(folder),
    });
    findings.push({
      part: 'five aggregates in sum, to DuckDB over the same files',
      subject: { name: 'svc, sealed', unit: 'ms', values: five.svc },
      reference: { name: 'DuckDB', unit: 'ms', values: five.duckdb },
      goal: { of: 'ratio', atMost: 1.5 },
    });
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
