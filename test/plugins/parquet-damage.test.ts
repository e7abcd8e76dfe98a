/** Damaged and hostile Parquet files: each is refused with a reason, in time, and without more memory than it has (DS-34, DS-68). */
import { describe, expect, test } from 'bun:test';
import * as zlib from 'node:zlib';
import { editParquet } from '../../plugins/parquet/editor.ts';
import { readParquet } from '../../plugins/parquet/reader.ts';
import { AppError } from '../../src/base/errors.ts';
import { Codec, CODEC_NAMES, compress } from '../../src/tables/parquet/codec.ts';
import {
  ChunkField,
  Encoding,
  FileField,
  GroupField,
  MetaField,
  Physical,
  SchemaField,
} from '../../src/tables/parquet/format.ts';
import { bitWidth, hybridBytes } from '../../src/tables/parquet/hybrid.ts';
import { structList, ThriftStruct, ThriftType } from '../../src/tables/parquet/thrift.ts';
import { workSince } from '../support/patience.ts';
import {
  type CraftedColumn,
  craftedDictionary,
  craftedFile,
  craftedPage,
  fileAround,
  int32Column,
  int32s,
} from './parquet-crafted.ts';
import { parquetFile, readTable } from './parquet-table.ts';
import { applied, sourceOf } from './byte-source.ts';

// DuckDB and thousands of files on a busy machine take their time.

/** Why the file is refused; a test fails when it is not, or fails in any other way. */
async function refusal(file: Uint8Array): Promise<string> {
  try {
    await readTable(file);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unreadable-file') return error.message;
    throw error;
  }
  throw new Error('the file was read');
}

const { i32, i64, binary, list, struct } = ThriftType;
const good = craftedFile(3, [int32Column('a', 1, 2, 3)]);

function cut(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return bytes.slice(from, to);
}

describe('the frame of the file', () => {
  test('a crafted file is readable as long as nothing is wrong with it', async () => {
    expect((await readTable(good)).rows).toEqual([[1], [2], [3]]);
  });

  test('nothing, too little, no magic at either end', async () => {
    for (const file of [
      new Uint8Array(0),
      new Uint8Array(11),
      cut(good, 0, good.length - 1),
      cut(good, 1, good.length),
    ]) {
      expect(await refusal(file)).toBe('not a Parquet file');
    }
  });

  test('a footer longer than the file, of 2 GB, of nothing', async () => {
    expect(await refusal(fileAround(new Uint8Array(9), [], 100))).toContain(
      'a footer larger than the file',
    );
    expect(await refusal(fileAround(new Uint8Array(9), [], 2 ** 31))).toContain(
      'a footer larger than the file',
    );
    expect(await refusal(fileAround(new Uint8Array(0)))).toContain('a footer that ends early');
  });

  test('a footer over its limit is not even read', async () => {
    const size = 17 * 1024 * 1024;
    const tail = new Uint8Array(8);
    new DataView(tail.buffer).setUint32(0, size, true);
    tail.set(new TextEncoder().encode('PAR1'), 4);
    let asked = 0;
    const source = {
      size: size + 12,
      read: async (offset: number, length: number) => {
        asked = Math.max(asked, length);
        return offset === 0 ? tail.slice(4, 4 + length) : tail.slice(8 - length);
      },
    };
    const reading = readParquet(
      source,
      {},
      { header() {}, segment() {}, segmentByColumn() {}, layout() {} },
    );
    await expect(reading).rejects.toThrow('a footer of more than 16777216 bytes');
    expect(asked).toBe(8);
  });

  test('DS-68: encrypted footers and columns are named', async () => {
    const sealed = good.slice();
    sealed.set(new TextEncoder().encode('PARE'), sealed.length - 4);
    const plainFooter = craftedFile(3, [int32Column('a', 1, 2, 3)], ({ footer }) => {
      footer.set(FileField.encryption, struct, new ThriftStruct());
    });
    const column = craftedFile(3, [int32Column('a', 1, 2, 3)], ({ group }) => {
      group.structs(GroupField.columns)[0]!.set(ChunkField.crypto, struct, new ThriftStruct());
    });
    for (const file of [sealed, plainFooter, column]) {
      expect(await refusal(file)).toBe('encrypted Parquet files are not supported');
    }
  });
});

describe('the structures of the footer', () => {
  test('nested 10,000 deep', async () => {
    expect(await refusal(fileAround(new Uint8Array(10_000).fill(0x1c)))).toContain(
      'nested too deep',
    );
    expect(await refusal(fileAround(new Uint8Array(10_000).fill(0x19)))).toContain(
      'nested too deep',
    );
  });

  test('an unknown field type, a list of 2^31 items, a text longer than the footer', async () => {
    expect(await refusal(fileAround(new Uint8Array([0x1d, 0])))).toContain('unknown field type 13');
    expect(
      await refusal(fileAround(new Uint8Array([0x19, 0xf3, 0xff, 0xff, 0xff, 0xff, 0x07]))),
    ).toContain('ends early');
    expect(
      await refusal(fileAround(new Uint8Array([0x18, 0xff, 0xff, 0xff, 0xff, 0x07]))),
    ).toContain('ends early');
  });

  test('values without end are not gathered', async () => {
    const footer = new Uint8Array(5_000_000);
    footer.set([0x19, 0xfc, 0xc0, 0x96, 0xb1, 0x02]);
    expect(await refusal(fileAround(footer))).toContain('more values than a file can need');
  });

  test('a schema that is no tree', async () => {
    const bend = (children: number): Uint8Array =>
      craftedFile(3, [int32Column('a', 1, 2, 3)], ({ footer }) => {
        footer.structs(FileField.schema)[0]!.set(SchemaField.children, i32, children);
      });
    expect(await refusal(bend(2_000_000_000))).toContain('a schema without end');
    expect(await refusal(bend(-1))).toContain('a schema without end');
    expect(await refusal(bend(0))).toContain('schema elements outside the tree');
  });

  test('a schema nested deeper than levels can count', async () => {
    const groups = Array.from({ length: 300 }, () =>
      new ThriftStruct()
        .set(SchemaField.children, i32, 1)
        .set(SchemaField.name, binary, new Uint8Array([97])),
    );
    const file = craftedFile(0, [], ({ footer }) => {
      footer.set(FileField.schema, list, structList(groups));
    });
    expect(await refusal(file)).toContain('nested too deep');
  });

  test('2,000 columns', async () => {
    const columns = Array.from({ length: 2_000 }, (_, index) => int32Column(`c${index}`, 1));
    expect(await refusal(craftedFile(1, columns))).toBe('more than 1999 columns');
    expect((await readTable(craftedFile(1, columns.slice(1)))).rows[0]).toHaveLength(1_999);
  });

  test('numbers of rows and values that do not agree', async () => {
    const two = [int32Column('a', 1, 2, 3), int32Column('b', 1, 2)];
    expect(await refusal(craftedFile(3, [two[0]!, { ...two[1]!, values: 2 }]))).toBe(
      "damaged Parquet file: column 'b' has another number of rows",
    );
    expect(await refusal(craftedFile(3, two))).toBe("damaged Parquet file: column 'b' ends early");
    const bent = craftedFile(3, [two[0]!], ({ footer }) => {
      footer.set(FileField.rows, i64, 4);
    });
    expect(await refusal(bent)).toContain('row groups of another number of rows');
    const negative = craftedFile(3, [two[0]!], ({ footer, group }) => {
      group.set(GroupField.rows, i64, -3);
      footer.set(FileField.rows, i64, -3);
    });
    expect(await refusal(negative)).toContain('a negative number of rows');
  });

  test('10^9 values in 300 bytes are refused before any page is read', async () => {
    const column = { ...int32Column('a', 1), values: 1_000_000_000 };
    expect(await refusal(craftedFile(1_000_000_000, [column]))).toBe('more than 50000000 values');
  });

  test('columns that stand outside the file, or in another one', async () => {
    for (const [field, value] of [
      [MetaField.dataOffset, 1_000_000],
      [MetaField.dataOffset, -5],
      [MetaField.dataOffset, 1],
      [MetaField.compressedBytes, 1_000_000_000],
      [MetaField.compressedBytes, -1],
    ] as const) {
      const file = craftedFile(3, [int32Column('a', 1, 2, 3)], ({ metas }) => {
        metas[0]!.set(field, i64, value);
      });
      expect(await refusal(file)).toBe("damaged Parquet file: column 'a' stands outside the file");
    }
    const elsewhere = craftedFile(3, [int32Column('a', 1, 2, 3)], ({ group }) => {
      group.structs(GroupField.columns)[0]!.set(ChunkField.filePath, binary, new Uint8Array([120]));
    });
    expect(await refusal(elsewhere)).toBe("column 'a' stands in another file");
  });

  test('a decimal of no use', async () => {
    const decimal = new ThriftStruct().set(
      5,
      struct,
      new ThriftStruct().set(1, i32, 9).set(2, i32, 3),
    );
    const file = craftedFile(3, [{ ...int32Column('a', 1, 2, 3), logical: decimal }]);
    expect(await refusal(file)).toBe('unsupported type DECIMAL(3, 9)');
  });
});

/** A column of one page of three rows. */
function withPage(
  body: Uint8Array,
  { encoding = 0, ...rest }: Partial<CraftedColumn> & { encoding?: number } = {},
): Uint8Array {
  const page = craftedPage({ count: 3, body, encoding });
  return craftedFile(3, [{ name: 'a', physical: Physical.int32, pages: [page], ...rest }]);
}

describe('pages', () => {
  test('sizes that are negative, larger than the column, larger than the limit', async () => {
    const body = int32s(1, 2, 3);
    const bent = (page: Partial<Parameters<typeof craftedPage>[0]>, size?: number): Uint8Array =>
      craftedFile(3, [
        {
          name: 'a',
          physical: Physical.int32,
          pages: [craftedPage({ count: 3, body, ...page })],
          ...(size && { size }),
        },
      ]);
    expect(await refusal(bent({ packedSize: -12 }))).toContain('a page larger than its column');
    expect(await refusal(bent({ packedSize: 13 }))).toContain('a page larger than its column');
    expect(await refusal(bent({ size: 2 ** 31 - 1 }))).toBe('a page of more than 67108864 bytes');
    expect(await refusal(bent({ size: 13 }))).toBe('damaged UNCOMPRESSED page');
    expect(await refusal(bent({ count: -3 }))).toContain('a page larger than its column');
    expect(await refusal(bent({ count: 4 }))).toContain('a page too many');
  });

  test('too few bytes for the values of each physical type', async () => {
    for (const physical of Object.values(Physical)) {
      const column = {
        name: 'a',
        physical,
        typeLength: 5,
        pages: [craftedPage({ count: 3, body: new Uint8Array(0) })],
      };
      expect(await refusal(craftedFile(3, [column]))).toContain(
        'a page is too short for its values',
      );
    }
  });

  test('a text longer than its page, or of negative length', async () => {
    for (const length of [100, -1]) {
      const body = new Uint8Array(Int32Array.of(length, 0, 0, 0).buffer);
      expect(await refusal(withPage(body, { physical: Physical.bytes }))).toContain(
        'a value longer than its page',
      );
    }
  });

  test('an index outside the dictionary, indexes without one, a bit width of 255', async () => {
    const pages = (body: number[]): CraftedColumn => ({
      name: 'a',
      physical: Physical.int32,
      pages: [
        craftedDictionary(2, int32s(7, 8)),
        craftedPage({ count: 3, body: new Uint8Array(body), encoding: Encoding.dictionary }),
      ],
    });
    expect((await readTable(craftedFile(3, [pages([1, 6, 1])]))).rows).toEqual([[8], [8], [8]]);
    expect(await refusal(craftedFile(3, [pages([2, 6, 2])]))).toContain(
      'an index outside the dictionary',
    );
    expect(await refusal(craftedFile(3, [pages([32, 6, 255, 255, 255, 255])]))).toContain(
      'an index outside the dictionary',
    );
    expect(await refusal(craftedFile(3, [pages([255, 6, 1])]))).toBe('damaged run-length data');
    expect(await refusal(craftedFile(3, [pages([])]))).toContain('ends early');
    const alone = craftedPage({
      count: 3,
      body: new Uint8Array([1, 6, 1]),
      encoding: Encoding.dictionary,
    });
    expect(
      await refusal(craftedFile(3, [{ name: 'a', physical: Physical.int32, pages: [alone] }])),
    ).toContain('indexes without a dictionary');
  });

  test('a second dictionary, or one after the data', async () => {
    const data = craftedPage({ count: 3, body: int32s(1, 2, 3) });
    const half = craftedPage({ count: 2, body: int32s(1, 2) });
    const dictionary = craftedDictionary(1, int32s(1));
    for (const pages of [
      [dictionary, dictionary, data],
      [half, dictionary, half],
    ]) {
      expect(
        await refusal(craftedFile(3, [{ name: 'a', physical: Physical.int32, pages }])),
      ).toContain('a page too many');
    }
  });

  test('levels that are too high, too few, or end early', async () => {
    const leveled = (levels: Uint8Array, declared = levels.length): Uint8Array => {
      const size = new Uint8Array(Int32Array.of(declared).buffer);
      return withPage(new Uint8Array(Buffer.concat([size, levels, int32s(1, 2, 3)])), {
        repetition: 1,
      });
    };
    expect((await readTable(leveled(hybridBytes(new Uint8Array([1, 1, 1]), 1)))).rows).toEqual([
      [1],
      [2],
      [3],
    ]);
    expect(await refusal(leveled(new Uint8Array([6, 2])))).toContain('a level too high');
    expect(await refusal(leveled(new Uint8Array([2, 1])))).toBe('damaged run-length data');
    expect(await refusal(leveled(new Uint8Array(0)))).toBe('damaged run-length data');
    expect(await refusal(leveled(new Uint8Array([6, 1]), 1_000))).toContain('ends early');
    expect(await refusal(leveled(new Uint8Array([6, 1]), -1))).toContain('ends early');
  });

  test('runs of 2^31 values cost no time', async () => {
    const run = new Uint8Array([1, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1]);
    const column = {
      name: 'a',
      physical: Physical.int32,
      pages: [
        craftedDictionary(2, int32s(7, 8)),
        craftedPage({ count: 3, body: run, encoding: Encoding.dictionary }),
      ],
    };
    expect((await readTable(craftedFile(3, [column]))).rows).toEqual([[8], [8], [8]]);
  });

  test('DS-68: encodings without a decoder are named, and so are those that do not fit', async () => {
    const body = int32s(1, 2, 3);
    expect(await refusal(withPage(body, { encoding: 1 }))).toBe(
      'unsupported encoding GROUP_VAR_INT',
    );
    expect(await refusal(withPage(body, { encoding: Encoding.bitPacked }))).toBe(
      'unsupported encoding BIT_PACKED',
    );
    expect(await refusal(withPage(body, { encoding: 77 }))).toBe('unsupported encoding number 77');
    expect(await refusal(withPage(body, { encoding: Encoding.deltaLength }))).toBe(
      'unsupported encoding DELTA_LENGTH_BYTE_ARRAY',
    );
  });

  test('delta encodings with blocks of nothing, without end, and widths of 255', async () => {
    for (const head of [
      [0, 0, 3, 0],
      [128, 1, 0, 3, 0],
      [255, 255, 255, 255, 15, 4, 3, 0],
      [128, 1, 4, 3],
      [128, 1, 4, 3, 2, 0, 255, 255, 255, 255],
      [128, 1, 4, 1, 2],
    ]) {
      const reason = await refusal(
        withPage(new Uint8Array(head), { encoding: Encoding.deltaBinary }),
      );
      expect(reason).toMatch(/delta|ends early/);
    }
  });

  test('texts that begin like the one before, again and again, stay within bounds', async () => {
    const count = 1_000;
    const prefixes = deltaBinary(
      Array.from({ length: count }, (_, index) => (index === 0 ? 0 : 1_000_000)),
    );
    const suffixes = deltaBinary(
      Array.from({ length: count }, (_, index) => (index === 0 ? 1_000_000 : 0)),
    );
    const body = new Uint8Array(
      Buffer.concat([prefixes, suffixes, new Uint8Array(1_000_000).fill(97)]),
    );
    const page = craftedPage({ count, body, encoding: Encoding.deltaBytes });
    const file = craftedFile(count, [{ name: 'a', physical: Physical.bytes, pages: [page] }]);
    expect(await refusal(file)).toContain('expands past 67108864 bytes');
  });

  test('invalid UTF-8 in a text column', async () => {
    expect(await refusal(bytesColumn([[0xff], [], []]))).toBe(
      "damaged Parquet file: column 'a': invalid UTF-8",
    );
  });

  test('a text of more than a million characters', async () => {
    const file = bytesColumn([Array.from({ length: 1_048_577 }, () => 97), [], []]);
    expect(await refusal(file)).toBe("more than 1048576 characters in a cell of column 'a'");
  });

  test('a wrong checksum', async () => {
    const body = int32s(1, 2, 3);
    expect(await refusal(withChecksum(body, zlib.crc32(body) ^ 1))).toContain(
      'checksum does not match',
    );
    expect((await readTable(withChecksum(body, zlib.crc32(body)))).rows).toEqual([[1], [2], [3]]);
  });
});

function bytesColumn(values: readonly (readonly number[])[]): Uint8Array {
  const parts = values.flatMap((value) => [
    Buffer.from(Int32Array.of(value.length).buffer),
    Buffer.from(value),
  ]);
  return withPage(new Uint8Array(Buffer.concat(parts)), { physical: Physical.bytes, converted: 0 });
}

function withChecksum(body: Uint8Array, checksum: number): Uint8Array {
  const page = craftedPage({ count: 3, body });
  // The field stands between the sizes and the details: 0x18 would be its step of one after them.
  const at = page.length - body.length - 11;
  const encoded: number[] = [0x15];
  let zigzag = BigInt.asUintN(32, BigInt((checksum | 0) << 1) ^ BigInt((checksum | 0) >> 31));
  for (; zigzag > 0x7fn; zigzag >>= 7n) encoded.push(Number(zigzag & 0x7fn) | 0x80);
  encoded.push(Number(zigzag));
  const withField = new Uint8Array(
    Buffer.concat([
      page.slice(0, at),
      Buffer.from(encoded),
      Buffer.from([0x1c]),
      page.slice(at + 1),
    ]),
  );
  return craftedFile(3, [{ name: 'a', physical: Physical.int32, pages: [withField] }]);
}

/** DELTA_BINARY_PACKED with one miniblock of 32 values in a block of 128, all widths 32. */
function deltaBinary(values: readonly number[]): Uint8Array {
  const out: number[] = [128, 1, 4];
  const varint = (value: number): void => {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) out.push((rest & 0x7f) | 0x80);
    out.push(rest);
  };
  varint(values.length);
  varint(values[0]! * 2);
  for (let from = 1; from < values.length; from += 128) {
    out.push(0, 32, 32, 32, 32);
    for (let index = from; index < from + 128; index++) {
      const delta = index < values.length ? values[index]! - values[index - 1]! : 0;
      for (let shift = 0; shift < 32; shift += 8) out.push((delta >>> shift) & 0xff);
    }
  }
  return new Uint8Array(out);
}

describe('compressed pages', () => {
  const codecs = CODEC_NAMES.map((name, codec) => [name, codec] as const).filter(
    ([, codec]) => codec !== Codec.lzo,
  );

  test.each(codecs)('%s: truncated, of another size, and bombs', async (_name, codec) => {
    const body = new Uint8Array(4_000).fill(1);
    const packed = compress(codec, body);
    const column = (bytes: Uint8Array, size: number): Uint8Array =>
      craftedFile(1_000, [
        {
          name: 'a',
          physical: Physical.int32,
          codec,
          pages: [craftedPage({ count: 1_000, body: bytes, size })],
        },
      ]);
    expect((await readTable(column(packed, 4_000))).rows).toHaveLength(1_000);
    for (const [bytes, size] of [
      [packed.slice(0, -3), 4_000],
      [packed.slice(0, 1), 4_000],
      [packed, 4_001],
      [packed, 3_999],
      [packed, 60_000_000],
      [new Uint8Array(100).fill(255), 4_000],
    ] as const) {
      expect(await refusal(column(bytes, size))).toMatch(/^damaged \w+ page$/);
    }
  });

  test('LZO and unknown codecs are named', async () => {
    expect(await refusal(craftedFile(3, [{ ...int32Column('a', 1, 2, 3), codec: 3 }]))).toBe(
      'unsupported compression LZO',
    );
    expect(await refusal(craftedFile(3, [{ ...int32Column('a', 1, 2, 3), codec: 99 }]))).toBe(
      'unsupported compression codec 99',
    );
  });
});

describe('nested columns', () => {
  /** A list of integers from raw levels; the schema is `a (LIST) { repeated list { optional element } }`. */
  function listFile(
    rows: number,
    repetition: readonly number[],
    definition: readonly number[],
    values: number,
  ): Uint8Array {
    const levels = (found: readonly number[], max: number): Buffer => {
      const bytes = hybridBytes(Uint8Array.from(found), bitWidth(max));
      return Buffer.concat([Buffer.from(Int32Array.of(bytes.length).buffer), bytes]);
    };
    const numbers = new Uint8Array(Int32Array.from({ length: values }, (_, index) => index).buffer);
    const body = new Uint8Array(
      Buffer.concat([levels(repetition, 1), levels(definition, 3), numbers]),
    );
    const page = craftedPage({ count: repetition.length, body });
    const element = (name: string, repeat: number): ThriftStruct =>
      new ThriftStruct()
        .set(SchemaField.repetition, i32, repeat)
        .set(SchemaField.name, binary, new TextEncoder().encode(name));
    return craftedFile(
      rows,
      [{ name: 'a', physical: Physical.int32, pages: [page], values: repetition.length }],
      ({ footer }) => {
        const root = footer.structs(FileField.schema)[0]!;
        footer.set(
          FileField.schema,
          list,
          structList([
            root,
            element('a', 1).set(SchemaField.children, i32, 1).set(SchemaField.converted, i32, 3),
            element('list', 2).set(SchemaField.children, i32, 1),
            element('element', 1).set(SchemaField.type, i32, Physical.int32),
          ]),
        );
      },
    );
  }

  test('levels that make sense', async () => {
    const { rows } = await readTable(listFile(4, [0, 1, 0, 0, 0], [3, 2, 1, 0, 3], 2));
    expect(rows).toEqual([['[0,null]'], ['[]'], [null], ['[1]']]);
  });

  test('a first value that goes on with a row before it', async () => {
    expect(await refusal(listFile(1, [1, 0], [3, 3], 2))).toContain('another number of rows');
  });

  test('more rows, or fewer, than the group has', async () => {
    expect(await refusal(listFile(2, [0, 1, 1], [3, 3, 3], 3))).toContain('another number of rows');
    expect(await refusal(listFile(2, [0, 0, 0], [3, 3, 3], 3))).toContain('another number of rows');
  });

  test('a list that is not there and yet goes on', async () => {
    expect(await refusal(listFile(1, [0, 1], [0, 3], 1))).toContain('do not fit together');
  });

  test('a row of more list items than any cell has room for', async () => {
    const count = 1_100_000;
    const repetition = Array.from({ length: count }, (_, index) => Math.min(index, 1));
    const definition = Array.from({ length: count }, () => 3);
    expect(await refusal(listFile(1, repetition, definition, count))).toContain(
      'a million list items',
    );
  });
});

describe('files with flipped bits', () => {
  /** Numbers from a seed, the same everywhere. */
  function random(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
  }

  const seed = Number(process.env['SVC_TEST_SEED'] ?? 42);
  const mutants = Number(process.env['SVC_TEST_MUTANTS'] ?? 400);

  test.each(['uncompressed', 'snappy', 'zstd', 'lz4_raw'])(
    `%s: each of ${mutants} mutants (seed ${seed}) is read or refused, and edits of it succeed or fail cleanly`,
    async (codec) => {
      const file = await parquetFile(
        `SELECT i AS id, 'text ' || i AS t, i / 3.0 AS d, [i, i] AS l, {'a': i} AS s, i % 2 = 0 AS b FROM range(60) t(i)`,
        `CODEC '${codec}', PARQUET_VERSION 'V2'`,
      );
      const next = random(seed);
      for (let mutant = 0; mutant < mutants; mutant++) {
        const bytes = file.slice();
        for (let flips = 1 + next(3); flips > 0; flips--)
          bytes[next(bytes.length)]! ^= 1 << next(8);
        const started = process.cpuUsage();
        try {
          const { layout, rows } = await readTable(bytes);
          expect(rows).toHaveLength(60);
          const plan = await editParquet(sourceOf(bytes), layout, {
            updates: new Map(rows.length > 0 ? [[0, new Map([[0, 5]])]] : []),
            deletes: new Set(rows.length > 1 ? [rows.length - 1] : []),
            creates: [],
          });
          applied(plan, bytes);
        } catch (error) {
          if (!(error instanceof AppError)) throw new Error(`mutant ${mutant}`, { cause: error });
        }
        expect(workSince(started)).toBeLessThan(5_000);
      }
    },
  );
});
