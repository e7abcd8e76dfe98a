/**
 * Lossless conversion of bytes and text: what cannot be decoded or encoded exactly is refused,
 * never replaced.
 *
 * Decoded text encodes to the same bytes, so text lengths give file lengths. `latin1` is ISO 8859-1
 * proper: byte n is code point n. `windows-1252`, written by older spreadsheets, differs in bytes
 * 80 to 9F.
 */
import { unreadable } from '../../src/base/errors.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | OneByteEncoding;

type OneByteEncoding = 'latin1' | 'windows-1252';

const decoders = {
  'utf-8': new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }),
  'utf-16le': new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true }),
  'utf-16be': new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true }),
};

/** Bytes 80 to 9F in windows-1252; the five unassigned ones keep their number (WHATWG Encoding). */
const FROM_80 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const REPLACEMENT = '\ufffd';

const UNENCODABLE = {
  unicode: /[\0\p{Cs}]/u,
  latin1: /[^\u0001-\u00ff]/u,
  'windows-1252': new RegExp(`[^\\u0001-\\u007f\\u00a0-\\u00ff${FROM_80}]`, 'u'),
} as const;

/**
 * From the first bytes; also returns the length of the byte order mark. A mark overrides a declared
 * encoding, because it is part of the file; the default is UTF-8.
 */
export function detectEncoding(
  head: Uint8Array,
  declared: Encoding | undefined,
): { encoding: Encoding; bom: number } {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf)
    return { encoding: 'utf-8', bom: 3 };
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', bom: 2 };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', bom: 2 };
  return { encoding: declared ?? 'utf-8', bom: 0 };
}

export function unitBytes(encoding: Encoding): 1 | 2 {
  return encoding === 'utf-16le' || encoding === 'utf-16be' ? 2 : 1;
}

/**
 * `offset` is that of `bytes` in the file. Throws `unreadable-file` with the offset of the first
 * invalid sequence or NUL, which no table holds and at which SQLite would cut.
 */
export function decodeText(bytes: Uint8Array, encoding: Encoding, offset: number): string {
  const nul = unitBytes(encoding) === 1 ? bytes.indexOf(0) : -1;
  if (nul >= 0) {
    decodeText(bytes.subarray(0, nul), encoding, offset);
    throw unreadable(`NUL at byte offset ${offset + nul}`);
  }
  if (isOneByte(encoding)) return oneByteText(bytes, encoding);
  const text = strictText(bytes, encoding, offset);
  const wideNul = unitBytes(encoding) === 2 ? text.indexOf('\0') : -1;
  if (wideNul >= 0) throw unreadable(`NUL at byte offset ${offset + wideNul * 2}`);
  return text;
}

function isOneByte(encoding: Encoding): encoding is OneByteEncoding {
  return encoding === 'latin1' || encoding === 'windows-1252';
}

function oneByteText(bytes: Uint8Array, encoding: OneByteEncoding): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (encoding === 'latin1') return text;
  return text.replace(/[\u0080-\u009f]/g, (byte) => FROM_80[byte.charCodeAt(0) - 0x80]!);
}

/** Each character's code becomes a byte. */
function asBytes(text: string): string {
  return text.replace(/[^\u0000-\u007f\u00a0-\u00ff]/g, (character) => {
    const at = FROM_80.indexOf(character);
    return at < 0 ? character : String.fromCharCode(0x80 + at);
  });
}

function strictText(
  bytes: Uint8Array,
  encoding: Exclude<Encoding, OneByteEncoding>,
  offset: number,
): string {
  try {
    return decoders[encoding].decode(bytes);
  } catch (error) {
    const name = encoding === 'utf-8' ? 'UTF-8' : 'UTF-16';
    const at = offset + invalidAt(bytes, encoding);
    throw unreadable(`invalid ${name} at byte offset ${at}`, error);
  }
}

/** The first replacement character of a lenient decoder that does not itself stand in the bytes. */
function invalidAt(bytes: Uint8Array, encoding: Exclude<Encoding, OneByteEncoding>): number {
  const [intact, ...rest] = new TextDecoder(encoding, { ignoreBOM: true })
    .decode(bytes)
    .split(REPLACEMENT);
  const replacement = encodeText(REPLACEMENT, encoding);
  let at = encodedLength(intact!, encoding);
  for (const text of rest) {
    const end = at + replacement.length;
    if (Buffer.compare(bytes.subarray(at, end), replacement) !== 0) break;
    at = end + encodedLength(text, encoding);
  }
  return at;
}

/** Bytes of complete characters; the rest waits for more input. */
export function completeLength(bytes: Uint8Array, encoding: Encoding): number {
  if (isOneByte(encoding)) return bytes.length;
  if (encoding !== 'utf-8') {
    const even = bytes.length - (bytes.length % 2);
    const lastHigh = bytes[encoding === 'utf-16le' ? even - 1 : even - 2] ?? 0;
    return (lastHigh & 0xfc) === 0xd8 ? even - 2 : even;
  }
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte >= 0xc0) {
      const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
      return length > back ? bytes.length - back : bytes.length;
    }
    if (byte < 0x80) break;
  }
  return bytes.length;
}

export function encodedLength(text: string, encoding: Encoding): number {
  if (encoding === 'utf-8') return Buffer.byteLength(text, 'utf8');
  return text.length * unitBytes(encoding);
}

/** For text that `unencodable` has passed. */
export function encodeText(text: string, encoding: Encoding): Uint8Array {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8');
  if (encoding === 'latin1') return Buffer.from(text, 'latin1');
  if (encoding === 'windows-1252') return Buffer.from(asBytes(text), 'latin1');
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

export function unencodable(text: string, encoding: Encoding): string | null {
  // Most texts are ASCII, and this is much faster than finding a bad character.
  const isPlain = isOneByte(encoding)
    ? Buffer.byteLength(text) === text.length
    : text.isWellFormed();
  if (isPlain && !text.includes('\0')) return null;
  const match = UNENCODABLE[isOneByte(encoding) ? encoding : 'unicode'].exec(text);
  if (!match) return null;
  return `U+${match[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}
