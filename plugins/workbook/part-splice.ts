/**
 * The new content of a part: the bytes of the old one, in which stretches are replaced from front to back.
 *
 * The old bytes pass by once, on their way to whoever decides what to replace; they are held until that is decided.
 */
import type { PartCompressor } from './part-compressor.ts';

/** Decided bytes are handed on when there are so many of them. */
const BATCH_BYTES = 128 * 1024;

/** One part being changed: `replace` from front to back, then `finish`. */
export class PartSplice {
  readonly #compressor: PartCompressor;
  /** Old bytes from `#held` on that are not decided on. */
  readonly #old: Uint8Array[] = [];
  #held = 0;
  readonly #ready: Uint8Array[] = [];
  #readyBytes = 0;

  constructor(compressor: PartCompressor) {
    this.#compressor = compressor;
  }

  /** The chunks of the old part, for whoever decides. */
  async *watched(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#old.push(chunk);
      yield chunk;
    }
  }

  /** Puts `bytes` in place of the old ones from `from` (inclusive) to `to` (exclusive). */
  replace(from: number, to: number, bytes: Uint8Array): void {
    this.#take(from, true);
    this.#add(bytes);
    this.#take(to, false);
  }

  /** Whether it is worth to `settle` what stands before `offset`. */
  isFull(offset: number): boolean {
    return offset - this.#held + this.#readyBytes >= BATCH_BYTES;
  }

  /** Keeps the old bytes up to `offset` (exclusive) and hands on what is decided. */
  async settle(offset: number): Promise<void> {
    this.#take(offset, true);
    await this.#hand();
  }

  /** Keeps all old bytes that are left and hands on the rest. */
  async finish(): Promise<void> {
    this.#take(Number.POSITIVE_INFINITY, true);
    await this.#hand();
  }

  async #hand(): Promise<void> {
    const bytes = Buffer.concat(this.#ready);
    this.#ready.length = 0;
    this.#readyBytes = 0;
    await this.#compressor.write(bytes);
  }

  #add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
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
