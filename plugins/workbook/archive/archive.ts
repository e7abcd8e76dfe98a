/**
 * The ZIP archive of a workbook (APPNOTE 6.3): its directory, checked before a byte is expanded.
 *
 * Refuses everything two programs could read differently (overlapping entries, headers that contradict the directory,
 * duplicate names, data around the archive), because an edit copies bytes by what the directory says. Throws
 * `unreadable-file` with the reason.
 *
 * Sizes and offsets may be in a ZIP64 extra field: streaming writers add it to entries of any size.
 */
import { unreadable } from '../../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../../src/base/files/file-source.ts';
import {
  END_BYTES,
  END_SIGNATURE,
  LOCAL_BYTES,
  LOCAL_SIGNATURE,
  RECORD_BYTES,
  RECORD_SIGNATURE,
} from '../../../src/base/files/zip-record.ts';
import { MAX_ENTRIES, MAX_RATIO, RATIO_FROM_BYTES } from '../limits.ts';

/** A record of the directory with the place of its data. */
export interface ArchiveEntry extends DirectoryRecord {
  readonly dataOffset: number;
  /** First byte after the entry: of the next one, or of the directory. */
  readonly end: number;
}

interface DirectoryRecord {
  readonly name: string;
  /** As it stands in the record. */
  readonly nameBytes: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
  readonly offset: number;
  readonly bytes: Buffer;
}

export interface Archive {
  readonly source: FileSource;
  readonly entries: readonly ArchiveEntry[];
  /** First byte of the directory; everything before it belongs to the entries. */
  readonly directoryOffset: number;
  readonly comment: Uint8Array;
  /** Ignores letter case, as ECMA-376-2, 6.2.2.3 requires. */
  find(name: string): ArchiveEntry | null;
}

/** A 32-bit number that stands in the extra field. */
export const IN_EXTRA = 0xffffffff;
const ZIP64_FIELD = 1;
const ENCRYPTED = 0x0001;
const HAS_DESCRIPTOR = 0x0008;
export const UTF8_NAME = 0x0800;
/** Patched data, strong encryption, hidden header values. */
const UNSUPPORTED = 0x0020 | 0x0040 | 0x2000;

const END64_SIGNATURE = 0x06064b50;
const LOCATOR64_BYTES = 20;
const LOCATOR64_SIGNATURE = 0x07064b50;
const MAX_COMMENT_BYTES = 65_535;
/** 10,000 records with names and extra fields are 2 MB. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024;

export async function openArchive(source: FileSource, maxBytes: number): Promise<Archive> {
  const directory = await findDirectory(source);
  const bytes = await readBytes(source, directory.offset, directory.size);
  const records: DirectoryRecord[] = [];
  const names = new Set<string>();
  for (let at = 0; at < bytes.length;) {
    if (records.length === directory.count) throw damagedDirectory();
    const record = directoryRecord(bytes, at);
    records.push(record);
    names.add(record.name.toLowerCase());
    if (names.size < records.length) throw unreadable(`it has two entries named '${record.name}'`);
    at += record.bytes.length;
  }
  if (records.length !== directory.count) throw damagedDirectory();
  refuseBombs(records, maxBytes);
  const entries = await locate(source, records, directory.offset);
  const byName = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]));
  return {
    source,
    entries,
    directoryOffset: directory.offset,
    comment: directory.comment,
    find: (name) => byName.get(name.toLowerCase()) ?? null,
  };
}

/** Where the directory is, how many records it has, and where its end record begins. */
interface Directory {
  readonly count: number;
  readonly size: number;
  readonly offset: number;
  readonly end: number;
}

async function findDirectory(source: FileSource): Promise<Directory & { comment: Uint8Array }> {
  const from = Math.max(0, source.size - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await readBytes(source, from, source.size - from);
  let at = tail.length - END_BYTES;
  const isEnd = (): boolean =>
    tail.readUInt32LE(at) === END_SIGNATURE &&
    at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length;
  while (at >= 0 && !isEnd()) at--;
  if (at < 0) throw unreadable('it is no ZIP archive, or its end is missing');
  const end = tail.subarray(at);
  const comment = end.subarray(END_BYTES);
  const large = await findLargeDirectory(source, from + at);
  if (end.readUInt32LE(4) !== 0) throw unreadable('it is split over several files');
  const count = end.readUInt16LE(10);
  const size = end.readUInt32LE(12);
  const offset = end.readUInt32LE(16);
  const isLarge = count === 0xffff || size === IN_EXTRA || offset === IN_EXTRA;
  if (isLarge && large === null) throw damagedDirectory();
  const found = large ?? { count, size, offset, end: from + at };
  if (found.count > MAX_ENTRIES) throw unreadable(`it has more than ${MAX_ENTRIES} entries`);
  // Else there is room for a second archive.
  if (found.size > MAX_DIRECTORY_BYTES || found.offset + found.size !== found.end) {
    throw unreadable('its ZIP directory is not where it should be');
  }
  return { ...found, comment };
}

/** Streaming writers add a ZIP64 end record to archives of any size. */
async function findLargeDirectory(
  source: FileSource,
  endOffset: number,
): Promise<Directory | null> {
  const locatorOffset = endOffset - LOCATOR64_BYTES;
  if (locatorOffset < 0) return null;
  const locator = await readBytes(source, locatorOffset, LOCATOR64_BYTES);
  if (locator.readUInt32LE(0) !== LOCATOR64_SIGNATURE) return null;
  const end = uint64(locator, 8);
  const record = end < locatorOffset ? await readBytes(source, end, 56) : Buffer.alloc(0);
  if (record.length < 56 || record.readUInt32LE(0) !== END64_SIGNATURE) {
    throw damagedDirectory();
  }
  return { count: uint64(record, 32), size: uint64(record, 40), offset: uint64(record, 48), end };
}

/** The sizes are only claims here; `expand` enforces them. */
function refuseBombs(records: readonly DirectoryRecord[], maxBytes: number): void {
  const total = { size: 0, compressedSize: 0 };
  const check = ({ size, compressedSize }: typeof total): void => {
    if (size <= RATIO_FROM_BYTES || size <= MAX_RATIO * compressedSize) return;
    throw unreadable(`it expands by more than ${MAX_RATIO}:1`);
  };
  for (const record of records) {
    total.size += record.size;
    total.compressedSize += record.compressedSize;
    check(record);
  }
  if (total.size > maxBytes) throw unreadable(`it expands to more than ${maxBytes} bytes`);
  check(total);
}

function damagedDirectory(): Error {
  return unreadable('its ZIP directory is damaged');
}

/** No byte may belong to two entries. */
async function locate(
  source: FileSource,
  records: readonly DirectoryRecord[],
  directoryOffset: number,
): Promise<ArchiveEntry[]> {
  const byOffset = records.toSorted((a, b) => a.offset - b.offset);
  const located = new Map<DirectoryRecord, ArchiveEntry>();
  for (const [place, record] of byOffset.entries()) {
    const end = byOffset[place + 1]?.offset ?? directoryOffset;
    const start = dataOffset(record, await localHeader(source, record));
    if (start + record.compressedSize > end) {
      throw unreadable(`the ZIP entry '${record.name}' overlaps another one`);
    }
    located.set(record, { ...record, dataOffset: start, end });
  }
  return records.map((record) => located.get(record)!);
}

/** Only the header itself says how long its extra fields are. */
async function localHeader(source: FileSource, record: DirectoryRecord): Promise<Buffer> {
  const named = LOCAL_BYTES + record.nameBytes.length;
  const header = await readBytes(source, record.offset, named + 64);
  if (header.length < LOCAL_BYTES) return header;
  const length = LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  return length <= header.length ? header : readBytes(source, record.offset, length);
}

function directoryRecord(directory: Buffer, at: number): DirectoryRecord {
  if (at + RECORD_BYTES > directory.length || directory.readUInt32LE(at) !== RECORD_SIGNATURE) {
    throw damagedDirectory();
  }
  const nameLength = directory.readUInt16LE(at + 28);
  const extraLength = directory.readUInt16LE(at + 30);
  const length = RECORD_BYTES + nameLength + extraLength + directory.readUInt16LE(at + 32);
  if (at + length > directory.length) throw damagedDirectory();
  const bytes = directory.subarray(at, at + length);
  const flags = bytes.readUInt16LE(8);
  const nameBytes = bytes.subarray(RECORD_BYTES, RECORD_BYTES + nameLength);
  const name = entryName(nameBytes, flags);
  if ((flags & ENCRYPTED) !== 0) throw unreadable('it is encrypted');
  if ((flags & UNSUPPORTED) !== 0) throw unreadable(`the entry '${name}' has unsupported features`);
  const extra = bytes.subarray(RECORD_BYTES + nameLength, RECORD_BYTES + nameLength + extraLength);
  const large = new LargeNumbers(extra);
  const size = large.resolve(bytes.readUInt32LE(24));
  const compressedSize = large.resolve(bytes.readUInt32LE(20));
  const offset = large.resolve(bytes.readUInt32LE(42));
  if (bytes.readUInt16LE(34) !== 0) throw unreadable('it is split over several files');
  const method = bytes.readUInt16LE(10);
  const crc = bytes.readUInt32LE(16);
  return { name, nameBytes, flags, method, crc, compressedSize, size, offset, bytes };
}

/** `header`: the fixed part, name and extra fields. Throws `unreadable-file` when it contradicts the directory. */
function dataOffset(record: DirectoryRecord, header: Buffer): number {
  const disagreement = (): Error =>
    unreadable(`the entry '${record.name}' and the ZIP directory disagree`);
  if (header.length < LOCAL_BYTES || header.readUInt32LE(0) !== LOCAL_SIGNATURE) {
    throw disagreement();
  }
  const nameEnd = LOCAL_BYTES + header.readUInt16LE(26);
  const length = nameEnd + header.readUInt16LE(28);
  const common = ENCRYPTED | HAS_DESCRIPTOR;
  const isSame =
    header.subarray(LOCAL_BYTES, nameEnd).equals(record.nameBytes) &&
    (header.readUInt16LE(6) & common) === (record.flags & common) &&
    header.readUInt16LE(8) === record.method;
  // With a descriptor after the data, the header may leave numbers open.
  const mayBeOpen = (record.flags & HAS_DESCRIPTOR) !== 0;
  const isKnown = (value: number, known: number): boolean =>
    value === known || (mayBeOpen && value === 0);
  const large = new LargeNumbers(header.subarray(nameEnd, length));
  const size = large.resolve(header.readUInt32LE(22));
  const compressedSize = large.resolve(header.readUInt32LE(18));
  const hasSameNumbers =
    isKnown(header.readUInt32LE(14), record.crc) &&
    isKnown(size, record.size) &&
    isKnown(compressedSize, record.compressedSize);
  if (!isSame || !hasSameNumbers) throw disagreement();
  return record.offset + length;
}

/** A ZIP64 extra field: fixed order, only those numbers that are needed. */
class LargeNumbers {
  readonly #field: Buffer;
  #at = 0;

  constructor(extra: Buffer) {
    const field = extraFields(extra).find((candidate) => candidate.readUInt16LE(0) === ZIP64_FIELD);
    this.#field = field?.subarray(4) ?? Buffer.alloc(0);
  }

  resolve(value: number): number {
    if (value !== IN_EXTRA || this.#at + 8 > this.#field.length) return value;
    const large = uint64(this.#field, this.#at);
    this.#at += 8;
    return large;
  }
}

/** Throws `unreadable-file` beyond the size of any file. */
function uint64(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damagedDirectory();
  return Number(value);
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
