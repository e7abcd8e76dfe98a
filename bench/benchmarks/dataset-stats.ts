/**
 * dataset-stats: the mean of a column by another over a CSV of a million rows, the first time, which makes columns beside
 * the typed copy, and from then on; against the same GROUP BY in bare SQLite, and DuckDB over it as Parquet.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { productCsv, productParquet } from '../data.ts';
import { ASSETS_CSV } from '../event-data.ts';
import { asked, selected } from '../event-queries.ts';
import { warm } from '../listed-products.ts';
import { output, peer, ServerProcess } from '../processes.ts';
import { productDatabase, requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 1_000_000;
const QUERY = 'from products | stats avg(price) AS mean BY category';
const SQL = 'SELECT category, avg(price) AS mean FROM products GROUP BY category ORDER BY category';
const DUCKDB_SQL = 'SELECT category, avg(price) FROM {} GROUP BY category';

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Only svc's means have all digits. */
function rounded(rows: Rows): Rows {
  return rows.map(({ category, mean }) => ({ category, mean: Number(mean).toFixed(8) }));
}

export const datasetStats: Benchmark = {
  name: 'dataset-stats',
  work: `avg by a column of a CSV of ${ROWS.toLocaleString('en-US')} rows`,
  async run(bench) {
    await using service = await BenchService.start(bench, {
      'products.csv': await productCsv(ROWS),
    });
    await using sql = await ServerProcess.start({
      command: peer('sql-server.ts', await productDatabase(ROWS), ASSETS_CSV),
      cwd: bench.folder,
      logFile: join(bench.folder, 'sql.log'),
    });
    await warm(service, '/api/products/?limit=1');
    const { rows } = await asked(service, QUERY);
    requireEqual('the means', rounded(rows), rounded((await selected(sql, SQL)).rows));
    const parquet = await productParquet(ROWS);
    const duckdb = peer('duckdb-stats.ts', '', parquet, DUCKDB_SQL, '3');
    const tables = join(bench.folder, 'docroot', '.svc', 'tables');
    const rounds = await inTurns(bench, {
      first: async () => {
        for (const name of readdirSync(tables))
          if (name.endsWith('-columns')) rmSync(join(tables, name), { recursive: true });
        return (await asked(service, QUERY)).ms;
      },
      second: async () => (await asked(service, QUERY)).ms,
      sqlite: async () => (await selected(sql, SQL)).ms,
      duckdb: async () => (JSON.parse(await output(duckdb)) as number[])[2]!,
    });
    const sqlite = { name: 'SQLite behind Bun.serve', unit: 'ms', values: rounds.sqlite } as const;
    const second = { name: 'svc', unit: 'ms', values: rounds.second } as const;
    return [
      {
        part: 'the second time',
        subject: second,
        reference: sqlite,
        goal: { of: 'ratio', atMost: 0.5 },
      },
      {
        part: 'the second time, to DuckDB over it as Parquet',
        subject: second,
        reference: { name: 'DuckDB', unit: 'ms', values: rounds.duckdb },
        goal: { of: 'ratio', atMost: 3 },
      },
      {
        part: 'the first time',
        subject: { name: 'svc', unit: 'ms', values: rounds.first },
        reference: sqlite,
        goal: null,
      },
    ];
  },
};
