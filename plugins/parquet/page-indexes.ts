/**
 * Page indexes and Bloom filters of unchanged chunks, moved to the new file (parquet-format,
 * PageIndex.md, BloomFilter.md). Only the offset index contains file offsets.
 */
import { AppError } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { ChunkField, MetaField } from '../../src/tables/parquet/format.ts';
import { structList, type ThriftStruct, ThriftType } from '../../src/tables/parquet/thrift.ts';
import { readThrift, ThriftEnd } from '../../src/tables/parquet/thrift-reader.ts';
import { thriftBytes } from '../../src/tables/parquet/thrift-writer.ts';
import type { Chunk } from './footer.ts';
import type { NewGroup } from './group-edit.ts';
import type { NewFile } from './new-file.ts';

const MAX_INDEX_BYTES = 16 * 1024 * 1024;
const { i32, i64, list } = ThriftType;

/** Also completes the chunks' descriptions. */
export async function moveIndexes(
  source: FileSource,
  file: NewFile,
  groups: readonly NewGroup[],
): Promise<void> {
  const kept = groups.flatMap((group) => group.kept);
  for (const { chunk, description } of kept) moveBloomFilter(source, file, chunk, description);
  for (const { chunk, description } of kept) moveColumnIndex(source, file, chunk, description);
  for (const { chunk, description } of kept)
    await moveOffsetIndex(source, file, chunk, description);
}

function moveBloomFilter(
  source: FileSource,
  file: NewFile,
  { meta }: Chunk,
  description: ThriftStruct,
): void {
  const own = description.struct(ChunkField.meta)!;
  const from = meta.int(MetaField.bloomOffset) ?? 0;
  const length = meta.int(MetaField.bloomLength) ?? 0;
  // Older files do not state its length.
  if (!isWithin(source, from, length)) own.remove(MetaField.bloomOffset, MetaField.bloomLength);
  else {
    own.set(MetaField.bloomOffset, i64, file.size);
    file.add({ from, to: from + length });
  }
}

function moveColumnIndex(
  source: FileSource,
  file: NewFile,
  { struct: old }: Chunk,
  description: ThriftStruct,
): void {
  const from = old.int(ChunkField.columnIndexOffset) ?? 0;
  const length = old.int(ChunkField.columnIndexLength) ?? 0;
  if (!isWithin(source, from, length) || !hasOffsetIndex(source, old)) {
    description.remove(ChunkField.columnIndexOffset, ChunkField.columnIndexLength);
    return;
  }
  description.set(ChunkField.columnIndexOffset, i64, file.size);
  file.add({ from, to: from + length });
}

async function moveOffsetIndex(
  source: FileSource,
  file: NewFile,
  chunk: Chunk,
  description: ThriftStruct,
): Promise<void> {
  if (!hasOffsetIndex(source, chunk.struct)) {
    description.remove(ChunkField.offsetIndexOffset, ChunkField.offsetIndexLength);
    return;
  }
  const from = chunk.struct.int(ChunkField.offsetIndexOffset)!;
  const length = chunk.struct.int(ChunkField.offsetIndexLength)!;
  const shift = chunkStartIn(description) - chunkStartIn(chunk.struct);
  const index = parsed(await readBytes(source, from, length));
  const pages = index.structs(1).map((page) => page.copy().set(1, i64, (page.int(1) ?? 0) + shift));
  const bytes = thriftBytes(index.copy().set(1, list, structList(pages)));
  description
    .set(ChunkField.offsetIndexOffset, i64, file.size)
    .set(ChunkField.offsetIndexLength, i32, bytes.length);
  file.add(bytes);
}

function parsed(bytes: Uint8Array): ThriftStruct {
  try {
    return readThrift(bytes).value;
  } catch (error) {
    if (!(error instanceof ThriftEnd)) throw error;
    throw new AppError('unreadable-file', 'damaged Parquet file: an index that ends early');
  }
}

/** Where the data pages begin, in either file. */
function chunkStartIn(chunk: ThriftStruct): number {
  return chunk.struct(ChunkField.meta)?.int(MetaField.dataOffset) ?? 0;
}

/** A column index is useless without an offset index. */
function hasOffsetIndex(source: FileSource, chunk: ThriftStruct): boolean {
  const from = chunk.int(ChunkField.offsetIndexOffset) ?? 0;
  return isWithin(source, from, chunk.int(ChunkField.offsetIndexLength) ?? 0);
}

function isWithin({ size }: FileSource, from: number, length: number): boolean {
  return from > 0 && length > 0 && length <= MAX_INDEX_BYTES && from + length <= size;
}
