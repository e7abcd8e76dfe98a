/**
 * Bytes of the opened file, and the one way to say that they are no workbook.
 */
import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/file-source.ts';

/** The error for bytes that cannot be read; `reason` follows `Cannot read '<rel>': `. */
export function unreadable(reason: string): AppError {
  return new AppError('unreadable-file', reason);
}

/**
 * `length` bytes at `offset`, fewer only where the file ends. Throws `unavailable` when the file is shorter than it was
 * when it was opened: another program is writing it.
 */
export async function readBytes(
  source: FileSource,
  offset: number,
  length: number,
): Promise<Buffer> {
  const wanted = Math.max(0, Math.min(length, source.size - offset));
  if (wanted === 0) return Buffer.alloc(0);
  const bytes = await source.read(offset, wanted);
  if (bytes.length < wanted) {
    throw new AppError('unavailable', 'The file was cut short while it was read');
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
