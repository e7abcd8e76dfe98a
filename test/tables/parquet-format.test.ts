/** The parts Parquet files are made of: Thrift, run-length hybrids, LZ4 and codecs, there and back. */
import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import {
  Codec,
  CODEC_NAMES,
  compress,
  decompress,
  lz4Compress,
  lz4Decompress,
} from '../../src/tables/parquet/codec.ts';
import { bitWidth, hybridBytes, readHybrid } from '../../src/tables/parquet/hybrid.ts';
import {
  readThrift,
  thriftBytes,
  ThriftEnd,
  ThriftStruct,
  ThriftType,
  type ThriftValue,
} from '../../src/tables/parquet/thrift.ts';

/** Bytes with the repetitions that codecs look for. */
const compressible = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.nat(300).map((size) => new Uint8Array(size).fill(size)),
    ),
    { maxLength: 30 },
  )
  .map((parts) => new Uint8Array(Buffer.concat(parts)));

describe('codecs', () => {
  test.each(
    CODEC_NAMES.map((name, codec) => [name, codec] as const).filter(
      ([, codec]) => codec !== Codec.lzo,
    ),
  )('%s gives back what it was given', (_name, codec) => {
    fc.assert(
      fc.property(compressible, (bytes) => {
        expect(decompress(codec, compress(codec, bytes), bytes.length)).toEqual(bytes);
      }),
      { numRuns: 60 },
    );
  });

  test('LZ4 finds repetitions, and never writes or reads out of bounds', () => {
    expect(lz4Compress(new Uint8Array(100_000)).length).toBeLessThan(500);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(200), (bytes, size) => {
        try {
          expect(lz4Decompress(bytes, size).length).toBe(size);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

describe('the run-length and bit-packing hybrid', () => {
  const runs = fc
    .array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 40 })), { maxLength: 30 })
    .map((parts) => parts.flatMap(([value, count]) => new Array<number>(count).fill(value)));

  test('gives back values of any width', () => {
    fc.assert(
      fc.property(runs, fc.integer({ min: 1, max: 31 }), (values, width) => {
        const masked = Int32Array.from(values, (value) => value % 2 ** width);
        const bytes = hybridBytes(masked, width);
        const out = new Int32Array(masked.length);
        expect(readHybrid(bytes, 0, bytes.length, width, out)).toBe(bytes.length);
        expect(out).toEqual(masked);
      }),
    );
  });

  test('refuses what ends early', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 12 }),
        fc.integer({ min: 1, max: 32 }),
        (bytes, width) => {
          try {
            expect(
              readHybrid(bytes, 0, bytes.length, width, new Int32Array(1_000)),
            ).toBeLessThanOrEqual(bytes.length);
          } catch (error) {
            expect(error).toMatchObject({ code: 'unreadable-file' });
          }
        },
      ),
    );
  });

  test.each([
    [0, 0],
    [1, 1],
    [2, 2],
    [255, 8],
    [256, 9],
  ])('values up to %d need %d bits', (largest, bits) => {
    expect(bitWidth(largest)).toBe(bits);
  });
});

describe('Thrift structs', () => {
  test('keep every field, whatever its type', () => {
    const inner = new ThriftStruct()
      .set(1, ThriftType.binary, new TextEncoder().encode('ü'))
      .set(20, ThriftType.i64, -1);
    const values: [number, ThriftValue][] = [
      [ThriftType.byte, -7],
      [ThriftType.i16, 300],
      [ThriftType.i32, -2_147_483_648],
      [ThriftType.i64, 9_223_372_036_854_775_807n],
      [ThriftType.i64, Number.MIN_SAFE_INTEGER],
      [ThriftType.double, 1.25],
      [ThriftType.true, true],
      [ThriftType.true, false],
      [ThriftType.struct, inner],
      [ThriftType.list, { element: ThriftType.true, items: [true, false] }],
      [ThriftType.list, { element: ThriftType.struct, items: [inner, new ThriftStruct()] }],
      [
        ThriftType.list,
        { element: ThriftType.i32, items: Array.from({ length: 20 }, (_, index) => -index - 1) },
      ],
      [
        ThriftType.map,
        { key: ThriftType.i32, value: ThriftType.binary, entries: [[1, new Uint8Array([1])]] },
      ],
      [ThriftType.map, { key: 0, value: 0, entries: [] }],
    ];
    const whole = new ThriftStruct();
    values.forEach(([type, value], index) => whole.set(index * 9 + 1, type, value));
    const bytes = thriftBytes(whole);
    const { value, end } = readThrift(bytes);
    expect(end).toBe(bytes.length);
    expect(thriftBytes(value)).toEqual(bytes);
    expect(values.map((_, index) => value.get(index * 9 + 1))).toEqual(
      values.map(([, one]) => one),
    );
  });

  test('any bytes are a struct, end early or are refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          readThrift(bytes);
        } catch (error) {
          if (!(error instanceof ThriftEnd))
            expect(error).toMatchObject({ code: 'unreadable-file' });
        }
      }),
    );
  });

  test('fields can be read, replaced and removed', () => {
    const one = new ThriftStruct().set(1, ThriftType.i32, 5).set(2, ThriftType.true, true);
    const copy = one.copy().set(1, ThriftType.i32, 6).remove(2, 9);
    expect([one.int(1), one.boolean(2), copy.int(1), copy.boolean(2), copy.text(1)]).toEqual([
      5,
      true,
      6,
      null,
      null,
    ]);
  });
});
