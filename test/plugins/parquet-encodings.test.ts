/** Values written in the encoding their page had come back the same (DS-88). */
import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { encodeLike, readDeltaBinary, readDeltaLength } from '../../plugins/parquet/delta.ts';
import { PlainValues, rawValue } from '../../plugins/parquet/raw-values.ts';
import type { Leaf } from '../../plugins/parquet/schema.ts';
import { Encoding, Physical } from '../../src/tables/parquet/format.ts';

function leafOf(physical: number, typeLength = 0): Leaf {
  return {
    path: ['a'],
    name: 'a',
    physical,
    typeLength,
    type: { kind: 'opaque' },
    isInterval: false,
    maxDefinition: 0,
    maxRepetition: 0,
  };
}

describe('DELTA_BINARY_PACKED', () => {
  test('32-bit integers, with all their differences', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1, maxLength: 400 }), (numbers) => {
        const plain = new Uint8Array(Int32Array.from(numbers).buffer);
        const { encoding, bytes } = encodeLike(
          Encoding.deltaBinary,
          plain,
          numbers.length,
          leafOf(Physical.int32),
        );
        const out = new Int32Array(numbers.length);
        expect(encoding).toBe(Encoding.deltaBinary);
        expect(readDeltaBinary(bytes, 0, out)).toBe(bytes.length);
        expect([...out]).toEqual(numbers);
      }),
    );
  });

  test('64-bit integers, those past 2^50 plainly', () => {
    const longs = fc.array(fc.bigInt({ min: -(2n ** 51n), max: 2n ** 51n }), {
      minLength: 1,
      maxLength: 300,
    });
    fc.assert(
      fc.property(longs, (numbers) => {
        const plain = new Uint8Array(BigInt64Array.from(numbers).buffer);
        const { encoding, bytes } = encodeLike(
          Encoding.deltaBinary,
          plain,
          numbers.length,
          leafOf(Physical.int64),
        );
        if (encoding === Encoding.plain) {
          expect(bytes).toEqual(plain);
          expect(numbers.some((number) => number > 2n ** 50n || number < -(2n ** 50n))).toBe(true);
          return;
        }
        const out = new BigInt64Array(numbers.length);
        expect(readDeltaBinary(bytes, 0, out)).toBe(bytes.length);
        expect([...out]).toEqual(numbers);
      }),
    );
  });

  test('equal steps take next to no room', () => {
    const plain = new Uint8Array(
      Int32Array.from({ length: 10_000 }, (_, index) => index * 3).buffer,
    );
    expect(
      encodeLike(Encoding.deltaBinary, plain, 10_000, leafOf(Physical.int32)).bytes.length,
    ).toBeLessThan(500);
  });
});

test('DELTA_LENGTH_BYTE_ARRAY, which also stands in for DELTA_BYTE_ARRAY', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 30 }), { minLength: 1, maxLength: 200 }),
      (texts) => {
        const values = new PlainValues(leafOf(Physical.bytes));
        for (const text of texts) values.add(text, 0, text.length);
        const { encoding, bytes } = encodeLike(
          Encoding.deltaBytes,
          values.encoded(),
          texts.length,
          leafOf(Physical.bytes),
        );
        expect(encoding).toBe(Encoding.deltaLength);
        const read = readDeltaLength(bytes, 0, texts.length);
        expect(texts.map((_, index) => rawValue(read, index))).toEqual(texts);
      },
    ),
  );
});

test('no values are no values in any encoding', () => {
  for (const encoding of [Encoding.deltaBinary, Encoding.deltaLength, Encoding.byteStreamSplit]) {
    const nothing = encodeLike(encoding, new Uint8Array(0), 0, leafOf(Physical.int32));
    expect(nothing).toEqual({ encoding: Encoding.plain, bytes: new Uint8Array(0) });
  }
});
