/** Compresses a part of the new archive off the event loop. */
import { crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { DEFLATED, STORED } from './expansion.ts';

export interface PackedPart {
  readonly method: number;
  readonly crc: number;
  readonly size: number;
  readonly compressedSize: number;
  readonly chunks: readonly Uint8Array[];
}

/** Within 7 % of the size of level 6, in less than half of the time. */
const LEVEL = 3;
const BATCH_BYTES = 128 * 1024;

/** `write` in order, then `finish`; `close` in any case. */
class PartWriter {
  readonly #method: number;
  readonly #chunks: Uint8Array[] = [];
  readonly #deflate: DeflateRaw | null;
  readonly #collected: Promise<void>;
  #crc = 0;
  #size = 0;

  constructor(method: number) {
    this.#method = method === STORED ? STORED : DEFLATED;
    this.#deflate = this.#method === STORED ? null : createDeflateRaw({ level: LEVEL });
    this.#collected = this.#deflate === null ? Promise.resolve() : this.#collect(this.#deflate);
    // `finish` throws the error; until then it must not count as unhandled.
    this.#collected.catch(() => {});
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#crc = crc32(bytes, this.#crc);
    this.#size += bytes.length;
    if (this.#deflate === null) this.#chunks.push(bytes);
    else if (!this.#deflate.write(bytes)) await this.#drained(this.#deflate);
  }

  async finish(): Promise<PackedPart> {
    this.#deflate?.end();
    await this.#collected;
    return {
      method: this.#method,
      crc: this.#crc,
      size: this.#size,
      compressedSize: this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0),
      chunks: this.#chunks,
    };
  }

  close(): void {
    this.#deflate?.destroy();
  }

  async #collect(deflate: DeflateRaw): Promise<void> {
    for await (const chunk of deflate) this.#chunks.push(chunk as Buffer);
  }

  async #drained(deflate: DeflateRaw): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    deflate.once('drain', resolve);
    await Promise.race([promise, this.#collected]);
    deflate.off('drain', resolve);
  }
}

export async function pack(content: Uint8Array, method: number): Promise<PackedPart> {
  return packed([content], method);
}

export async function packed(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  method: number,
): Promise<PackedPart> {
  const writer = new PartWriter(method);
  for await (const chunk of chunks) await writer.write(chunk);
  return writer.finish();
}

/**
 * Splices new bytes into a part, from front to back. The old bytes pass once through the caller and are held until it
 * has decided.
 */
export class PartSplice {
  readonly #writer: PartWriter;
  readonly #old: Uint8Array[] = [];
  #held = 0;
  readonly #ready: Uint8Array[] = [];
  #readyBytes = 0;

  constructor(method: number) {
    this.#writer = new PartWriter(method);
  }

  async *watched(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#old.push(chunk);
      yield chunk;
    }
  }

  /** `from` inclusive, `to` exclusive. */
  replace(from: number, to: number, bytes: Uint8Array): void {
    this.#take(from, true);
    this.#add(bytes);
    this.#take(to, false);
  }

  /** Whether calling `settle` is worthwhile. */
  isFull(offset: number): boolean {
    return offset - this.#held + this.#readyBytes >= BATCH_BYTES;
  }

  /** Keeps the old bytes up to `offset` (exclusive) and hands on what is decided. */
  async settle(offset: number): Promise<void> {
    this.#take(offset, true);
    const bytes = this.#ready.length === 1 ? this.#ready[0]! : Buffer.concat(this.#ready);
    this.#ready.length = 0;
    this.#readyBytes = 0;
    await this.#writer.write(bytes);
  }

  async finish(): Promise<PackedPart> {
    await this.settle(Infinity);
    return this.#writer.finish();
  }

  /** In any case. */
  close(): void {
    this.#writer.close();
  }

  #add(bytes: Uint8Array): void {
    this.#ready.push(bytes);
    this.#readyBytes += bytes.length;
  }

  #take(offset: number, isKept: boolean): void {
    while (this.#held < offset) {
      const chunk = this.#old[0];
      if (!chunk) return;
      const part = chunk.subarray(0, Math.min(chunk.length, offset - this.#held));
      if (isKept) this.#add(part);
      this.#held += part.length;
      if (part.length === chunk.length) this.#old.shift();
      else this.#old[0] = chunk.subarray(part.length);
    }
  }
}
