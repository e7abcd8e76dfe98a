/**
 * A column chunk's description for its place in a new file.
 *
 * Statistics, indexes and Bloom filters of a changed chunk are dropped: they are optional and would
 * have to be recomputed.
 */
import { ChunkField, Encoding, MetaField } from '../../src/tables/parquet/format.ts';
import { type ThriftList, ThriftStruct, ThriftType } from '../../src/tables/parquet/thrift.ts';
import type { EditedChunk } from './chunk-edit.ts';
import type { Chunk } from './footer.ts';
import type { Leaf } from './schema.ts';

const { i32, i64, binary, list, struct } = ThriftType;

/** For an unchanged chunk that now begins at `start`; the caller moves its indexes and filter. */
export function movedChunk(chunk: Chunk, start: number): ThriftStruct {
  const shift = start - chunk.start;
  const meta = chunk.meta.copy();
  for (const field of [MetaField.dataOffset, MetaField.indexOffset, MetaField.dictionaryOffset]) {
    shiftOffset(meta, field, shift);
  }
  const moved = chunk.struct.copy().set(ChunkField.meta, struct, meta);
  shiftOffset(moved, ChunkField.fileOffset, shift);
  return moved;
}

function shiftOffset(fields: ThriftStruct, id: number, shift: number): void {
  const offset = fields.int(id);
  // 0 means absent.
  if (offset) fields.set(id, i64, offset + shift);
}

export function changedChunk(chunk: Chunk, edited: EditedChunk, start: number): ThriftStruct {
  const meta = chunk.meta
    .copy()
    .remove(
      MetaField.indexOffset,
      MetaField.dictionaryOffset,
      MetaField.statistics,
      MetaField.encodingStats,
      MetaField.bloomOffset,
      MetaField.bloomLength,
      MetaField.sizeStatistics,
      MetaField.geoStatistics,
    );
  const changed = chunk.struct
    .copy()
    .set(ChunkField.meta, struct, withSizes(meta, edited, start))
    .remove(
      ChunkField.offsetIndexOffset,
      ChunkField.offsetIndexLength,
      ChunkField.columnIndexOffset,
      ChunkField.columnIndexLength,
    );
  return chunk.struct.int(ChunkField.fileOffset)
    ? changed.set(ChunkField.fileOffset, i64, start)
    : changed;
}

export function newChunkDescription(
  leaf: Leaf,
  codec: number,
  edited: EditedChunk,
  start: number,
): ThriftStruct {
  const encoder = new TextEncoder();
  const path: ThriftList = {
    element: binary,
    items: leaf.path.map((name) => encoder.encode(name)),
  };
  const meta = new ThriftStruct()
    .set(MetaField.type, i32, leaf.physical)
    .set(MetaField.path, list, path)
    .set(MetaField.codec, i32, codec);
  return new ThriftStruct()
    .set(ChunkField.fileOffset, i64, 0)
    .set(ChunkField.meta, struct, withSizes(meta, edited, start));
}

function withSizes(meta: ThriftStruct, edited: EditedChunk, start: number): ThriftStruct {
  const { size, plainSize, values, dictionarySize, encodings } = edited;
  const used = encodings.length > 0 ? [...encodings] : [Encoding.plain];
  meta
    .set(MetaField.encodings, list, { element: i32, items: used })
    .set(MetaField.values, i64, values)
    .set(MetaField.bytes, i64, plainSize)
    .set(MetaField.compressedBytes, i64, size)
    .set(MetaField.dataOffset, i64, start + dictionarySize);
  return dictionarySize > 0 ? meta.set(MetaField.dictionaryOffset, i64, start) : meta;
}
