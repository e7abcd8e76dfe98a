/** The row groups and the footer of a new Parquet file. */
import type { ColumnWriter, WrittenChunk } from './column-writer.ts';
import { fileEnd, newChunkStruct } from './description.ts';
import { ChunkField, FileField, GroupField, MAGIC, MetaField, SchemaField } from './format.ts';
import { structList, ThriftStruct, ThriftType } from './thrift.ts';

const { binary, i32, i64, list, struct } = ThriftType;
const encoder = new TextEncoder();

export interface OutputColumn {
  /** Of the schema, in order; a nested column has several. */
  readonly elements: readonly ThriftStruct[];
  readonly leaves: readonly Leaf[];
}

export interface Leaf {
  readonly path: readonly string[];
  readonly writer: ColumnWriter;
}

/** `legacy` is what readers that know no logical types go by. */
export function annotated(
  element: ThriftStruct,
  logical: number,
  details: ThriftStruct,
  legacy?: number,
): ThriftStruct {
  if (legacy !== undefined) element.set(SchemaField.converted, i32, legacy);
  const union = new ThriftStruct().set(logical, struct, details);
  return element.set(SchemaField.logical, struct, union);
}

/** Made as its columns are filled; `codec` is that of their pages. */
export class ParquetOutput {
  readonly #columns: readonly OutputColumn[];
  readonly #codec: number;
  readonly #leaves: readonly Leaf[];
  readonly #groups: ThriftStruct[] = [];
  #offset = MAGIC.length;
  #rows = 0;

  constructor(columns: readonly OutputColumn[], codec: number) {
    this.#columns = columns;
    this.#codec = codec;
    this.#leaves = columns.flatMap(({ leaves }) => leaves);
  }

  /** Bytes waiting for their row group. */
  get size(): number {
    return this.#leaves.reduce((sum, { writer }) => sum + writer.size, 0);
  }

  /** Writes the values added so far as a row group. */
  *group(rows: number): Generator<Uint8Array> {
    const start = this.#offset;
    const chunks: ThriftStruct[] = [];
    let bytes = 0;
    for (const leaf of this.#leaves) {
      const chunk = leaf.writer.take();
      chunks.push(this.#chunk(leaf, chunk));
      yield* chunk.pages;
      this.#offset += chunk.size;
      bytes += chunk.plainSize;
    }
    this.#rows += rows;
    this.#groups.push(
      new ThriftStruct()
        .set(GroupField.columns, list, structList(chunks))
        .set(GroupField.bytes, i64, bytes)
        .set(GroupField.rows, i64, rows)
        .set(GroupField.offset, i64, start)
        .set(GroupField.compressedBytes, i64, this.#offset - start),
    );
  }

  #chunk({ path, writer }: Leaf, chunk: WrittenChunk): ThriftStruct {
    const { physical } = writer;
    const struct = newChunkStruct(physical, path, this.#codec, chunk, this.#offset);
    struct.struct(ChunkField.meta)!.set(MetaField.statistics, ThriftType.struct, statistics(chunk));
    return struct;
  }

  /** Bytes before the next row group that no column has; where they are. */
  place(bytes: Uint8Array): number {
    const at = this.#offset;
    this.#offset += bytes.length;
    return at;
  }

  /** `notes`: key and value, for whoever knows them. */
  footer(notes: readonly (readonly [string, string])[] = []): Uint8Array {
    const elements = this.#columns.flatMap((column) => column.elements);
    const root = new ThriftStruct()
      .set(SchemaField.name, binary, encoder.encode('schema'))
      .set(SchemaField.children, i32, this.#columns.length);
    // Without an order, readers must not use the bounds.
    const orders = this.#leaves.map(() => new ThriftStruct().set(1, struct, new ThriftStruct()));
    const footer = new ThriftStruct()
      .set(FileField.version, i32, 2)
      .set(FileField.schema, list, structList([root, ...elements]))
      .set(FileField.rows, i64, this.#rows)
      .set(FileField.rowGroups, list, structList(this.#groups))
      .set(FileField.createdBy, binary, encoder.encode('svc'))
      .set(FileField.columnOrders, list, structList(orders));
    if (notes.length > 0) {
      const pairs = notes.map(([key, value]) =>
        new ThriftStruct()
          .set(1, binary, encoder.encode(key))
          .set(2, binary, encoder.encode(value)),
      );
      footer.set(FileField.keyValues, list, structList(pairs));
    }
    return fileEnd(footer);
  }
}

function statistics({ nulls, bounds }: WrittenChunk): ThriftStruct {
  const found = new ThriftStruct().set(3, i64, nulls);
  return bounds ? found.set(5, binary, bounds.greatest).set(6, binary, bounds.least) : found;
}
