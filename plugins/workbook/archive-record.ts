/**
 * The fixed records of a ZIP archive (APPNOTE 6.3): the directory's record of an entry and the
 * local header that repeats it.
 *
 * Sizes and offsets may be in a ZIP64 extra field: streaming writers add it to entries of any size.
 */
import { unreadable } from './unreadable.ts';

export const LOCAL_HEADER_BYTES = 30;
export const RECORD_BYTES = 46;
export const LOCAL_SIGNATURE = 0x04034b50;
const RECORD_SIGNATURE = 0x02014b50;
export const IN_EXTRA = 0xffffffff;

const ZIP64_FIELD = 1;
const ENCRYPTED = 0x0001;
const HAS_DESCRIPTOR = 0x0008;
const UTF8_NAME = 0x0800;
/** Patched data, strong encryption, hidden header values. */
const UNSUPPORTED = 0x0020 | 0x0040 | 0x2000;

export interface DirectoryRecord {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
  readonly offset: number;
  readonly bytes: Buffer;
}

export function directoryRecord(directory: Buffer, at: number): DirectoryRecord {
  if (at + RECORD_BYTES > directory.length || directory.readUInt32LE(at) !== RECORD_SIGNATURE) {
    throw unreadable('its ZIP directory is damaged');
  }
  const nameLength = directory.readUInt16LE(at + 28);
  const extraLength = directory.readUInt16LE(at + 30);
  const length = RECORD_BYTES + nameLength + extraLength + directory.readUInt16LE(at + 32);
  if (at + length > directory.length) throw unreadable('its ZIP directory is damaged');
  const bytes = directory.subarray(at, at + length);
  const flags = bytes.readUInt16LE(8);
  const name = entryName(bytes.subarray(RECORD_BYTES, RECORD_BYTES + nameLength), flags);
  if ((flags & ENCRYPTED) !== 0) throw unreadable('it is encrypted');
  if ((flags & UNSUPPORTED) !== 0) throw unreadable(`the entry '${name}' has unsupported features`);
  const extra = bytes.subarray(RECORD_BYTES + nameLength, RECORD_BYTES + nameLength + extraLength);
  const large = new LargeNumbers(extra);
  const size = large.resolve(bytes.readUInt32LE(24));
  const compressedSize = large.resolve(bytes.readUInt32LE(20));
  const offset = large.resolve(bytes.readUInt32LE(42));
  if (bytes.readUInt16LE(34) !== 0) throw unreadable('it is split over several files');
  const method = bytes.readUInt16LE(10);
  return { name, flags, method, crc: bytes.readUInt32LE(16), compressedSize, size, offset, bytes };
}

/**
 * `header`: the fixed part, name and extra fields. Throws `unreadable-file` when it contradicts the
 * directory: readers that trust one of the two would see different files.
 */
export function dataOffset(record: DirectoryRecord, header: Buffer): number {
  const disagreement = (): Error =>
    unreadable(`the entry '${record.name}' and the ZIP directory disagree`);
  if (header.length < LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== LOCAL_SIGNATURE) {
    throw disagreement();
  }
  const nameLength = header.readUInt16LE(26);
  const length = LOCAL_HEADER_BYTES + nameLength + header.readUInt16LE(28);
  const named = record.bytes.subarray(RECORD_BYTES, RECORD_BYTES + record.bytes.readUInt16LE(28));
  const name = header.subarray(LOCAL_HEADER_BYTES, LOCAL_HEADER_BYTES + nameLength);
  const common = ENCRYPTED | HAS_DESCRIPTOR;
  const isSame =
    name.equals(named) &&
    (header.readUInt16LE(6) & common) === (record.flags & common) &&
    header.readUInt16LE(8) === record.method;
  if (!isSame || !hasSameNumbers(record, header, length)) throw disagreement();
  return record.offset + length;
}

function hasSameNumbers(record: DirectoryRecord, header: Buffer, length: number): boolean {
  const crc = header.readUInt32LE(14);
  const large = new LargeNumbers(
    header.subarray(LOCAL_HEADER_BYTES + header.readUInt16LE(26), length),
  );
  const size = large.resolve(header.readUInt32LE(22));
  const compressedSize = large.resolve(header.readUInt32LE(18));
  const isExact =
    crc === record.crc && size === record.size && compressedSize === record.compressedSize;
  if ((record.flags & HAS_DESCRIPTOR) === 0) return isExact;
  const isLeftOpen = (value: number, known: number): boolean => value === 0 || value === known;
  return (
    isLeftOpen(crc, record.crc) &&
    isLeftOpen(size, record.size) &&
    isLeftOpen(compressedSize, record.compressedSize)
  );
}

/** A ZIP64 extra field: fixed order, only those numbers that are needed. */
class LargeNumbers {
  readonly #field: Buffer;
  #at = 0;

  constructor(extra: Buffer) {
    this.#field = extraField(extra, ZIP64_FIELD) ?? Buffer.alloc(0);
  }

  resolve(value: number): number {
    if (value !== IN_EXTRA || this.#at + 8 > this.#field.length) return value;
    const large = uint64(this.#field, this.#at);
    this.#at += 8;
    return large;
  }
}

/** Throws `unreadable-file` beyond the size of any file. */
export function uint64(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw unreadable('its ZIP directory is damaged');
  return Number(value);
}

function extraField(extra: Buffer, id: number): Buffer | null {
  for (const field of extraFields(extra))
    if (field.readUInt16LE(0) === id) return field.subarray(4);
  return null;
}

export function withoutLargeNumbers(extra: Buffer): Buffer {
  return Buffer.concat(extraFields(extra).filter((field) => field.readUInt16LE(0) !== ZIP64_FIELD));
}

function extraFields(extra: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) break;
    fields.push(extra.subarray(at, end));
    at = end;
  }
  return fields;
}

/** Part names are ASCII; other names only need to stay distinct. */
function entryName(bytes: Buffer, flags: number): string {
  const name = bytes.toString((flags & UTF8_NAME) === 0 ? 'latin1' : 'utf8');
  const segments = (name.endsWith('/') ? name.slice(0, -1) : name).split('/');
  const isBad =
    /[\u0000-\u001f\\]/.test(name) ||
    /^[A-Za-z]:/.test(name) ||
    segments.some((segment) => segment === '' || segment === '.' || segment === '..');
  if (isBad) throw unreadable(`the ZIP entry name ${JSON.stringify(name)} is not allowed`);
  return name;
}
