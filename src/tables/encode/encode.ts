/**
 * Rows as the bytes of a response.
 *
 * Members are written from prepared keys, so that columns called `7` or `__proto__` keep their place. CSV is raw data
 * for programs: text that a spreadsheet would run as a formula is not changed.
 */
import { ByteWriter } from './byte-writer.ts';
import { type WideNumber, wideNumber, type ColumnType } from '../infer/file-type.ts';
import type { NativeColumn } from './native-value.ts';
import type { Format } from '../read/format.ts';
import type { Blank } from '../read/query-table.ts';
import { wideText } from '../values/wide-number.ts';

/** Large enough that sending a chunk costs less than making it. */
const CHUNK_BYTES = 64 * 1024;
/** More than any number, blank, quotes or punctuation takes. */
const FIELD_BYTES = 32;

const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

const encoder = new TextEncoder();
const QUOTED_NOTHING = encoder.encode('""');

/** `_row_id`, then the stored values of the shape's columns. */
export type Row = readonly (string | number | bigint | null)[];

export interface RowShape {
  readonly columns: readonly (NativeColumn & {
    readonly name: string;
    readonly type: ColumnType;
    /** SQL column of one that may hold what a typed file cannot. */
    readonly misfitAt?: number;
    /** A string column in typed formats all the same. */
    readonly isText?: boolean;
  })[];
  /** Position of `_row_id` in formats that leave it out unless asked; null: left out. */
  readonly rowIdAt: number | null;
  readonly blank: Blank;
}

/** Chunks of about 64 KiB; passes on what the rows throw. */
export type Encoder = (shape: RowShape, rows: Iterable<Row>) => Generator<Uint8Array>;

/** A format without an encoder is refused as a parameter. */
export const encoders: Readonly<Partial<Record<Format, Encoder>>> = {
  json: (shape, rows) => encodeObjects(shape, rows, OPEN_LIST, COMMA, CLOSE_LIST),
  ndjson: (shape, rows) => encodeObjects(shape, rows, null, LINE_FEED, LINE_FEED),
  csv: encodeCsv,
};

interface Field {
  readonly index: number;
  readonly isBoolean: boolean;
  /** Set where the stored text does not stand for a string. */
  readonly wide: WideNumber | null;
  readonly isNested: boolean;
  readonly lead: Uint8Array;
}

/** `open` is null where nothing stands around the objects; `close` then ends the last one. */
function* encodeObjects(
  shape: RowShape,
  rows: Iterable<Row>,
  open: number | null,
  separator: number,
  close: number,
): Generator<Uint8Array> {
  const writer = new ByteWriter(CHUNK_BYTES);
  const fields = jsonFields(shape);
  const blank = blankJson(shape);
  if (open !== null) writer.byte(open);
  let isFirst = true;
  for (const row of rows) {
    if (isFirst) isFirst = false;
    else writer.byte(separator);
    writeObject(writer, fields, blank, row);
    if (writer.isFull) yield writer.take();
  }
  if (open === null && isFirst) return;
  writer.byte(close);
  yield writer.end();
}

/** Each row as a comma and its JSON object, in bytes of its own. */
export function* rowsAsJson(shape: RowShape, rows: Iterable<Row>): Generator<Uint8Array> {
  const writer = new ByteWriter(CHUNK_BYTES);
  const fields = jsonFields(shape);
  const blank = blankJson(shape);
  for (const row of rows) {
    writer.byte(COMMA);
    writeObject(writer, fields, blank, row);
    yield writer.take();
  }
  writer.end();
}

const knownFields = new WeakMap<RowShape, Field[]>();

/** Remembered with the shape, which the plans of a table share. */
function jsonFields(shape: RowShape): Field[] {
  let fields = knownFields.get(shape);
  if (!fields) knownFields.set(shape, (fields = newJsonFields(shape)));
  return fields;
}

function newJsonFields({ columns }: RowShape): Field[] {
  const lead = (name: string, index: number) =>
    utf8(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return [
    { index: 0, ...ROW_ID_FORM, lead: lead('_row_id', 0) },
    ...columns.map((column, index) => ({
      index: index + 1,
      ...formOf(column),
      lead: lead(column.name, index + 1),
    })),
  ];
}

const ROW_ID_FORM = { isBoolean: false, wide: null, isNested: false };

function formOf({
  type,
  file,
}: RowShape['columns'][number]): Pick<Field, 'isBoolean' | 'wide' | 'isNested'> {
  return {
    isBoolean: type === 'boolean',
    wide: wideNumber(file?.type),
    isNested: file?.type.kind === 'nested',
  };
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
  writer.ensure(roomFor(fields, row, 6));
  for (let place = 0; place < fields.length; place++) {
    const { index, isBoolean, wide, isNested, lead } = fields[place]!;
    const value = row[index]!;
    if (value === null) {
      writer.bytes(lead);
      writer.bytes(blank);
    } else if (typeof value === 'string' && (isNested || wide)) {
      // The text is JSON already.
      writer.text(lead, wide ? wideText(value, wide) : value);
    } else writer.json(lead, isBoolean ? booleanOf(value) : value);
  }
  writer.byte(CLOSE_OBJECT);
}

/** Upper limit in bytes, with leads and separators. */
function roomFor(fields: readonly Field[], row: Row, bytesPerUnit: number): number {
  let room = FIELD_BYTES;
  for (let place = 0; place < fields.length; place++) {
    const { index, lead } = fields[place]!;
    const value = row[index];
    room +=
      lead.length + FIELD_BYTES + (typeof value === 'string' ? value.length * bytesPerUnit : 0);
  }
  return room;
}

function* encodeCsv(shape: RowShape, rows: Iterable<Row>): Generator<Uint8Array> {
  const writer = new ByteWriter(CHUNK_BYTES);
  const fields = csvFields(shape);
  if (fields.length === 0) return;
  const names = ['_row_id', ...shape.columns.map(({ name }) => name)];
  writeFields(
    writer,
    fields.map((field) => ({ ...field, wide: null })),
    names,
  );
  for (const row of rows) {
    writeFields(writer, fields, row);
    if (writer.isFull) yield writer.take();
  }
  yield writer.end();
}

/** `lead` is the comma, except for the first field. */
function csvFields({ columns, rowIdAt }: RowShape): Field[] {
  const cells = columns.map((column, index) => ({ index: index + 1, ...formOf(column) }));
  if (rowIdAt !== null) cells.splice(rowIdAt, 0, { index: 0, ...ROW_ID_FORM });
  return cells.map((cell, place) => ({ ...cell, lead: utf8(place > 0 ? ',' : '') }));
}

function writeFields(writer: ByteWriter, fields: readonly Field[], row: Row): void {
  writer.ensure(roomFor(fields, row, 3));
  for (let place = 0; place < fields.length; place++) {
    const { index, isBoolean, wide, lead } = fields[place]!;
    const value = row[index]!;
    if (value === null || value === '') {
      // Most readers, ours included, see no row in an empty line.
      writer.bytes(fields.length === 1 ? QUOTED_NOTHING : lead);
    } else if (wide && typeof value === 'string') writer.text(lead, wideText(value, wide));
    else writer.csv(lead, isBoolean ? booleanOf(value) : value);
  }
  writer.byte(LINE_FEED);
}

/** Among bigints, booleans are bigints too; text that does not fit stays text. */
export function booleanOf(value: string | number | bigint): string | boolean {
  return typeof value === 'string' ? value : Number(value) === 1;
}

function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}
