/**
 * The encoder of each format; those of workbooks and Parquet are loaded by the first request for them, and only in the
 * worker that writes them.
 */
import { AppError } from '../base/errors.ts';
import { type Encoder, encoders } from './encode.ts';
import type { Format } from './format.ts';

/** What writes rows in a format. */
export async function encoderFor(format: Format): Promise<Encoder> {
  if (format === 'xlsx') return (await import('./encode-xlsx.ts')).encodeXlsx;
  if (format === 'parquet') return (await import('./encode-parquet.ts')).encodeParquet;
  const encoder = encoders[format];
  if (!encoder) throw new AppError('internal', `No encoder for ${format}`);
  return encoder;
}

/** Refuses what a format cannot hold before the first byte (DS-44). Throws `invalid-query`. */
export async function requireFit(format: Format, rows: number): Promise<void> {
  if (format === 'xlsx') (await import('./encode-xlsx.ts')).checkXlsxRows(rows);
}
