/**
 * A new archive from the old file's bytes: every remaining entry is copied verbatim, header, data
 * and gap; only the directory is rewritten.
 */
import { AppError } from '../../src/base/errors.ts';
import type { Piece } from '../../src/base/files/piece-writer.ts';
import type { Archive, ArchiveEntry } from './archive.ts';
import {
  IN_EXTRA,
  LOCAL_HEADER_BYTES,
  LOCAL_SIGNATURE,
  RECORD_BYTES,
  withoutLargeNumbers,
} from './archive-record.ts';
import type { PackedPart } from './part-compressor.ts';

/** Deflate, the most demanding feature of the entries written here. */
const VERSION_NEEDED = 20;
const UTF8_NAME = 0x0800;
const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;

interface ArchiveChanges {
  readonly replaced: ReadonlyMap<ArchiveEntry, PackedPart>;
  readonly removed: ReadonlySet<ArchiveEntry>;
}

/** Throws `too-large` when it would need the 64-bit format (from 4 GiB on). */
export function rewrittenArchive(archive: Archive, changes: ArchiveChanges): Piece[] {
  const file = new NewArchive();
  const entries = archive.entries.toSorted((a, b) => a.offset - b.offset);
  const offsets = new Map<ArchiveEntry, number>();
  file.keep(0, entries[0]?.offset ?? archive.directoryOffset);
  for (const entry of entries) {
    if (changes.removed.has(entry)) continue;
    offsets.set(entry, file.size);
    const part = changes.replaced.get(entry);
    if (part) file.write(localHeader(entry, part), ...part.chunks);
    else file.keep(entry.offset, entry.end);
  }
  const records = archive.entries
    .filter((entry) => offsets.has(entry))
    .map((entry) => recordOf(entry, changes.replaced.get(entry), offsets.get(entry)!));
  const directoryOffset = file.size;
  file.write(...records);
  if (file.size >= IN_EXTRA) throw tooLarge();
  file.write(endRecord(records, directoryOffset, archive.comment));
  return file.pieces();
}

class NewArchive {
  readonly #pieces: ({ from: number; to: number } | Uint8Array[])[] = [];
  size = 0;

  keep(from: number, to: number): void {
    if (from === to) return;
    this.size += to - from;
    const last = this.#pieces.at(-1);
    if (last && !Array.isArray(last) && last.to === from) last.to = to;
    else this.#pieces.push({ from, to });
  }

  write(...parts: readonly Uint8Array[]): void {
    for (const part of parts) this.size += part.length;
    const last = this.#pieces.at(-1);
    if (Array.isArray(last)) last.push(...parts);
    else this.#pieces.push([...parts]);
  }

  pieces(): Piece[] {
    return this.#pieces.flatMap((piece): Piece[] => (Array.isArray(piece) ? piece : [piece]));
  }
}

function nameOf(entry: ArchiveEntry): Buffer {
  return entry.bytes.subarray(RECORD_BYTES, RECORD_BYTES + entry.bytes.readUInt16LE(28));
}

/** Sizes are in the header, so that no descriptor follows the data. */
function localHeader(entry: ArchiveEntry, part: PackedPart): Buffer {
  const name = nameOf(entry);
  const header = Buffer.alloc(LOCAL_HEADER_BYTES + name.length);
  header.writeUInt32LE(LOCAL_SIGNATURE, 0);
  header.writeUInt16LE(VERSION_NEEDED, 4);
  header.writeUInt16LE(entry.flags & UTF8_NAME, 6);
  header.writeUInt16LE(part.method, 8);
  entry.bytes.copy(header, 10, 12, 16);
  header.writeUInt32LE(part.crc, 14);
  header.writeUInt32LE(part.compressedSize, 18);
  header.writeUInt32LE(part.size, 22);
  header.writeUInt16LE(name.length, 26);
  name.copy(header, LOCAL_HEADER_BYTES);
  return header;
}

function recordOf(entry: ArchiveEntry, part: PackedPart | undefined, offset: number): Buffer {
  if (offset >= IN_EXTRA) throw tooLarge();
  const record = withPlainNumbers(entry);
  if (part) {
    record.writeUInt16LE(VERSION_NEEDED, 6);
    record.writeUInt16LE(entry.flags & UTF8_NAME, 8);
    record.writeUInt16LE(part.method, 10);
    record.writeUInt32LE(part.crc, 16);
    record.writeUInt32LE(part.compressedSize, 20);
    record.writeUInt32LE(part.size, 24);
  }
  record.writeUInt32LE(offset, 42);
  return record;
}

function tooLarge(): AppError {
  return new AppError('too-large', 'Cannot write: the workbook would exceed 4 GiB');
}

/** Below 4 GiB no 64-bit numbers are needed. */
function withPlainNumbers(entry: ArchiveEntry): Buffer {
  const { bytes } = entry;
  const hasLarge = [20, 24, 42].some((at) => bytes.readUInt32LE(at) === IN_EXTRA);
  if (!hasLarge) return Buffer.from(bytes);
  const nameEnd = RECORD_BYTES + bytes.readUInt16LE(28);
  const extraEnd = nameEnd + bytes.readUInt16LE(30);
  const extra = withoutLargeNumbers(bytes.subarray(nameEnd, extraEnd));
  const parts = [bytes.subarray(0, nameEnd), extra, bytes.subarray(extraEnd)];
  const record = Buffer.concat(parts);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE(entry.compressedSize, 20);
  record.writeUInt32LE(entry.size, 24);
  return record;
}

function endRecord(records: readonly Buffer[], offset: number, comment: Uint8Array): Buffer {
  const end = Buffer.alloc(END_BYTES + comment.length);
  end.writeUInt32LE(END_SIGNATURE, 0);
  end.writeUInt16LE(records.length, 8);
  end.writeUInt16LE(records.length, 10);
  end.writeUInt32LE(
    records.reduce((sum, record) => sum + record.length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  end.set(comment, END_BYTES);
  return end;
}
