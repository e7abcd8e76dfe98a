/**
 * Rows as cells of leaf pages of a SQLite table (sqlite.org/fileformat2.html, 1.6 and 2).
 *
 * Values are written behind a gap as long as the last row's head, which is nearly always right, then the head into
 * the gap; else the values move.
 */
import { AppError } from '../../base/errors.ts';
import type { StoredValue } from '../types.ts';

/** SQLite's own limit. */
const MAX_ROW_BYTES = 1_000_000_000;
const INITIAL_BYTES = 65_536;
/** Longer texts go to the runtime's encoder, whose call costs as much. */
const LOOP_CHARACTERS = 16;
/** Serial types of records; integers of other sizes are 1 to 4 for as many bytes, 5 for 6, 6 for 8. */
const SERIAL = { null: 0, bytes6: 5, bytes8: 6, float: 7, zero: 8, one: 9, text: 13 } as const;
const HALF = 4_294_967_296;

export class RecordBuffer {
  /** Complete cells up to `start`, then the row in progress or the last complete one. */
  bytes: Buffer<ArrayBuffer>;
  #view: DataView;
  #start = 0;
  #end = 0;
  /** Length of the last head, and thus of the gap. */
  #gap = 16;
  readonly #serials: Int32Array;
  #count = 1;
  #payload = 0;
  #payloadStart = 0;

  /** `values`: per row, beside the id. */
  constructor(values: number) {
    // The id is the first column; it stands in front and is null among the values.
    this.#serials = new Int32Array(values + 1);
    this.bytes = Buffer.alloc(INITIAL_BYTES);
    this.#view = viewOf(this.bytes);
  }

  /** Of the row in progress. */
  get start(): number {
    return this.#start;
  }

  /** Of the last row, once complete. */
  get end(): number {
    return this.#end;
  }

  /** Of the last row: bytes that count against what a page holds of one row, and their start. */
  get payload(): number {
    return this.#payload;
  }

  get payloadStart(): number {
    return this.#payloadStart;
  }

  /** Keeps what stands before `start`. */
  begin(start: number): void {
    this.#start = start;
    this.#end = start + this.#gap;
    this.#count = 1;
  }

  moveToFront(): void {
    this.bytes.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#payloadStart -= this.#start;
    this.#start = 0;
  }

  /** Cuts the last row at an offset and adds the number of the page with its rest. */
  endWithPage(at: number, page: number): void {
    this.#end = at;
    if (at + 4 > this.bytes.length) this.#grow(4);
    this.#view.setUint32(at, page);
    this.#end = at + 4;
  }

  /** Uses the storage class that binding the value would give. */
  add(value: StoredValue): void {
    if (this.#end + 8 > this.bytes.length) this.#grow(8);
    if (typeof value === 'string') this.#addText(value);
    else if (typeof value === 'number') this.#addNumber(value);
    else if (value === null) this.#serials[this.#count++] = SERIAL.null;
    else this.#addLong(value);
  }

  /** `id`: a safe integer above 0. */
  complete(id: number): void {
    const serials = this.#serials;
    let heads = serials.length;
    let largest = 0;
    for (let index = 0; index < serials.length; index++) largest |= serials[index]!;
    if (largest >= 0x80) {
      heads = 0;
      for (let index = 0; index < serials.length; index++) heads += varintSize(serials[index]!);
    }
    const headSize = heads + (heads <= 126 ? 1 : heads <= 16_381 ? 2 : 3);
    const bodyStart = this.#start + this.#gap;
    this.#payload = headSize + this.#end - bodyStart;
    const prefix = varintSize(this.#payload) + varintSize(id);
    this.#place(bodyStart, prefix + headSize);
    const { bytes } = this;
    let at = putVarint(bytes, this.#start, this.#payload);
    at = putVarint(bytes, at, id);
    this.#payloadStart = at;
    at = putVarint(bytes, at, headSize);
    for (let index = 0; index < serials.length; index++) at = putVarint(bytes, at, serials[index]!);
  }

  #place(bodyStart: number, head: number): void {
    const shift = head - this.#gap;
    if (shift === 0) return;
    if (this.#end + shift > this.bytes.length) this.#grow(shift);
    this.bytes.copyWithin(bodyStart + shift, bodyStart, this.#end);
    this.#end += shift;
    this.#gap = head;
  }

  #addNumber(value: number): void {
    if (value === (value | 0) && !Object.is(value, -0)) return this.#addInteger(value);
    // SQLite stores NaN as null, and only safe integers are bound as integers.
    if (Number.isSafeInteger(value) && value !== 0) return this.#addWideInteger(value);
    this.#serials[this.#count++] = Number.isNaN(value) ? SERIAL.null : SERIAL.float;
    if (Number.isNaN(value)) return;
    this.#view.setFloat64(this.#end, value);
    this.#end += 8;
  }

  /** As few bytes as SQLite takes: it compares equal sizes faster. */
  #addInteger(value: number): void {
    const serials = this.#serials;
    if (value === 0 || value === 1) {
      serials[this.#count++] = value === 0 ? SERIAL.zero : SERIAL.one;
      return;
    }
    const { bytes } = this;
    const size = value < 0 ? ~value : value;
    const width = size < 0x80 ? 1 : size < 0x8000 ? 2 : size < 0x80_0000 ? 3 : 4;
    serials[this.#count++] = width;
    let at = this.#end;
    if (width > 3) bytes[at++] = value >> 24;
    if (width > 2) bytes[at++] = value >> 16;
    if (width > 1) bytes[at++] = value >> 8;
    bytes[at++] = value;
    this.#end = at;
  }

  #addWideInteger(value: number): void {
    const high = Math.floor(value / HALF);
    const isShort = high >= -0x8000 && high < 0x8000;
    this.#serials[this.#count++] = isShort ? SERIAL.bytes6 : SERIAL.bytes8;
    if (isShort) this.#view.setInt16(this.#end, high);
    else this.#view.setInt32(this.#end, high);
    this.#end += isShort ? 2 : 4;
    this.#view.setUint32(this.#end, value - high * HALF);
    this.#end += 4;
  }

  #addLong(value: bigint): void {
    const long = BigInt.asIntN(64, value);
    const number = Number(long);
    if (Number.isSafeInteger(number)) return this.#addNumber(number);
    this.#serials[this.#count++] = SERIAL.bytes8;
    this.#view.setBigInt64(this.#end, long);
    this.#end += 8;
  }

  #addText(text: string): void {
    const { length } = text;
    if (this.#end + length * 3 > this.bytes.length) this.#grow(length * 3);
    const size = length <= LOOP_CHARACTERS ? this.#shortSize(text) : this.#size(text);
    this.#serials[this.#count++] = size * 2 + SERIAL.text;
    this.#end += size;
  }

  #shortSize(text: string): number {
    const { bytes } = this;
    const from = this.#end;
    const { length } = text;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return this.#size(text);
      bytes[from + index] = code;
    }
    return length;
  }

  #size(text: string): number {
    return this.bytes.write(text, this.#end);
  }

  #grow(wanted: number): void {
    const needed = this.#end + wanted;
    if (needed - this.#start > MAX_ROW_BYTES) {
      throw new AppError('unreadable-file', `a row of more than ${MAX_ROW_BYTES} bytes`);
    }
    const larger = Buffer.alloc(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.#end));
    this.bytes = larger;
    this.#view = viewOf(larger);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer<ArrayBuffer>): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** For numbers from 0 to 2^53. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

/** Returns the offset after the number. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  if (value < 0x80) {
    bytes[at] = value;
    return at + 1;
  }
  const end = at + varintSize(value);
  let rest = value;
  for (let place = end - 1; place >= at; place--) {
    bytes[place] = (rest % 0x80) | (place === end - 1 ? 0 : 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return end;
}
