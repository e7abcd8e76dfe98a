/**
 * Writes cells straight into bytes: joining many small strings costs three times as much.
 *
 * Callers reserve room with `ensure` before each row, because a check per byte would cost what this saves. Each cell
 * is one call, because the engine keeps the position in a register only within one.
 */

/** Most responses are small, and allocating a full chunk takes longer than writing them. */
const FIRST_BYTES = 4 * 1024;
/** A buffer that a huge cell grew past a chunk by more than this is not kept. */
const SPARE_BYTES = 64 * 1024;
const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BACKSLASH = 0x5c;
const POINT = 0x2e;
const ZERO = 0x30;
/** Above it a text is not ASCII, except for DEL. */
const LAST_ASCII = 0x7e;
/** Up to here a number of six decimals has at most 13 digits, and each such decimal has its own double. */
const MAX_SIX_DECIMALS = 1e7;

/** Most responses are small. */
const MAX_SPARE_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);
let spare: Uint8Array | null = null;

const encoder = new TextEncoder();

export class ByteWriter {
  readonly #chunkBytes: number;
  #buffer: Uint8Array;
  #length = 0;

  constructor(chunkBytes: number) {
    this.#chunkBytes = chunkBytes;
    // Only written bytes are taken, so it need not be zeroed.
    this.#buffer = spare ?? new Uint8Array(Buffer.allocUnsafeSlow(FIRST_BYTES).buffer);
    spare = null;
  }

  /** Time to `take` what was written. */
  get isFull(): boolean {
    return this.#length >= this.#chunkBytes;
  }

  /** The writer starts anew. */
  take(): Uint8Array {
    const bytes = this.#buffer.slice(0, this.#length);
    this.#length = 0;
    if (this.#buffer.length > this.#chunkBytes + SPARE_BYTES) {
      this.#buffer = new Uint8Array(FIRST_BYTES);
    }
    return bytes;
  }

  /** As `take`, but the writer must not be used afterwards. */
  end(): Uint8Array {
    const bytes = this.#buffer.slice(0, this.#length);
    if (this.#buffer.length <= MAX_SPARE_BYTES) spare = this.#buffer;
    this.#buffer = NOTHING;
    return bytes;
  }

  /** Makes room for `bytes` more. Writing is unchecked: bytes written without room are lost. */
  ensure(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }

  byte(code: number): void {
    this.#buffer[this.#length++] = code;
  }

  /** The lead, then the value in JSON. Needs 6 bytes per UTF-16 unit of a string, 25 for other values. */
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
   * The lead, then the value as a CSV field (RFC 4180), quoted only where needed. Needs 3 bytes per UTF-16 unit of a
   * string, 25 for other values.
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

  /** The lead, then the text. Needs 3 bytes per UTF-16 unit. */
  text(lead: Uint8Array, text: string): void {
    const buffer = this.#buffer;
    this.#length = encode(buffer, copy(buffer, this.#length, lead), text);
  }

  bytes(source: Uint8Array): void {
    this.#length = copy(this.#buffer, this.#length, source);
  }
}

// Each writes at a position and returns the position after what it wrote.

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

function writeScalar(buffer: Uint8Array, at: number, value: number | bigint | boolean): number {
  if (typeof value === 'number' && value >= 0 && value < MAX_SIX_DECIMALS) {
    const whole = Math.trunc(value);
    if (whole === value) return writeDigits(buffer, at, whole, 1);
    const millionths = Math.round(value * 1e6);
    // These are its shortest digits; the engine's own search for them takes longer than everything else.
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

/** For numbers below 10^7. */
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
