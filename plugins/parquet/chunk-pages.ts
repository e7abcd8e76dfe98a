/**
 * The pages of a column chunk in order. Sizes are checked before a page is read, and checksums where present. Memory:
 * one window of the file or one page.
 */
import { unreadable } from '../../src/base/errors.ts';
import { damaged } from '../../src/tables/parquet/bytes.ts';
import { PageField, PageType } from '../../src/tables/parquet/format.ts';
import { checksum } from '../../src/tables/parquet/page-writer.ts';
import { readThrift, ThriftEnd, type ThriftStruct } from '../../src/tables/parquet/thrift.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { Chunk } from './footer.ts';

/** Bytes after the header, uncompressed and as stored. */
interface PageHeader {
  readonly type: number;
  readonly size: number;
  readonly packedSize: number;
  readonly checksum: number | null;
  /** Levels, or values where there are none. */
  readonly count: number;
  readonly encoding: number;
  readonly definitionEncoding: number;
  readonly repetitionEncoding: number;
  /** Version 2 only: sizes of the uncompressed levels before the values. */
  readonly definitionBytes: number;
  readonly repetitionBytes: number;
  readonly isCompressed: boolean;
}

export interface Page {
  readonly header: PageHeader;
  /** Offset of the header, and of the first byte after the page. */
  readonly start: number;
  readonly end: number;
  /** Without the header, possibly compressed. */
  readonly body: Uint8Array;
}

/** Compressed or not. */
export const MAX_PAGE_BYTES = 64 * 1024 * 1024;
/** Headers may contain statistics of long texts. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;
const WINDOW_BYTES = 128 * 1024;

export class ChunkPages {
  readonly #source: FileSource;
  readonly #chunk: Chunk;
  #offset: number;
  #left: number;
  #window: Uint8Array = new Uint8Array(0);
  #windowStart = 0;
  #isFirst = true;

  constructor(source: FileSource, chunk: Chunk) {
    this.#source = source;
    this.#chunk = chunk;
    this.#offset = chunk.start;
    this.#left = chunk.values;
  }

  /** Null after the last. Its bytes are valid until the next call. Throws `unreadable-file`. */
  async next(): Promise<Page | null> {
    while (this.#left > 0) {
      const start = this.#offset;
      const { header, end: bodyStart } = await this.#header();
      const end = bodyStart + header.packedSize;
      this.#check(header, end);
      const body = await this.#bytes(bodyStart, header.packedSize);
      this.#offset = end;
      if (header.checksum !== null && header.checksum !== checksum(body)) {
        throw damaged(`column '${this.#chunk.leaf.name}': a page's checksum does not match`);
      }
      if (header.type === PageType.index) continue;
      if (header.type !== PageType.dictionary) this.#left -= header.count;
      this.#isFirst = false;
      return { header, start, end, body };
    }
    return null;
  }

  #check(header: PageHeader, end: number): void {
    const { type, size, packedSize, count } = header;
    if (size < 0 || packedSize < 0 || count < 0 || end > this.#chunk.end) {
      throw damaged(`column '${this.#chunk.leaf.name}': a page larger than its column`);
    }
    if (Math.max(size, packedSize) > MAX_PAGE_BYTES) {
      throw unreadable(`a page of more than ${MAX_PAGE_BYTES} bytes`);
    }
    if (type === PageType.dictionary ? !this.#isFirst : count > this.#left) {
      throw damaged(`column '${this.#chunk.leaf.name}': a page too many`);
    }
  }

  async #header(): Promise<{ header: PageHeader; end: number }> {
    for (let wanted = WINDOW_BYTES; ; wanted *= 4) {
      const length = Math.min(wanted, this.#chunk.end - this.#offset);
      const window = await this.#bytes(this.#offset, length);
      try {
        const { value, end } = readThrift(window);
        return { header: headerOf(value), end: this.#offset + end };
      } catch (error) {
        if (!(error instanceof ThriftEnd)) throw error;
        const isWhole = this.#offset + window.length >= this.#chunk.end;
        if (isWhole || wanted > MAX_HEADER_BYTES)
          throw damaged(`column '${this.#chunk.leaf.name}' ends early`);
      }
    }
  }

  /** Through a window that only moves forward. */
  async #bytes(offset: number, length: number): Promise<Uint8Array> {
    const at = offset - this.#windowStart;
    if (at < 0 || at + length > this.#window.length) {
      const end = Math.min(Math.max(offset + length, offset + WINDOW_BYTES), this.#chunk.end);
      const read = await readBytes(this.#source, offset, end - offset);
      // The decoders work on plain arrays.
      this.#window = new Uint8Array(read.buffer, read.byteOffset, read.length);
      this.#windowStart = offset;
    }
    return this.#window.subarray(offset - this.#windowStart, offset - this.#windowStart + length);
  }
}

/** The header's field for a type of page. */
const DETAILS: ReadonlyMap<number, number> = new Map([
  [PageType.data, PageField.data],
  [PageType.dictionary, PageField.dictionary],
  [PageType.dataV2, PageField.dataV2],
]);

function headerOf(struct: ThriftStruct): PageHeader {
  const type = struct.int(PageField.type) ?? -1;
  const common = {
    type,
    size: struct.int(PageField.bytes) ?? -1,
    packedSize: struct.int(PageField.compressedBytes) ?? -1,
    checksum: struct.int(PageField.crc),
    count: 0,
    encoding: 0,
    definitionEncoding: 0,
    repetitionEncoding: 0,
    definitionBytes: 0,
    repetitionBytes: 0,
    isCompressed: true,
  };
  if (type === PageType.index) return common;
  const field = DETAILS.get(type);
  if (field === undefined) throw damaged(`a page of type ${type}`);
  const details = struct.struct(field);
  if (!details) throw damaged('a page without its header');
  const number = (id: number): number => details.int(id) ?? -1;
  if (type !== PageType.dataV2) {
    const [definitionEncoding, repetitionEncoding] = [number(3), number(4)];
    const encoding = number(2);
    return { ...common, count: number(1), encoding, definitionEncoding, repetitionEncoding };
  }
  return {
    ...common,
    count: number(1),
    encoding: number(4),
    definitionBytes: number(5),
    repetitionBytes: number(6),
    isCompressed: details.boolean(7) ?? true,
  };
}
