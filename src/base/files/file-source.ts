/** Reads an open file by position, never all of it at once. */
import { read } from 'node:fs';
import { AppError } from '../errors.ts';

export interface FileSource {
  readonly size: number;
  /** Fewer than `length` bytes only at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** `close` never throws and may be called twice. */
export interface HeldFile extends FileSource {
  readonly fd: number;
  /** Used where the system has no path of a descriptor. */
  readonly path: string;
  close(): Promise<void>;
}

/** The caller closes `fd`, after the last read has settled. */
export function sourceOf(fd: number, size: number): FileSource {
  return { size, read: (offset, length) => readFully(fd, offset, length) };
}

/**
 * Fewer than `length` only at the end of the file. Throws `unavailable` when the file has shrunk since it was opened.
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

/** Another program wrote the file since its layout was read. */
export function changedFile(): AppError {
  return new AppError('conflict', 'The file changed while it was edited');
}

async function readFully(fd: number, offset: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const bytes = await readOnce(fd, buffer, done, offset + done);
    if (bytes === 0) break;
    done += bytes;
  }
  return done === length ? buffer : buffer.subarray(0, done);
}

function readOnce(fd: number, into: Buffer, from: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, into, from, into.byteLength - from, position, (error, bytes) => {
      if (error === null || error === undefined) resolve(bytes);
      else reject(error);
    });
  });
}
