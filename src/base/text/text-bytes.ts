/** Text files: UTF-8 unless a byte order mark says otherwise. */
import { isUtf8 } from 'node:buffer';
import { unreadable } from '../errors.ts';
import type { FileSource } from '../files/file-source.ts';

/** A character may be cut at the end. */
const SAMPLE_BYTES = 64 * 1024;
const LONGEST_CHARACTER = 4;

/** `isCut`: the last character may be incomplete. */
export function isUtf8Text(bytes: Uint8Array, isCut = false): boolean {
  return isUtf8(bytes) || (isCut && isUtf8(bytes.subarray(0, completeUtf8(bytes))));
}

/** Bytes of complete characters. */
export function completeUtf8(bytes: Uint8Array): number {
  for (let back = 1; back < LONGEST_CHARACTER && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte >= 0xc0) {
      const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
      return length > back ? bytes.length - back : bytes.length;
    }
    if (byte < 0x80) break;
  }
  return bytes.length;
}

/** By the first 64 KiB: UTF-8 or UTF-16 with its mark, no NUL. */
export async function looksLikeText(source: FileSource): Promise<boolean> {
  const sample = await source.read(0, Math.min(source.size, SAMPLE_BYTES));
  if (markedEncoding(sample) === 'utf-16le' || markedEncoding(sample) === 'utf-16be') return true;
  return !sample.includes(0) && isUtf8Text(sample, sample.length < source.size);
}

/** Invalid bytes become U+FFFD; a mark at the start is dropped. */
export async function readText(source: FileSource, maxBytes: number): Promise<string> {
  const bytes = await source.read(0, Math.min(source.size, maxBytes));
  const isCut = bytes.length < source.size;
  // Streaming leaves a cut character out instead of replacing it.
  return new TextDecoder(markedEncoding(bytes)).decode(bytes, { stream: isCut });
}

function markedEncoding(bytes: Uint8Array): Unicode {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}

type Unicode = 'utf-8' | 'utf-16le' | 'utf-16be';

const strict: Readonly<Record<Unicode, TextDecoder>> = {
  'utf-8': new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }),
  'utf-16le': new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true }),
  'utf-16be': new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true }),
};
const REPLACEMENT = '\ufffd';
const REPLACEMENT_BYTES: Readonly<Record<Unicode, readonly number[]>> = {
  'utf-8': [0xef, 0xbf, 0xbd],
  'utf-16le': [0xfd, 0xff],
  'utf-16be': [0xff, 0xfd],
};

/**
 * `offset` is that of `bytes` in the file. Throws `unreadable-file` with the offset of the first invalid sequence. A mark
 * at the start stays.
 */
export function strictText(bytes: Uint8Array, encoding: Unicode, offset: number): string {
  try {
    return strict[encoding].decode(bytes);
  } catch (error) {
    const name = encoding === 'utf-8' ? 'UTF-8' : 'UTF-16';
    const at = offset + invalidAt(bytes, encoding);
    throw unreadable(`invalid ${name} at byte offset ${at}`, error);
  }
}

/** The first replacement character of a lenient decoder that does not itself stand in the bytes. */
function invalidAt(bytes: Uint8Array, encoding: Unicode): number {
  const parts = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes).split(REPLACEMENT);
  const replacement = REPLACEMENT_BYTES[encoding];
  let at = 0;
  for (const text of parts) {
    at += encoding === 'utf-8' ? Buffer.byteLength(text) : 2 * text.length;
    if (replacement.some((byte, index) => bytes[at + index] !== byte)) break;
    at += replacement.length;
  }
  return at;
}
