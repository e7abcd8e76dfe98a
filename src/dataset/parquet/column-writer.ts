/**
 * A nullable column of a new file: gathers the values of a row group and writes them as one chunk.
 *
 * Texts that repeat become a dictionary. Memory is the values of one row group.
 */
import { Codec } from './codec.ts';
import { Encoding, Physical } from './format.ts';
import { dataPage, dictionaryPage, indexBytes, type PageStyle } from './page-writer.ts';

/** A column chunk as it stands in the file. */
export interface WrittenChunk {
  readonly pages: readonly Uint8Array[];
  readonly size: number;
  readonly plainSize: number;
  /** Bytes of the dictionary page, which comes first; 0 without one. */
  readonly dictionarySize: number;
  readonly encodings: readonly number[];
  readonly rows: number;
  readonly nulls: number;
  /** Least and greatest value in their plain form; null when they are not known. */
  readonly bounds: { readonly least: Uint8Array; readonly greatest: Uint8Array } | null;
}

/** A stored value. */
export type WritableValue = string | number | bigint | null;

/** The plain form of the values gathered so far. */
interface Values {
  add(value: WritableValue): boolean;
  /** Bytes they take. */
  readonly size: number;
  plain(): Uint8Array;
  dictionary?(): { values: Uint8Array; count: number; indexes: Int32Array } | null;
  bounds?(): WrittenChunk['bounds'];
  clear(): void;
}

const STYLE: PageStyle = { codec: Codec.snappy, version: 1, hasChecksum: false };
const HALF = 4_294_967_296;

export class ColumnWriter {
  readonly physical: number;
  readonly #values: Values;
  #definition = new Uint8Array(1024);
  #rows = 0;
  #nulls = 0;

  private constructor(physical: number, values: Values) {
    this.physical = physical;
    this.#values = values;
  }

  static integers(): ColumnWriter {
    return new ColumnWriter(Physical.int64, new LongValues());
  }

  static doubles(): ColumnWriter {
    return new ColumnWriter(Physical.double, new DoubleValues());
  }

  static booleans(): ColumnWriter {
    return new ColumnWriter(Physical.boolean, new BooleanValues());
  }

  static texts(): ColumnWriter {
    return new ColumnWriter(Physical.bytes, new TextValues());
  }

  /** Values of `width` bytes, made of texts. */
  static fixed(width: number, bytesOf: (text: string) => Uint8Array): ColumnWriter {
    return new ColumnWriter(Physical.fixed, new FixedValues(width, bytesOf));
  }

  /** Unsigned integers of 64 bits, made of texts. */
  static unsigned(valueOf: (text: string) => bigint): ColumnWriter {
    return new ColumnWriter(Physical.int64, new LongValues(valueOf));
  }

  /** Bytes of the values gathered. */
  get size(): number {
    return this.#values.size + this.#rows;
  }

  /** Adds a row's value; one that does not fit the column is a null. */
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

  /** The chunk of all rows added; the column starts anew. */
  take(): WrittenChunk {
    const dictionary = this.#values.dictionary?.() ?? null;
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
      rows: this.#rows,
      nulls: this.#nulls,
      bounds: this.#nulls < this.#rows ? (this.#values.bounds?.() ?? null) : null,
    };
    this.#values.clear();
    this.#rows = this.#nulls = 0;
    return chunk;
  }
}

/** A buffer of values of one width that grows. */
abstract class Buffered {
  protected bytes = new Uint8Array(8192);
  protected view = new DataView(this.bytes.buffer);
  protected length = 0;

  get size(): number {
    return this.length;
  }

  plain(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  protected ensure(size: number): void {
    if (this.length + size <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.length + size, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }
}

class LongValues extends Buffered implements Values {
  readonly #valueOf: ((text: string) => bigint) | null;

  constructor(valueOf: ((text: string) => bigint) | null = null) {
    super();
    this.#valueOf = valueOf;
  }

  add(value: WritableValue): boolean {
    this.ensure(8);
    if (typeof value === 'number' && Number.isSafeInteger(value)) {
      this.view.setUint32(this.length, value >>> 0, true);
      this.view.setInt32(this.length + 4, Math.floor(value / HALF), true);
    } else if (typeof value === 'bigint') this.view.setBigInt64(this.length, value, true);
    else if (typeof value === 'string' && this.#valueOf) {
      this.view.setBigUint64(this.length, this.#valueOf(value), true);
    } else return false;
    this.length += 8;
    return true;
  }

  bounds(): WrittenChunk['bounds'] {
    const count = this.length / 8;
    const isUnsigned = this.#valueOf !== null;
    const values = isUnsigned
      ? new BigUint64Array(this.bytes.buffer, 0, count)
      : new BigInt64Array(this.bytes.buffer, 0, count);
    let least = 0;
    let greatest = 0;
    for (let index = 1; index < count; index++) {
      if (values[index]! < values[least]!) least = index;
      if (values[index]! > values[greatest]!) greatest = index;
    }
    return {
      least: this.bytes.slice(least * 8, least * 8 + 8),
      greatest: this.bytes.slice(greatest * 8, greatest * 8 + 8),
    };
  }
}

class DoubleValues extends Buffered implements Values {
  add(value: WritableValue): boolean {
    if (typeof value !== 'number' && typeof value !== 'bigint') return false;
    this.ensure(8);
    this.view.setFloat64(this.length, Number(value), true);
    this.length += 8;
    return true;
  }

  bounds(): WrittenChunk['bounds'] {
    let least = Infinity;
    let greatest = -Infinity;
    for (let at = 0; at < this.length; at += 8) {
      const value = this.view.getFloat64(at, true);
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    // The format wants zeros so that both of them lie within.
    return { least: doubleBytes(least === 0 ? -0 : least), greatest: doubleBytes(greatest + 0) };
  }
}

function doubleBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return bytes;
}

class BooleanValues extends Buffered implements Values {
  add(value: WritableValue): boolean {
    if (typeof value !== 'number' && typeof value !== 'bigint') return false;
    this.ensure(1);
    this.bytes[this.length++] = Number(value) === 1 ? 1 : 0;
    return true;
  }

  override plain(): Uint8Array {
    const packed = new Uint8Array(Math.ceil(this.length / 8));
    for (let index = 0; index < this.length; index++) {
      packed[index >> 3]! |= this.bytes[index]! << (index & 7);
    }
    return packed;
  }
}

class FixedValues extends Buffered implements Values {
  readonly #width: number;
  readonly #bytesOf: (text: string) => Uint8Array;

  constructor(width: number, bytesOf: (text: string) => Uint8Array) {
    super();
    this.#width = width;
    this.#bytesOf = bytesOf;
  }

  add(value: WritableValue): boolean {
    if (typeof value !== 'string') return false;
    this.ensure(this.#width);
    this.bytes.set(this.#bytesOf(value), this.length);
    this.length += this.#width;
    return true;
  }
}

const encoder = new TextEncoder();
/** More different texts than this in a row group are not worth a dictionary. */
const MAX_DICTIONARY = 16_384;

class TextValues extends Buffered implements Values {
  readonly #places = new Map<string, number>();
  #indexes = new Int32Array(1024);
  #count = 0;
  /** Length of the values that repeat others, which a dictionary saves. */
  #saved = 0;

  add(value: WritableValue): boolean {
    if (value === null) return false;
    const text = String(value);
    if (this.#count === this.#indexes.length) {
      const larger = new Int32Array(this.#count * 2);
      larger.set(this.#indexes);
      this.#indexes = larger;
    }
    this.#index(text);
    this.ensure(4 + text.length * 3);
    const { written } = encoder.encodeInto(text, this.bytes.subarray(this.length + 4));
    this.view.setUint32(this.length, written, true);
    this.length += 4 + written;
    return true;
  }

  #index(text: string): void {
    let place = this.#places.get(text);
    if (place === undefined) {
      place = this.#places.size;
      if (place < MAX_DICTIONARY) this.#places.set(text, place);
    } else this.#saved += text.length + 4;
    this.#indexes[this.#count++] = place;
  }

  /** Null unless it halves the size. */
  dictionary(): { values: Uint8Array; count: number; indexes: Int32Array } | null {
    const size = this.#places.size;
    if (size >= MAX_DICTIONARY || this.#saved * 2 < this.length) return null;
    const values = new TextBytes();
    for (const text of this.#places.keys()) values.add(text);
    return { values: values.plain(), count: size, indexes: this.#indexes.slice(0, this.#count) };
  }

  override clear(): void {
    super.clear();
    this.#places.clear();
    this.#count = this.#saved = 0;
  }
}

class TextBytes extends Buffered {
  add(text: string): void {
    this.ensure(4 + text.length * 3);
    const { written } = encoder.encodeInto(text, this.bytes.subarray(this.length + 4));
    this.view.setUint32(this.length, written, true);
    this.length += 4 + written;
  }
}
