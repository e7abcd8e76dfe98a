/**
 * A Parquet file by hyparquet, every column of it.
 *
 *     bun read-parquet.ts <file>
 *
 * Prints the number of rows.
 */
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('read-parquet.ts <file>');
const file = await asyncBufferFromFile(path);
const metadata = await parquetMetadataAsync(file);
const rowsOf = new Map<string, number>();
await parquetRead({
  file,
  metadata,
  compressors,
  onChunk: ({ columnName, rowEnd }) => {
    rowsOf.set(columnName, Math.max(rowsOf.get(columnName) ?? 0, rowEnd));
  },
});
console.log(Math.min(...rowsOf.values()));
