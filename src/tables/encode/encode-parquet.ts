/**
 * Rows as a Parquet file: nullable columns of the schema's types, snappy, row groups of at most 65,536 rows.
 *
 * Integers are INT64, numbers DOUBLE and texts UTF-8; what a Parquet file declares as decimal, date, time, timestamp,
 * UUID or unsigned 64-bit integer stays that, and texts that are dates become dates or timestamps. A column with cells that do not fit its declared type becomes texts. Memory
 * is one row group. Loaded on demand, not at start.
 */
import { booleanOf, type Row, type RowShape } from './encode.ts';
import { type FileType, type TimeUnit, wideNumber, type WideNumber } from '../infer/file-type.ts';
import { isoDates, type NativeColumn, nativeType, nativeValue } from './native-value.ts';
import { littleEndian } from '../parquet/bytes.ts';
import { Codec } from '../parquet/codec.ts';
import {
  BooleanValues,
  DoubleValues,
  FixedValues,
  IntegerValues,
  LongValues,
  TextValues,
  type WritableValue,
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
  /** From the stored value to one the writer takes. */
  readonly convert?: (value: string | number | bigint) => WritableValue;
}

/** In pieces; `_row_id` is a column only where the shape shows it. */
export function* encodeParquet(shape: RowShape, rows: Iterable<Row>): Generator<Uint8Array> {
  const columns = columnsOf(shape);
  const file = new ParquetOutput(columns);
  yield MAGIC;
  let count = 0;
  for (const row of rows) {
    for (let place = 0; place < columns.length; place++) {
      const { writer, index, convert } = columns[place]!;
      const value = row[index]!;
      writer.add(convert === undefined || value === null ? value : convert(value));
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

function columnOf(column: RowShape['columns'][number]): Omit<ExportColumn, 'index'> {
  const { name, type, isText } = column;
  const texts = { writer: new ColumnWriter(Physical.bytes, new TextValues()), annotate: text };
  if (isText) {
    return {
      name,
      ...texts,
      convert: (value) => String(type === 'boolean' ? booleanOf(value) : value),
    };
  }
  const declared = nativeType(column);
  const native = declared && nativeColumn(declared);
  if (native) return { name, ...native, ...(column.dates && { convert: inIso(column, native) }) };
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
      return { name, ...texts };
  }
}

function plain(element: ThriftStruct): ThriftStruct {
  return element;
}

function text(element: ThriftStruct): ThriftStruct {
  return annotated(element, Logical.string, new ThriftStruct(), Converted.utf8);
}

type NativeWriter = Pick<ExportColumn, 'writer' | 'annotate' | 'convert'>;

function inIso(column: NativeColumn, { convert }: NativeWriter): ExportColumn['convert'] {
  const isoOf = isoDates(column);
  return (value) => {
    const iso = isoOf(String(value));
    return iso === null ? null : convert!(iso);
  };
}

/** Null for types whose values are stored as those of the same type in any other file. */
function nativeColumn(type: FileType): NativeWriter | null {
  const wide = wideNumber(type);
  switch (type.kind) {
    case 'integer':
      return wide && unsigned(wide);
    case 'decimal':
      return wide ? wideDecimal(wide) : decimal(type);
    case 'date':
      return {
        ...converted(type, Physical.int32),
        annotate: (element) => annotated(element, Logical.date, new ThriftStruct(), Converted.date),
      };
    case 'time':
      return {
        ...converted(type, type.unit === 'ms' ? Physical.int32 : Physical.int64),
        annotate: (element) =>
          annotated(element, Logical.time, moment(type), TIME_CONVERTED[type.unit]),
      };
    case 'timestamp':
      return {
        ...converted(type, Physical.int64),
        annotate: (element) =>
          annotated(element, Logical.timestamp, moment(type), TIMESTAMP_CONVERTED[type.unit]),
      };
    case 'uuid':
      return {
        writer: new ColumnWriter(
          Physical.fixed,
          new FixedValues((value) => Uint8Array.fromHex(value.replaceAll('-', ''))),
        ),
        annotate: (element) =>
          annotated(element.set(SchemaField.typeLength, i32, 16), Logical.uuid, new ThriftStruct()),
      };
    default:
      return null;
  }
}

function converted(type: FileType, physical: number): Pick<NativeWriter, 'writer' | 'convert'> {
  const values = physical === Physical.int32 ? new IntegerValues() : new LongValues();
  return { writer: new ColumnWriter(physical, values), convert: nativeValue(type)! };
}

/** Nanoseconds have none. */
const TIME_CONVERTED: Readonly<Partial<Record<TimeUnit, number>>> = {
  ms: Converted.timeMillis,
  us: Converted.timeMicros,
};
const TIMESTAMP_CONVERTED: Readonly<Partial<Record<TimeUnit, number>>> = {
  ms: Converted.timestampMillis,
  us: Converted.timestampMicros,
};
const UNIT_FIELD: Readonly<Record<TimeUnit, number>> = { ms: 1, us: 2, ns: 3 };

/** Whether it is in UTC, and its unit. */
function moment({ unit, isUtc }: Extract<FileType, { kind: 'time' | 'timestamp' }>): ThriftStruct {
  const union = new ThriftStruct().set(UNIT_FIELD[unit], struct, new ThriftStruct());
  return new ThriftStruct()
    .set(1, isUtc ? ThriftType.true : ThriftType.false, isUtc === true)
    .set(2, struct, union);
}

function unsigned(wide: WideNumber): NativeWriter {
  const details = new ThriftStruct().set(1, byte, 64).set(2, ThriftType.false, false);
  return {
    writer: new ColumnWriter(Physical.int64, new LongValues((key) => unscaledOfKey(key, wide))),
    annotate: (element) => annotated(element, Logical.integer, details, Converted.uint64),
  };
}

function decimal(type: Extract<FileType, { kind: 'decimal' }>): NativeWriter {
  const { precision, scale } = type;
  return {
    ...converted(type, Physical.int64),
    annotate: (element) => annotatedDecimal(element, precision, scale),
  };
}

function wideDecimal(wide: WideNumber): NativeWriter {
  const { digits, scale } = wide;
  let width = 1;
  while (2n ** BigInt(width * 8 - 1) < 10n ** BigInt(digits)) width++;
  return {
    writer: new ColumnWriter(
      Physical.fixed,
      new FixedValues((key) => littleEndian(unscaledOfKey(key, wide), width)!.toReversed()),
    ),
    annotate: (element) =>
      annotatedDecimal(element.set(SchemaField.typeLength, i32, width), digits, scale),
  };
}

function annotatedDecimal(element: ThriftStruct, precision: number, scale: number): ThriftStruct {
  const details = new ThriftStruct().set(1, i32, scale).set(2, i32, precision);
  element.set(SchemaField.scale, i32, scale).set(SchemaField.precision, i32, precision);
  return annotated(element, Logical.decimal, details, Converted.decimal);
}

/** `legacy` is what readers that know no logical types go by. */
function annotated(
  element: ThriftStruct,
  logical: number,
  details: ThriftStruct,
  legacy?: number,
): ThriftStruct {
  if (legacy !== undefined) element.set(SchemaField.converted, i32, legacy);
  const union = new ThriftStruct().set(logical, struct, details);
  return element.set(SchemaField.logical, struct, union);
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
