/**
 * A ZIP archive written front to back (APPNOTE.TXT 6.3.10).
 *
 * Each piece ends at a byte, so separately deflated pieces make one stream; sizes and checksum follow the file.
 * Memory is one piece.
 */
import * as zlib from 'node:zlib';
import { AppError } from '../../base/errors.ts';
import {
  RECORD_BYTES,
  RECORD_SIGNATURE,
  writeZipEntry,
  ZIP_VERSION,
  type ZipEntry,
  zipEnd,
  zipLocalHeader,
} from '../../base/files/zip-record.ts';

/** Compressed at once; smaller pieces compress worse. */
const PIECE_BYTES = 256 * 1024;
/** Beyond this the archive needs ZIP64, which not all spreadsheet programs read. */
const MAX_BYTES = 0xffff_ffff;
/** An empty last block: the pieces before it are not last. */
const STREAM_END = new Uint8Array([3, 0]);
const encoder = new TextEncoder();

/** Sizes follow the file; names are UTF-8. */
const FLAGS = 0x0808;
const DEFLATE = 8;
/** 1980-01-01, the earliest date: equal content gives equal archives. */
const MODIFIED = 0x0021_0000;

interface Entry extends ZipEntry {
  readonly name: Uint8Array;
  readonly offset: number;
  crc: number;
  compressedSize: number;
  size: number;
}

export class DeflateArchive {
  readonly #entries: Entry[] = [];
  #offset = 0;

  /** Throws `too-large` beyond 4 GiB. */
  *file(name: string, content: Iterable<string>): Generator<Uint8Array> {
    const entry: Entry = {
      name: encoder.encode(name),
      offset: this.#offset,
      flags: FLAGS,
      method: DEFLATE,
      modified: MODIFIED,
      crc: 0,
      compressedSize: 0,
      size: 0,
    };
    this.#entries.push(entry);
    yield this.#counted(zipLocalHeader(entry.name, entry));
    for (const piece of pieces(content)) {
      entry.crc = zlib.crc32(piece, entry.crc);
      entry.size += piece.length;
      const packed = zlib.deflateRawSync(piece, {
        level: 4,
        finishFlush: zlib.constants.Z_SYNC_FLUSH,
      });
      entry.compressedSize += packed.length;
      yield this.#counted(packed);
      if (entry.size > MAX_BYTES || this.#offset > MAX_BYTES) {
        throw new AppError('too-large', 'The workbook would exceed 4 GiB');
      }
    }
    entry.compressedSize += STREAM_END.length;
    yield this.#counted(STREAM_END);
    yield this.#counted(descriptor(entry));
  }

  end(): Uint8Array {
    const start = this.#offset;
    const records = this.#entries.map(centralRecord);
    const size = records.reduce((sum, record) => sum + record.length, 0);
    return Buffer.concat([...records, zipEnd(records.length, start, size)]);
  }

  #counted(bytes: Uint8Array): Uint8Array {
    this.#offset += bytes.length;
    return bytes;
  }
}

/** Pieces of about equal size; a longer text is a piece of its own. */
function* pieces(content: Iterable<string>): Generator<Uint8Array> {
  let held: string[] = [];
  let length = 0;
  for (const text of content) {
    held.push(text);
    length += text.length;
    if (length < PIECE_BYTES) continue;
    yield encoder.encode(held.join(''));
    held = [];
    length = 0;
  }
  if (length > 0) yield encoder.encode(held.join(''));
}

function descriptor({ crc, compressedSize, size }: ZipEntry): Buffer {
  const record = Buffer.alloc(16);
  record.writeUInt32LE(0x08074b50, 0);
  record.writeUInt32LE(crc, 4);
  record.writeUInt32LE(compressedSize, 8);
  record.writeUInt32LE(size, 12);
  return record;
}

function centralRecord(entry: Entry): Buffer {
  const { name, offset } = entry;
  const record = Buffer.alloc(RECORD_BYTES + name.length);
  record.writeUInt32LE(RECORD_SIGNATURE, 0);
  record.writeUInt16LE(ZIP_VERSION, 4);
  record.writeUInt16LE(name.length, writeZipEntry(record, 6, entry));
  record.writeUInt32LE(offset, 42);
  record.set(name, RECORD_BYTES);
  return record;
}
