/** Collects values in the PLAIN encoding (parquet-format, Encodings.md). */
import { Physical } from '../../src/tables/parquet/format.ts';
import type { Leaf } from './schema.ts';

export class PlainValues {
  readonly #isPrefixed: boolean;
  readonly #isBoolean: boolean;
  #buffer = new Uint8Array(4096);
  #length = 0;

  constructor({ physical }: Leaf) {
    this.#isPrefixed = physical === Physical.bytes;
    this.#isBoolean = physical === Physical.boolean;
  }

  /** The value from `start` to `end` of `bytes`; booleans are one byte. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.#ensure(size + 4);
    if (this.#isPrefixed) {
      this.#buffer[this.#length++] = size & 0xff;
      this.#buffer[this.#length++] = (size >> 8) & 0xff;
      this.#buffer[this.#length++] = (size >> 16) & 0xff;
      this.#buffer[this.#length++] = size >>> 24;
    }
    for (let at = start; at < end; at++) this.#buffer[this.#length++] = bytes[at]!;
  }

  encoded(): Uint8Array {
    const bytes = this.#buffer.subarray(0, this.#length);
    if (!this.#isBoolean) return bytes;
    const packed = new Uint8Array(Math.ceil(bytes.length / 8));
    bytes.forEach((bit, index) => {
      packed[index >> 3]! |= bit << (index & 7);
    });
    return packed;
  }

  #ensure(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(this.#length + bytes, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
