/** The old archive, some of whose parts are replaced. */
import {
  type Archive,
  type ArchiveEntry,
  IN_EXTRA,
  UTF8_NAME,
  withoutLargeNumbers,
} from './archive.ts';
import { expand, inflatedChunks, STORED } from './expansion.ts';
import { pack, packed, type PackedPart } from './part-writer.ts';
import type { Piece } from '../../../src/base/files/piece-writer.ts';
import { partText } from '../xlsx/package.ts';
import { AppError } from '../../../src/base/errors.ts';
import { PieceList } from '../../../src/base/files/piece-list.ts';
import {
  RECORD_BYTES,
  writeZipEntry,
  zipEnd,
  type ZipEntry,
  zipLocalHeader,
} from '../../../src/base/files/zip-record.ts';

export class EditedArchive {
  readonly #archive: Archive;
  readonly #parts = new Map<ArchiveEntry, PackedPart>();
  /** One character per byte. */
  readonly #texts = new Map<ArchiveEntry, string>();
  readonly #removed = new Set<ArchiveEntry>();

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  replace(entry: ArchiveEntry, part: PackedPart): void {
    this.#parts.set(entry, part);
  }

  replaceText(entry: ArchiveEntry, text: string): void {
    this.#texts.set(entry, text);
  }

  remove(entry: ArchiveEntry): void {
    this.#removed.add(entry);
  }

  async textOf(entry: ArchiveEntry): Promise<string> {
    return this.#texts.get(entry) ?? partText(this.#archive, entry);
  }

  /** As `expand`, of the part as it is now. */
  expand(entry: ArchiveEntry): AsyncGenerator<Uint8Array> {
    const part = this.#parts.get(entry);
    if (part === undefined) return expand(this.#archive, entry);
    return part.method === STORED ? chunksOf(part) : inflatedChunks(part.chunks);
  }

  async pieces(): Promise<readonly Piece[]> {
    const replaced = new Map<ArchiveEntry, PackedPart>();
    for (const [entry, part] of this.#parts) {
      const isDraft = part.method === STORED && entry.method !== STORED;
      replaced.set(entry, isDraft ? await packed(chunksOf(part), entry.method) : part);
    }
    for (const [entry, text] of this.#texts) {
      replaced.set(entry, await pack(Buffer.from(text, 'latin1'), entry.method));
    }
    return rewrittenArchive(this.#archive, { replaced, removed: this.#removed });
  }
}

async function* chunksOf({ chunks }: PackedPart): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

interface ArchiveChanges {
  readonly replaced: ReadonlyMap<ArchiveEntry, PackedPart>;
  readonly removed: ReadonlySet<ArchiveEntry>;
}

/**
 * Copies every remaining entry verbatim, header, data and gap; only the directory is rewritten. Throws `too-large` when the
 * file would need the 64-bit format (from 4 GiB on).
 */
function rewrittenArchive(archive: Archive, changes: ArchiveChanges): readonly Piece[] {
  const file = new PieceList();
  const entries = archive.entries.toSorted((a, b) => a.offset - b.offset);
  const records = new Map<ArchiveEntry, Buffer>();
  file.add({ from: 0, to: entries[0]?.offset ?? archive.directoryOffset });
  for (const entry of entries) {
    if (changes.removed.has(entry)) continue;
    const part = changes.replaced.get(entry);
    const record = withPlainNumbers(entry);
    if (file.size >= IN_EXTRA) throw tooLarge();
    record.writeUInt32LE(file.size, 42);
    records.set(entry, record);
    if (part) {
      const written = zipEntryOf(entry, part);
      writeZipEntry(record, 6, written);
      file.add(zipLocalHeader(entry.nameBytes, written), ...part.chunks);
    } else file.add({ from: entry.offset, to: entry.end });
  }
  const directoryOffset = file.size;
  const inOrder = archive.entries.flatMap((entry) => records.get(entry) ?? []);
  file.add(...inOrder);
  if (file.size >= IN_EXTRA) throw tooLarge();
  const size = file.size - directoryOffset;
  file.add(zipEnd(inOrder.length, directoryOffset, size, archive.comment));
  return file.pieces;
}

/** Sizes are in the header, so that no descriptor follows the data. */
function zipEntryOf({ flags, bytes }: ArchiveEntry, part: PackedPart): ZipEntry {
  return { ...part, flags: flags & UTF8_NAME, modified: bytes.readUInt32LE(12) };
}

function tooLarge(): AppError {
  return new AppError('too-large', 'Cannot write: the workbook would exceed 4 GiB');
}

/** A copy of the record; below 4 GiB no 64-bit numbers are needed. */
function withPlainNumbers({ bytes, nameBytes, compressedSize, size }: ArchiveEntry): Buffer {
  const hasLarge = [20, 24, 42].some((at) => bytes.readUInt32LE(at) === IN_EXTRA);
  if (!hasLarge) return Buffer.from(bytes);
  const nameEnd = RECORD_BYTES + nameBytes.length;
  const extraEnd = nameEnd + bytes.readUInt16LE(30);
  const extra = withoutLargeNumbers(bytes.subarray(nameEnd, extraEnd));
  const record = Buffer.concat([bytes.subarray(0, nameEnd), extra, bytes.subarray(extraEnd)]);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE(compressedSize, 20);
  record.writeUInt32LE(size, 24);
  return record;
}
