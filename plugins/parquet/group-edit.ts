/**
 * A row group after an edit: chunks with their old bytes or new ones, their descriptions, and the
 * indexes and Bloom filters of those that stay (parquet-format, PageIndex.md, BloomFilter.md).
 */
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { PieceList } from '../../src/base/files/piece-list.ts';
import { Codec } from '../../src/tables/parquet/codec.ts';
import { chunkMeta, newChunkStruct } from '../../src/tables/parquet/description.ts';
import { ChunkField, GroupField, MetaField } from '../../src/tables/parquet/format.ts';
import {
  structList,
  thriftBytes,
  ThriftStruct,
  ThriftType,
} from '../../src/tables/parquet/thrift.ts';
import { editChunk, type EditedChunk, type LeafChanges, newChunk } from './chunk-edit.ts';
import { type Chunk, type RowGroup, wholeThrift } from './footer.ts';
import type { Leaf } from './schema.ts';

const { i32, i64, list, struct } = ThriftType;
const MAX_INDEX_BYTES = 16 * 1024 * 1024;

export type GroupChanges = (leaf: number) => LeafChanges;

export interface NewGroup {
  readonly struct: ThriftStruct;
  readonly rows: number;
  /** Chunks with their old pages and new descriptions. */
  readonly kept: readonly { readonly chunk: Chunk; readonly description: ThriftStruct }[];
}

/** At least one row must remain. */
export async function editGroup(
  source: FileSource,
  file: PieceList,
  group: RowGroup,
  rows: number,
  changesOf: GroupChanges,
): Promise<NewGroup> {
  const start = file.size;
  const kept: NewGroup['kept'][number][] = [];
  const columns: ThriftStruct[] = [];
  for (const [index, chunk] of group.chunks.entries()) {
    const changes = changesOf(index);
    const { updates, deletes, appended } = changes;
    if (updates.size + deletes.size + appended.length === 0) {
      const description = movedChunk(chunk, file.size);
      file.add({ from: chunk.start, to: chunk.end });
      kept.push({ chunk, description });
      columns.push(description);
    } else {
      const edited = await editChunk(source, chunk, changes);
      columns.push(changedChunk(chunk, edited, file.size));
      file.add(...edited.pieces);
    }
  }
  const description = described(group.struct, columns, rows, start);
  // The rows may no longer be sorted as claimed.
  if (kept.length < columns.length) description.remove(GroupField.sorting);
  return { struct: description, rows, kept };
}

export function addGroup(
  file: PieceList,
  leaves: readonly Leaf[],
  rows: number,
  model: RowGroup | null,
  changesOf: GroupChanges,
): NewGroup {
  const start = file.size;
  const columns = leaves.map((leaf, index) => {
    const codec = model?.chunks[index]?.codec ?? Codec.snappy;
    const made = newChunk(leaf, codec, changesOf(index));
    const description = newChunkStruct(leaf.physical, leaf.path, codec, made, file.size);
    file.add(...made.pieces);
    return description;
  });
  // Has an ordinal if the others do: readers may order groups by it.
  const like = model?.struct.copy().remove(GroupField.sorting) ?? new ThriftStruct();
  return { struct: described(like, columns, rows, start), rows, kept: [] };
}

function described(
  like: ThriftStruct,
  columns: ThriftStruct[],
  rows: number,
  start: number,
): ThriftStruct {
  const sum = (field: number): number =>
    columns.reduce((total, column) => total + (column.struct(ChunkField.meta)?.int(field) ?? 0), 0);
  const group = like
    .copy()
    .set(GroupField.columns, list, structList(columns))
    .set(GroupField.bytes, i64, sum(MetaField.bytes))
    .set(GroupField.rows, i64, rows);
  if (like.get(GroupField.offset) !== null) group.set(GroupField.offset, i64, start);
  if (like.get(GroupField.compressedBytes) !== null) {
    group.set(GroupField.compressedBytes, i64, sum(MetaField.compressedBytes));
  }
  return group;
}

/** An unchanged chunk that now begins at `start`; its indexes and filter move later. */
function movedChunk(chunk: Chunk, start: number): ThriftStruct {
  const shift = (fields: ThriftStruct, ids: readonly number[]): ThriftStruct => {
    for (const id of ids) {
      const offset = fields.int(id);
      // 0 means absent.
      if (offset) fields.set(id, i64, offset + start - chunk.start);
    }
    return fields;
  };
  const { dataOffset, indexOffset, dictionaryOffset } = MetaField;
  const meta = shift(chunk.meta.copy(), [dataOffset, indexOffset, dictionaryOffset]);
  return shift(chunk.struct.copy().set(ChunkField.meta, struct, meta), [ChunkField.fileOffset]);
}

/** Without statistics, indexes and Bloom filter, which would have to be computed anew. */
function changedChunk(chunk: Chunk, edited: EditedChunk, start: number): ThriftStruct {
  const meta = chunk.meta
    .copy()
    .remove(
      MetaField.indexOffset,
      MetaField.dictionaryOffset,
      MetaField.statistics,
      MetaField.encodingStats,
      ...BLOOM_FILTER,
      MetaField.sizeStatistics,
      MetaField.geoStatistics,
    );
  const changed = chunk.struct
    .copy()
    .set(ChunkField.meta, struct, chunkMeta(meta, edited, start))
    .remove(...OFFSET_INDEX, ...COLUMN_INDEX);
  const hasOffset = Boolean(chunk.struct.int(ChunkField.fileOffset));
  return hasOffset ? changed.set(ChunkField.fileOffset, i64, start) : changed;
}

/** Ids of an offset and a length. */
type Place = readonly [offset: number, length: number];

const BLOOM_FILTER: Place = [MetaField.bloomOffset, MetaField.bloomLength];
const COLUMN_INDEX: Place = [ChunkField.columnIndexOffset, ChunkField.columnIndexLength];
const OFFSET_INDEX: Place = [ChunkField.offsetIndexOffset, ChunkField.offsetIndexLength];

/** Moves what belongs to chunks with their old pages and completes their descriptions. */
export async function moveIndexes(
  source: FileSource,
  file: PieceList,
  groups: readonly NewGroup[],
): Promise<void> {
  const kept = groups.flatMap((group) => group.kept);
  const move = (fields: ThriftStruct, place: Place, isUseful: boolean): void => {
    const range = isUseful ? rangeOf(source, fields, place) : null;
    // Older files do not state the length of a filter.
    if (range === null) fields.remove(...place);
    else {
      fields.set(place[0], i64, file.size);
      file.add(range);
    }
  };
  for (const { description } of kept) {
    move(description.struct(ChunkField.meta)!, BLOOM_FILTER, true);
  }
  for (const { chunk, description } of kept) {
    // A column index is useless without an offset index.
    move(description, COLUMN_INDEX, rangeOf(source, chunk.struct, OFFSET_INDEX) !== null);
  }
  for (const { chunk, description } of kept) {
    const bytes = await offsetIndex(source, chunk, dataOffset(description));
    if (bytes === null) description.remove(...OFFSET_INDEX);
    else {
      description.set(OFFSET_INDEX[0], i64, file.size).set(OFFSET_INDEX[1], i32, bytes.length);
      file.add(bytes);
    }
  }
}

/** The only one that contains file offsets; for pages that now begin at `start`. */
async function offsetIndex(
  source: FileSource,
  { struct: old }: Chunk,
  start: number,
): Promise<Uint8Array | null> {
  const range = rangeOf(source, old, OFFSET_INDEX);
  if (range === null) return null;
  const { from, to } = range;
  const index = wholeThrift(await readBytes(source, from, to - from), 'an index');
  const shift = start - dataOffset(old);
  const pages = index.structs(1).map((page) => page.copy().set(1, i64, (page.int(1) ?? 0) + shift));
  return thriftBytes(index.copy().set(1, list, structList(pages)));
}

function dataOffset(chunk: ThriftStruct): number {
  return chunk.struct(ChunkField.meta)?.int(MetaField.dataOffset) ?? 0;
}

function rangeOf(
  { size }: FileSource,
  fields: ThriftStruct,
  place: Place,
): { from: number; to: number } | null {
  const [from, length] = place.map((id) => fields.int(id) ?? 0) as [number, number];
  const isWithin = from > 0 && length > 0 && length <= MAX_INDEX_BYTES && from + length <= size;
  return isWithin ? { from, to: from + length } : null;
}
