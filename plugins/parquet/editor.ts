/**
 * Only pages with touched rows and columns are rewritten; everything else keeps its bytes.
 *
 * New rows join the last row group while it is small, else form a new one. The footer keeps schema and key-value
 * metadata.
 */
import { changedFile, type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { PieceList } from '../../src/base/files/piece-list.ts';
import type { Piece } from '../../src/base/files/piece-writer.ts';
import { segmentsAfter } from '../../src/tables/edit/segments-after.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import { fileEnd, chunkMeta, newChunkStruct } from '../../src/tables/parquet/description.ts';
import {
  FileField,
  GroupField,
  MAGIC,
  Repetition,
  ChunkField,
  MetaField,
} from '../../src/tables/parquet/format.ts';
import {
  structList,
  ThriftType,
  thriftBytes,
  ThriftStruct,
} from '../../src/tables/parquet/thrift.ts';
import type { Cell, EditPlan, TableChanges, TableLayout } from '../../src/tables/types.ts';
import { type ParquetFile, readFooter, type RowGroup, type Chunk, wholeThrift } from './footer.ts';
import { physicalValue, type TargetColumn } from './physical-value.ts';
import { SEGMENT_ROWS } from './reader.ts';
import { columnType, type Leaf } from './schema.ts';
import { Codec } from '../../src/tables/parquet/codec.ts';
import { editChunk, type EditedChunk, type LeafChanges, newChunk } from './chunk-edit.ts';

/** Of a last group that takes new rows, and of new groups. */
const GROUP_ROWS = 65_536;

type RowCells = ReadonlyMap<number, Cell>;

/**
 * Throws `unreadable-file` with the reason why the change cannot be written, `schema-mismatch` for cells their
 * columns cannot hold, `conflict` when the file is not the layout's. Memory and time grow with the changed chunks.
 */
export async function editParquet(
  source: FileSource,
  layout: TableLayout,
  changes: TableChanges,
): Promise<EditPlan> {
  const file = await readFooter(source);
  const rows = layout.segments.reduce((sum, segment) => sum + segment.rows, 0);
  const touched = [...changes.updates.keys(), ...changes.deletes];
  if (rows !== file.rows || touched.some((row) => row >= rows)) throw changedFile();
  const edit = new FileEdit(source, file, changes);
  const pieces = await edit.run();
  const segments = segmentsAfter(layout.segments, changes, SEGMENT_ROWS);
  // Types come from the schema, so no cells are counted.
  return { pieces, layout: { dialect: {}, bodyOffset: 0, segments }, cells: [] };
}

class FileEdit {
  readonly #source: FileSource;
  readonly #old: ParquetFile;
  readonly #changes: TableChanges;
  readonly #columns: readonly TargetColumn[];
  /** Column position by leaf. */
  readonly #positions: readonly number[];
  readonly #file = new PieceList();
  readonly #groups: NewGroup[] = [];

  constructor(source: FileSource, old: ParquetFile, changes: TableChanges) {
    this.#source = source;
    this.#old = old;
    this.#changes = changes;
    const { fields, leaves } = old.schema;
    const names = cleanNames(fields.map(({ name }) => name));
    this.#columns = fields.map((field, position) => ({
      name: names[position]!,
      leaf: { ...leaves[field.firstLeaf]!, type: columnType(field) },
      isRequired: field.repetition !== Repetition.optional,
    }));
    this.#positions = fields.flatMap(({ leafCount }, position) =>
      new Array<number>(leafCount).fill(position),
    );
  }

  async run(): Promise<readonly Piece[]> {
    this.#file.add({ from: 0, to: MAGIC.length });
    const created = this.#changes.creates.map((cells) => this.#values(cells, this.#columns.keys()));
    const last = this.#old.groups.at(-1);
    const joined = last && last.rows > 0 && last.rows + created.length <= GROUP_ROWS;
    let first = 0;
    for (const group of this.#old.groups) {
      await this.#group(group, first, joined && group === last ? created : []);
      first += group.rows;
    }
    if (!joined) this.#addGroups(created);
    await moveIndexes(this.#source, this.#file, this.#groups);
    this.#writeFooter();
    return this.#file.pieces;
  }

  async #group(group: RowGroup, first: number, created: readonly NewRow[]): Promise<void> {
    const isWithin = (row: number): boolean => row >= first && row < first + group.rows;
    const deleted = [...this.#changes.deletes].filter(isWithin).map((row) => row - first);
    const updates: ColumnUpdates = new Map();
    for (const [row, cells] of this.#changes.updates) {
      if (!isWithin(row)) continue;
      for (const [position, value] of this.#values(cells, cells.keys())) {
        const own = updates.get(position);
        if (own) own.set(row - first, value);
        else updates.set(position, new Map([[row - first, value]]));
      }
    }
    const rows = group.rows - deleted.length + created.length;
    if (rows === 0) return;
    const changesOf = this.#changesOf(updates, new Set(deleted), created);
    this.#groups.push(await editGroup(this.#source, this.#file, group, rows, changesOf));
  }

  #addGroups(created: readonly NewRow[]): void {
    for (let from = 0; from < created.length; from += GROUP_ROWS) {
      const rows = created.slice(from, from + GROUP_ROWS);
      const changesOf = this.#changesOf(new Map(), new Set(), rows);
      const model = this.#old.groups.at(-1) ?? null;
      const { leaves } = this.#old.schema;
      this.#groups.push(addGroup(this.#file, leaves, rows.length, model, changesOf));
    }
  }

  #values(cells: RowCells, positions: Iterable<number>): NewRow {
    const values = new Map<number, Uint8Array | null>();
    for (const position of positions) {
      const column = this.#columns[position];
      if (!column) throw changedFile();
      values.set(position, physicalValue(cells.get(position) ?? null, column));
    }
    return values;
  }

  #changesOf(
    updates: ColumnUpdates,
    deletes: ReadonlySet<number>,
    created: readonly NewRow[],
  ): GroupChanges {
    return (leaf) => {
      const position = this.#positions[leaf]!;
      const appended = created.map((values) => values.get(position) ?? null);
      return { updates: updates.get(position) ?? new Map(), deletes, appended };
    };
  }

  #writeFooter(): void {
    const rows = this.#groups.reduce((sum, group) => sum + group.rows, 0);
    const groups = this.#groups.map(({ struct }, ordinal) =>
      struct.get(GroupField.ordinal) === null
        ? struct
        : struct.set(GroupField.ordinal, ThriftType.i16, ordinal),
    );
    const footer = this.#old.footer
      .copy()
      .set(FileField.rows, ThriftType.i64, rows)
      .set(FileField.rowGroups, ThriftType.list, structList(groups));
    this.#file.add(fileEnd(footer));
  }
}

/** By column position. */
type NewRow = ReadonlyMap<number, Uint8Array | null>;

/** By column position, by row of the group. */
type ColumnUpdates = Map<number, Map<number, Uint8Array | null>>;

const { i32, i64, list, struct } = ThriftType;
const MAX_INDEX_BYTES = 16 * 1024 * 1024;

/**
 * Chunks with their old bytes or new ones, their descriptions, and the indexes and Bloom filters of those that stay
 * (parquet-format, PageIndex.md, BloomFilter.md).
 */
type GroupChanges = (leaf: number) => LeafChanges;

interface NewGroup {
  readonly struct: ThriftStruct;
  readonly rows: number;
  /** Chunks with their old pages and new descriptions. */
  readonly kept: readonly { readonly chunk: Chunk; readonly description: ThriftStruct }[];
}

/** At least one row must remain. */
async function editGroup(
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

function addGroup(
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
async function moveIndexes(
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
