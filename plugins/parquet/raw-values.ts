/** Values of a page in physical form. */
import { ByteSink, damaged } from '../../src/tables/parquet/bytes.ts';
import { packedBits } from '../../src/tables/parquet/column-values.ts';
import { Physical } from '../../src/tables/parquet/format.ts';
import type { Cell } from '../../src/tables/types.ts';
import type { Leaf } from './schema.ts';

/**
 * With a `width`, values are contiguous from the first byte; with width 0 value `i` is from
 * `starts[i]` to `ends[i]`. Booleans take a byte each. Numbers are little-endian.
 */
export interface RawValues {
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

export type CellAt = (index: number) => Cell;

/** 2^32, and the high halves between which a 64-bit integer is exact as a number. */
const HALF = 4_294_967_296;
const SAFE_HALF = 2 ** 21;

const NOWHERE = new Int32Array(0);

export function fixedValues(bytes: Uint8Array, width: number, count: number): RawValues {
  if (bytes.length < width * count) throw damaged('a page is too short for its values');
  return { count, bytes, width, starts: NOWHERE, ends: NOWHERE };
}

export function scatteredValues(
  bytes: Uint8Array,
  starts: Int32Array,
  ends: Int32Array,
): RawValues {
  return { count: starts.length, bytes, width: 0, starts, ends };
}

export function rawValue({ bytes, width, starts, ends }: RawValues, index: number): Uint8Array {
  return width > 0
    ? bytes.subarray(index * width, (index + 1) * width)
    : bytes.subarray(starts[index]!, ends[index]!);
}

/** Bytes of a value; 0 for varying lengths. */
export function widthOf(physical: number, typeLength: number): number {
  switch (physical) {
    case Physical.boolean:
      return 1;
    case Physical.int32:
    case Physical.float:
      return 4;
    case Physical.int64:
    case Physical.double:
      return 8;
    case Physical.int96:
      return 12;
    case Physical.fixed:
      return typeLength;
    default:
      return 0;
  }
}

/** Copied if not aligned to four bytes. */
export function int32View({ bytes, count }: RawValues): Int32Array {
  const { buffer, byteOffset } = aligned(bytes, count * 4, 4);
  return new Int32Array(buffer, byteOffset, count);
}

export function float32View({ bytes, count }: RawValues): Float32Array {
  const { buffer, byteOffset } = aligned(bytes, count * 4, 4);
  return new Float32Array(buffer, byteOffset, count);
}

export function float64View({ bytes, count }: RawValues): Float64Array {
  const { buffer, byteOffset } = aligned(bytes, count * 8, 8);
  return new Float64Array(buffer, byteOffset, count);
}

/** And as pairs of a low and a high half. */
export function int64Views({ bytes, count }: RawValues): {
  longs: BigInt64Array;
  halves: Int32Array;
} {
  const { buffer, byteOffset } = aligned(bytes, count * 8, 8);
  return {
    longs: new BigInt64Array(buffer, byteOffset, count),
    halves: new Int32Array(buffer, byteOffset, count * 2),
  };
}

/** From −2^53 up to 2^53−1; NaN for any other. */
export function exactNumber(halves: Int32Array, index: number): number {
  const high = halves[index * 2 + 1]!;
  if (high < -SAFE_HALF || high >= SAFE_HALF) return NaN;
  return high * HALF + (halves[index * 2]! >>> 0);
}

function aligned(bytes: Uint8Array, length: number, unit: number): Uint8Array {
  return bytes.byteOffset % unit === 0 ? bytes : new Uint8Array(bytes.subarray(0, length));
}

/** Collects values in the PLAIN encoding (parquet-format, Encodings.md). */
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
