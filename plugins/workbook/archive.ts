/**
 * The ZIP archive of a workbook: its directory, checked before a single byte is expanded.
 *
 * Reads only the directory and the local headers. Refuses everything two programs could read
 * differently (overlapping entries, headers that contradict the directory, duplicate names, data
 * around the archive), because an edit copies bytes by what the directory says. Throws
 * `unreadable-file` with the reason.
 */
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import {
  dataOffset,
  type DirectoryRecord,
  directoryRecord,
  IN_EXTRA,
  LOCAL_HEADER_BYTES,
  uint64,
} from './archive-record.ts';
import { unreadable } from './unreadable.ts';
import type { WorkbookLimits } from './limits.ts';
import { MAX_ENTRIES, MAX_RATIO, RATIO_FROM_BYTES } from './limits.ts';

export interface ArchiveEntry extends DirectoryRecord {
  readonly dataOffset: number;
  /** First byte after the entry: of the next one, or of the directory. */
  readonly end: number;
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

const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const END64_SIGNATURE = 0x06064b50;
const LOCATOR64_BYTES = 20;
const LOCATOR64_SIGNATURE = 0x07064b50;
const MAX_COMMENT_BYTES = 65_535;
/** 10,000 records with names and extra fields are 2 MB. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024;

export async function openArchive(source: FileSource, limits: WorkbookLimits): Promise<Archive> {
  const directory = await findDirectory(source);
  const bytes = await readBytes(source, directory.offset, directory.size);
  const records: DirectoryRecord[] = [];
  for (let at = 0; at < bytes.length;) {
    if (records.length === MAX_ENTRIES) throw tooManyEntries();
    const record = directoryRecord(bytes, at);
    records.push(record);
    at += record.bytes.length;
  }
  if (records.length !== directory.count) throw unreadable('its ZIP directory is damaged');
  const byName = namedOnce(records);
  refuseBombs(records, limits);
  const entries = await locate(source, records, directory.offset);
  return {
    source,
    entries,
    directoryOffset: directory.offset,
    comment: directory.comment,
    find: (name) => {
      const index = byName.get(name.toLowerCase());
      return index === undefined ? null : entries[index]!;
    },
  };
}

interface Directory {
  readonly count: number;
  readonly offset: number;
  readonly size: number;
  readonly comment: Uint8Array;
}

async function findDirectory(source: FileSource): Promise<Directory> {
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
  if (isLarge && large === null) throw unreadable('its ZIP directory is damaged');
  const found = large ?? { count, size, offset, end: from + at };
  if (found.count > MAX_ENTRIES) throw tooManyEntries();
  // A directory that does not end where the end record begins leaves room for a second archive.
  if (found.size > MAX_DIRECTORY_BYTES || found.offset + found.size !== found.end) {
    throw unreadable('its ZIP directory is not where it should be');
  }
  return { ...found, comment };
}

/** Streaming writers add a ZIP64 end record to archives of any size. */
async function findLargeDirectory(
  source: FileSource,
  endOffset: number,
): Promise<{ count: number; size: number; offset: number; end: number } | null> {
  const locatorOffset = endOffset - LOCATOR64_BYTES;
  if (locatorOffset < 0) return null;
  const locator = await readBytes(source, locatorOffset, LOCATOR64_BYTES);
  if (locator.readUInt32LE(0) !== LOCATOR64_SIGNATURE) return null;
  const end = uint64(locator, 8);
  const record = end < locatorOffset ? await readBytes(source, end, 56) : Buffer.alloc(0);
  if (record.length < 56 || record.readUInt32LE(0) !== END64_SIGNATURE) {
    throw unreadable('its ZIP directory is damaged');
  }
  return { count: uint64(record, 32), size: uint64(record, 40), offset: uint64(record, 48), end };
}

function namedOnce(records: readonly DirectoryRecord[]): Map<string, number> {
  const byName = new Map<string, number>();
  for (const [index, { name }] of records.entries()) {
    const key = name.toLowerCase();
    if (byName.has(key)) throw unreadable(`it has two entries named '${name}'`);
    byName.set(key, index);
  }
  return byName;
}

/** The sizes are only claims here; `expand` enforces them. */
function refuseBombs(records: readonly DirectoryRecord[], { maxBytes }: WorkbookLimits): void {
  let total = 0;
  let compressed = 0;
  for (const { size, compressedSize } of records) {
    total += size;
    compressed += compressedSize;
    if (isBomb(size, compressedSize)) throw bomb();
  }
  if (total > maxBytes) throw unreadable(`it expands to more than ${maxBytes} bytes`);
  if (isBomb(total, compressed)) throw bomb();
}

function isBomb(size: number, compressedSize: number): boolean {
  return size > RATIO_FROM_BYTES && size > MAX_RATIO * compressedSize;
}

function bomb(): Error {
  return unreadable(`it expands by more than ${MAX_RATIO}:1`);
}

function tooManyEntries(): Error {
  return unreadable(`it has more than ${MAX_ENTRIES} entries`);
}

/** No byte may belong to two entries. */
async function locate(
  source: FileSource,
  records: readonly DirectoryRecord[],
  directoryOffset: number,
): Promise<ArchiveEntry[]> {
  const order = records.map((_, index) => index);
  order.sort((a, b) => records[a]!.offset - records[b]!.offset);
  const entries = new Array<ArchiveEntry>(records.length);
  for (const [place, index] of order.entries()) {
    const record = records[index]!;
    const next = order[place + 1];
    const end = next === undefined ? directoryOffset : records[next]!.offset;
    const header = await localHeader(source, record);
    const offset = dataOffset(record, header);
    if (offset + record.compressedSize > end) {
      throw unreadable(`the ZIP entry '${record.name}' overlaps another one`);
    }
    entries[index] = { ...record, dataOffset: offset, end };
  }
  return entries;
}

/** Only the header itself says how long its extra fields are. */
async function localHeader(source: FileSource, record: DirectoryRecord): Promise<Buffer> {
  const named = LOCAL_HEADER_BYTES + record.bytes.readUInt16LE(28);
  const header = await readBytes(source, record.offset, named + 64);
  if (header.length < LOCAL_HEADER_BYTES) return header;
  const length = LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  return length <= header.length ? header : readBytes(source, record.offset, length);
}
