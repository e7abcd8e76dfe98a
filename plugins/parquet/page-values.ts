import { type AppError, unreadable } from '../../src/base/errors.ts';
import { damaged } from '../../src/tables/parquet/bytes.ts';
import { decompress } from '../../src/tables/parquet/codec.ts';
import { Encoding, ENCODING_NAMES, PageType, Physical } from '../../src/tables/parquet/format.ts';
import { bitWidth, readHybrid } from '../../src/tables/parquet/hybrid.ts';
import type { Page } from './chunk-pages.ts';
import { readDeltaBinary, readDeltaBytes, readDeltaLength, readStreams } from './delta.ts';
import { fixedValues, type RawValues, rawValue, scatteredValues, widthOf } from './raw-values.ts';
import type { Leaf } from './schema.ts';

export interface PageValues {
  /** Levels, or values where there are none. */
  readonly count: number;
  /** Null: all at the highest level. */
  readonly definition: Uint8Array | null;
  /** Null: every value begins a row. */
  readonly repetition: Uint8Array | null;
  readonly values: RawValues | null;
  /** Dictionary indexes, checked; set when `values` is null. */
  readonly indexes: Int32Array | null;
}

export function dictionaryValues(page: Page, leaf: Leaf, codec: number): RawValues {
  const { header } = page;
  if (header.encoding !== Encoding.plain && header.encoding !== Encoding.plainDictionary) {
    throw unsupported(header.encoding);
  }
  const bytes = decompress(codec, page.body, header.size);
  return plainValues(bytes, leaf, header.count);
}

/** `dictionarySize` is null without a dictionary. Throws `unreadable-file`. */
export function pageValues(
  page: Page,
  leaf: Leaf,
  codec: number,
  dictionarySize: number | null,
): PageValues {
  const { header } = page;
  const { count } = header;
  const body =
    header.type === PageType.dataV2 ? secondVersion(page, codec) : firstVersion(page, leaf, codec);
  const repetition = levels(body.repetition, leaf.maxRepetition, count);
  const definition = levels(body.definition, leaf.maxDefinition, count);
  const present = definition ? countOf(definition, leaf.maxDefinition) : count;
  const isIndexed =
    header.encoding === Encoding.dictionary || header.encoding === Encoding.plainDictionary;
  return {
    count,
    definition: present === count ? null : definition,
    repetition,
    values: isIndexed ? null : decoded(body.values, leaf, header.encoding, present),
    indexes: isIndexed ? indexesOf(body.values, present, dictionarySize) : null,
  };
}

interface PageParts {
  /** Null where the column has no such levels. */
  readonly repetition: Uint8Array | null;
  readonly definition: Uint8Array | null;
  readonly values: Uint8Array;
}

/** Levels are in the compressed part, each after its size. */
function firstVersion({ header, body }: Page, leaf: Leaf, codec: number): PageParts {
  const bytes = decompress(codec, body, header.size);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const next = (max: number, encoding: number): Uint8Array | null => {
    if (max === 0) return null;
    if (encoding !== Encoding.rle) throw unsupported(encoding);
    if (at + 4 > bytes.length) throw damaged('a page that ends early');
    const size = view.getUint32(at, true);
    at += 4 + size;
    if (at > bytes.length) throw damaged('a page that ends early');
    return bytes.subarray(at - size, at);
  };
  const repetition = next(leaf.maxRepetition, header.repetitionEncoding);
  const definition = next(leaf.maxDefinition, header.definitionEncoding);
  return { repetition, definition, values: bytes.subarray(at) };
}

/** Levels precede the compressed part; their sizes are in the header. */
function secondVersion({ header, body }: Page, codec: number): PageParts {
  const { definitionBytes, repetitionBytes } = header;
  const levelBytes = definitionBytes + repetitionBytes;
  const isNegative = Math.min(definitionBytes, repetitionBytes) < 0;
  if (isNegative || levelBytes > Math.min(body.length, header.size)) {
    throw damaged('levels larger than their page');
  }
  const packed = body.subarray(levelBytes);
  const size = header.size - levelBytes;
  return {
    repetition: body.subarray(0, repetitionBytes),
    definition: body.subarray(repetitionBytes, levelBytes),
    // Some writers mark an empty part as compressed and write nothing.
    values: header.isCompressed && packed.length > 0 ? decompress(codec, packed, size) : packed,
  };
}

function levels(bytes: Uint8Array | null, max: number, count: number): Uint8Array | null {
  if (max === 0 || bytes === null) return null;
  const out = new Uint8Array(count);
  readHybrid(bytes, 0, bytes.length, bitWidth(max), out);
  for (let index = 0; index < count; index++) {
    if (out[index]! > max) throw damaged('a level too high');
  }
  return out;
}

function countOf(levelsFound: Uint8Array, wanted: number): number {
  let count = 0;
  for (let index = 0; index < levelsFound.length; index++) {
    if (levelsFound[index] === wanted) count++;
  }
  return count;
}

function indexesOf(bytes: Uint8Array, count: number, size: number | null): Int32Array {
  const indexes = new Int32Array(count);
  if (count === 0) return indexes;
  if (size === null) throw damaged('indexes without a dictionary');
  const width = bytes[0];
  if (width === undefined) throw damaged('a page that ends early');
  readHybrid(bytes, 1, bytes.length, width, indexes);
  for (let index = 0; index < count; index++) {
    // Unsigned, so that a negative index is too large as well.
    if (indexes[index]! >>> 0 >= size) throw damaged('an index outside the dictionary');
  }
  return indexes;
}

function decoded(bytes: Uint8Array, leaf: Leaf, encoding: number, count: number): RawValues {
  const { physical, typeLength } = leaf;
  const isInteger = physical === Physical.int32 || physical === Physical.int64;
  const isPrefixed = physical === Physical.bytes;
  const isBoolean = physical === Physical.boolean;
  if (encoding === Encoding.plain) return plainValues(bytes, leaf, count);
  if (encoding === Encoding.rle && isBoolean) return runs(bytes, count);
  if (encoding === Encoding.deltaBinary && isInteger) {
    return deltas(bytes, physical === Physical.int32, count);
  }
  if (encoding === Encoding.deltaLength && isPrefixed) return readDeltaLength(bytes, 0, count);
  if (encoding === Encoding.deltaBytes && (isPrefixed || physical === Physical.fixed)) {
    return checkedLengths(readDeltaBytes(bytes, 0, count), leaf);
  }
  if (encoding === Encoding.byteStreamSplit && !isBoolean && !isPrefixed) {
    return readStreams(bytes, widthOf(physical, typeLength), count);
  }
  throw unsupported(encoding);
}

function plainValues(bytes: Uint8Array, { physical, typeLength }: Leaf, count: number): RawValues {
  if (physical === Physical.boolean) return bits(bytes, count);
  const width = widthOf(physical, typeLength);
  return width > 0 ? fixedValues(bytes, width, count) : prefixedValues(bytes, count);
}

function bits(bytes: Uint8Array, count: number): RawValues {
  if (bytes.length * 8 < count) throw damaged('a page is too short for its values');
  const out = new Uint8Array(count);
  for (let index = 0; index < count; index++) out[index] = (bytes[index >> 3]! >> (index & 7)) & 1;
  return fixedValues(out, 1, count);
}

function prefixedValues(bytes: Uint8Array, count: number): RawValues {
  // Each takes at least four bytes: a wrong count must not determine memory.
  if (bytes.length < count * 4) throw damaged('a page is too short for its values');
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  const last = bytes.length;
  let at = 0;
  for (let index = 0; index < count; index++) {
    if (at + 4 > last) throw damaged('a page is too short for its values');
    const length =
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    at += 4;
    if (length < 0 || length > last - at) throw damaged('a value longer than its page');
    starts[index] = at;
    at += length;
    ends[index] = at;
  }
  return scatteredValues(bytes, starts, ends);
}

/** Runs after their size. */
function runs(bytes: Uint8Array, count: number): RawValues {
  const out = new Uint8Array(count);
  if (count > 0) {
    if (bytes.length < 4) throw damaged('a page that ends early');
    readHybrid(bytes, 4, bytes.length, 1, out);
  }
  return fixedValues(out, 1, count);
}

function deltas(bytes: Uint8Array, isShort: boolean, count: number): RawValues {
  const out = isShort ? new Int32Array(count) : new BigInt64Array(count);
  if (count > 0) readDeltaBinary(bytes, 0, out);
  return fixedValues(new Uint8Array(out.buffer), isShort ? 4 : 8, count);
}

function checkedLengths(values: RawValues, { physical, typeLength }: Leaf): RawValues {
  if (physical !== Physical.fixed) return values;
  const { count } = values;
  for (let index = 0; index < count; index++) {
    if (rawValue(values, index).length !== typeLength) throw damaged('a value of another length');
  }
  return values;
}

function unsupported(encoding: number): AppError {
  const name = ENCODING_NAMES[encoding] ?? `number ${encoding}`;
  return unreadable(`unsupported encoding ${name}`);
}
