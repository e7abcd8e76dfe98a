/**
 * Rows as a Parquet file: nullable columns, snappy, row groups of at most 65,536 rows.
 *
 * Integers are INT64, numbers DOUBLE and texts UTF-8; types that a Parquet file declares stay, nested ones too; texts
 * that are dates become dates or timestamps. A column with cells that do not fit its declared type becomes texts.
 * Memory is one row group. Loaded on demand.
 */
import { booleanOf, type Row, type RowShape } from './encode.ts';
import {
  type FileType,
  hasLongIntegers,
  presentedType,
  type TimeUnit,
  wideNumber,
  type WideNumber,
} from '../infer/file-type.ts';
import { type LeafColumn, NestedColumn } from './nested-column.ts';
import { isoDates, type NativeColumn, nativeType, nativeValue } from './native-value.ts';
import { littleEndian } from '../parquet/bytes.ts';
import { Codec } from '../parquet/codec.ts';
import {
  BinaryValues,
  BooleanValues,
  DoubleValues,
  FixedValues,
  IntegerValues,
  LongValues,
  TextValues,
  type WritableValue,
} from '../parquet/column-values.ts';
import { ColumnWriter } from '../parquet/column-writer.ts';
import { Converted, Logical, MAGIC, Physical, Repetition, SchemaField } from '../parquet/format.ts';
import { annotated, type OutputColumn, ParquetOutput } from '../parquet/output.ts';
import { ThriftStruct, ThriftType } from '../parquet/thrift.ts';
import { unscaledOfKey, wideKeyOf } from '../values/wide-number.ts';

const GROUP_ROWS = 65_536;
/** A row group also ends at this size. */
const GROUP_BYTES = 32 * 1024 * 1024;
/** Rows between checks of the group's size. */
const ROWS_PER_CHECK = 256;

const { binary, byte, i32, struct } = ThriftType;
const encoder = new TextEncoder();

type Stored = string | number | bigint;

interface ExportColumn extends OutputColumn {
  /** Among the row's values. */
  readonly index: number;
  readonly add: (value: Stored | null) => void;
}

interface FlatColumn {
  readonly writer: ColumnWriter;
  readonly annotate: (element: ThriftStruct) => ThriftStruct;
  /** From the stored value to one the writer takes. */
  readonly convert?: (value: Stored) => WritableValue;
}

/** `_row_id` is a column only where the shape shows it. */
export function* encodeParquet(shape: RowShape, rows: Iterable<Row>): Generator<Uint8Array> {
  const columns = columnsOf(shape);
  const file = new ParquetOutput(columns, Codec.snappy);
  yield MAGIC;
  let count = 0;
  for (const row of rows) {
    for (let place = 0; place < columns.length; place++) {
      const { add, index } = columns[place]!;
      add(row[index]!);
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
  const { name, file, isText } = column;
  if (!isText && file?.type.kind === 'nested' && file.type.nesting) {
    const nested = new NestedColumn(name, file.type.nesting, leafOf);
    const { elements, leaves } = nested;
    return { elements, leaves, add: (value) => nested.add(value === null ? null : String(value)) };
  }
  const { writer, annotate, convert } = flatColumn(column);
  const element = new ThriftStruct()
    .set(SchemaField.type, i32, writer.physical)
    .set(SchemaField.repetition, i32, Repetition.optional)
    .set(SchemaField.name, binary, encoder.encode(name));
  return {
    elements: [annotate(element)],
    leaves: [{ path: [name], writer }],
    add: (value) => writer.add(convert === undefined || value === null ? value : convert(value)),
  };
}

/** Numbers come as JSON has them, of some types as their digits. */
function leafOf(type: FileType, levels: ColumnLevels): LeafColumn {
  const flat = flatColumn(
    { name: '', type: presentedType(type), file: { type, isRequired: false } },
    levels,
  );
  const { writer, annotate, convert = (value: Stored) => value } = flat;
  const wide = wideNumber(type);
  const stored = (value: unknown): Stored | null => {
    if (wide) return wideKeyOf(String(value), wide);
    // The key of a map is a text.
    if (type.kind === 'boolean') return Number(String(value) === 'true');
    if (type.kind === 'integer')
      return hasLongIntegers(type) ? BigInt(String(value)) : Number(value);
    if (presentedType(type) === 'number') return Number(value);
    return String(value);
  };
  return {
    writer,
    annotate,
    convert: (value) => {
      const own = stored(value);
      return own === null ? null : convert(own);
    },
  };
}

type ColumnLevels = NonNullable<ConstructorParameters<typeof ColumnWriter>[2]>;

function flatColumn(column: RowShape['columns'][number], levels?: ColumnLevels): FlatColumn {
  const { type, isText } = column;
  const texts = {
    writer: new ColumnWriter(Physical.bytes, new TextValues(), levels),
    annotate: text,
  };
  if (isText) {
    return {
      ...texts,
      convert: (value) => String(type === 'boolean' ? booleanOf(value) : value),
    };
  }
  const declared = nativeType(column);
  const native = declared && nativeColumn(declared, levels);
  if (native) return { ...native, ...(column.dates && { convert: inIso(column, native) }) };
  switch (type) {
    case 'integer':
      return {
        writer: new ColumnWriter(Physical.int64, new LongValues(), levels),
        annotate: plain,
      };
    case 'number':
      return {
        writer: new ColumnWriter(Physical.double, new DoubleValues(), levels),
        annotate: plain,
      };
    case 'boolean':
      return {
        writer: new ColumnWriter(Physical.boolean, new BooleanValues(), levels),
        annotate: plain,
      };
    default:
      return texts;
  }
}

function plain(element: ThriftStruct): ThriftStruct {
  return element;
}

function text(element: ThriftStruct): ThriftStruct {
  return annotated(element, Logical.string, new ThriftStruct(), Converted.utf8);
}

function inIso(column: NativeColumn, { convert }: FlatColumn): FlatColumn['convert'] {
  const isoOf = isoDates(column);
  return (value) => {
    const iso = isoOf(String(value));
    return iso === null ? null : convert!(iso);
  };
}

/** Null for types whose values are stored as those of the same type in any other file. */
function nativeColumn(type: FileType, levels?: ColumnLevels): FlatColumn | null {
  const wide = wideNumber(type);
  switch (type.kind) {
    case 'integer':
      return wide && unsigned(wide, levels);
    case 'decimal':
      return wide ? wideDecimal(wide, levels) : decimal(type, levels);
    case 'date':
      return {
        ...converted(type, Physical.int32, levels),
        annotate: (element) => annotated(element, Logical.date, new ThriftStruct(), Converted.date),
      };
    case 'time':
      return {
        ...converted(type, type.unit === 'ms' ? Physical.int32 : Physical.int64, levels),
        annotate: (element) =>
          annotated(element, Logical.time, moment(type), TIME_CONVERTED[type.unit]),
      };
    case 'timestamp':
      return {
        ...converted(type, Physical.int64, levels),
        annotate: (element) =>
          annotated(element, Logical.timestamp, moment(type), TIMESTAMP_CONVERTED[type.unit]),
      };
    case 'uuid':
      return {
        writer: new ColumnWriter(
          Physical.fixed,
          new FixedValues((value) => Uint8Array.fromHex(value.replaceAll('-', ''))),
          levels,
        ),
        annotate: (element) =>
          annotated(element.set(SchemaField.typeLength, i32, 16), Logical.uuid, new ThriftStruct()),
      };
    case 'opaque':
      if (!type.isBase64) return null;
      return {
        writer: new ColumnWriter(Physical.bytes, new BinaryValues(), levels),
        annotate: plain,
      };
    default:
      return null;
  }
}

function converted(
  type: FileType,
  physical: number,
  levels?: ColumnLevels,
): Pick<FlatColumn, 'writer' | 'convert'> {
  const values = physical === Physical.int32 ? new IntegerValues() : new LongValues();
  return { writer: new ColumnWriter(physical, values, levels), convert: nativeValue(type)! };
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

function moment({ unit, isUtc }: Extract<FileType, { kind: 'time' | 'timestamp' }>): ThriftStruct {
  const union = new ThriftStruct().set(UNIT_FIELD[unit], struct, new ThriftStruct());
  return new ThriftStruct()
    .set(1, isUtc ? ThriftType.true : ThriftType.false, isUtc === true)
    .set(2, struct, union);
}

function unsigned(wide: WideNumber, levels?: ColumnLevels): FlatColumn {
  const details = new ThriftStruct().set(1, byte, 64).set(2, ThriftType.false, false);
  return {
    writer: new ColumnWriter(
      Physical.int64,
      new LongValues((key) => unscaledOfKey(key, wide)),
      levels,
    ),
    annotate: (element) => annotated(element, Logical.integer, details, Converted.uint64),
  };
}

function decimal(type: Extract<FileType, { kind: 'decimal' }>, levels?: ColumnLevels): FlatColumn {
  const { precision, scale } = type;
  return {
    ...converted(type, Physical.int64, levels),
    annotate: (element) => annotatedDecimal(element, precision, scale),
  };
}

function wideDecimal(wide: WideNumber, levels?: ColumnLevels): FlatColumn {
  const { digits, scale } = wide;
  let width = 1;
  while (2n ** BigInt(width * 8 - 1) < 10n ** BigInt(digits)) width++;
  return {
    writer: new ColumnWriter(
      Physical.fixed,
      new FixedValues((key) => littleEndian(unscaledOfKey(key, wide), width)!.toReversed()),
      levels,
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
