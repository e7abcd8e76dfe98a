/** Collects values in the PLAIN encoding (parquet-format, Encodings.md). */
import { ByteSink } from '../../src/tables/parquet/bytes.ts';
import { packedBits } from '../../src/tables/parquet/column-values.ts';
import { Physical } from '../../src/tables/parquet/format.ts';
import type { Leaf } from './schema.ts';

export class PlainValues extends ByteSink {
  readonly #physical: number;

  constructor({ physical }: Leaf) {
    super(4096);
    this.#physical = physical;
  }

  /** The value from `start` to `end` of `bytes`; booleans are one byte. */
  add(bytes: Uint8Array, start: number, end: number): void {
    this.ensure(end - start + 4);
    if (this.#physical === Physical.bytes) this.uint32(end - start);
    // Most are so short that a call of `set` would take longer.
    for (let at = start; at < end; at++) this.bytes[this.length++] = bytes[at]!;
  }

  encoded(): Uint8Array {
    return this.#physical === Physical.boolean ? packedBits(this.written()) : this.written();
  }
}
