/**
 * stats: count and mean by host over a million events, against the same GROUP BY in bare SQLite; DuckDB over Parquet is
 * reported.
 */
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { EVENTS, eventData } from '../event-data.ts';
import { asked, selected, startSql, startWithEvents } from '../event-queries.ts';
import { output, peer } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';

const QUERY = '* | stats count, avg(bytes) AS mean BY host';
const SQL = `SELECT host, count(*) AS count, avg(fields ->> '$.bytes') AS mean FROM events GROUP BY host ORDER BY host`;
const DUCKDB_SQL = 'SELECT host, count(*), avg(extracted_fields.bytes) FROM {} GROUP BY host';

export const stats: Benchmark = {
  name: 'stats',
  work: `count and avg by host over ${EVENTS.toLocaleString('en-US')} events`,
  async run(bench) {
    const data = await eventData(EVENTS);
    await using service = await startWithEvents(bench, data);
    await using sql = await startSql(bench, data);
    const { rows } = await asked(service, QUERY);
    requireEqual('the figures', rows, (await selected(sql, SQL)).rows);
    const parquet = join(bench.folder, 'events.parquet');
    const lines = `read_ndjson('${data.lines}')`;
    const duckdb = async (times: number): Promise<number[]> =>
      JSON.parse(
        await output(peer('duckdb-stats.ts', lines, parquet, DUCKDB_SQL, String(times))),
      ) as number[];
    await duckdb(1);
    const rounds = await inTurns(bench, {
      svc: async () => (await asked(service, QUERY)).ms,
      sqlite: async () => (await selected(sql, SQL)).ms,
      duckdb: async () => (await duckdb(2))[1]!,
    });
    const subject = { name: 'svc', unit: 'ms', values: rounds.svc } as const;
    return [
      {
        part: 'to bare SQLite',
        subject,
        reference: { name: 'SQLite behind Bun.serve', unit: 'ms', values: rounds.sqlite },
        goal: { of: 'ratio', atMost: 1.2 },
      },
      {
        part: 'to DuckDB over Parquet',
        subject,
        reference: { name: 'DuckDB', unit: 'ms', values: rounds.duckdb },
        goal: null,
      },
    ];
  },
};
