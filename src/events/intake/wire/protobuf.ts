/**
 * The protocol buffers wire format as log clients use it: fields in any order, unknown ones skipped.
 *
 * Hand-written because a runtime with reflection would be larger than the two requests and two answers it reads.
 * Lengths are checked against the enclosing message, so damaged input ends in `ProtobufError`, never in a wrong read.
 */

export class ProtobufError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ProtobufError';
  }
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const MAX_VARINT_BYTES = 10;

/** After `next()`, call one reader for the field, or none to skip it. */
export class ProtobufReader {
  field = 0;
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #wireType = VARINT;
  #isPending = false;

  constructor(bytes: Uint8Array, from = 0, end = bytes.length) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = from;
    this.#end = end;
  }

  next(): boolean {
    if (this.#isPending) this.#skip();
    if (this.#at >= this.#end) return false;
    const tag = this.#small();
    this.field = tag >>> 3;
    this.#wireType = tag & 7;
    if (this.field === 0) throw new ProtobufError('a field has the number 0');
    this.#isPending = true;
    return true;
  }

  /** Invalid UTF-8 becomes U+FFFD. */
  text(): string {
    const [from, to] = this.#range();
    return this.#bytes.toString('utf8', from, to);
  }

  bytes(): Uint8Array {
    const [from, to] = this.#range();
    return this.#bytes.subarray(from, to);
  }

  message(): ProtobufReader {
    const [from, to] = this.#range();
    return new ProtobufReader(this.#bytes, from, to);
  }

  /** Unsigned; loses digits from 2^53. */
  number(): number {
    this.#expect(VARINT);
    return this.#small();
  }

  int64(): bigint {
    this.#expect(VARINT);
    let value = 0n;
    for (let index = 0n; index < MAX_VARINT_BYTES; index += 1n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << (7n * index);
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new ProtobufError('a number is too long');
  }

  fixed64(): bigint {
    const at = this.#fixed(FIXED64, 8);
    return this.#bytes.readBigUInt64LE(at);
  }

  double(): number {
    const at = this.#fixed(FIXED64, 8);
    return this.#bytes.readDoubleLE(at);
  }

  #fixed(wireType: number, size: number): number {
    this.#expect(wireType);
    const at = this.#at;
    this.#advance(size);
    return at;
  }

  #range(): [number, number] {
    this.#expect(BYTES);
    const length = this.#small();
    const from = this.#at;
    this.#advance(length);
    return [from, this.#at];
  }

  #expect(wireType: number): void {
    if (this.#wireType !== wireType) {
      throw new ProtobufError(`field ${this.field} has the wrong type`);
    }
    this.#isPending = false;
  }

  #skip(): void {
    this.#isPending = false;
    if (this.#wireType === VARINT) this.#small();
    else if (this.#wireType === FIXED64) this.#advance(8);
    else if (this.#wireType === FIXED32) this.#advance(4);
    else if (this.#wireType === BYTES) this.#advance(this.#small());
    else throw new ProtobufError(`field ${this.field} has an unknown type`);
  }

  #small(): number {
    let value = 0;
    let factor = 1;
    for (let index = 0; index < MAX_VARINT_BYTES; index += 1) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new ProtobufError('a number is too long');
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new ProtobufError('the message ends early');
    return this.#bytes[this.#at++]!;
  }

  #advance(size: number): void {
    if (size > this.#end - this.#at) throw new ProtobufError('the message ends early');
    this.#at += size;
  }
}

/** Keyed by field number; empty values are omitted, as the format requires. */
export function protobufMessage(
  fields: readonly (readonly [number, string | number | Uint8Array])[],
): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [field, value] of fields) {
    if (typeof value === 'number') {
      if (value !== 0) parts.push(varint(field * 8 + VARINT), varint(value));
      continue;
    }
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    if (bytes.length > 0) parts.push(varint(field * 8 + BYTES), varint(bytes.length), bytes);
  }
  return Buffer.concat(parts);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
