/** Reads the columns of a part. What is not as it was written throws `PartDamage`. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { decompress } from '../../tables/parquet/codec.ts';
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
  GROUPS_KEY,
  type GroupFacts,
  PART_COLUMNS,
  type PartColumn,
  PARTS_FOLDER,
} from './part-format.ts';

export class PartDamage extends Error {}

/** Nulls are where `codes` is -1. */
export interface TextColumn {
  readonly texts: readonly string[];
  readonly codes: Int32Array;
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

  filter({ filter: { at, size, crc } }: Group): Uint8Array {
    const bytes = told(() => this.#bytes(at, size));
    if (zlib.crc32(bytes) !== crc) throw new PartDamage('the checksum of a filter does not match');
    return bytes;
  }

  texts(group: Group, name: string): TextColumn {
    return told(() => {
      const { dictionary, codes, values, present } = this.#chunk(group, name);
      const all = new Int32Array(group.rows);
      if (codes === null) {
        let next = 0;
        for (let row = 0; row < all.length; row++) all[row] = present[row] === 0 ? -1 : next++;
        return { texts: plainTexts(values, next), codes: all };
      }
      let next = 0;
      for (let row = 0; row < all.length; row++)
        all[row] = present[row] === 0 ? -1 : codes[next++]!;
      return { texts: dictionary, codes: all };
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
    let dictionary: string[] = [];
    if (page.type === PageType.dictionary) {
      dictionary = plainTexts(page.body, page.count);
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
    let found = 0;
    for (const one of present) found += one;
    const codes = new Int32Array(found);
    if (found > 0) readHybrid(values, 1, values.length, values[0]!, codes);
    for (const code of codes) {
      if (code >>> 0 >= dictionary.length) throw new PartDamage('a code outside its dictionary');
    }
    return { dictionary, codes, values, present };
  }

  #bytes(at: number, size: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(size);
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
  const body = decompress(6, packed, value.int(PageField.bytes)!);
  return { type, body, count: details.int(1)!, encoding: details.int(2)!, end: end + size };
}

function plainTexts(bytes: Uint8Array, count: number): string[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const texts: string[] = new Array<string>(count);
  let at = 0;
  for (let index = 0; index < count; index++) {
    const length = view.readUInt32LE(at);
    at += 4;
    if (at + length > view.length) throw new PartDamage('a text longer than its page');
    texts[index] = view.toString('utf8', at, at + length);
    at += length;
  }
  return texts;
}
