/**
 * Reading an open file by position, without ever holding the whole of it.
 */
import { read } from 'node:fs';

/** A file opened for reading; closed by whoever opened it. */
export interface FileSource {
  readonly size: number;
  /** Up to `length` bytes at `offset`; fewer only at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Reads from a descriptor, which stays the caller's to close, after the last read has settled. */
export function sourceOf(fd: number, size: number): FileSource {
  return { size, read: (offset, length) => readFully(fd, offset, length) };
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
