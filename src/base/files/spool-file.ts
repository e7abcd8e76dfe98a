/**
 * Bytes too many for memory, written by one process and mapped by another of the same user. Where possible the file
 * has no name, so its space is free again however the processes end.
 */
import * as fs from 'node:fs';
import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { namelessPath } from './temporary-files.ts';

const PIECE_BYTES = 256 * 1024;

const read = promisify(fs.read);
const write = promisify(fs.write);

export class SpoolFile implements Disposable {
  /** By which other processes of this user open it. */
  readonly path: string;
  readonly #file: number;
  #length = 0;

  constructor(folder: string, isNameless = mayOpenDescriptors()) {
    const name = namelessPath(folder);
    this.#file = openSync(name, 'wx+', 0o600);
    if (isNameless) rmSync(name, { force: true });
    this.path = isNameless ? `/proc/${process.pid}/fd/${this.#file}` : name;
  }

  get length(): number {
    return this.#length;
  }

  /** One at a time. Throws what the disk says. */
  async add(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const left = bytes.length - at;
      at += (await write(this.#file, bytes, at, left, this.#length + at)).bytesWritten;
    }
    this.#length += bytes.length;
  }

  /** As `add`, for a process that does nothing else. */
  addNow(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;)
      at += writeSync(this.#file, bytes, at, bytes.length - at, this.#length + at);
    this.#length += bytes.length;
  }

  /** A copy of the first bytes. */
  head(most: number): Uint8Array {
    const bytes = new Uint8Array(Math.min(most, this.#length));
    for (let at = 0; at < bytes.length;) {
      const count = readSync(this.#file, bytes, at, bytes.length - at, at);
      if (count === 0) throw new Error('what was kept on disk is gone');
      at += count;
    }
    return bytes;
  }

  /** The file is gone when they have been read or nobody wants them. */
  added(bytes: number): ReadableStream<Uint8Array> {
    let at = this.#length;
    const end = at + bytes;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = new Uint8Array(Math.min(PIECE_BYTES, end - at));
          const { bytesRead } = await read(this.#file, piece, 0, piece.length, at);
          if (bytesRead === 0) throw new Error('what was added on disk is gone');
          at += bytesRead;
          controller.enqueue(piece.subarray(0, bytesRead));
          if (at < end) return;
          controller.close();
          this[Symbol.dispose]();
        },
        cancel: () => this[Symbol.dispose](),
      },
      { highWaterMark: 0 },
    );
  }

  /** Its space is free at once; nobody may look at the mapping any more. */
  [Symbol.dispose](): void {
    ftruncateSync(this.#file, 0);
    closeSync(this.#file);
    if (!this.path.startsWith('/proc/')) rmSync(this.path, { force: true });
  }
}

/** Bytes that take memory only as long as nobody else needs it. */
export function mapped(path: string): Uint8Array {
  return process.platform === 'win32' ? readFileSync(path) : Bun.mmap(path);
}

/** Not outside Linux, nor for a program that was given capabilities: its descriptors belong to root. */
function mayOpenDescriptors(): boolean {
  try {
    return statSync('/proc/self/fd').uid === process.geteuid?.();
  } catch {
    return false;
  }
}
