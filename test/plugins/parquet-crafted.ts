/** Makes Parquet files by hand, right and wrong ones, for what no writer would write. */
import {
  ChunkField,
  Encoding,
  FileField,
  GroupField,
  MAGIC,
  MetaField,
  Physical,
  SchemaField,
} from '../../src/tables/parquet/format.ts';
import {
  structList,
  thriftBytes,
  ThriftStruct,
  ThriftType,
} from '../../src/tables/parquet/thrift.ts';

const { binary, i32, i64, list, struct } = ThriftType;
const encoder = new TextEncoder();

/** A column of one row group. */
export interface CraftedColumn {
  readonly name: string;
  readonly physical: number;
  /** 0 required, 1 optional. */
  readonly repetition?: number;
  readonly typeLength?: number;
  readonly converted?: number;
  readonly logical?: ThriftStruct;
  /** Pages one after another, headers included. */
  readonly pages: readonly Uint8Array[];
  /** Values and nulls; the number of rows by default. */
  readonly values?: number;
  readonly codec?: number;
  /** Bytes of the pages as the footer says. */
  readonly size?: number;
}

/** Parts of a file that a test may bend before they are written. */
export interface CraftedParts {
  readonly footer: ThriftStruct;
  readonly group: ThriftStruct;
  readonly metas: readonly ThriftStruct[];
}

/** A file of one row group. */
export function craftedFile(
  rows: number,
  columns: readonly CraftedColumn[],
  bend: (parts: CraftedParts) => void = () => {},
): Uint8Array {
  const pages = columns.flatMap((column) => column.pages);
  let offset = MAGIC.length;
  const metas = columns.map((column) => {
    const size = column.size ?? column.pages.reduce((sum, page) => sum + page.length, 0);
    const meta = new ThriftStruct()
      .set(MetaField.type, i32, column.physical)
      .set(MetaField.encodings, list, { element: i32, items: [Encoding.plain] })
      .set(MetaField.path, list, { element: binary, items: [encoder.encode(column.name)] })
      .set(MetaField.codec, i32, column.codec ?? 0)
      .set(MetaField.values, i64, column.values ?? rows)
      .set(MetaField.bytes, i64, size)
      .set(MetaField.compressedBytes, i64, size)
      .set(MetaField.dataOffset, i64, offset);
    offset += size;
    return meta;
  });
  const group = new ThriftStruct()
    .set(
      GroupField.columns,
      list,
      structList(
        metas.map((meta) =>
          new ThriftStruct().set(ChunkField.fileOffset, i64, 0).set(ChunkField.meta, struct, meta),
        ),
      ),
    )
    .set(GroupField.bytes, i64, 0)
    .set(GroupField.rows, i64, rows);
  const footer = new ThriftStruct()
    .set(FileField.version, i32, 1)
    .set(FileField.schema, list, structList(schemaOf(columns)))
    .set(FileField.rows, i64, rows)
    .set(FileField.rowGroups, list, structList([group]));
  bend({ footer, group, metas });
  return fileAround(thriftBytes(footer), pages);
}

function schemaOf(columns: readonly CraftedColumn[]): ThriftStruct[] {
  const root = new ThriftStruct()
    .set(SchemaField.name, binary, encoder.encode('schema'))
    .set(SchemaField.children, i32, columns.length);
  const leaves = columns.map(
    ({ name, physical, repetition = 0, typeLength, converted, logical }) => {
      const element = new ThriftStruct()
        .set(SchemaField.type, i32, physical)
        .set(SchemaField.repetition, i32, repetition)
        .set(SchemaField.name, binary, encoder.encode(name));
      if (typeLength !== undefined) element.set(SchemaField.typeLength, i32, typeLength);
      if (converted !== undefined) element.set(SchemaField.converted, i32, converted);
      return logical ? element.set(SchemaField.logical, struct, logical) : element;
    },
  );
  return [root, ...leaves];
}

/** A footer between the magic numbers, after pages. */
export function fileAround(
  footer: Uint8Array,
  pages: readonly Uint8Array[] = [],
  length = footer.length,
): Uint8Array {
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, length, true);
  return new Uint8Array(Buffer.concat([MAGIC, ...pages, footer, size, MAGIC]));
}

interface CraftedPage {
  readonly count: number;
  readonly body: Uint8Array;
  /** Size before compression; the body's by default. */
  readonly size?: number;
  readonly packedSize?: number;
  readonly encoding?: number;
}

/** A data page of the first version. */
export function craftedPage({
  count,
  body,
  size,
  packedSize,
  encoding = 0,
}: CraftedPage): Uint8Array {
  const details = new ThriftStruct()
    .set(1, i32, count)
    .set(2, i32, encoding)
    .set(3, i32, Encoding.rle)
    .set(4, i32, Encoding.rle);
  const header = new ThriftStruct()
    .set(1, i32, 0)
    .set(2, i32, size ?? body.length)
    .set(3, i32, packedSize ?? body.length)
    .set(5, struct, details);
  return new Uint8Array(Buffer.concat([thriftBytes(header), body]));
}

/** A dictionary page of plain values. */
export function craftedDictionary(count: number, body: Uint8Array): Uint8Array {
  const header = new ThriftStruct()
    .set(1, i32, 2)
    .set(2, i32, body.length)
    .set(3, i32, body.length)
    .set(7, struct, new ThriftStruct().set(1, i32, count).set(2, i32, 0));
  return new Uint8Array(Buffer.concat([thriftBytes(header), body]));
}

/** Plain values of 32 bits. */
export function int32s(...values: number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(values).buffer);
}

/** A required column of plain 32-bit integers. */
export function int32Column(name: string, ...values: number[]): CraftedColumn {
  return {
    name,
    physical: Physical.int32,
    pages: [craftedPage({ count: values.length, body: int32s(...values) })],
  };
}
