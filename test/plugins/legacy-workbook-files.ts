/** Makes legacy .xls workbooks record by record, for the tests of their reader. */
import * as XLSX from 'xlsx';

/** A record of a workbook stream. */
export function record(
  type: number,
  ...content: readonly (Uint8Array | readonly number[])[]
): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(body.length, 2);
  return Buffer.concat([head, body]);
}

export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => bytes.writeUInt16LE(value & 0xffff, index * 2));
  return bytes;
}

export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32LE(value >>> 0, index * 4));
  return bytes;
}

export function f64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

export interface LegacyParts {
  /** 0x0600 (Excel 97) unless given. */
  readonly version?: number;
  /** Records before those of the sheets, after the first one. */
  readonly globals?: readonly Buffer[];
  /** Records of each sheet. */
  readonly sheets: readonly {
    readonly name: Uint8Array | string;
    readonly type?: number;
    readonly records: readonly Buffer[];
  }[];
}

/** The workbook stream. */
export function legacyStream({ version = 0x0600, globals = [], sheets }: LegacyParts): Buffer {
  const begin = (kind: number): Buffer => record(0x0809, u16(version, kind, 0, 0, 0, 0, 0, 0));
  const end = record(0x000a);
  const bodies = sheets.map(({ records }) => Buffer.concat([begin(0x10), ...records, end]));
  const head = (offsets: readonly number[]): Buffer =>
    Buffer.concat([
      begin(0x05),
      ...globals,
      ...sheets.map(({ name, type = 0 }, index) => {
        const bytes = Buffer.from(name as string);
        const flags = version === 0x0600 ? [bytes.length, 0] : [bytes.length];
        return record(0x0085, u32(offsets[index] ?? 0), [0, type], flags, bytes);
      }),
      end,
    ]);
  let at = head([]).length;
  const offsets = bodies.map((body) => {
    const offset = at;
    at += body.length;
    return offset;
  });
  return Buffer.concat([head(offsets), ...bodies]);
}

/** A compound file with one stream. */
export function compoundFile(stream: Uint8Array, name = 'Workbook'): Buffer {
  const file = XLSX.CFB.utils.cfb_new();
  XLSX.CFB.utils.cfb_add(file, `/${name}`, stream as unknown as string);
  return Buffer.from(XLSX.CFB.write(file, { type: 'buffer' }) as Uint8Array);
}

/** A legacy workbook. */
export function legacyFile(parts: LegacyParts): Buffer {
  return compoundFile(legacyStream(parts), parts.version === 0x0500 ? 'Book' : 'Workbook');
}

/** Text of a cell in Excel 97 (bytes, one each) or, with a code page, in Excel 95. */
export function label(
  row: number,
  column: number,
  text: Uint8Array | string,
  isLegacy = false,
): Buffer {
  const bytes = Buffer.from(text as string);
  return record(0x0204, u16(row, column, 0), u16(bytes.length), isLegacy ? [] : [0], bytes);
}

export function number(row: number, column: number, value: number, format = 0): Buffer {
  return record(0x0203, u16(row, column, format), f64(value));
}
