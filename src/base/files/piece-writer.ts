/**
 * Every write loops until its bytes are taken: a nearly full disk accepts part of a write without an error. Reading
 * and writing overlap; memory is two buffers.
 */
import type { FileHandle } from 'node:fs/promises';
import { ContentHash, HASH_CHUNK_BYTES } from './file-stamp.ts';

/** Bytes `from` (inclusive) to `to` (exclusive) of the old file, or new bytes. */
export type Piece = { readonly from: number; readonly to: number } | Uint8Array;

interface PieceFiles {
  /** The old file; null when there is none to copy from. */
  readonly source: FileHandle | null;
  readonly sourceSize: number;
  /** Empty, open for writing. */
  readonly target: FileHandle;
  readonly signal?: AbortSignal;
  /** For an old file that ended before its size. */
  readonly onSourceCut: () => Error;
}

/** Every full buffer is one chunk of the content hash. */
const BUFFER_BYTES = HASH_CHUNK_BYTES;
/** Shorter ranges go through a window: an edit of 1,000 rows leaves 1,000 ranges. */
const DIRECT_READ_BYTES = 64 << 10;
const WINDOW_BYTES = 256 << 10;

/**
 * Returns bytes and `hashFile`. Throws file system errors (`ENOSPC`, `EFBIG`, `EIO`), the signal's reason, and what
 * the iteration throws.
 */
export async function writePieces(
  pieces: Iterable<Piece> | AsyncIterable<Piece>,
  files: PieceFiles,
): Promise<{ size: number; hash: string }> {
  const writer = new PieceWriter(files);
  try {
    // Avoids the turn of the event queue that `for await` spends on every item.
    if (Symbol.iterator in pieces) for (const piece of pieces) await writer.add(piece);
    else for await (const piece of pieces) await writer.add(piece);
    return await writer.end();
  } catch (error) {
    await writer.settle();
    throw error;
  }
}

class PieceWriter {
  readonly #files: PieceFiles;
  readonly #hash = new ContentHash();
  #filling: Buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  /** Last handed to a write; free when `#pending` has settled. */
  #spare: Buffer | null = null;
  #used = 0;
  #position = 0;
  #pending: Promise<void> = Promise.resolve();
  #window: Buffer | null = null;
  #windowFrom = 0;
  #windowTo = 0;

  constructor(files: PieceFiles) {
    this.#files = files;
  }

  async add(piece: Piece): Promise<void> {
    if (piece instanceof Uint8Array) return await this.#addBytes(piece);
    const { from, to } = piece;
    if (!(0 <= from && from <= to && to <= this.#files.sourceSize)) {
      throw new RangeError(`piece ${from}..${to} is outside the old file`);
    }
    if (to - from < DIRECT_READ_BYTES) await this.#addFromWindow(from, to);
    else await this.#addDirectly(from, to);
  }

  async end(): Promise<{ size: number; hash: string }> {
    await this.#flush();
    await this.#pending;
    return { size: this.#position, hash: this.#hash.digest() };
  }

  /** Waits until the file can be closed; the write's own error was seen. */
  async settle(): Promise<void> {
    await this.#pending.catch(alreadyReported);
  }

  async #addBytes(bytes: Uint8Array): Promise<void> {
    let taken = 0;
    while (taken < bytes.byteLength) {
      if (this.#used === BUFFER_BYTES) await this.#flush();
      const part = bytes.subarray(taken, taken + BUFFER_BYTES - this.#used);
      this.#filling.set(part, this.#used);
      this.#used += part.byteLength;
      taken += part.byteLength;
    }
  }

  async #addDirectly(from: number, to: number): Promise<void> {
    let at = from;
    while (at < to) {
      if (this.#used === BUFFER_BYTES) await this.#flush();
      const length = Math.min(to - at, BUFFER_BYTES - this.#used);
      await this.#readSource(this.#filling, this.#used, length, at);
      this.#used += length;
      at += length;
    }
  }

  async #addFromWindow(from: number, to: number): Promise<void> {
    if (from < this.#windowFrom || to > this.#windowTo) {
      this.#window ??= Buffer.allocUnsafe(WINDOW_BYTES);
      const length = Math.min(WINDOW_BYTES, this.#files.sourceSize - from);
      await this.#readSource(this.#window, 0, length, from);
      this.#windowFrom = from;
      this.#windowTo = from + length;
    }
    if (this.#window === null) return;
    await this.#addBytes(this.#window.subarray(from - this.#windowFrom, to - this.#windowFrom));
  }

  async #readSource(into: Buffer, offset: number, length: number, at: number): Promise<void> {
    const { source, onSourceCut } = this.#files;
    let done = 0;
    while (done < length) {
      const read = await source?.read(into, offset + done, length - done, at + done);
      if (read === undefined || read.bytesRead === 0) throw onSourceCut();
      done += read.bytesRead;
    }
  }

  async #flush(): Promise<void> {
    await this.#pending;
    this.#files.signal?.throwIfAborted();
    if (this.#used === 0) return;
    const full = this.#filling.subarray(0, this.#used);
    this.#hash.add(full);
    this.#pending = this.#writeFully(full, this.#position);
    // Thrown where the write is awaited.
    this.#pending.catch(alreadyReported);
    this.#position += this.#used;
    const next = this.#spare ?? Buffer.allocUnsafe(BUFFER_BYTES);
    this.#spare = this.#filling;
    this.#filling = next;
    this.#used = 0;
  }

  async #writeFully(bytes: Buffer, position: number): Promise<void> {
    let done = 0;
    while (done < bytes.byteLength) {
      const { bytesWritten } = await this.#files.target.write(
        bytes,
        done,
        bytes.byteLength - done,
        position + done,
      );
      if (bytesWritten === 0) {
        throw Object.assign(new Error('ENOSPC: write took no bytes'), { code: 'ENOSPC' });
      }
      done += bytesWritten;
    }
  }
}

function alreadyReported(): void {}
