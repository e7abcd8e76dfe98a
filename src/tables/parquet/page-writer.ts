/** Pages as bytes: header, levels and encoded values (parquet-format, README "Data Pages"). */
import * as zlib from 'node:zlib';
import { joined } from './bytes.ts';
import { Codec, compress } from './codec.ts';
import { Encoding, PageField, PageType } from './format.ts';
import { bitWidth, hybridBytes } from './hybrid.ts';
import { thriftBytes, ThriftStruct, ThriftType } from './thrift.ts';

const { i32, struct } = ThriftType;

export interface PageStyle {
  readonly codec: number;
  readonly version: 1 | 2;
  /** Of the compressed bytes. */
  readonly hasChecksum: boolean;
}

interface PageContent {
  /** Rows that begin in it. */
  readonly rows: number;
  /** Levels or, without any, values. */
  readonly count: number;
  /** Null: the column has none. */
  readonly definition: Uint8Array | null;
  readonly repetition: Uint8Array | null;
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  readonly encoding: number;
  /** Encoded, without nulls. */
  readonly values: Uint8Array;
}

interface WrittenPage {
  readonly bytes: Uint8Array;
  /** With its header, uncompressed. */
  readonly plainSize: number;
}

export function dataPage(content: PageContent, style: PageStyle): WrittenPage {
  const { count, encoding, values, maxDefinition } = content;
  const repetition = levels(content.repetition, content.maxRepetition);
  const definition = levels(content.definition, maxDefinition);
  if (style.version === 1) {
    const body = joined([...prefixed(repetition), ...prefixed(definition), values]);
    const details = new ThriftStruct().numbers(count, encoding, Encoding.rle, Encoding.rle);
    const packed = compress(style.codec, body);
    return page(PageType.data, PageField.data, details, packed, body.length, style);
  }
  const levelBytes = joined([...repetition, ...definition]);
  const packed = compress(style.codec, values);
  const nulls = content.definition?.reduce((sum, level) => sum + Number(level < maxDefinition), 0);
  const details = new ThriftStruct()
    .numbers(count, nulls ?? 0, content.rows, encoding, sizeOf(definition), sizeOf(repetition))
    .set(7, ThriftType.true, style.codec !== Codec.uncompressed);
  const size = levelBytes.length + values.length;
  const body = joined([levelBytes, packed]);
  return page(PageType.dataV2, PageField.dataV2, details, body, size, style);
}

/** `count` plain values. */
export function dictionaryPage(values: Uint8Array, count: number, style: PageStyle): WrittenPage {
  const details = new ThriftStruct().numbers(count, Encoding.plain);
  const packed = compress(style.codec, values);
  return page(PageType.dictionary, PageField.dictionary, details, packed, values.length, style);
}

export function indexBytes(indexes: Int32Array, size: number): Uint8Array {
  // Width 0 is allowed but seldom tested; every reader understands one bit.
  const width = Math.max(1, bitWidth(Math.max(0, size - 1)));
  return joined([new Uint8Array([width]), hybridBytes(indexes, width)]);
}

export function checksum(bytes: Uint8Array): number {
  return zlib.crc32(bytes) | 0;
}

/** `details` is the field of the header for this type; `size` is that of the uncompressed body. */
function page(
  type: number,
  field: number,
  details: ThriftStruct,
  body: Uint8Array,
  size: number,
  { hasChecksum }: PageStyle,
): WrittenPage {
  const header = new ThriftStruct().numbers(type, size, body.length).set(field, struct, details);
  if (hasChecksum) header.set(PageField.crc, i32, checksum(body));
  const head = thriftBytes(header);
  return { bytes: joined([head, body]), plainSize: head.length + size };
}

/** At most one part. */
function levels(values: Uint8Array | null, max: number): Uint8Array[] {
  return values ? [hybridBytes(values, bitWidth(max))] : [];
}

function prefixed(parts: readonly Uint8Array[]): Uint8Array[] {
  return parts.flatMap((part) => [new Uint8Array(new Uint32Array([part.length]).buffer), part]);
}

function sizeOf([part]: readonly Uint8Array[]): number {
  return part?.length ?? 0;
}
