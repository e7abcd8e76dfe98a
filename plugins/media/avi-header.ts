/**
 * Duration and picture size from an AVI's main header (RIFF, Microsoft's AVIMAINHEADER;
 * little-endian).
 */
import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';

const HEADER_START = 32;
const HEADER_BYTES = 56;

/** Throws `unreadable-file` when the file is no AVI. */
export async function readAviHeader(
  source: FileSource,
  rel: string,
): Promise<{ duration: number | null; width: number | null; height: number | null }> {
  const bytes = Buffer.from(await source.read(0, HEADER_START + HEADER_BYTES));
  const isAvi =
    bytes.length === HEADER_START + HEADER_BYTES &&
    bytes.toString('latin1', 0, 4) === 'RIFF' &&
    bytes.toString('latin1', 8, 16) === 'AVI LIST' &&
    bytes.toString('latin1', 20, 28) === 'hdrlavih';
  if (!isAvi) throw new AppError('unreadable-file', `Cannot read '${rel}': not an AVI file`);
  const number = (index: number): number => bytes.readUInt32LE(HEADER_START + 4 * index);
  const [microseconds, frames, width, height] = [number(0), number(4), number(8), number(9)];
  const seconds = (microseconds * frames) / 1e6;
  return { duration: seconds || null, width: width || null, height: height || null };
}
