import { joined } from './bytes.ts';
import { ChunkField, Encoding, MAGIC, MetaField } from './format.ts';
import { thriftBytes, ThriftStruct, ThriftType } from './thrift.ts';

const { i32, i64, binary, list, struct } = ThriftType;
const encoder = new TextEncoder();

export interface ChunkSizes {
  readonly size: number;
  readonly plainSize: number;
  /** Nulls included. */
  readonly values: number;
  /** The dictionary page comes first; 0 without one. */
  readonly dictionarySize: number;
  readonly encodings: readonly number[];
}

export function chunkMeta(meta: ThriftStruct, chunk: ChunkSizes, start: number): ThriftStruct {
  const { size, plainSize, values, dictionarySize, encodings } = chunk;
  meta
    .set(MetaField.encodings, list, {
      element: i32,
      items: encodings.length > 0 ? [...encodings] : [Encoding.plain],
    })
    .set(MetaField.values, i64, values)
    .set(MetaField.bytes, i64, plainSize)
    .set(MetaField.compressedBytes, i64, size)
    .set(MetaField.dataOffset, i64, start + dictionarySize);
  return dictionarySize > 0 ? meta.set(MetaField.dictionaryOffset, i64, start) : meta;
}

export function newChunkStruct(
  physical: number,
  path: readonly string[],
  codec: number,
  chunk: ChunkSizes,
  start: number,
): ThriftStruct {
  const meta = new ThriftStruct()
    .set(MetaField.type, i32, physical)
    .set(MetaField.path, list, { element: binary, items: path.map((name) => encoder.encode(name)) })
    .set(MetaField.codec, i32, codec);
  return new ThriftStruct()
    .set(ChunkField.fileOffset, i64, 0)
    .set(ChunkField.meta, struct, chunkMeta(meta, chunk, start));
}

export function fileEnd(footer: ThriftStruct): Uint8Array {
  const bytes = thriftBytes(footer);
  return joined([bytes, new Uint8Array(new Uint32Array([bytes.length]).buffer), MAGIC]);
}
