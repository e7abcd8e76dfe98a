/**
 * A ZIP archive written front to back (APPNOTE.TXT 6.3.10), deflated piece by piece.
 *
 * Each piece ends at a byte, so pieces compressed separately make one deflate stream; sizes and checksum follow the
 * file. Memory is one piece.
 */
import * as zlib from 'node:zlib';
import { AppError } from '../../base/errors.ts';

/** Compressed at once; smaller pieces compress worse. */
const PIECE_BYTES = 256 * 1024;
/** Beyond this the archive needs ZIP64, which not all spreadsheet programs read. */
const MAX_BYTES = 0xffff_ffff;
/** An empty last block: the pieces before it are not last. */
const STREAM_END = new Uint8Array([3, 0]);
const encoder = new TextEncoder();

const VERSION = 20;
/** Sizes follow the file; names are UTF-8. */
const FLAGS = 0x0808;
const DEFLATE = 8;
/** 1980-01-01, the earliest date: equal content gives equal archives. */
const DATE = 0x0021;

interface Entry {
  readonly name: Uint8Array;
  readonly offset: number;
  checksum: number;
  packed: number;
  size: number;
}

export class DeflateArchive {
  readonly #entries: Entry[] = [];
  #offset = 0;

  /** Throws `too-large` beyond 4 GiB. */
  *file(name: string, content: Iterable<string>): Generator<Uint8Array> {
    const entry = {
      name: encoder.encode(name),
      offset: this.#offset,
      checksum: 0,
      packed: 0,
      size: 0,
    };
    this.#entries.push(entry);
    yield this.#counted(localHeader(entry.name));
    for (const piece of pieces(content)) {
      entry.checksum = zlib.crc32(piece, entry.checksum);
      entry.size += piece.length;
      const packed = zlib.deflateRawSync(piece, {
        level: 4,
        finishFlush: zlib.constants.Z_SYNC_FLUSH,
      });
      entry.packed += packed.length;
      yield this.#counted(packed);
      if (entry.size > MAX_BYTES || this.#offset > MAX_BYTES) {
        throw new AppError('too-large', 'The workbook would exceed 4 GiB');
      }
    }
    entry.packed += STREAM_END.length;
    yield this.#counted(STREAM_END);
    yield this.#counted(descriptor(entry));
  }

  end(): Uint8Array {
    const start = this.#offset;
    const records = this.#entries.map(centralRecord);
    const size = records.reduce((sum, record) => sum + record.length, 0);
    return Buffer.concat([...records, endRecord(this.#entries.length, size, start)]);
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

function localHeader(name: Uint8Array): Uint8Array {
  const header = new Uint8Array(30 + name.length);
  const view = new DataView(header.buffer);
  view.setUint32(0, 0x04034b50, true);
  view.setUint16(4, VERSION, true);
  view.setUint16(6, FLAGS, true);
  view.setUint16(8, DEFLATE, true);
  view.setUint16(12, DATE, true);
  view.setUint16(26, name.length, true);
  header.set(name, 30);
  return header;
}

function descriptor({ checksum, packed, size }: Entry): Uint8Array {
  const record = new Uint8Array(16);
  const view = new DataView(record.buffer);
  view.setUint32(0, 0x08074b50, true);
  view.setUint32(4, checksum, true);
  view.setUint32(8, packed, true);
  view.setUint32(12, size, true);
  return record;
}

function centralRecord({ name, offset, checksum, packed, size }: Entry): Uint8Array {
  const record = new Uint8Array(46 + name.length);
  const view = new DataView(record.buffer);
  view.setUint32(0, 0x02014b50, true);
  view.setUint16(4, VERSION, true);
  view.setUint16(6, VERSION, true);
  view.setUint16(8, FLAGS, true);
  view.setUint16(10, DEFLATE, true);
  view.setUint16(14, DATE, true);
  view.setUint32(16, checksum, true);
  view.setUint32(20, packed, true);
  view.setUint32(24, size, true);
  view.setUint16(28, name.length, true);
  view.setUint32(42, offset, true);
  record.set(name, 46);
  return record;
}

function endRecord(count: number, size: number, start: number): Uint8Array {
  const record = new Uint8Array(22);
  const view = new DataView(record.buffer);
  view.setUint32(0, 0x06054b50, true);
  view.setUint16(8, count, true);
  view.setUint16(10, count, true);
  view.setUint32(12, size, true);
  view.setUint32(16, start, true);
  return record;
}
