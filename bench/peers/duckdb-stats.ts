/**
 * DuckDB asks a Parquet file, which it makes of another when it is not there.
 *
 *     bun duckdb-stats.ts <table function of the other> <Parquet, or a pattern> <SQL, with {} for it> <times>
 *
 * Prints the milliseconds of each query as a JSON array.
 */
import { DuckDBInstance } from '@duckdb/node-api';
import { existsSync } from 'node:fs';

const [source, parquet, sql, times] = process.argv.slice(2);
if (source === undefined || parquet === undefined || sql === undefined || times === undefined) {
  throw new Error('duckdb-stats.ts <source> <Parquet> <SQL> <times>');
}
const quoted = `'${parquet.replaceAll("'", "''")}'`;
const connection = await (await DuckDBInstance.create(':memory:')).connect();
if (!parquet.includes('*') && !existsSync(parquet))
  await connection.run(`COPY (FROM ${source}) TO ${quoted} (FORMAT parquet)`);
const milliseconds: number[] = [];
for (let time = 0; time < Number(times); time++) {
  const startedAt = performance.now();
  await connection.runAndReadAll(sql.replace('{}', quoted));
  milliseconds.push(performance.now() - startedAt);
}
console.log(JSON.stringify(milliseconds));
