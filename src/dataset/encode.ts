/**
 * Rows as the bytes of a response (DS-35, DS-39, DS-44, DS-45, DS-64).
 *
 * Encoders are lazy and hold one chunk, whatever the number of rows. Members are written from prepared keys, not from
 * objects, so that columns called `7` or `__proto__` keep their place. CSV is raw data for programs: a text that a
 * spreadsheet would run as a formula is written as it is.
 */
import { ByteWriter } from './byte-writer.ts';
import type { Format } from './format.ts';
import type { Blank } from './query-table.ts';
import type { ColumnType } from './types.ts';

/** A chunk of a response; large enough that sending it costs less than making it. */
const CHUNK_BYTES = 64 * 1024;
/** The longest text of a number that is not a bigint, with room. */
const NUMBER_BYTES = 32;

const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** `_row_id`, then the stored values of the shape's columns. */
export type Row = readonly (string | number | bigint | null)[];

/** What the rows hold and how they are to be shown. */
export interface RowShape {
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
  /** Where `_row_id` stands among the columns in formats that leave it out unless asked (DS-45); null: nowhere. */
  readonly rowIdAt: number | null;
  readonly blank: Blank;
}

/** The bytes of a response in chunks of about 64 KiB; a row is never skipped, and what the rows throw comes through. */
export type Encoder = (shape: RowShape, rows: Iterable<Row>) => Generator<Uint8Array>;

/** The encoders there are; a format without one is refused as a parameter. */
export const encoders: Readonly<Partial<Record<Format, Encoder>>> = {
  json: encodeJson,
  ndjson: encodeNdjson,
  csv: encodeCsv,
};

/** A cell of the row, with the bytes that lead to it. */
interface Field {
  readonly index: number;
  readonly isBoolean: boolean;
  readonly lead: Uint8Array;
}

function* encodeJson(shape: RowShape, rows: Iterable<Row>): Generator<Uint8Array> {
  const writer = new ByteWriter(CHUNK_BYTES);
  const fields = jsonFields(shape);
  const blank = blankJson(shape);
  writer.byte(OPEN_LIST);
  let isFirst = true;
  for (const row of rows) {
    if (isFirst) isFirst = false;
    else writer.byte(COMMA);
    writeObject(writer, fields, blank, row);
    if (writer.isFull) yield writer.take();
  }
  writer.byte(CLOSE_LIST);
  yield writer.take();
}

function* encodeNdjson(shape: RowShape, rows: Iterable<Row>): Generator<Uint8Array> {
  const writer = new ByteWriter(CHUNK_BYTES);
  const fields = jsonFields(shape);
  const blank = blankJson(shape);
  for (const row of rows) {
    writeObject(writer, fields, blank, row);
    writer.byte(LINE_FEED);
    if (writer.isFull) yield writer.take();
  }
  if (!writer.isEmpty) yield writer.take();
}

function jsonFields({ columns }: RowShape): Field[] {
  const lead = (name: string, index: number) =>
    utf8(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return [
    { index: 0, isBoolean: false, lead: lead('_row_id', 0) },
    ...columns.map(({ name, type }, index) => ({
      index: index + 1,
      isBoolean: type === 'boolean',
      lead: lead(name, index + 1),
    })),
  ];
}

function blankJson({ blank }: RowShape): Uint8Array {
  return utf8(blank === 'empty' ? '""' : 'null');
}

function writeObject(
  writer: ByteWriter,
  fields: readonly Field[],
  blank: Uint8Array,
  row: Row,
): void {
  for (const { index, isBoolean, lead } of fields) {
    const value = row[index]!;
    writer.ensure(lead.length + NUMBER_BYTES);
    writer.bytes(lead);
    if (typeof value === 'string') {
      writer.ensure(value.length * 6 + NUMBER_BYTES);
      writer.json(value);
    } else if (value === null) writer.bytes(blank);
    else writeNumber(writer, value, isBoolean);
  }
  writer.byte(CLOSE_OBJECT);
}

function* encodeCsv(shape: RowShape, rows: Iterable<Row>): Generator<Uint8Array> {
  const writer = new ByteWriter(CHUNK_BYTES);
  const fields = csvFields(shape);
  if (fields.length === 0) return;
  writer.ensure(fields.reduce((sum, { lead }) => sum + lead.length, 1));
  for (const { lead } of fields) writer.bytes(lead);
  writer.byte(LINE_FEED);
  for (const row of rows) {
    writeFields(writer, fields, row);
    if (writer.isFull) yield writer.take();
  }
  yield writer.take();
}

/** `lead` is the field's place in the header line, with the comma before it. */
function csvFields({ columns, rowIdAt }: RowShape): Field[] {
  const cells = columns.map(({ name, type }, index) => ({
    name,
    index: index + 1,
    isBoolean: type === 'boolean',
  }));
  if (rowIdAt !== null) cells.splice(rowIdAt, 0, { name: '_row_id', index: 0, isBoolean: false });
  return cells.map(({ name, index, isBoolean }, place) => {
    const header = new ByteWriter(name.length * 3 + 2);
    if (place > 0) header.byte(COMMA);
    header.csv(name);
    return { index, isBoolean, lead: header.take() };
  });
}

function writeFields(writer: ByteWriter, fields: readonly Field[], row: Row): void {
  for (let place = 0; place < fields.length; place++) {
    const { index, isBoolean } = fields[place]!;
    const value = row[index]!;
    writer.ensure(NUMBER_BYTES);
    if (place > 0) writer.byte(COMMA);
    if (typeof value === 'string' && value !== '') {
      writer.ensure(value.length * 3 + NUMBER_BYTES);
      writer.csv(value);
    } else if (value === null || value === '') {
      // A line without a byte would be no row to most readers, ours included (DS-63).
      if (fields.length === 1) writer.ascii('""');
    } else writeNumber(writer, value, isBoolean);
  }
  writer.byte(LINE_FEED);
}

/** Needs NUMBER_BYTES of room. 64-bit integers come as bigint, then booleans too. */
function writeNumber(
  writer: ByteWriter,
  value: number | bigint | string,
  isBoolean: boolean,
): void {
  if (isBoolean) writer.ascii(Number(value) === 1 ? 'true' : 'false');
  else if (typeof value === 'number') writer.number(value);
  else writer.ascii(String(value));
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
