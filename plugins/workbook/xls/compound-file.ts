/**
 * Compound files, the small file system of legacy Office documents (MS-CFB).
 *
 * Sector chains are counted, so that a cycle ends as an error, and every sector number is checked
 * against the file.
 */
import { unreadable } from '../../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../../src/base/files/file-source.ts';
import { MAX_LEGACY_BYTES } from '../limits.ts';

const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
const HEADER_LIST_AT = 76;
const HEADER_LIST_ITEMS = 109;
/** Higher numbers mark ends and free places. */
const MAX_SECTOR = 0xfffffffa;
const NO_ENTRY = 0xffffffff;
const MINI_SECTOR_BYTES = 64;
const STREAM = 2;

interface DirectoryEntry {
  readonly name: string;
  readonly type: number;
  readonly left: number;
  readonly right: number;
  readonly child: number;
  readonly start: number;
  readonly size: number;
}

export class CompoundFile {
  readonly #file: Buffer;
  readonly #sectorBytes: number;
  readonly #table: Uint32Array;
  readonly #entries: readonly DirectoryEntry[];

  private constructor(file: Buffer) {
    const shift = file.readUInt16LE(30);
    const isKnown = file.readUInt16LE(28) === 0xfffe && (shift === 9 || shift === 12);
    if (!isKnown || file.readUInt16LE(32) !== 6) throw damaged();
    this.#file = file;
    this.#sectorBytes = 1 << shift;
    this.#table = this.#allocationTable();
    this.#entries = this.#directory(shift === 12);
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
    const wanted = name.toUpperCase();
    const entry = this.#rootEntries().find(
      (candidate) => candidate.type === STREAM && candidate.name.toUpperCase() === wanted,
    );
    return entry === undefined ? null : this.#content(entry);
  }

  #rootEntries(): DirectoryEntry[] {
    const root = this.#entries[0];
    const found: DirectoryEntry[] = [];
    const seen = new Set<number>();
    const waiting = [root?.child ?? NO_ENTRY];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (id === NO_ENTRY) continue;
      const entry = this.#entries[id];
      if (!entry || seen.has(id)) throw damaged();
      seen.add(id);
      found.push(entry);
      waiting.push(entry.left, entry.right);
    }
    return found;
  }

  #content({ start, size }: DirectoryEntry): Buffer {
    const cutoff = this.#file.readUInt32LE(56);
    const root = this.#entries[0];
    if (size >= cutoff || !root) return joined(this.#chain(start, this.#table), size, this.#sector);
    const mini = joined(this.#chain(root.start, this.#table), root.size, this.#sector);
    const links = this.#numbers(this.#chain(this.#file.readUInt32LE(60), this.#table));
    return joined(this.#chain(start, links), size, (sector) => {
      const at = sector * MINI_SECTOR_BYTES;
      if (at >= mini.length) throw damaged();
      return mini.subarray(at, at + MINI_SECTOR_BYTES);
    });
  }

  readonly #sector = (sector: number): Buffer => {
    const at = (sector + 1) * this.#sectorBytes;
    // The last sector may be cut off behind its content.
    if (at >= this.#file.length) throw damaged();
    return this.#file.subarray(at, at + this.#sectorBytes);
  };

  /** The link of every sector. */
  #allocationTable(): Uint32Array {
    const list: number[] = [];
    for (let index = 0; index < HEADER_LIST_ITEMS; index++) {
      list.push(this.#file.readUInt32LE(HEADER_LIST_AT + index * 4));
    }
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
    return this.#numbers(used);
  }

  #numbers(sectors: readonly number[]): Uint32Array {
    return wordsOf(Buffer.concat(sectors.map(this.#sector)));
  }

  #chain(start: number, links: Uint32Array): number[] {
    const chain: number[] = [];
    for (let sector = start; sector <= MAX_SECTOR; sector = links[sector]!) {
      if (sector >= links.length || chain.length > links.length) throw damaged();
      chain.push(sector);
    }
    return chain;
  }

  #directory(isLarge: boolean): DirectoryEntry[] {
    const bytes = Buffer.concat(
      this.#chain(this.#file.readUInt32LE(48), this.#table).map(this.#sector),
    );
    const entries: DirectoryEntry[] = [];
    for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) {
      const nameBytes = Math.min(64, bytes.readUInt16LE(at + 64));
      // The upper half of the size is only defined in files with large sectors.
      const high = isLarge ? bytes.readUInt32LE(at + 124) : 0;
      entries.push({
        name: bytes.toString('utf16le', at, at + Math.max(0, nameBytes - 2)),
        type: bytes[at + 66]!,
        left: bytes.readUInt32LE(at + 68),
        right: bytes.readUInt32LE(at + 72),
        child: bytes.readUInt32LE(at + 76),
        start: bytes.readUInt32LE(at + 116),
        size: bytes.readUInt32LE(at + 120) + high * 2 ** 32,
      });
    }
    return entries;
  }
}

function joined(chain: readonly number[], size: number, sector: (id: number) => Buffer): Buffer {
  const content = Buffer.concat(chain.map(sector));
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
