/** Those of workbooks and Parquet load on demand, in the worker that writes them. */
import { AppError } from '../../base/errors.ts';
import { type Encoder, encoders } from './encode.ts';
import type { Format } from '../read/format.ts';

export async function encoderFor(format: Format): Promise<Encoder> {
  if (format === 'xlsx') return (await import('./encode-xlsx.ts')).encodeXlsx;
  if (format === 'parquet') return (await import('./encode-parquet.ts')).encodeParquet;
  const encoder = encoders[format];
  if (!encoder) throw new AppError('internal', `No encoder for ${format}`);
  return encoder;
}

/** Throws `invalid-query` for what the format cannot hold, before the first byte. */
export async function requireFit(format: Format, rows: number): Promise<void> {
  if (format === 'xlsx') (await import('./encode-xlsx.ts')).checkXlsxRows(rows);
}
