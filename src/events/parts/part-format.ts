/**
 * Sealed events: immutable Parquet files, `<state>/events/<index>/<day>-<n>.parquet`, each with events of one index
 * sorted by time, then id.
 *
 * Row groups have what readers need to skip them in the key `svc.groups` of the footer; a filter of the four-character
 * sequences of their texts lies before each. Pages have checksums.
 */
import * as zlib from 'node:zlib';
import { foldedText } from '../read/term.ts';

export const PARTS_FOLDER = 'events';
export const GROUPS_KEY = 'svc.groups';
/** Of the columns with members of `fields`. */
export const FIELD_PREFIX = 'fields.';

/** An event as it is sealed; `fields` is JSON text. */
export interface SealedRow {
  readonly id: number;
  readonly created: number;
  readonly updated: number;
  readonly event_time: number | null;
  readonly time: number;
  readonly index: string;
  readonly sourcetype: string;
  readonly source: string;
  readonly host: string;
  readonly data: string;
  readonly fields: string;
  readonly ascii: number;
  readonly bytes: number;
}

export interface GroupFacts {
  readonly rows: number;
  readonly minId: number;
  readonly maxId: number;
  readonly minTime: number;
  readonly maxTime: number;
  /** All texts are ASCII. */
  readonly ascii: boolean;
  /** Members that are columns; null where `fields` of some event do not read as such. */
  readonly fields: readonly string[] | null;
  /** Place, bytes and CRC-32 of the filter. With `block` so many bytes of it each have a CRC-32 behind them. */
  readonly filter: {
    readonly at: number;
    readonly size: number;
    readonly crc: number;
    readonly block?: number;
  };
}

/** As readers of the file see them. `fields` is null where it equals `data`. */
export const PART_COLUMNS = [
  { name: 'id', kind: 'long' },
  { name: 'time', kind: 'time' },
  { name: 'created', kind: 'time' },
  { name: 'updated', kind: 'time' },
  { name: 'event_time', kind: 'time' },
  { name: 'index', kind: 'text' },
  { name: 'sourcetype', kind: 'text' },
  { name: 'source', kind: 'text' },
  { name: 'host', kind: 'text' },
  { name: 'data', kind: 'text' },
  { name: 'fields', kind: 'json' },
  { name: 'bytes', kind: 'int' },
] as const;

export type PartColumn = (typeof PART_COLUMNS)[number]['name'];

const GRAM = 4;
const MAX_BITS = 2 ** 22;
/** Per distinct sequence; one in five of those that are missing is taken for present. */
const BITS_PER_GRAM = 4;
const MIN_BITS = 2 ** 10;

function gramAt(text: string, at: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < GRAM; index++)
    hash = Math.imul(hash ^ text.charCodeAt(at + index), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Of the folded texts of a row group. */
export class TextFilter {
  readonly #bits = new Uint8Array(MAX_BITS / 8);
  #grams = 0;

  add(text: string): void {
    const folded = foldedText(text);
    for (let at = 0; at + GRAM <= folded.length; at++) {
      const bit = gramAt(folded, at) & (MAX_BITS - 1);
      const mask = 1 << (bit & 7);
      if ((this.#bits[bit >> 3]! & mask) !== 0) continue;
      this.#bits[bit >> 3]! |= mask;
      this.#grams++;
    }
  }

  /** A power of two of bytes; starts anew. */
  take(): Uint8Array {
    let size = MAX_BITS;
    while (size > MIN_BITS && size / 2 >= this.#grams * BITS_PER_GRAM) size /= 2;
    const out = new Uint8Array(size / 8);
    // The hash is cut to its lower bits: longer filters fold onto shorter ones.
    for (let at = 0; at < this.#bits.length; at++) out[at % out.length]! |= this.#bits[at]!;
    this.#bits.fill(0);
    this.#grams = 0;
    return out;
  }
}

/** False when no event of the group has the folded text. `size`: bytes of the filter; `byteAt` reads one. */
export function filterHas(
  size: number,
  byteAt: (place: number) => number,
  folded: string,
): boolean {
  const mask = size * 8 - 1;
  for (let at = 0; at + GRAM <= folded.length; at++) {
    const bit = gramAt(folded, at) & mask;
    if ((byteAt(bit >> 3) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** Of a filter: what is read to look at one bit. */
export const FILTER_BLOCK = 4_096;
const CRC_BYTES = 4;

/** A filter as it stands in the file. */
export function filterBlocks(filter: Uint8Array, block: number): Uint8Array {
  const count = Math.ceil(filter.length / block);
  const out = Buffer.alloc(filter.length + count * CRC_BYTES);
  for (let at = 0; at < count; at++) {
    const part = filter.subarray(at * block, (at + 1) * block);
    const to = at * (block + CRC_BYTES);
    out.set(part, to);
    out.writeUInt32LE(zlib.crc32(part), to + part.length);
  }
  return out;
}

/** Where a block begins and how long it is with its checksum, and whether the bytes of it are as they were written. */
export function filterBlockAt(size: number, block: number, no: number) {
  const length = Math.min(block, size - no * block);
  return {
    from: no * (block + CRC_BYTES),
    bytes: length + CRC_BYTES,
    isSound: (bytes: Buffer): boolean =>
      zlib.crc32(bytes.subarray(0, length)) === bytes.readUInt32LE(length),
  };
}

/** Folder of an index; any name becomes one of plain characters. */
export function folderOf(index: string): string {
  const plain = encodeURIComponent(index).replaceAll('.', '%2E');
  return plain === '' ? '%' : plain;
}

/** The UTC day of a time in microseconds; years past 9999 and before 0 are as `Date` writes them. */
export function dayOf(micros: number): string {
  return new Date(Math.floor(micros / 1000)).toISOString().replace(/T.*/, '');
}
