/** Pages as bytes: header, levels and encoded values (parquet-format, README "Data Pages"). */
import * as zlib from 'node:zlib';
import { Codec, compress } from './codec.ts';
import { Encoding, PageField, PageType } from './format.ts';
import { bitWidth, hybridBytes } from './hybrid.ts';
import { ThriftStruct, ThriftType } from './thrift.ts';
import { thriftBytes } from './thrift-writer.ts';

const { i32, struct } = ThriftType;

export interface PageStyle {
  readonly codec: number;
  readonly version: 1 | 2;
  /** Of the compressed bytes. */
  readonly hasChecksum: boolean;
}

export interface PageContent {
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

/** A page as it stands in the file. */
export interface WrittenPage {
  readonly bytes: Uint8Array;
  /** With its header, uncompressed. */
  readonly plainSize: number;
}

export function dataPage(content: PageContent, style: PageStyle): WrittenPage {
  return style.version === 1 ? firstVersion(content, style) : secondVersion(content, style);
}

function firstVersion(content: PageContent, style: PageStyle): WrittenPage {
  const { repetition, definition, maxRepetition, maxDefinition, values } = content;
  const levels = [
    ...(repetition ? [prefixed(hybridBytes(repetition, bitWidth(maxRepetition)))] : []),
    ...(definition ? [prefixed(hybridBytes(definition, bitWidth(maxDefinition)))] : []),
  ];
  const header = new ThriftStruct()
    .set(1, i32, content.count)
    .set(2, i32, content.encoding)
    .set(3, i32, Encoding.rle)
    .set(4, i32, Encoding.rle);
  const body = joined([...levels, values]);
  const packed = compress(style.codec, body);
  const page = pageHeader(PageType.data, body.length, packed, style).set(
    PageField.data,
    struct,
    header,
  );
  return written(page, [packed], body.length);
}

function secondVersion(content: PageContent, style: PageStyle): WrittenPage {
  const { repetition, definition, maxRepetition, maxDefinition, values, count } = content;
  const repetitions = repetition
    ? hybridBytes(repetition, bitWidth(maxRepetition))
    : new Uint8Array(0);
  const definitions = definition
    ? hybridBytes(definition, bitWidth(maxDefinition))
    : new Uint8Array(0);
  const packed = compress(style.codec, values);
  const body = joined([repetitions, definitions, packed]);
  const size = repetitions.length + definitions.length + values.length;
  const nulls = definition?.reduce((sum, level) => sum + (level < maxDefinition ? 1 : 0), 0) ?? 0;
  const header = new ThriftStruct()
    .set(1, i32, count)
    .set(2, i32, nulls)
    .set(3, i32, content.rows)
    .set(4, i32, content.encoding)
    .set(5, i32, definitions.length)
    .set(6, i32, repetitions.length)
    .set(7, ThriftType.true, style.codec !== Codec.uncompressed);
  const page = pageHeader(PageType.dataV2, size, body, style).set(PageField.dataV2, struct, header);
  return written(page, [body], size);
}

/** `count` plain values. */
export function dictionaryPage(values: Uint8Array, count: number, style: PageStyle): WrittenPage {
  const header = new ThriftStruct().set(1, i32, count).set(2, i32, Encoding.plain);
  const packed = compress(style.codec, values);
  const page = pageHeader(PageType.dictionary, values.length, packed, style).set(
    PageField.dictionary,
    struct,
    header,
  );
  return written(page, [packed], values.length);
}

/** Indexes of a dictionary of `size` entries. */
export function indexBytes(indexes: Int32Array, size: number): Uint8Array {
  const width = bitWidth(Math.max(0, size - 1));
  // Width 0 is allowed but seldom tested; every reader understands one bit.
  return joined([new Uint8Array([Math.max(1, width)]), hybridBytes(indexes, Math.max(1, width))]);
}

function pageHeader(
  type: number,
  size: number,
  body: Uint8Array,
  { hasChecksum }: PageStyle,
): ThriftStruct {
  const header = new ThriftStruct()
    .set(PageField.type, i32, type)
    .set(PageField.bytes, i32, size)
    .set(PageField.compressedBytes, i32, body.length);
  return hasChecksum ? header.set(PageField.crc, i32, checksum(body)) : header;
}

export function checksum(bytes: Uint8Array): number {
  return zlib.crc32(bytes) | 0;
}

function written(header: ThriftStruct, body: readonly Uint8Array[], size: number): WrittenPage {
  const head = thriftBytes(header);
  return { bytes: joined([head, ...body]), plainSize: head.length + size };
}

function prefixed(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length + 4);
  new DataView(out.buffer).setUint32(0, bytes.length, true);
  out.set(bytes, 4);
  return out;
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
