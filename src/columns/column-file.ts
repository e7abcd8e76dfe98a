/**
 * One column as a file of its own, in chunks of rows, each compressed (zstd) with a checksum.
 *
 * For derived data: a file that is torn, damaged or of another format reads as `DamagedColumn`, and the owner makes it
 * anew. Chunks, then a list of them as JSON, its checksum and length (8 bytes each), and MAGIC.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import {
  narrowed,
  type Codes,
  type Column,
  type DictionaryColumn,
  type Entry,
  type NumberColumn,
} from './column.ts';

export class DamagedColumn extends Error {}

interface Chunk {
  readonly at: number;
  readonly size: number;
  /** Of its compressed bytes. */
  readonly hash: string;
  /** Uncompressed; equal to `size` where it is stored so. */
  readonly bytes: number;
  readonly rows: number;
}

const MAGIC = 'svccol01';
const TAIL_BYTES = 24;
/** Of one dictionary, which a reader has in memory. */
const MAX_ENTRIES = 262_144;
const NOTHING: Chunk = { at: 0, size: 0, hash: '', bytes: 0, rows: -1 };
/** Higher levels save a tenth of the bytes and take twice the time. */
/** Unpacking takes as long as adding up; doubles of all digits hardly get smaller. */
const WORTH_PACKING = 0.85;
const PACKING = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export class ColumnWriter {
  readonly #fd: number;
  readonly #chunks: Chunk[] = [];
  /** The entries of the chunks so far. */
  #codeOf = new Map<Entry, number>();
  #at = 0;

  /** Throws file system errors, as everything here. */
  constructor(path: string) {
    this.#fd = openSync(path, 'wx', 0o600);
  }

  get bytes(): number {
    return this.#at;
  }

  add(column: Column): void {
    const plain = column.kind === 'numbers' ? bytesOfNumbers(column) : this.#bytesOf(column);
    const smaller = zstdCompressSync(plain, PACKING);
    const packed = smaller.length < plain.length * WORTH_PACKING ? smaller : plain;
    const at = this.#write(packed);
    const { length: size } = packed;
    const rows = column.kind === 'numbers' ? column.values.length : column.codes.length;
    this.#chunks.push({ at, size, hash: hashOf(packed), bytes: plain.length, rows });
  }

  #bytesOf({ codes, entries }: DictionaryColumn): Uint8Array {
    if (this.#codeOf.size + entries.length > MAX_ENTRIES) this.#codeOf = new Map();
    const from = this.#codeOf.size;
    const fresh: unknown[] = [];
    const codeOf = entries.map((entry) => {
      let code = this.#codeOf.get(entry);
      if (code === undefined) {
        code = this.#codeOf.size;
        this.#codeOf.set(entry, code);
        fresh.push(toJson(entry));
      }
      return code;
    });
    const all = Int32Array.from(codes, (code) => codeOf[code]!);
    const head: Head = { kind: 'dictionary', rows: codes.length, from, entries: fresh };
    return joinedBytes(head, narrowed(all, this.#codeOf.size), null);
  }

  /** Not synced: what a power failure leaves of it reads as damaged. */
  finish(): void {
    const list = Buffer.from(JSON.stringify(this.#chunks));
    this.#write(list);
    const tail = Buffer.alloc(TAIL_BYTES);
    tail.writeBigUInt64LE(BigInt(Bun.hash(list)), 0);
    tail.writeBigUInt64LE(BigInt(list.length), 8);
    tail.write(MAGIC, 16);
    this.#write(tail);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #write(bytes: Uint8Array): number {
    const at = this.#at;
    for (let done = 0; done < bytes.length;)
      done += writeSync(this.#fd, bytes, done, bytes.length - done, at + done);
    this.#at += bytes.length;
    return at;
  }
}

export class ColumnReader {
  readonly #fd: number;
  readonly #chunks: readonly Chunk[];
  #entries: Entry[] = [];

  /** Throws DamagedColumn, and file system errors. */
  constructor(path: string) {
    this.#fd = openSync(path, 'r');
    try {
      this.#chunks = this.#readChunks();
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  get chunks(): number {
    return this.#chunks.length;
  }

  rowsOf(chunk: number): number {
    return this.#chunks[chunk]!.rows;
  }

  /** One chunk after the other, from the first. Throws DamagedColumn, also for another number of rows than `expected`. */
  read(chunk: number, expected: number): Column {
    const { at, size, hash, bytes, rows } = this.#chunks[chunk] ?? NOTHING;
    if (rows !== expected) throw new DamagedColumn('another number of rows');
    const packed = this.#bytes(at, size);
    if (hashOf(packed) !== hash) throw new DamagedColumn('another checksum');
    const isPacked = size < bytes;
    const plain = isPacked ? zstdDecompressSync(packed, { maxOutputLength: bytes }) : packed;
    const { head, part } = partsOf(plain);
    if (head.kind === 'numbers') return numbersFrom(head, part);
    const { from, rows: length, entries } = head;
    if (from === 0) this.#entries = [];
    if (from !== this.#entries.length) throw new DamagedColumn('another dictionary');
    for (const entry of entries) this.#entries.push(fromJson(entry));
    const count = this.#entries.length;
    const codes =
      count <= 0x100
        ? part(Uint8Array, 0, length)
        : count <= 0x1_0000
          ? part(Uint16Array, 0, length)
          : part(Int32Array, 0, length);
    return { kind: 'dictionary', codes, entries: this.#entries };
  }

  close(): void {
    closeSync(this.#fd);
  }

  #readChunks(): readonly Chunk[] {
    const { size } = fstatSync(this.#fd);
    const tail = size < TAIL_BYTES ? null : this.#bytes(size - TAIL_BYTES, TAIL_BYTES);
    if (tail?.toString('latin1', 16) !== MAGIC) throw new DamagedColumn('no end');
    const length = Number(tail.readBigUInt64LE(8));
    if (length > size - TAIL_BYTES) throw new DamagedColumn('cut');
    const list = this.#bytes(size - TAIL_BYTES - length, length);
    if (tail.readBigUInt64LE(0) !== BigInt(Bun.hash(list))) throw new DamagedColumn('another list');
    return JSON.parse(list.toString()) as readonly Chunk[];
  }

  #bytes(at: number, size: number): Buffer {
    const bytes = Buffer.allocUnsafe(size);
    for (let done = 0; done < size;) {
      const read = readSync(this.#fd, bytes, done, size - done, at + done);
      if (read === 0) throw new DamagedColumn('cut');
      done += read;
    }
    return bytes;
  }
}

function hashOf(bytes: Uint8Array): string {
  return Bun.hash(bytes).toString(36);
}

type Head =
  | {
      readonly kind: 'numbers';
      /** Values are integers divided by it; null for doubles. */
      readonly divisor: number | null;
      readonly isWhole: boolean;
      readonly rows: number;
      readonly nulls: number;
      readonly least: number | null;
      readonly most: number | null;
    }
  | {
      readonly kind: 'dictionary';
      readonly rows: number;
      /** Entries of chunks before that codes mean as well; 0 begins anew. */
      readonly from: number;
      readonly entries: readonly unknown[];
    };

/** Arrays begin at multiples of 8 bytes. */
const aligned = (bytes: number): number => (bytes + 7) & ~7;

function bytesOfNumbers({ values, nulls, least, most }: NumberColumn): Uint8Array {
  const isWhole = values instanceof Int32Array;
  const scaled = isWhole ? null : scaledValues(values);
  const head: Head = {
    kind: 'numbers',
    divisor: isWhole ? 1 : (scaled?.divisor ?? null),
    isWhole,
    rows: values.length,
    nulls: nulls?.length ?? 0,
    ...(least > most ? { least: null, most: null } : { least, most }),
  };
  return joinedBytes(head, scaled?.integers ?? values, nulls);
}

function joinedBytes(
  head: Head,
  values: Codes | Float64Array | Int32Array,
  nulls: Uint8Array | null,
): Uint8Array {
  const json = Buffer.from(JSON.stringify(head));
  const from = aligned(4 + json.length);
  const to = from + aligned(values.byteLength);
  const bytes = Buffer.alloc(to + (nulls?.length ?? 0));
  bytes.writeUInt32LE(json.length, 0);
  bytes.set(json, 4);
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), from);
  if (nulls !== null) bytes.set(nulls, to);
  return bytes;
}

/** An array of a chunk, by its place. */
type Part = <Values>(
  array: {
    readonly BYTES_PER_ELEMENT: number;
    new (buffer: ArrayBuffer, from?: number, length?: number): Values;
  },
  at: number,
  length: number,
) => Values;

function partsOf(bytes: Buffer): {
  readonly head: Head;
  readonly part: Part;
} {
  const length = bytes.readUInt32LE(0);
  const head = JSON.parse(bytes.toString('utf8', 4, 4 + length)) as Head;
  const start = bytes.byteOffset + aligned(4 + length);
  return {
    head,
    part: (array, at, length) => {
      const from = start + at;
      const { BYTES_PER_ELEMENT: width } = array;
      // A buffer need not begin at a multiple of 8.
      return from % width === 0
        ? new array(bytes.buffer as ArrayBuffer, from, length)
        : new array(bytes.buffer.slice(from, from + length * width) as ArrayBuffer);
    },
  };
}

function numbersFrom(head: Extract<Head, { kind: 'numbers' }>, part: Part): NumberColumn {
  const size = head.rows * (head.divisor === null ? 8 : 4);
  return {
    kind: 'numbers',
    values: valuesFrom(head, part),
    nulls: head.nulls === 0 ? null : part(Uint8Array, aligned(size), head.nulls),
    least: head.least ?? Infinity,
    most: head.most ?? -Infinity,
  };
}

function valuesFrom(
  { divisor, isWhole, rows }: Extract<Head, { kind: 'numbers' }>,
  part: Part,
): Float64Array | Int32Array {
  if (divisor === null) return part(Float64Array, 0, rows);
  const integers = part(Int32Array, 0, rows);
  if (isWhole) return integers;
  const values = new Float64Array(integers.length);
  for (let row = 0; row < values.length; row++) values[row] = integers[row]! / divisor;
  return values;
}

const DIVISORS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

/** Decimal fractions of few digits as integers, if dividing gives back each double. They take half the bytes. */
function scaledValues(
  values: Float64Array,
): { readonly integers: Int32Array; readonly divisor: number } | null {
  const integers = new Int32Array(values.length);
  for (const divisor of DIVISORS) {
    let row = 0;
    for (; row < values.length; row++) {
      const integer = Math.round(values[row]! * divisor) | 0;
      if (integer / divisor !== values[row]!) break;
      integers[row] = integer;
    }
    if (row === values.length) return { integers, divisor };
  }
  return null;
}

/** JSON has no integers past 2^53 and no infinities. */
function toJson(entry: Entry): unknown {
  if (typeof entry === 'bigint') return { int: String(entry) };
  if (typeof entry === 'number' && !Number.isFinite(entry)) return { number: String(entry) };
  // JSON would replace halves of surrogate pairs.
  const isPlain = typeof entry !== 'string' || entry.isWellFormed();
  return isPlain ? entry : { utf16: Buffer.from(entry, 'utf16le').toString('base64') };
}

function fromJson(stored: unknown): Entry {
  if (typeof stored !== 'object' || stored === null) return stored as Entry;
  if ('int' in stored) return BigInt(stored.int as string);
  if ('number' in stored) return Number(stored.number);
  return Buffer.from((stored as { utf16: string }).utf16, 'base64').toString('utf16le');
}
