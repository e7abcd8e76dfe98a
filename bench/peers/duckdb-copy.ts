/**
 * DuckDB writes a table of its own as CSV.
 *
 *     bun duckdb-copy.ts <csv to fill the table from> <csv to write> <times>
 *
 * Prints the milliseconds of each COPY as a JSON array; filling the table does not count.
 */
import { DuckDBInstance } from '@duckdb/node-api';

const [source, target, times] = process.argv.slice(2);
if (source === undefined || target === undefined || times === undefined) {
  throw new Error('duckdb-copy.ts <csv> <csv> <times>');
}
const quoted = (path: string): string => `'${path.replaceAll("'", "''")}'`;
const connection = await (await DuckDBInstance.create(':memory:')).connect();
await connection.run(`CREATE TABLE products AS SELECT * FROM read_csv(${quoted(source)})`);
const milliseconds: number[] = [];
for (let time = 0; time < Number(times); time++) {
  const startedAt = performance.now();
  await connection.run(`COPY products TO ${quoted(target)} (HEADER)`);
  milliseconds.push(performance.now() - startedAt);
}
console.log(JSON.stringify(milliseconds));
