/** Text files: UTF-8 unless a byte order mark says otherwise. */
import { isUtf8 } from 'node:buffer';
import type { FileSource } from '../files/file-source.ts';

/** A character may be cut at the end. */
const SAMPLE_BYTES = 64 * 1024;
const LONGEST_CHARACTER = 4;

/** `isCut`: the last character may be incomplete. */
export function isUtf8Text(bytes: Uint8Array, isCut = false): boolean {
  if (isUtf8(bytes)) return true;
  if (!isCut) return false;
  for (let cut = 1; cut < LONGEST_CHARACTER && cut <= bytes.length; cut++) {
    if (isUtf8(bytes.subarray(0, bytes.length - cut))) return true;
  }
  return false;
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

function markedEncoding(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}
