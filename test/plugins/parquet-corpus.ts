/**
 * Parquet files that are damaged, hostile or none at all (B-P), made by code, with the reason each is refused for. What the
 * reader says to each single structure is tested beside it; these go through the whole service.
 */
import {
  ChunkField,
  Encoding,
  FileField,
  GroupField,
  MetaField,
  Physical,
  SchemaField,
} from '../../src/tables/parquet/format.ts';
import { Codec, CODEC_NAMES, compress } from '../../src/tables/parquet/codec.ts';
import { ThriftStruct, ThriftType } from '../../src/tables/parquet/thrift.ts';
import {
  craftedDictionary,
  craftedFile,
  craftedPage,
  type CraftedParts,
  fileAround,
  int32Column,
  int32s,
} from './parquet-crafted.ts';
import type { RefusedFile } from './workbook-corpus.ts';

const { i32, i64, binary, struct } = ThriftType;

/** A column `a` of 1, 2, 3. */
export const goodParquet = craftedFile(3, [int32Column('a', 1, 2, 3)]);

const bent = (bend: (parts: CraftedParts) => void): Uint8Array =>
  craftedFile(3, [int32Column('a', 1, 2, 3)], bend);
const paged = (page: Partial<Parameters<typeof craftedPage>[0]>, codec = 0): Uint8Array =>
  craftedFile(3, [
    {
      name: 'a',
      physical: Physical.int32,
      codec,
      pages: [craftedPage({ count: 3, body: int32s(1, 2, 3), ...page })],
    },
  ]);
const indexed = (...body: number[]): Uint8Array =>
  craftedFile(3, [
    {
      name: 'a',
      physical: Physical.int32,
      pages: [
        craftedDictionary(2, int32s(7, 8)),
        craftedPage({ count: 3, body: new Uint8Array(body), encoding: Encoding.dictionary }),
      ],
    },
  ]);
const column = (field: number, value: number) => () =>
  bent(({ metas }) => metas[0]!.set(field, i64, value));
const sealed = (): Uint8Array => {
  const copy = goodParquet.slice();
  copy.set(Buffer.from('PARE'), copy.length - 4);
  return copy;
};
/** A page that claims 60 MB and holds a megabyte of what the codec made of zeros. */
const bomb = (codec: number) => () => {
  const body = compress(codec, new Uint8Array(4_000_000));
  return paged({ body, size: 60_000_000 }, codec);
};

/** Refused within a second, with a reason that matches. */
export const refusedParquetFiles: readonly RefusedFile[] = [
  ['nothing', () => new Uint8Array(0), /not a Parquet file|empty/],
  ['text', () => Buffer.from('a,b\n1,2\n'), /not a Parquet file/],
  ['no magic at the end', () => goodParquet.slice(0, -1), /not a Parquet file/],
  ['no magic at the beginning', () => goodParquet.slice(1), /not a Parquet file/],
  ['an encrypted footer', sealed, /encrypted/],
  [
    'an encrypted column',
    () =>
      bent(({ group }) =>
        group.structs(GroupField.columns)[0]!.set(ChunkField.crypto, struct, new ThriftStruct()),
      ),
    /encrypted/,
  ],
  ['a footer longer than the file', () => fileAround(new Uint8Array(9), [], 100), /larger than/],
  ['a footer of 2 GB', () => fileAround(new Uint8Array(9), [], 2 ** 31), /larger than the file/],
  ['a footer of nothing', () => fileAround(new Uint8Array(0)), /ends early/],
  [
    'structures nested 10,000 deep',
    () => fileAround(new Uint8Array(10_000).fill(0x1c)),
    /nested too deep/,
  ],
  [
    'lists nested 10,000 deep',
    () => fileAround(new Uint8Array(10_000).fill(0x19)),
    /nested too deep/,
  ],
  ['an unknown field type', () => fileAround(new Uint8Array([0x1d, 0])), /unknown field type 13/],
  [
    'a list of 2^31 items',
    () => fileAround(new Uint8Array([0x19, 0xf3, 0xff, 0xff, 0xff, 0xff, 0x07])),
    /ends early/,
  ],
  [
    'a schema of two billion children',
    () =>
      bent(({ footer }) =>
        footer.structs(FileField.schema)[0]!.set(SchemaField.children, i32, 2_000_000_000),
      ),
    /schema without end/,
  ],
  [
    '2,001 columns',
    () =>
      craftedFile(
        1,
        Array.from({ length: 2_001 }, (_, index) => int32Column(`c${index}`, 1)),
      ),
    /more than 1999 columns/,
  ],
  [
    'columns of unequal length',
    () => craftedFile(3, [int32Column('a', 1, 2, 3), { ...int32Column('b', 1, 2), values: 2 }]),
    /another number of rows/,
  ],
  [
    'rows that no group has',
    () => bent(({ footer }) => footer.set(FileField.rows, i64, 1_000_000_000)),
    /another number of rows/,
  ],
  [
    'a negative number of rows',
    () =>
      bent(({ footer, group }) => {
        group.set(GroupField.rows, i64, -3);
        footer.set(FileField.rows, i64, -3);
      }),
    /negative number of rows/,
  ],
  [
    '10^9 values in 300 bytes',
    () => craftedFile(1_000_000_000, [{ ...int32Column('a', 1), values: 1_000_000_000 }]),
    /more than 50000000 values/,
  ],
  ['a column beyond the file', column(MetaField.dataOffset, 1_000_000), /outside the file/],
  ['a column before the file', column(MetaField.dataOffset, -5), /outside the file/],
  ['a column of a gigabyte', column(MetaField.compressedBytes, 1_000_000_000), /outside the file/],
  ['a column of negative size', column(MetaField.compressedBytes, -1), /outside the file/],
  [
    'a column in another file',
    () =>
      bent(({ group }) =>
        group
          .structs(GroupField.columns)[0]!
          .set(ChunkField.filePath, binary, Buffer.from('/etc/passwd')),
      ),
    /stands in another file/,
  ],
  ['a page of negative size', () => paged({ packedSize: -12 }), /larger than its column/],
  ['a page larger than its column', () => paged({ packedSize: 13 }), /larger than its column/],
  ['a page of 2^31-1 bytes', () => paged({ size: 2 ** 31 - 1 }), /more than 67108864 bytes/],
  ['a page of too many values', () => paged({ count: 4 }), /a page too many/],
  ['a page without bytes', () => paged({ body: new Uint8Array(0) }), /too short for its values/],
  ['an unknown encoding', () => paged({ encoding: 77 }), /unsupported encoding number 77/],
  ['an unknown codec', () => paged({}, 99), /unsupported compression codec 99/],
  ['an index outside the dictionary', () => indexed(2, 6, 2), /outside the dictionary/],
  ['indexes of 255 bits', () => indexed(255, 6, 1), /damaged run-length data/],
  ['indexes of no bytes', () => indexed(), /ends early/],
  ...CODEC_NAMES.map((name, codec) => [name, codec] as const)
    .filter(([, codec]) => codec !== Codec.uncompressed && codec !== Codec.lzo)
    .flatMap(([name, codec]): RefusedFile[] => [
      [`a bomb of ${name}`, bomb(codec), /damaged \w+ page|a page too many/],
      [
        `noise as ${name}`,
        () => paged({ body: new Uint8Array(100).fill(255), size: 12 }, codec),
        /damaged \w+ page/,
      ],
    ]),
];
