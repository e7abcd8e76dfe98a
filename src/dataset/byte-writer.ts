/**
 * Cells written straight into bytes, for exports of millions of them.
 *
 * Strings made of many small pieces cost three times as much. Callers reserve room with `ensure` before they write a
 * row, because a check per byte would cost what this saves; a cell is one call, because the engine keeps the position
 * in a register only within one.
 */

/** Most responses are small, and a full chunk takes longer to allocate than they take to write. */
const FIRST_BYTES = 4 * 1024;
/** A buffer grown past a chunk by more than this, for a huge cell, is not kept. */
const SPARE_BYTES = 64 * 1024;
const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BACKSLASH = 0x5c;
const POINT = 0x2e;
const ZERO = 0x30;
/** Beyond it a text is not ASCII, but for DEL. */
const LAST_ASCII = 0x7e;
/** Up to here a number of six decimals has at most 13 digits, and every such decimal has a double of its own. */
const MAX_SIX_DECIMALS = 1e7;

/** The buffer of a writer that ended, for the next one: most responses are small and many. */
const MAX_SPARE_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);
let spare: Uint8Array | null = null;

const encoder = new TextEncoder();

/** A growing buffer of a response; one chunk of it is held at a time. Writing is unchecked: see `ensure`. */
export class ByteWriter {
  readonly #chunkBytes: number;
  #buffer: Uint8Array;
  #length = 0;

  constructor(chunkBytes: number) {
    this.#chunkBytes = chunkBytes;
    // Only written bytes are ever taken, so it need not be zeroed.
    this.#buffer = spare ?? new Uint8Array(Buffer.allocUnsafeSlow(FIRST_BYTES).buffer);
    spare = null;
  }

  /** True when it is time to `take` what was written. */
  get isFull(): boolean {
    return this.#length >= this.#chunkBytes;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Everything written so far, as a copy; the writer starts anew. */
  take(): Uint8Array {
    const bytes = this.#buffer.slice(0, this.#length);
    this.#length = 0;
    if (this.#buffer.length > this.#chunkBytes + SPARE_BYTES) {
      this.#buffer = new Uint8Array(FIRST_BYTES);
    }
    return bytes;
  }

  /** As `take`, for the last time: the writer must not be used any more. */
  end(): Uint8Array {
    const bytes = this.#buffer.slice(0, this.#length);
    if (this.#buffer.length <= MAX_SPARE_BYTES) spare = this.#buffer;
    this.#buffer = NOTHING;
    return bytes;
  }

  /** Makes room for `bytes` more; what is written without room is lost. */
  ensure(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }

  /** One ASCII character. */
  byte(code: number): void {
    this.#buffer[this.#length++] = code;
  }

  /** The lead as it is, then the value in JSON. Needs 6 bytes a UTF-16 unit of a string; other values 25. */
  json(lead: Uint8Array, value: string | number | bigint | boolean): void {
    const buffer = this.#buffer;
    let at = copy(buffer, this.#length, lead);
    if (typeof value !== 'string') {
      this.#length = writeScalar(buffer, at, value);
      return;
    }
    const start = at;
    buffer[at++] = QUOTE;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code < 0x20 || code > LAST_ASCII || code === QUOTE || code === BACKSLASH) {
        this.#length = encode(buffer, start, JSON.stringify(value));
        return;
      }
      buffer[at++] = code;
    }
    buffer[at++] = QUOTE;
    this.#length = at;
  }

  /**
   * The lead as it is, then the value as a CSV field (RFC 4180), quoted only where it must be. Needs 3 bytes a UTF-16
   * unit of a string; other values 25.
   */
  csv(lead: Uint8Array, value: string | number | bigint | boolean): void {
    const buffer = this.#buffer;
    let at = copy(buffer, this.#length, lead);
    if (typeof value !== 'string') {
      this.#length = writeScalar(buffer, at, value);
      return;
    }
    const start = at;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code > LAST_ASCII) {
        this.#length = encode(buffer, start, quotedIfNeeded(value));
        return;
      }
      if (code === COMMA || code === QUOTE || code === LINE_FEED || code === CARRIAGE_RETURN) {
        this.#length = writeQuoted(buffer, start, value);
        return;
      }
      buffer[at++] = code;
    }
    this.#length = at;
  }

  /** The lead, then a text as it is. Needs 3 bytes a UTF-16 unit. */
  text(lead: Uint8Array, text: string): void {
    const buffer = this.#buffer;
    this.#length = encode(buffer, copy(buffer, this.#length, lead), text);
  }

  /** Bytes prepared by the caller. */
  bytes(source: Uint8Array): void {
    this.#length = copy(this.#buffer, this.#length, source);
  }
}

// All of these write at a position and answer the position after what they wrote.

function copy(buffer: Uint8Array, position: number, source: Uint8Array): number {
  let at = position;
  for (let index = 0; index < source.length; index++) buffer[at++] = source[index]!;
  return at;
}

function encode(buffer: Uint8Array, at: number, text: string): number {
  return at + encoder.encodeInto(text, buffer.subarray(at)).written;
}

function writeAscii(buffer: Uint8Array, position: number, text: string): number {
  let at = position;
  for (let index = 0; index < text.length; index++) buffer[at++] = text.charCodeAt(index);
  return at;
}

function writeQuoted(buffer: Uint8Array, position: number, text: string): number {
  let at = position;
  buffer[at++] = QUOTE;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE || code > LAST_ASCII) return encode(buffer, position, quotedIfNeeded(text));
    buffer[at++] = code;
  }
  buffer[at++] = QUOTE;
  return at;
}

function quotedIfNeeded(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Numbers in the shortest form that reads back as the same double. */
function writeScalar(buffer: Uint8Array, at: number, value: number | bigint | boolean): number {
  if (typeof value === 'number' && value >= 0 && value < MAX_SIX_DECIMALS) {
    const whole = Math.trunc(value);
    if (whole === value) return writeDigits(buffer, at, whole, 1);
    const millionths = Math.round(value * 1e6);
    // Then these are its shortest digits; the engine's own search for them takes longer than everything else.
    if (millionths / 1e6 === value) return writeDecimals(buffer, at, millionths);
  }
  return writeAscii(buffer, at, String(value));
}

function writeDecimals(buffer: Uint8Array, position: number, millionths: number): number {
  const whole = Math.trunc(millionths / 1e6);
  let at = writeDigits(buffer, position, whole, 1);
  buffer[at++] = POINT;
  at = writeDigits(buffer, at, millionths - whole * 1e6, 6);
  while (buffer[at - 1] === ZERO) at--;
  return at;
}

/** A whole number below 10^7, padded with zeros to `least` digits. */
function writeDigits(buffer: Uint8Array, position: number, value: number, least: number): number {
  const end = position + Math.max(digitsIn(value), least);
  let rest = value;
  for (let at = end - 1; at >= position; at--) {
    const tenth = (rest / 10) | 0;
    buffer[at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return end;
}

function digitsIn(value: number): number {
  if (value < 100) return value < 10 ? 1 : 2;
  if (value < 10_000) return value < 1_000 ? 3 : 4;
  return value < 100_000 ? 5 : value < 1_000_000 ? 6 : 7;
}
