/**
 * A column chunk after an edit: untouched pages keep their bytes, touched ones are rewritten, if
 * possible in their old encoding.
 */
import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import type { Piece } from '../../src/base/files/piece-writer.ts';
import { Encoding, MetaField, PageType } from '../../src/tables/parquet/format.ts';
import type { PageStyle } from '../../src/tables/parquet/page-writer.ts';
import { ChunkPages, MAX_PAGE_BYTES, type Page } from './chunk-pages.ts';
import type { Chunk } from './footer.ts';
import { GrowingDictionary } from './growing-dictionary.ts';
import { type EditedPage, type LeafChanges, PageEdit } from './page-edit.ts';
import { dictionaryValues, pageValues } from './page-values.ts';
import type { Leaf } from './schema.ts';

export interface EditedChunk {
  readonly pieces: readonly Piece[];
  readonly size: number;
  readonly plainSize: number;
  readonly values: number;
  /** The dictionary page comes first; 0 without one. */
  readonly dictionarySize: number;
  readonly encodings: readonly number[];
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
  return edit.finish(encodingsOf(chunk));
}

export function newChunk(leaf: Leaf, codec: number, changes: LeafChanges): EditedChunk {
  return new ChunkEdit(leaf, codec, changes).finish([]);
}

function encodingsOf({ meta }: Chunk): number[] {
  return meta.list(MetaField.encodings).filter((item) => typeof item === 'number');
}

class ChunkEdit {
  readonly #leaf: Leaf;
  readonly #codec: number;
  readonly #changes: LeafChanges;
  readonly #pieces: Piece[] = [];
  readonly #encodings = new Set<number>();
  #style: PageStyle;
  #dictionary: GrowingDictionary | null = null;
  #dictionaryPiece: { readonly from: number; readonly to: number } | null = null;
  #dictionaryPlain = 0;
  /** Row that the next page's first entry begins. */
  #row = 0;
  #appended = 0;
  #size = 0;
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
    this.#dictionaryPiece = { from: page.start, to: page.end };
    this.#dictionaryPlain = plainSizeOf(page);
    this.#follow(page);
  }

  /** Yields to the event loop: a page may hold a hundred thousand values. */
  async page(page: Page, isLast: boolean): Promise<void> {
    this.#follow(page);
    const takesRows =
      isLast && this.#changes.appended.length > 0 && page.header.count < PAGE_VALUES;
    const { updates, deletes } = this.#changes;
    // Where lists begin is only known from their levels.
    const isCounted = this.#leaf.maxRepetition === 0 || updates.size + deletes.size === 0;
    if (isCounted && !takesRows && !this.#isTouched(page.header.count)) return this.#keep(page);
    const values = pageValues(page, this.#leaf, this.#codec, this.#dictionary?.size ?? null);
    const dictionary = values.indexes ? this.#dictionary : null;
    const edit = new PageEdit(this.#leaf, dictionary, page.header.encoding);
    await Bun.sleep(0);
    this.#row = edit.take(values, this.#row, this.#changes);
    await Bun.sleep(0);
    if (takesRows) this.#append(edit, PAGE_VALUES - page.header.count);
    this.#write(edit.page(this.#style));
  }

  finish(oldEncodings: readonly number[]): EditedChunk {
    while (this.#appended < this.#changes.appended.length) {
      const edit = new PageEdit(this.#leaf, null, Encoding.plain);
      this.#append(edit, PAGE_VALUES);
      this.#write(edit.page(this.#style));
    }
    const head = this.#head();
    const levels = this.#leaf.maxDefinition + this.#leaf.maxRepetition > 0 ? [Encoding.rle] : [];
    return {
      pieces: head ? [head.piece, ...this.#pieces] : this.#pieces,
      size: this.#size + (head?.size ?? 0),
      plainSize: this.#plainSize + (head?.plainSize ?? 0),
      values: this.#values,
      dictionarySize: head?.size ?? 0,
      encodings: [...new Set([...oldEncodings, ...levels, ...this.#encodings])],
    };
  }

  #head(): { piece: Piece; size: number; plainSize: number } | null {
    if (!this.#dictionary || !this.#dictionaryPiece) return null;
    if (!this.#dictionary.isChanged) {
      const { from, to } = this.#dictionaryPiece;
      return { piece: this.#dictionaryPiece, size: to - from, plainSize: this.#dictionaryPlain };
    }
    const { bytes, plainSize } = this.#dictionary.page(this.#style);
    return { piece: bytes, size: bytes.length, plainSize };
  }

  /** New pages use the page version of the old ones. */
  #follow({ header }: Page): void {
    const version = header.type === PageType.dataV2 ? 2 : 1;
    this.#style = { codec: this.#codec, version, hasChecksum: header.hasChecksum };
  }

  #isTouched(rows: number): boolean {
    const { updates, deletes } = this.#changes;
    const end = this.#row + rows;
    const isWithin = (row: number): boolean => row >= this.#row && row < end;
    return updates.keys().some(isWithin) || deletes.values().some(isWithin);
  }

  #keep({ header, start, end }: Page): void {
    if (this.#leaf.maxRepetition === 0) this.#row += header.count;
    this.#pieces.push({ from: start, to: end });
    this.#size += end - start;
    this.#plainSize += plainSizeOf({ header, start, end });
    this.#values += header.count;
  }

  #append(edit: PageEdit, most: number): void {
    const { appended } = this.#changes;
    const end = Math.min(appended.length, this.#appended + most);
    while (this.#appended < end) edit.add(appended[this.#appended++]!);
  }

  #write(page: EditedPage | null): void {
    if (!page) return;
    if (page.plainSize > MAX_PAGE_BYTES) {
      throw new AppError(
        'unreadable-file',
        `it would need a page of more than ${MAX_PAGE_BYTES} bytes`,
      );
    }
    this.#pieces.push(page.bytes);
    this.#size += page.bytes.length;
    this.#plainSize += page.plainSize;
    this.#values += page.count;
    this.#encodings.add(page.encoding);
  }
}

/** Uncompressed size, header included. */
function plainSizeOf({ header, start, end }: Pick<Page, 'header' | 'start' | 'end'>): number {
  return end - start - header.packedSize + header.size;
}
