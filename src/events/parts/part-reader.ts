/** Reads the columns of a part. What is not as it was written throws `PartDamage`. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import {
  ChunkField,
  Encoding,
  FileField,
  GroupField,
  MetaField,
  PageField,
  PageType,
} from '../../tables/parquet/format.ts';
import { readHybrid } from '../../tables/parquet/hybrid.ts';
import { readThrift, type ThriftStruct } from '../../tables/parquet/thrift.ts';
import type { Part } from './manifest.ts';
import {
  filterBlockAt,
  filterHas,
  GROUPS_KEY,
  type GroupFacts,
  PART_COLUMNS,
  type PartColumn,
  PARTS_FOLDER,
} from './part-format.ts';

export class PartDamage extends Error {}

/** Nulls are where `codes` is -1. */
export interface TextColumn {
  readonly texts: PageTexts;
  readonly codes: Int32Array;
  /** Texts are not repeated. */
  readonly isPlain: boolean;
}

export interface NumberColumn {
  readonly numbers: Float64Array;
  /** 0 for null; null when there is none. */
  readonly present: Uint8Array | null;
}

export interface Group extends GroupFacts {
  readonly at: number;
  readonly chunks: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
}

/** Files that had their checksum. */
const sound = new Set<string>();
const MAX_SOUND = 100_000;
/** The bytes at both ends of the footer: its length and the magic. */
const TAIL_BYTES = 8;
const FILTER_DAMAGE = 'the checksum of a filter does not match';
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class PartReader {
  readonly groups: readonly Group[];
  readonly #fd: number;

  /** Throws `PartDamage`. */
  constructor(stateDir: string, part: Part) {
    try {
      this.#fd = openSync(join(stateDir, PARTS_FOLDER, part.file), 'r');
    } catch (error) {
      throw new PartDamage(`it cannot be opened (${(error as { code?: string }).code ?? error})`);
    }
    try {
      this.groups = told(() => this.#readFooter(part));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Reads all of the file, unless this process has done so since it was changed. */
  requireHash(part: Part): void {
    const { ino, mtimeMs } = fstatSync(this.#fd);
    const known = `${part.hash} ${ino} ${mtimeMs}`;
    if (sound.has(known)) return;
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(1 << 20);
    for (let at = 0; at < part.fileBytes;) {
      const count = readSync(this.#fd, buffer, 0, buffer.length, at);
      if (count === 0) break;
      hash.update(buffer.subarray(0, count));
      at += count;
    }
    if (hash.digest('hex') !== part.hash) throw new PartDamage('its checksum does not match');
    if (sound.size >= MAX_SOUND) sound.clear();
    sound.add(known);
  }

  /** False when no event of the group has all the folded texts. */
  mayHave({ filter }: Group, folded: readonly string[]): boolean {
    return told(() => {
      const byteAt = this.#filterBytes(filter);
      return folded.every((text) => filterHas(filter.size, byteAt, text));
    });
  }

  #filterBytes({ at, size, crc, block }: Group['filter']): (place: number) => number {
    const known = new Map<number, Buffer>();
    if (block === undefined) {
      const bytes = this.#bytes(at, size);
      if (zlib.crc32(bytes) !== crc) throw new PartDamage(FILTER_DAMAGE);
      return (place) => bytes[place]!;
    }
    return (place) => {
      const no = Math.floor(place / block);
      const bytes = known.getOrInsertComputed(no, () => {
        const { from, bytes, isSound } = filterBlockAt(size, block, no);
        const read = this.#bytes(at + from, bytes);
        if (!isSound(read)) throw new PartDamage(FILTER_DAMAGE);
        return read;
      });
      return bytes[place - no * block]!;
    };
  }

  texts(group: Group, name: string): TextColumn {
    return told(() => {
      const { dictionary, codes, values, present } = this.#chunk(group, name);
      if (codes?.length === group.rows) return { texts: dictionary, codes, isPlain: false };
      const all = new Int32Array(group.rows);
      let next = 0;
      for (let row = 0; row < all.length; row++) {
        if (present[row] === 0) all[row] = -1;
        else all[row] = codes === null ? next++ : codes[next++]!;
      }
      const isPlain = codes === null;
      return { texts: isPlain ? new PageTexts(values, next) : dictionary, codes: all, isPlain };
    });
  }

  numbers(group: Group, name: PartColumn): NumberColumn {
    return told(() => {
      const { values, present } = this.#chunk(group, name);
      const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
      const isShort = PART_COLUMNS.some((column) => column.name === name && column.kind === 'int');
      const numbers = new Float64Array(group.rows);
      let at = 0;
      let missing = 0;
      for (let row = 0; row < numbers.length; row++) {
        if (present[row] === 0) {
          missing++;
          continue;
        }
        if (isShort) numbers[row] = view.getInt32(at, true);
        else numbers[row] = view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
        at += isShort ? 4 : 8;
      }
      return { numbers, present: missing === 0 ? null : present };
    });
  }

  #readFooter(part: Part): Group[] {
    const { size } = fstatSync(this.#fd);
    if (size !== part.fileBytes)
      throw new PartDamage(`it has ${size} bytes instead of ${part.fileBytes}`);
    const tail = this.#bytes(size - TAIL_BYTES, TAIL_BYTES);
    const length = tail.readUInt32LE(0);
    if (length + TAIL_BYTES > size) throw new PartDamage('it has no footer');
    const bytes = this.#bytes(size - TAIL_BYTES - length, length + TAIL_BYTES);
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (hash !== part.footerHash)
      throw new PartDamage('its footer is not the one that was written');
    const footer = readThrift(bytes).value;
    const notes = footer.structs(FileField.keyValues);
    const facts = JSON.parse(
      notes.find((note) => note.text(1) === GROUPS_KEY)?.text(2) ?? '[]',
    ) as GroupFacts[];
    return footer.structs(FileField.rowGroups).map((struct, at) => ({
      ...facts[at]!,
      at,
      chunks: new Map(struct.structs(GroupField.columns).map(chunkPlace)),
    }));
  }

  #chunk(group: Group, name: string) {
    const place = group.chunks.get(name);
    if (place === undefined) throw new PartDamage(`it has no column ${name}`);
    const { start, end } = place;
    const bytes = this.#bytes(start, end - start);
    let page = pageAt(bytes, 0);
    let dictionary = new PageTexts(bytes, 0);
    if (page.type === PageType.dictionary) {
      dictionary = new PageTexts(page.body, page.count);
      page = pageAt(bytes, page.end);
    }
    const { body, count, encoding } = page;
    if (count !== group.rows) throw new PartDamage(`column ${name} has another number of rows`);
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
    const levelBytes = view.getUint32(0, true);
    const present = new Uint8Array(count);
    readHybrid(body, 4, 4 + levelBytes, 1, present);
    const values = body.subarray(4 + levelBytes);
    if (encoding === Encoding.plain) return { dictionary, codes: null, values, present };
    // By index: an iterator takes three times as long.
    let found = 0;
    for (let row = 0; row < count; row++) found += present[row]!;
    const codes = new Int32Array(found);
    if (found > 0) readHybrid(values, 1, values.length, values[0]!, codes);
    const { length } = dictionary;
    for (let at = 0; at < found; at++) {
      if (codes[at]! >>> 0 >= length) throw new PartDamage('a code outside its dictionary');
    }
    return { dictionary, codes, values, present };
  }

  #bytes(at: number, size: number): Buffer {
    const bytes = Buffer.allocUnsafe(size);
    for (let read = 0; read < size;) {
      const count = readSync(this.#fd, bytes, read, size - read, at + read);
      if (count === 0) throw new PartDamage('it ends early');
      read += count;
    }
    return bytes;
  }
}

function told<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof PartDamage) throw error;
    throw new PartDamage(error instanceof Error ? error.message : String(error));
  }
}

function chunkPlace(struct: ThriftStruct): [string, { start: number; end: number }] {
  const meta = struct.struct(ChunkField.meta)!;
  const start = meta.int(MetaField.dictionaryOffset) ?? meta.int(MetaField.dataOffset)!;
  const name = decoder.decode(meta.list(MetaField.path)[0] as Uint8Array);
  return [name, { start, end: start + meta.int(MetaField.compressedBytes)! }];
}

function pageAt(bytes: Uint8Array, from: number) {
  const { value, end } = readThrift(bytes, from);
  const type = value.int(PageField.type)!;
  const size = value.int(PageField.compressedBytes)!;
  const packed = bytes.subarray(end, end + size);
  if ((zlib.crc32(packed) | 0) !== value.int(PageField.crc))
    throw new PartDamage('the checksum of a page does not match');
  const details = value.struct(
    type === PageType.dictionary ? PageField.dictionary : PageField.data,
  )!;
  // Half the time of zlib's, which bounds the result: these bytes are ours, by their checksum.
  const body = Bun.zstdDecompressSync(packed);
  if (body.length !== value.int(PageField.bytes)) throw new PartDamage('a page of another size');
  return { type, body, count: details.int(1)!, encoding: details.int(2)!, end: end + size };
}

/** Texts of a page, each read when it is asked for. */
export class PageTexts {
  readonly length: number;
  readonly #bytes: Buffer;
  /** Of each text, behind its length; and where the page ends. */
  readonly #starts: Int32Array;
  readonly #known: string[];
  #isAll = false;

  /** Throws `PartDamage`. */
  constructor(bytes: Uint8Array, count: number) {
    this.length = count;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#starts = new Int32Array(count + 1);
    this.#known = new Array<string>(count);
    let at = 0;
    for (let index = 0; index < count; index++) {
      if (at + 4 > bytes.length) throw new PartDamage('a page ends early');
      const length =
        bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      at += 4;
      if (length < 0 || at + length > bytes.length)
        throw new PartDamage('a text longer than its page');
      this.#starts[index] = at;
      at += length;
    }
    this.#starts[count] = at + 4;
  }

  at(index: number): string {
    return (this.#known[index] ??= this.#bytes.toString(
      'utf8',
      this.#starts[index]!,
      this.#starts[index + 1]! - 4,
    ));
  }

  all(): readonly string[] {
    if (!this.#isAll) for (let index = 0; index < this.length; index++) this.at(index);
    this.#isAll = true;
    return this.#known;
  }

  /**
   * 1 for each text that contains all the folded ones; all texts are ASCII. The page is searched as a whole: a quarter
   * of the time of one text after the other.
   */
  having(folded: readonly string[]): Uint8Array {
    const page = this.#bytes.toString('latin1').toLowerCase();
    const counts = new Uint8Array(this.length);
    for (const [nth, wanted] of folded.entries()) {
      let index = 0;
      for (let at = page.indexOf(wanted); at >= 0;) {
        while (this.#starts[index + 1]! - 4 <= at && index < this.length - 1) index++;
        const isInside =
          at >= this.#starts[index]! && at + wanted.length <= this.#starts[index + 1]! - 4;
        if (isInside && counts[index] === nth) counts[index]!++;
        at = page.indexOf(wanted, isInside ? this.#starts[index + 1]! - 4 : at + 1);
      }
    }
    return counts.map((count) => (count === folded.length ? 1 : 0));
  }

  /** Of texts without a dictionary, whose places are their numbers: the JSON number of a text, else the text. */
  number(index: number): number | string {
    const bytes = this.#bytes;
    const to = this.#starts[index + 1]! - 4;
    let at = this.#starts[index]!;
    const isNegative = bytes[at] === MINUS;
    if (isNegative) at++;
    let value = 0;
    // Of so many digits all are exact.
    if (to > at && to - at <= 15) {
      for (; at < to; at++) {
        const digit = bytes[at]! - ZERO;
        if (digit < 0 || digit > 9) break;
        value = value * 10 + digit;
      }
      if (at === to) return isNegative ? -value : value;
    }
    const text = this.at(index);
    return numberOfJson(text) ?? text;
  }
}

const MINUS = 45;
const ZERO = 48;

/** Null for what is no number, and for one that a double does not hold as it is spelled. */
export function numberOfJson(text: string): number | null {
  const first = text.charCodeAt(0);
  if (first !== MINUS && (first < ZERO || first > ZERO + 9)) return null;
  const number = Number(text);
  const isExact = Number.isSafeInteger(number) || !/^-?[0-9]+$/.test(text);
  return Number.isFinite(number) && isExact ? number : null;
}
