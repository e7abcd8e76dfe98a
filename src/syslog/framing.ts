/**
 * Syslog messages in a stream: octet counting or one a line, told apart by the first byte (RFC 6587).
 *
 * Holds at most one message, cut at its limit; what is over goes nowhere.
 */

const NEWLINE = 0x0a;
const SPACE = 0x20;
const LESS_THAN = 0x3c;
const MAX_COUNT_DIGITS = 9;

/** Cuts one connection's bytes into messages. */
export class SyslogFramer {
  readonly #maxBytes: number;
  readonly #onMessage: (message: Uint8Array, isCut: boolean) => void;
  #isCounting: boolean | null = null;
  #count = '';
  /** Bytes of the counted message that are still to come; null while its count is read. */
  #left: number | null = null;
  #parts: Uint8Array[] = [];
  #size = 0;
  #isCut = false;

  constructor(maxBytes: number, onMessage: (message: Uint8Array, isCut: boolean) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
  }

  /** A message has begun and is not complete. */
  get isWithin(): boolean {
    return this.#size > 0 || this.#isCut || this.#left !== null || this.#count !== '';
  }

  /** Takes the next bytes; false when they fit no framing, so that nothing after them can be read. */
  push(chunk: Uint8Array): boolean {
    if (chunk.length === 0) return true;
    this.#isCounting ??= isDigit(chunk[0]!);
    if (this.#isCounting) return this.#pushCounted(chunk);
    this.#pushLines(chunk);
    return true;
  }

  /** The stream has ended; a last line without its end is a message. What is left of one that broke off is a cut one. */
  end(isBroken = false): void {
    if (this.#size > 0) this.#finish(this.#isCut || this.#left !== null || isBroken);
  }

  #pushLines(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length;) {
      const newline = lineEnd(chunk, from);
      const end = newline < 0 ? chunk.length : newline;
      this.#keep(chunk.subarray(from, end));
      if (newline >= 0) this.#finish(this.#isCut);
      from = end + 1;
    }
  }

  #pushCounted(chunk: Uint8Array): boolean {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === null) {
        const byte = chunk[at++]!;
        // Some senders end counted messages with a line feed as well.
        if (byte === NEWLINE && this.#count === '') continue;
        if (byte === SPACE && this.#count !== '') {
          this.#left = Number(this.#count);
          this.#count = '';
          if (this.#left === 0) this.#left = null;
        } else if (isDigit(byte) && this.#count.length < MAX_COUNT_DIGITS)
          this.#count += String.fromCharCode(byte);
        else return false;
        continue;
      }
      const end = Math.min(chunk.length, at + this.#left);
      this.#keep(chunk.subarray(at, end));
      this.#left -= end - at;
      at = end;
      if (this.#left > 0) continue;
      this.#left = null;
      this.#finish(this.#isCut);
    }
    return true;
  }

  #keep(bytes: Uint8Array): void {
    const room = this.#maxBytes - this.#size;
    if (bytes.length > room) this.#isCut = true;
    const kept = bytes.subarray(0, room);
    if (kept.length === 0) return;
    // The chunk belongs to the socket.
    this.#parts.push(new Uint8Array(kept));
    this.#size += kept.length;
  }

  #finish(isCut: boolean): void {
    const message = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    this.#isCut = false;
    if (message.length > 0) this.#onMessage(message, isCut);
  }
}

/** A line feed, or a NUL where a message ends: Python's handler writes one behind each. Negative: none. */
function lineEnd(chunk: Uint8Array, from: number): number {
  const newline = chunk.indexOf(NEWLINE, from);
  const line = newline < 0 ? chunk : chunk.subarray(0, newline);
  for (let nul = line.indexOf(0, from); nul >= 0; nul = line.indexOf(0, nul + 1)) {
    const next = chunk[nul + 1];
    if (next === undefined || next === LESS_THAN || next === NEWLINE) return nul;
  }
  return newline;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
