/**
 * Texts of a page.
 *
 * The page is turned into one string of single-byte characters, and plain ASCII values are cut out
 * of it: five times as fast as a decoder call for each. Only the others are decoded.
 */
import type { RawValues } from './raw-values.ts';

const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Longer values are decoded directly: scanning every byte first would cost more than it saves. */
const MAX_SCANNED = 256;

export class Utf8Texts {
  readonly #values: RawValues;
  /** Every byte a character; built when first needed. */
  #page: string | null = null;

  constructor(values: RawValues) {
    this.#values = values;
  }

  /** Null when not valid UTF-8. */
  at(index: number): string | null {
    const { bytes, starts, ends } = this.#values;
    const start = starts[index]!;
    const end = ends[index]!;
    if (end - start > MAX_SCANNED) return decoded(bytes.subarray(start, end));
    for (let at = start; at < end; at++) {
      if (bytes[at]! > 0x7f) return decoded(bytes.subarray(start, end));
    }
    const page = (this.#page ??= singleByteText(bytes));
    return page.slice(start, end);
  }
}

function singleByteText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return fatal.decode(bytes);
  } catch {
    // The caller reports it.
    return null;
  }
}
