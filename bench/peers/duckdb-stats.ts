/**
 * DuckDB counts and averages by host, over a Parquet file it makes of NDJSON when it is not there.
 *
 *     bun duckdb-stats.ts <NDJSON> <Parquet> <times>
 *
 * Prints the milliseconds of each query as a JSON array.
 */
import { DuckDBInstance } from '@duckdb/node-api';
import { existsSync } from 'node:fs';

const [lines, parquet, times] = process.argv.slice(2);
if (lines === undefined || parquet === undefined || times === undefined) {
  throw new Error('duckdb-stats.ts <NDJSON> <Parquet> <times>');
}
const quoted = (path: string): string => `'${path.replaceAll("'", "''")}'`;
const connection = await (await DuckDBInstance.create(':memory:')).connect();
if (!existsSync(parquet)) {
  await connection.run(
    `COPY (SELECT * FROM read_ndjson(${quoted(lines)})) TO ${quoted(parquet)} (FORMAT parquet)`,
  );
}
const milliseconds: number[] = [];
for (let time = 0; time < Number(times); time++) {
  const startedAt = performance.now();
  await connection.runAndReadAll(
    `SELECT host, count(*), avg(extracted_fields.bytes) FROM ${quoted(parquet)} GROUP BY host`,
  );
  milliseconds.push(performance.now() - startedAt);
}
console.log(JSON.stringify(milliseconds));
