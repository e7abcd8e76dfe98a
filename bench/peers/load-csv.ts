/**
 * A CSV into SQLite in one bare loop: papaparse, one prepared statement, one transaction, nothing inferred.
 *
 *     bun load-csv.ts <csv> <new database>
 *
 * Prints the number of rows.
 */
import { Database } from 'bun:sqlite';
import { createReadStream } from 'node:fs';
import Papa from 'papaparse';
import { PRODUCT_TABLE } from '../products.ts';

const [csv, path] = process.argv.slice(2);
if (csv === undefined || path === undefined) throw new Error('load-csv.ts <csv> <new database>');
const db = new Database(path);
db.run('PRAGMA journal_mode = OFF');
db.run(PRODUCT_TABLE);
const insert = db.prepare('INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
let rows = -1;

db.run('BEGIN');
await new Promise<void>((resolve, reject) => {
  Papa.parse(createReadStream(csv, { highWaterMark: 1 << 20 }), {
    skipEmptyLines: true,
    chunk: ({ data }: Papa.ParseResult<string[]>) => {
      for (const cells of data) if (++rows > 0) insert.run(rows, ...cells);
    },
    complete: () => resolve(),
    error: reject,
  });
});
db.run('COMMIT');
db.close();
console.log(rows);
