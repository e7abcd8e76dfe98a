/**
 * Numbers stay numbers, times are their text, lists and objects JSON text; cells of a Parquet file keep the type it
 * declares, and texts that are dates of their dataset are dates. Such files begin with their column types,
 * so the query is run to its end first; any error is an answer, never a truncated file.
 */
import { AppError } from '../../base/errors.ts';
import { encoderFor, requireFit } from '../../tables/encode/encoders.ts';
import type { Format } from '../../tables/read/format.ts';
import { Problem } from '../syntax/problem.ts';
import type { Table } from './run.ts';
import { SpilledRows } from './row-spool.ts';
import type { Row } from '../expressions/value.ts';

export type TypedFormat = Extract<Format, 'xlsx' | 'parquet'>;

/** Of rows held on disk. */
const MAX_BYTES = 1024 ** 3;

export function isTyped(format: Format): format is TypedFormat {
  return format === 'xlsx' || format === 'parquet';
}

/** `close` must be called when the pieces are read, or reading stops early. */
interface ResultFile {
  readonly rows: number;
  readonly isCut: boolean;
  readonly chunks: Generator<Uint8Array>;
  close(): void;
}

/** Throws the problem `too_large` for more than a format holds, `no-space`, and whatever reading throws. */
export async function makeResultFile(
  { schema, batches }: Table,
  format: TypedFormat,
  limit: number,
  directory: string,
): Promise<ResultFile> {
  const { shown } = schema;
  const encode = await encoderFor(format);
  const native = shown.map(({ column }) => column.native ?? {});
  const aside = new SpilledRows(directory, native, {
    maxBytes: MAX_BYTES,
    isByCell: format === 'xlsx',
  });
  try {
    const isCut = setAside(batches, limit, (row) =>
      aside.add(shown.map(({ index }) => row[index] ?? null)),
    );
    await requireRoomIn(format, aside.count);
    const columns = shown.map(({ column: { name } }, at) => ({ name, ...aside.typeOf(at) }));
    const shape = { columns, rowIdAt: null, blank: 'null' as const };
    return {
      rows: aside.count,
      isCut,
      chunks: encode(shape, aside.rows()),
      close: () => aside.close(),
    };
  } catch (error) {
    aside.close();
    throw error;
  }
}

/** Returns whether there were more rows. */
function setAside(batches: Iterable<Row[]>, limit: number, add: (row: Row) => void): boolean {
  let left = limit;
  for (const batch of batches) {
    for (const row of batch) {
      if (left-- <= 0) return true;
      add(row);
    }
  }
  return false;
}

async function requireRoomIn(format: Format, rows: number): Promise<void> {
  try {
    await requireFit(format, rows);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new Problem('too_large', `${error.message}: end the query with | head`);
  }
}
