/** Untouched pages of a chunk keep their bytes; touched ones are rewritten, if possible in their old encoding. */
import { unreadable } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { PieceList } from '../../src/base/files/piece-list.ts';
import type { Piece } from '../../src/base/files/piece-writer.ts';
import type { ChunkSizes } from '../../src/tables/parquet/description.ts';
import { Encoding, MetaField, PageType } from '../../src/tables/parquet/format.ts';
import {
  dataPage,
  dictionaryPage,
  indexBytes,
  type PageStyle,
} from '../../src/tables/parquet/page-writer.ts';
import { ChunkPages, MAX_PAGE_BYTES, type Page } from './chunk-pages.ts';
import { encodeLike } from './delta.ts';
import type { Chunk } from './footer.ts';
import { dictionaryValues, type PageValues, pageValues } from './page-values.ts';
import { PlainValues, type RawValues, rawValue } from './raw-values.ts';
import type { Leaf } from './schema.ts';

/** Changes of a leaf in a row group, by row. */
export interface LeafChanges {
  /** Null is a null. */
  readonly updates: ReadonlyMap<number, Uint8Array | null>;
  readonly deletes: ReadonlySet<number>;
  /** After the last row. */
  readonly appended: readonly (Uint8Array | null)[];
}

export interface EditedChunk extends ChunkSizes {
  readonly pieces: readonly Piece[];
}

/** A last page below this takes new rows, because fewer pages are read faster. */
const PAGE_VALUES = 8_192;

/** Reads all pages and decodes the touched ones. */
export async function editChunk(
  source: FileSource,
  chunk: Chunk,
  changes: LeafChanges,
): Promise<EditedChunk> {
  const edit = new ChunkEdit(chunk.leaf, chunk.codec, changes);
  const pages = new ChunkPages(source, chunk);
  let seen = 0;
  for (let page = await pages.next(); page; page = await pages.next()) {
    seen += page.header.count;
    if (page.header.type === PageType.dictionary) {
      seen = 0;
      edit.dictionary(page);
    } else await edit.page(page, seen === chunk.values);
  }
  const encodings = chunk.meta.list(MetaField.encodings);
  return edit.finish(encodings.filter((item) => typeof item === 'number'));
}

export function newChunk(leaf: Leaf, codec: number, changes: LeafChanges): EditedChunk {
  return new ChunkEdit(leaf, codec, changes).finish([]);
}

class ChunkEdit {
  readonly #leaf: Leaf;
  readonly #codec: number;
  readonly #changes: LeafChanges;
  readonly #pieces = new PieceList();
  readonly #encodings = new Set<number>();
  #style: PageStyle;
  #dictionary: GrowingDictionary | null = null;
  /** The dictionary's page in the old file. */
  #head: { readonly piece: Piece; readonly size: number; readonly plainSize: number } | null = null;
  /** Row that the next page's first entry begins. */
  #row = 0;
  #appended = 0;
  #plainSize = 0;
  #values = 0;

  constructor(leaf: Leaf, codec: number, changes: LeafChanges) {
    this.#leaf = leaf;
    this.#codec = codec;
    this.#changes = changes;
    this.#style = { codec, version: 1, hasChecksum: false };
  }

  dictionary(page: Page): void {
    const values = dictionaryValues(page, this.#leaf, this.#codec);
    // The next page overwrites these bytes.
    const bytes = new Uint8Array(values.bytes);
    this.#dictionary = new GrowingDictionary(this.#leaf, { ...values, bytes });
    const { start, end } = page;
    const plainSize = plainSizeOf(page);
    this.#head = { piece: { from: start, to: end }, size: end - start, plainSize };
    this.#follow(page);
  }

  /** Yields to the event loop: a page may hold a hundred thousand values. */
  async page(page: Page, isLast: boolean): Promise<void> {
    this.#follow(page);
    const { count, encoding } = page.header;
    const { updates, deletes, appended } = this.#changes;
    const takesRows = isLast && appended.length > 0 && count < PAGE_VALUES;
    // Where lists begin is only known from their levels.
    const isCounted = this.#leaf.maxRepetition === 0 || updates.size + deletes.size === 0;
    if (isCounted && !takesRows && !this.#isTouched(count)) return this.#keep(page);
    const values = pageValues(page, this.#leaf, this.#codec, this.#dictionary?.size ?? null);
    const edit = new PageEdit(this.#leaf, values.indexes ? this.#dictionary : null, encoding);
    await Bun.sleep(0);
    this.#row = edit.take(values, this.#row, this.#changes);
    await Bun.sleep(0);
    if (takesRows) this.#append(edit, PAGE_VALUES - count);
    this.#write(edit);
  }

  finish(oldEncodings: readonly number[]): EditedChunk {
    while (this.#appended < this.#changes.appended.length) {
      const edit = new PageEdit(this.#leaf, null, Encoding.plain);
      this.#append(edit, PAGE_VALUES);
      this.#write(edit);
    }
    if (this.#dictionary?.isChanged) {
      const { bytes, plainSize } = this.#dictionary.page(this.#style);
      this.#head = { piece: bytes, size: bytes.length, plainSize };
    }
    const head = this.#head;
    const levels = this.#leaf.maxDefinition + this.#leaf.maxRepetition > 0 ? [Encoding.rle] : [];
    return {
      pieces: head ? [head.piece, ...this.#pieces.pieces] : this.#pieces.pieces,
      size: this.#pieces.size + (head?.size ?? 0),
      plainSize: this.#plainSize + (head?.plainSize ?? 0),
      values: this.#values,
      dictionarySize: head?.size ?? 0,
      encodings: [...new Set([...oldEncodings, ...levels, ...this.#encodings])],
    };
  }

  /** New pages use the page version of the old ones. */
  #follow({ header }: Page): void {
    const version = header.type === PageType.dataV2 ? 2 : 1;
    this.#style = { codec: this.#codec, version, hasChecksum: header.checksum !== null };
  }

  #isTouched(rows: number): boolean {
    const { updates, deletes } = this.#changes;
    const end = this.#row + rows;
    const isWithin = (row: number): boolean => row >= this.#row && row < end;
    return updates.keys().some(isWithin) || deletes.values().some(isWithin);
  }

  #keep(page: Page): void {
    const { count } = page.header;
    if (this.#leaf.maxRepetition === 0) this.#row += count;
    this.#pieces.add({ from: page.start, to: page.end });
    this.#plainSize += plainSizeOf(page);
    this.#values += count;
  }

  #append(edit: PageEdit, most: number): void {
    const { appended } = this.#changes;
    const end = Math.min(appended.length, this.#appended + most);
    while (this.#appended < end) edit.add(appended[this.#appended++]!);
  }

  #write(edit: PageEdit): void {
    if (edit.count === 0) return;
    const { bytes, plainSize, encoding } = edit.page(this.#style);
    if (plainSize > MAX_PAGE_BYTES) {
      throw unreadable(`it would need a page of more than ${MAX_PAGE_BYTES} bytes`);
    }
    this.#pieces.add(bytes);
    this.#plainSize += plainSize;
    this.#values += edit.count;
    this.#encodings.add(encoding);
  }
}

/** Uncompressed size, header included. */
function plainSizeOf({ header, start, end }: Page): number {
  return end - start - header.packedSize + header.size;
}

class PageEdit {
  readonly #leaf: Leaf;
  /** Null: values are in the page. */
  readonly #dictionary: GrowingDictionary | null;
  readonly #encoding: number;
  readonly #definition: number[] = [];
  readonly #repetition: number[] = [];
  readonly #indexes: number[] = [];
  readonly #plain: PlainValues;
  #rows = 0;
  #present = 0;

  constructor(leaf: Leaf, dictionary: GrowingDictionary | null, encoding: number) {
    this.#leaf = leaf;
    this.#dictionary = dictionary;
    this.#encoding = encoding;
    this.#plain = new PlainValues(leaf);
  }

  get count(): number {
    return this.#definition.length;
  }

  /**
   * Takes over the entries of an old page with changes; returns the row after its last one. `row`: of its first
   * entry. Both pages must have one encoding.
   */
  take(page: PageValues, row: number, { updates, deletes }: LeafChanges): number {
    const { definition, repetition, count } = page;
    const { maxDefinition } = this.#leaf;
    let next = row;
    let valueAt = 0;
    for (let at = 0; at < count; at++) {
      const level = repetition ? repetition[at]! : 0;
      if (level === 0) next++;
      const depth = definition ? definition[at]! : maxDefinition;
      const value = depth === maxDefinition ? valueAt++ : -1;
      const own = next - 1;
      if (deletes.has(own)) continue;
      const update = updates.size > 0 ? updates.get(own) : undefined;
      if (update === undefined) this.#keep(page, level, depth, value);
      // A row's list items go with the first of them.
      else if (level === 0) this.add(update);
    }
    return next;
  }

  /** One value or a null. */
  add(value: Uint8Array | null): void {
    this.#entry(0, value ? this.#leaf.maxDefinition : 0);
    if (!value) return;
    if (this.#dictionary) this.#indexes.push(this.#dictionary.placeOf(value));
    else this.#plain.add(value, 0, value.length);
  }

  #keep(page: PageValues, level: number, depth: number, value: number): void {
    this.#entry(level, depth);
    if (value < 0) return;
    if (page.indexes) this.#indexes.push(page.indexes[value]!);
    else {
      const { bytes, width, starts, ends } = page.values!;
      if (width > 0) this.#plain.add(bytes, value * width, (value + 1) * width);
      else this.#plain.add(bytes, starts[value]!, ends[value]!);
    }
  }

  #entry(level: number, depth: number): void {
    if (depth === this.#leaf.maxDefinition) this.#present++;
    this.#repetition.push(level);
    this.#definition.push(depth);
    if (level === 0) this.#rows++;
  }

  page(style: PageStyle): { bytes: Uint8Array; plainSize: number; encoding: number } {
    const { maxDefinition, maxRepetition } = this.#leaf;
    const { encoding, bytes } = this.#dictionary
      ? {
          encoding: Encoding.dictionary,
          bytes: indexBytes(Int32Array.from(this.#indexes), this.#dictionary.size),
        }
      : encodeLike(this.#encoding, this.#plain.encoded(), this.#present, this.#leaf);
    const written = dataPage(
      {
        rows: this.#rows,
        count: this.count,
        definition: maxDefinition > 0 ? Uint8Array.from(this.#definition) : null,
        repetition: maxRepetition > 0 ? Uint8Array.from(this.#repetition) : null,
        maxDefinition,
        maxRepetition,
        encoding,
        values: bytes,
      },
      style,
    );
    return { ...written, encoding };
  }
}

/** A chunk's dictionary, whose indexes stay valid when values are added. */
class GrowingDictionary {
  readonly #leaf: Leaf;
  readonly #values: RawValues;
  readonly #added: Uint8Array[] = [];
  /** Index by the value's bytes; built at the first lookup. */
  #places: Map<string, number> | null = null;

  /** `values` must not change. */
  constructor(leaf: Leaf, values: RawValues) {
    this.#leaf = leaf;
    this.#values = values;
  }

  get size(): number {
    return this.#values.count + this.#added.length;
  }

  get isChanged(): boolean {
    return this.#added.length > 0;
  }

  /** Adds the value if it is missing. */
  placeOf(value: Uint8Array): number {
    this.#places ??= new Map([...this.#all()].map((known, index) => [keyOf(known), index]));
    const key = keyOf(value);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#places.set(key, this.size);
    return this.#values.count + this.#added.push(value) - 1;
  }

  page(style: PageStyle): { bytes: Uint8Array; plainSize: number } {
    const plain = new PlainValues(this.#leaf);
    for (const value of this.#all()) plain.add(value, 0, value.length);
    return dictionaryPage(plain.encoded(), this.size, style);
  }

  *#all(): Generator<Uint8Array> {
    for (let index = 0; index < this.#values.count; index++) yield rawValue(this.#values, index);
    yield* this.#added;
  }
}

function keyOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}
