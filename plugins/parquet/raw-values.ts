/**
 * Values of one page in their physical form: bytes, and where each value stands in them.
 */
import { AppError } from '../../src/base/errors.ts';
import { Physical } from '../../src/dataset/parquet/format.ts';

/**
 * `count` values. With a `width` they stand side by side from the first byte on; with width 0 value `i` stands from
 * `starts[i]` to `ends[i]`. Booleans take a byte each. Numbers are little-endian.
 */
export interface RawValues {
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

const NOWHERE = new Int32Array(0);

/** Values of one width side by side. */
export function fixedValues(bytes: Uint8Array, width: number, count: number): RawValues {
  if (bytes.length < width * count) throw damaged('a page is too short for its values');
  return { count, bytes, width, starts: NOWHERE, ends: NOWHERE };
}

/** Values that stand anywhere in the bytes. */
export function scatteredValues(
  bytes: Uint8Array,
  starts: Int32Array,
  ends: Int32Array,
): RawValues {
  return { count: starts.length, bytes, width: 0, starts, ends };
}

/** The bytes of one value. */
export function rawValue({ bytes, width, starts, ends }: RawValues, index: number): Uint8Array {
  return width > 0
    ? bytes.subarray(index * width, (index + 1) * width)
    : bytes.subarray(starts[index]!, ends[index]!);
}

/** Bytes of a value of the physical type; 0 for those that differ. */
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

/** A view of values of four bytes; copied where they do not stand at a multiple of four. */
export function int32View({ bytes, count }: RawValues): Int32Array {
  const { buffer, byteOffset } = aligned(bytes, count * 4, 4);
  return new Int32Array(buffer, byteOffset, count);
}

/** A view of values of four bytes as floats. */
export function float32View({ bytes, count }: RawValues): Float32Array {
  const { buffer, byteOffset } = aligned(bytes, count * 4, 4);
  return new Float32Array(buffer, byteOffset, count);
}

/** A view of values of eight bytes as doubles. */
export function float64View({ bytes, count }: RawValues): Float64Array {
  const { buffer, byteOffset } = aligned(bytes, count * 8, 8);
  return new Float64Array(buffer, byteOffset, count);
}

/** Two views of values of eight bytes: as 64-bit integers, and as pairs of a low and a high half. */
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

function aligned(bytes: Uint8Array, length: number, unit: number): Uint8Array {
  return bytes.byteOffset % unit === 0 ? bytes : new Uint8Array(bytes.subarray(0, length));
}

/** The failure of bytes that are not what their headers announce. */
export function damaged(reason: string, cause?: unknown): AppError {
  return new AppError('unreadable-file', `damaged Parquet file: ${reason}`, { cause });
}
