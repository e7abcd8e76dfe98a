/**
 * Splices new bytes into a part, from front to back.
 *
 * The old bytes pass once through the caller, who decides what to replace, and are held until then.
 */
import type { PartCompressor } from './part-compressor.ts';

const BATCH_BYTES = 128 * 1024;

export class PartSplice {
  readonly #compressor: PartCompressor;
  readonly #old: Uint8Array[] = [];
  #held = 0;
  readonly #ready: Uint8Array[] = [];
  #readyBytes = 0;

  constructor(compressor: PartCompressor) {
    this.#compressor = compressor;
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
    await this.#hand();
  }

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
