/**
 * A nullable column of a new file, written as one chunk per row group.
 *
 * Repeated texts become a dictionary. Memory is the values of one row group.
 */
import { Codec } from './codec.ts';
import type { ColumnValues, ValueBounds, WritableValue } from './column-values.ts';
import type { ChunkSizes } from './description.ts';
import { Encoding } from './format.ts';
import { dataPage, dictionaryPage, indexBytes, type PageStyle } from './page-writer.ts';

/** As it stands in the file. */
export interface WrittenChunk extends ChunkSizes {
  readonly pages: readonly Uint8Array[];
  readonly nulls: number;
  /** Null when not known. */
  readonly bounds: ValueBounds | null;
}

const STYLE: PageStyle = { codec: Codec.snappy, version: 1, hasChecksum: false };

export class ColumnWriter {
  readonly physical: number;
  readonly #values: ColumnValues;
  #definition = new Uint8Array(1024);
  #rows = 0;
  #nulls = 0;

  constructor(physical: number, values: ColumnValues) {
    this.physical = physical;
    this.#values = values;
  }

  /** Bytes gathered. */
  get size(): number {
    return this.#values.size + this.#rows;
  }

  /** A value that does not fit the column becomes null. */
  add(value: WritableValue): void {
    if (this.#rows === this.#definition.length) {
      const larger = new Uint8Array(this.#definition.length * 2);
      larger.set(this.#definition);
      this.#definition = larger;
    }
    const isPresent = value !== null && this.#values.add(value);
    this.#definition[this.#rows++] = Number(isPresent);
    if (!isPresent) this.#nulls++;
  }

  /** Afterwards the column starts anew. */
  take(): WrittenChunk {
    const dictionary = this.#values.dictionary();
    const head = dictionary && dictionaryPage(dictionary.values, dictionary.count, STYLE);
    const encoding = dictionary ? Encoding.dictionary : Encoding.plain;
    const page = dataPage(
      {
        rows: this.#rows,
        count: this.#rows,
        definition: this.#definition.subarray(0, this.#rows),
        repetition: null,
        maxDefinition: 1,
        maxRepetition: 0,
        encoding,
        values: dictionary
          ? indexBytes(dictionary.indexes, dictionary.count)
          : this.#values.plain(),
      },
      STYLE,
    );
    const pages = head ? [head, page] : [page];
    const chunk = {
      pages: pages.map(({ bytes }) => bytes),
      size: pages.reduce((sum, { bytes }) => sum + bytes.length, 0),
      plainSize: pages.reduce((sum, { plainSize }) => sum + plainSize, 0),
      dictionarySize: head?.bytes.length ?? 0,
      encodings: [...new Set([Encoding.plain, Encoding.rle, encoding])],
      values: this.#rows,
      nulls: this.#nulls,
      bounds: this.#nulls < this.#rows ? this.#values.bounds() : null,
    };
    this.#values.clear();
    this.#rows = this.#nulls = 0;
    return chunk;
  }
}
