/**
 * JSON objects one after another, separated by nothing, white space, or in an array.
 *
 * Finds the ends of objects without parsing. Strings must not span lines and rescans are limited, so damaged input
 * costs only a few passes.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const LIST = 0x5b;
const LIST_END = 0x5d;
const COMMA = 0x2c;
/** Deeper objects count as damaged; the allowed depth of events is far less. */
const MAX_DEPTH = 128;
/** Limit on rescans of damaged input, in lengths of the body. */
const MAX_PASSES = 4;

export interface JsonPiece {
  readonly bytes: Uint8Array;
  /** From 1. */
  readonly line: number;
  /** False: not an object; `bytes` is the line it begins. */
  readonly isWhole: boolean;
}

export class JsonRun {
  readonly #bytes: Uint8Array;
  #at = 0;
  #line = 1;
  #pieceFrom = 0;
  #pieceLine = 1;
  #isList = false;
  #wasted = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#skipBlank();
    if (bytes[this.#at] === LIST) {
      this.#isList = true;
      this.#at += 1;
    }
  }

  next(): JsonPiece | null {
    const bytes = this.#bytes;
    this.#skipBlank();
    const from = this.#at;
    if (from >= bytes.length) return null;
    this.#pieceFrom = from;
    this.#pieceLine = this.#line;
    const end = bytes[from] === OBJECT ? objectEnd(bytes, from) : -1;
    if (end > 0) {
      const piece = { bytes: bytes.subarray(from, end), line: this.#line, isWhole: true };
      this.#countLines(from, end);
      this.#at = end;
      return piece;
    }
    this.#wasted -= end;
    const newline = bytes.indexOf(NEWLINE, from);
    const piece = {
      bytes: bytes.subarray(from, newline < 0 ? bytes.length : newline),
      line: this.#line,
      isWhole: false,
    };
    this.skipDamaged();
    return piece;
  }

  /** Continues at the first line after the start of the last piece that begins with `{`. */
  skipDamaged(): void {
    const bytes = this.#bytes;
    let at = this.#pieceFrom;
    this.#line = this.#pieceLine;
    this.#at = bytes.length;
    if (this.#wasted > MAX_PASSES * bytes.length) return;
    for (;;) {
      const newline = bytes.indexOf(NEWLINE, at);
      if (newline < 0) return;
      this.#line += 1;
      at = newline + 1;
      if (bytes[at] === OBJECT) break;
    }
    this.#at = at;
  }

  #skipBlank(): void {
    const bytes = this.#bytes;
    for (; this.#at < bytes.length; this.#at += 1) {
      const byte = bytes[this.#at]!;
      if (byte === NEWLINE) this.#line += 1;
      else if (byte === 0x20 || byte === 0x09 || byte === 0x0d) continue;
      else if (this.#isList && (byte === COMMA || byte === LIST_END)) continue;
      else return;
    }
  }

  #countLines(from: number, to: number): void {
    // Looking beyond the object would read the whole body once per object.
    const piece = this.#bytes.subarray(from, to);
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1))
      this.#line += 1;
  }
}

/** Offset after the closing `}`; if missing, the negative count of bytes read. */
function objectEnd(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let depth = 0;
  for (let at = from; at < length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = stringEnd(bytes, at);
      if (at < 0) return at + from - 1;
    } else if (byte === OBJECT || byte === LIST) {
      depth += 1;
      if (depth > MAX_DEPTH) return from - at - 1;
    } else if (byte === OBJECT_END || byte === LIST_END) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return from - length - 1;
}

/** Position of the closing quote; if missing, the negative of where that was seen. */
function stringEnd(bytes: Uint8Array, quote: number): number {
  const { length } = bytes;
  for (let at = quote + 1; at < length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
    else if (byte === NEWLINE) return -at;
  }
  return -length;
}
