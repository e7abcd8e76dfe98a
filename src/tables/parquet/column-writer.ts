/**
 * A nullable column of a new file, or a leaf of a nested one: one chunk per row group. Repeated texts become a
 * dictionary.
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

/** Of exports. */
const STYLE: PageStyle = { codec: Codec.snappy, version: 1, hasChecksum: false };

export class ColumnWriter {
  readonly physical: number;
  readonly #values: ColumnValues;
  readonly #maxDefinition: number;
  readonly #maxRepetition: number;
  readonly #style: PageStyle;
  #definition = new Uint8Array(1024);
  #repetition: Uint8Array<ArrayBuffer>;
  #rows = 0;
  #nulls = 0;

  constructor(
    physical: number,
    values: ColumnValues,
    { definition, repetition } = { definition: 1, repetition: 0 },
    style: PageStyle = STYLE,
  ) {
    this.physical = physical;
    this.#style = style;
    this.#values = values;
    this.#maxDefinition = definition;
    this.#maxRepetition = repetition;
    this.#repetition = new Uint8Array(repetition > 0 ? 1024 : 0);
  }

  /** Bytes gathered. */
  get size(): number {
    return this.#values.size + this.#rows;
  }

  /** A value that does not fit the column becomes null. */
  add(value: WritableValue, repetition = 0): void {
    const isPresent = value !== null && this.#values.add(value);
    if (isPresent) this.#level(this.#maxDefinition, repetition);
    else this.none(this.#maxDefinition - 1, repetition);
  }

  /** Nothing at this level of definition. */
  none(definition: number, repetition: number): void {
    this.#level(definition, repetition);
    this.#nulls++;
  }

  #level(definition: number, repetition: number): void {
    if (this.#rows === this.#definition.length) {
      this.#definition = doubled(this.#definition);
      if (this.#maxRepetition > 0) this.#repetition = doubled(this.#repetition);
    }
    if (this.#maxRepetition > 0) this.#repetition[this.#rows] = repetition;
    this.#definition[this.#rows++] = definition;
  }

  /** Afterwards the column starts anew. */
  take(): WrittenChunk {
    const dictionary = this.#values.dictionary();
    const head = dictionary && dictionaryPage(dictionary.values, dictionary.count, this.#style);
    const encoding = dictionary ? Encoding.dictionary : Encoding.plain;
    const page = dataPage(
      {
        rows: this.#rows,
        count: this.#rows,
        definition: this.#definition.subarray(0, this.#rows),
        repetition: this.#maxRepetition > 0 ? this.#repetition.subarray(0, this.#rows) : null,
        maxDefinition: this.#maxDefinition,
        maxRepetition: this.#maxRepetition,
        encoding,
        values: dictionary
          ? indexBytes(dictionary.indexes, dictionary.count)
          : this.#values.plain(),
      },
      this.#style,
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

function doubled(levels: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(levels.length * 2);
  larger.set(levels);
  return larger;
}
