/**
 * The small file system of legacy Office documents (MS-CFB). Sector chains are counted, so that a cycle ends as an
 * error.
 */
import { unreadable } from '../../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../../src/base/files/file-source.ts';
import { MAX_LEGACY_BYTES } from '../limits.ts';

const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
const HEADER_LIST_AT = 76;
/** Higher numbers mark ends and free places. */
const MAX_SECTOR = 0xfffffffa;
const NO_ENTRY = 0xffffffff;
const MINI_SECTOR_BYTES = 64;
const STREAM = 2;

export class CompoundFile {
  readonly #file: Buffer;
  readonly #sectorBytes: number;
  /** The link of every sector. */
  readonly #table: Uint32Array;
  readonly #directory: Buffer;

  private constructor(file: Buffer) {
    const shift = file.readUInt16LE(30);
    const isKnown = file.readUInt16LE(28) === 0xfffe && (shift === 9 || shift === 12);
    if (!isKnown || file.readUInt16LE(32) !== 6) throw damaged();
    this.#file = file;
    this.#sectorBytes = 1 << shift;
    this.#table = this.#allocationTable();
    this.#directory = this.#joined(file.readUInt32LE(48));
  }

  /** Reads the whole file. Throws `unreadable-file`. */
  static async open(source: FileSource): Promise<CompoundFile> {
    if (source.size > MAX_LEGACY_BYTES) throw unreadable(`it exceeds ${MAX_LEGACY_BYTES} bytes`);
    const file = await readBytes(source, 0, source.size);
    if (file.length < HEADER_BYTES) throw damaged();
    return new CompoundFile(file);
  }

  /** A stream of the root folder, in any letter case; null when there is none. */
  stream(name: string): Buffer | null {
    const directory = this.#directory;
    for (const at of this.#rootEntries()) {
      if (directory[at + 66] !== STREAM) continue;
      const nameBytes = Math.max(0, Math.min(64, directory.readUInt16LE(at + 64)) - 2);
      const own = directory.toString('utf16le', at, at + nameBytes);
      if (own.toUpperCase() === name.toUpperCase()) return this.#content(at);
    }
    return null;
  }

  /** Their offsets in the directory, where they form a tree. */
  #rootEntries(): Set<number> {
    const directory = this.#directory;
    const found = new Set<number>();
    const waiting = directory.length < ENTRY_BYTES ? [] : [directory.readUInt32LE(76)];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (id === NO_ENTRY) continue;
      const at = id * ENTRY_BYTES;
      if (at + ENTRY_BYTES > directory.length || found.has(at)) throw damaged();
      found.add(at);
      waiting.push(directory.readUInt32LE(at + 68), directory.readUInt32LE(at + 72));
    }
    return found;
  }

  #content(at: number): Buffer {
    const start = this.#directory.readUInt32LE(at + 116);
    const size = this.#sizeOf(at);
    if (size >= this.#file.readUInt32LE(56)) return sized(this.#joined(start), size);
    const mini = sized(this.#joined(this.#directory.readUInt32LE(116)), this.#sizeOf(0));
    const links = wordsOf(this.#joined(this.#file.readUInt32LE(60)));
    const sectors = chainOf(start, links).map((sector) => {
      const from = sector * MINI_SECTOR_BYTES;
      if (from >= mini.length) throw damaged();
      return mini.subarray(from, from + MINI_SECTOR_BYTES);
    });
    return sized(Buffer.concat(sectors), size);
  }

  #sizeOf(at: number): number {
    // The upper half is only defined in files with large sectors.
    const high = this.#sectorBytes > 512 ? this.#directory.readUInt32LE(at + 124) : 0;
    return this.#directory.readUInt32LE(at + 120) + high * 2 ** 32;
  }

  readonly #sector = (sector: number): Buffer => {
    const at = (sector + 1) * this.#sectorBytes;
    // The last sector may be cut off behind its content.
    if (at >= this.#file.length) throw damaged();
    return this.#file.subarray(at, at + this.#sectorBytes);
  };

  #allocationTable(): Uint32Array {
    const list = [...wordsOf(this.#file.subarray(HEADER_LIST_AT, HEADER_BYTES))];
    const sectors = Math.floor(this.#file.length / this.#sectorBytes);
    let next = this.#file.readUInt32LE(68);
    for (let count = 0; next <= MAX_SECTOR; count++) {
      if (count > sectors) throw damaged();
      const items = wordsOf(this.#sector(next));
      list.push(...items.subarray(0, items.length - 1));
      next = items.at(-1)!;
    }
    const used = list.filter((sector) => sector <= MAX_SECTOR);
    if (used.length > sectors) throw damaged();
    return wordsOf(Buffer.concat(used.map(this.#sector)));
  }

  #joined(start: number): Buffer {
    return Buffer.concat(chainOf(start, this.#table).map(this.#sector));
  }
}

function chainOf(start: number, links: Uint32Array): number[] {
  const chain: number[] = [];
  for (let sector = start; sector <= MAX_SECTOR; sector = links[sector]!) {
    if (sector >= links.length || chain.length > links.length) throw damaged();
    chain.push(sector);
  }
  return chain;
}

function sized(content: Buffer, size: number): Buffer {
  if (content.length < size) throw damaged();
  return content.subarray(0, size);
}

/** Little-endian, as every machine svc runs on. */
function wordsOf(bytes: Buffer): Uint32Array {
  return new Uint32Array(new Uint8Array(bytes.subarray(0, bytes.length & ~3)).buffer);
}

function damaged(): Error {
  return unreadable('it is a damaged compound file');
}
