import type { FileSource } from '../../src/base/files/file-source.ts';
import { Codec } from '../../src/tables/parquet/codec.ts';
import { ChunkField, GroupField, MetaField } from '../../src/tables/parquet/format.ts';
import { structList, ThriftStruct, ThriftType } from '../../src/tables/parquet/thrift.ts';
import { changedChunk, movedChunk, newChunkDescription } from './chunk-description.ts';
import { editChunk, newChunk } from './chunk-edit.ts';
import type { Chunk, RowGroup } from './footer.ts';
import type { NewFile } from './new-file.ts';
import type { LeafChanges } from './page-edit.ts';
import type { Leaf } from './schema.ts';

export type GroupChanges = (leaf: number) => LeafChanges;

export interface NewGroup {
  readonly struct: ThriftStruct;
  readonly rows: number;
  /** Chunks with their old pages and new descriptions. */
  readonly kept: readonly { readonly chunk: Chunk; readonly description: ThriftStruct }[];
}

export function keepGroup(file: NewFile, group: RowGroup): NewGroup {
  const start = file.size;
  const kept = group.chunks.map((chunk) => ({ chunk, description: keepChunk(file, chunk) }));
  const columns = kept.map(({ description }) => description);
  return { struct: described(group.struct, columns, group.rows, start), rows: group.rows, kept };
}

function keepChunk(file: NewFile, chunk: Chunk): ThriftStruct {
  const start = file.size;
  file.add({ from: chunk.start, to: chunk.end });
  return movedChunk(chunk, start);
}

/** At least one row must remain. */
export async function changeGroup(
  source: FileSource,
  file: NewFile,
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
    let description: ThriftStruct;
    if (updates.size + deletes.size + appended.length === 0) {
      description = keepChunk(file, chunk);
      kept.push({ chunk, description });
    } else {
      const edited = await editChunk(source, chunk, changes);
      description = changedChunk(chunk, edited, file.size);
      for (const piece of edited.pieces) file.add(piece);
    }
    columns.push(description);
  }
  // The rows may no longer be sorted as claimed.
  const struct = described(group.struct, columns, rows, start).remove(GroupField.sorting);
  return { struct, rows, kept };
}

export function addGroup(
  file: NewFile,
  leaves: readonly Leaf[],
  rows: number,
  model: RowGroup | null,
  changesOf: GroupChanges,
): NewGroup {
  const start = file.size;
  const columns = leaves.map((leaf, index) => {
    const codec = model?.chunks[index]?.codec ?? Codec.snappy;
    const made = newChunk(leaf, codec, changesOf(index));
    const description = newChunkDescription(leaf, codec, made, file.size);
    for (const piece of made.pieces) file.add(piece);
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
  const { i64, list } = ThriftType;
  const sum = (field: number): number =>
    columns.reduce((total, column) => total + (column.struct(ChunkField.meta)?.int(field) ?? 0), 0);
  const struct = like
    .copy()
    .set(GroupField.columns, list, structList(columns))
    .set(GroupField.bytes, i64, sum(MetaField.bytes))
    .set(GroupField.rows, i64, rows);
  if (like.get(GroupField.offset) !== null) struct.set(GroupField.offset, i64, start);
  if (like.get(GroupField.compressedBytes) !== null) {
    struct.set(GroupField.compressedBytes, i64, sum(MetaField.compressedBytes));
  }
  return struct;
}
