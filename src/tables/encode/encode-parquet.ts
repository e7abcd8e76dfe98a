/**
 * Rows as a Parquet file: nullable columns of the schema's types, snappy, row groups of at most 65,536 rows.
 *
 * Integers are INT64, numbers DOUBLE and texts UTF-8; numbers those cannot hold keep their digits as DECIMAL or
 * unsigned INT64. A column with cells that do not fit its declared type becomes texts. Memory is one row group. Loaded
 * on demand, not at start.
 */
import { booleanOf, type Row, type RowShape } from './encode.ts';
import { wideNumber, type WideNumber } from '../infer/file-type.ts';
import { littleEndian } from '../parquet/bytes.ts';
import { Codec } from '../parquet/codec.ts';
import {
  BooleanValues,
  DoubleValues,
  FixedValues,
  LongValues,
  TextValues,
} from '../parquet/column-values.ts';
import { ColumnWriter, type WrittenChunk } from '../parquet/column-writer.ts';
import { fileEnd, newChunkStruct } from '../parquet/description.ts';
import {
  ChunkField,
  Converted,
  FileField,
  GroupField,
  Logical,
  MAGIC,
  MetaField,
  Physical,
  Repetition,
  SchemaField,
} from '../parquet/format.ts';
import { structList, ThriftStruct, ThriftType } from '../parquet/thrift.ts';
import { unscaledOfKey } from '../values/wide-number.ts';

const GROUP_ROWS = 65_536;
/** A row group also ends at this size. */
const GROUP_BYTES = 32 * 1024 * 1024;
/** Rows between checks of the group's size. */
const ROWS_PER_CHECK = 256;

const { binary, byte, i32, i64, list, struct } = ThriftType;
const encoder = new TextEncoder();

interface ExportColumn {
  readonly name: string;
  /** Among the row's values. */
  readonly index: number;
  readonly writer: ColumnWriter;
  readonly annotate: (element: ThriftStruct) => ThriftStruct;
  /** For a value that is no text in a column of texts. */
  readonly textOf?: (value: string | number | bigint) => string;
}

/** In pieces; `_row_id` is a column only where the shape shows it. */
export function* encodeParquet(shape: RowShape, rows: Iterable<Row>): Generator<Uint8Array> {
  const columns = columnsOf(shape);
  const file = new ParquetOutput(columns);
  yield MAGIC;
  let count = 0;
  for (const row of rows) {
    for (let place = 0; place < columns.length; place++) {
      const { writer, index, textOf } = columns[place]!;
      const value = row[index]!;
      writer.add(textOf === undefined || value === null ? value : textOf(value));
    }
    count++;
    const isFull = count % ROWS_PER_CHECK === 0 && file.size >= GROUP_BYTES;
    if (count < GROUP_ROWS && !isFull) continue;
    yield* file.group(count);
    count = 0;
  }
  if (count > 0) yield* file.group(count);
  yield file.footer();
}

function columnsOf({ columns, rowIdAt }: RowShape): ExportColumn[] {
  const chosen = columns.map((column, index) => ({ ...columnOf(column), index: index + 1 }));
  const rowId = { ...columnOf({ name: '_row_id', type: 'integer' }), index: 0 };
  if (rowIdAt !== null) chosen.splice(rowIdAt, 0, rowId);
  return chosen;
}

function columnOf({
  name,
  type,
  file,
  isText,
}: RowShape['columns'][number]): Omit<ExportColumn, 'index'> {
  if (isText) {
    const textOf = (value: string | number | bigint): string =>
      String(type === 'boolean' ? booleanOf(value) : value);
    return {
      name,
      writer: new ColumnWriter(Physical.bytes, new TextValues()),
      annotate: text,
      textOf,
    };
  }
  const wide = wideNumber(file?.type);
  if (wide) return { name, ...(type === 'integer' ? unsigned(wide) : decimal(wide)) };
  switch (type) {
    case 'integer':
      return { name, writer: new ColumnWriter(Physical.int64, new LongValues()), annotate: plain };
    case 'number':
      return {
        name,
        writer: new ColumnWriter(Physical.double, new DoubleValues()),
        annotate: plain,
      };
    case 'boolean':
      return {
        name,
        writer: new ColumnWriter(Physical.boolean, new BooleanValues()),
        annotate: plain,
      };
    default:
      return { name, writer: new ColumnWriter(Physical.bytes, new TextValues()), annotate: text };
  }
}

function plain(element: ThriftStruct): ThriftStruct {
  return element;
}

function text(element: ThriftStruct): ThriftStruct {
  return annotated(element, Converted.utf8, Logical.string, new ThriftStruct());
}

function unsigned(wide: WideNumber): Pick<ExportColumn, 'writer' | 'annotate'> {
  const details = new ThriftStruct().set(1, byte, 64).set(2, ThriftType.false, false);
  return {
    writer: new ColumnWriter(Physical.int64, new LongValues((key) => unscaledOfKey(key, wide))),
    annotate: (element) => annotated(element, Converted.uint64, Logical.integer, details),
  };
}

function decimal(wide: WideNumber): Pick<ExportColumn, 'writer' | 'annotate'> {
  const { digits, scale } = wide;
  let width = 1;
  while (2n ** BigInt(width * 8 - 1) < 10n ** BigInt(digits)) width++;
  const details = new ThriftStruct().set(1, i32, scale).set(2, i32, digits);
  return {
    writer: new ColumnWriter(
      Physical.fixed,
      new FixedValues((key) => littleEndian(unscaledOfKey(key, wide), width)!.toReversed()),
    ),
    annotate: (element) =>
      annotated(
        element
          .set(SchemaField.typeLength, i32, width)
          .set(SchemaField.scale, i32, scale)
          .set(SchemaField.precision, i32, digits),
        Converted.decimal,
        Logical.decimal,
        details,
      ),
  };
}

function annotated(
  element: ThriftStruct,
  converted: number,
  logical: number,
  details: ThriftStruct,
): ThriftStruct {
  return element
    .set(SchemaField.converted, i32, converted)
    .set(SchemaField.logical, struct, new ThriftStruct().set(logical, struct, details));
}

class ParquetOutput {
  readonly #columns: readonly ExportColumn[];
  readonly #groups: ThriftStruct[] = [];
  #offset = MAGIC.length;
  #rows = 0;

  constructor(columns: readonly ExportColumn[]) {
    this.#columns = columns;
  }

  /** Bytes waiting for their row group. */
  get size(): number {
    return this.#columns.reduce((sum, { writer }) => sum + writer.size, 0);
  }

  /** Writes the values added so far as a row group. */
  *group(rows: number): Generator<Uint8Array> {
    const start = this.#offset;
    const chunks: ThriftStruct[] = [];
    let bytes = 0;
    for (const column of this.#columns) {
      const chunk = column.writer.take();
      chunks.push(this.#chunk(column, chunk));
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

  #chunk({ name, writer }: ExportColumn, chunk: WrittenChunk): ThriftStruct {
    const { physical } = writer;
    const struct = newChunkStruct(physical, [name], Codec.snappy, chunk, this.#offset);
    struct.struct(ChunkField.meta)!.set(MetaField.statistics, ThriftType.struct, statistics(chunk));
    return struct;
  }

  footer(): Uint8Array {
    const elements = this.#columns.map(({ name, writer, annotate }) =>
      annotate(
        new ThriftStruct()
          .set(SchemaField.type, i32, writer.physical)
          .set(SchemaField.repetition, i32, Repetition.optional)
          .set(SchemaField.name, binary, encoder.encode(name)),
      ),
    );
    const root = new ThriftStruct()
      .set(SchemaField.name, binary, encoder.encode('schema'))
      .set(SchemaField.children, i32, elements.length);
    // Without an order, readers must not use the bounds.
    const orders = elements.map(() => new ThriftStruct().set(1, struct, new ThriftStruct()));
    return fileEnd(
      new ThriftStruct()
        .set(FileField.version, i32, 2)
        .set(FileField.schema, list, structList([root, ...elements]))
        .set(FileField.rows, i64, this.#rows)
        .set(FileField.rowGroups, list, structList(this.#groups))
        .set(FileField.createdBy, binary, encoder.encode('svc'))
        .set(FileField.columnOrders, list, structList(orders)),
    );
  }
}

function statistics({ nulls, bounds }: WrittenChunk): ThriftStruct {
  const found = new ThriftStruct().set(3, i64, nulls);
  return bounds ? found.set(5, binary, bounds.greatest).set(6, binary, bounds.least) : found;
}
