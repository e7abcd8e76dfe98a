/**
 * The encoding of a file that does not say it: UTF-8 where the bytes are, else one in which they read as text.
 *
 * A wrong guess shows wrong letters, no guess an error with a remedy: every doubt means UTF-8, whose reader names the
 * invalid byte.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { completeLength, decodeText, type Encoding } from './encoding.ts';

interface EncodingGuess {
  readonly encoding: Encoding;
  /** Every encoding but UTF-16 reads the file alike. */
  readonly isAscii: boolean;
}

const CHUNK_BYTES = 1 << 20;
const WIDE_SAMPLE_BYTES = 65_536;
/** Two lines of UTF-16; less says nothing. */
const MIN_WIDE_BYTES = 16;

/** A file that is not UTF-8 is read twice, the second time until `enough` letters and signs agree. */
export async function guessEncoding(source: FileSource, enough = Infinity): Promise<EncodingGuess> {
  const wide = wideEncoding(await readBytes(source, 0, WIDE_SAMPLE_BYTES));
  if (wide !== null) return { encoding: wide, isAscii: false };
  let isPlain = true;
  for (let offset = 0; offset < source.size;) {
    const chunk = await readBytes(source, offset, CHUNK_BYTES);
    if (chunk.length === 0) break;
    const isLast = offset + chunk.length >= source.size;
    const length = isLast ? chunk.length : completeLength(chunk, 'utf-8');
    const bytes = chunk.subarray(0, length);
    if (!isAscii(bytes)) {
      isPlain = false;
      if (!isUtf8(bytes)) return { encoding: await narrowEncoding(source, enough), isAscii: false };
    }
    offset += length;
  }
  return { encoding: 'utf-8', isAscii: isPlain };
}

/**
 * Zeros on one side only, which every character below U+0100 has there, at least every eighth, and text without
 * control characters.
 */
function wideEncoding(sample: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const bytes = sample.subarray(0, sample.length - (sample.length % 2));
  if (bytes.length < MIN_WIDE_BYTES || bytes.length < sample.length) return null;
  const zeros = [0, 0];
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) zeros[at % 2]!++;
  const [even, odd] = zeros as [number, number];
  if (Math.min(even, odd) > 0 || Math.max(even, odd) * 16 < bytes.length) return null;
  const encoding = odd > 0 ? 'utf-16le' : 'utf-16be';
  try {
    const complete = bytes.subarray(0, completeLength(bytes, encoding));
    const text = decodeText(complete, encoding, 0);
    return /[\n\r]/.test(text) && !/[^\t\n\r\P{Cc}]|\p{Co}|\p{Cn}/u.test(text) ? encoding : null;
  } catch {
    return null;
  }
}

/** For a file that is not UTF-8. */
async function narrowEncoding(source: FileSource, enough: number): Promise<Encoding> {
  const readings = [new Reading('windows-1252'), new Reading('cp850')];
  let sequences = 0;
  let previous = LF;
  let next = 0;
  for (let offset = 0; offset < source.size; offset += CHUNK_BYTES) {
    const bytes = await readBytes(source, offset, CHUNK_BYTES + MAX_SEQUENCE);
    const end = Math.min(bytes.length, CHUNK_BYTES);
    let at = next - offset;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte < 0x80) {
        if (byte < 0x20 && byte !== TAB && byte !== LF && byte !== CR) return 'utf-8';
        continue;
      }
      const length = sequenceLength(bytes, at);
      if (length > 1) {
        sequences++;
        at += length - 1;
        continue;
      }
      const before = at === 0 ? previous : bytes[at - 1]!;
      for (const reading of readings) reading.weigh(before, byte, bytes[at + 1] ?? LF);
    }
    if (readings.some((one) => one.isConvincing && one.plausible >= enough)) break;
    next = offset + at;
    previous = bytes[end - 1] ?? LF;
  }
  const convincing = readings.filter(
    (reading) => reading.isConvincing && reading.plausible > sequences * MIN_RATIO,
  );
  const [best] = convincing.sort((a, b) => b.score - a.score);
  if (best !== undefined) return best.encoding;
  const single = readings.filter((reading) => reading.isOneWithinWord);
  return single.length === 1 && sequences === 0 ? single[0]!.encoding : 'utf-8';
}

const TAB = 9;
const LF = 10;
const CR = 13;
/** Bytes of a character in UTF-8. */
const MAX_SEQUENCE = 4;
/** How often one byte may make no sense, and how often two make a UTF-8 sequence by chance. */
const MIN_RATIO = 20;
/** A damaged UTF-8 file has a single letter, unless it stands within a word and one encoding alone reads it so. */
const MIN_PLAUSIBLE = 2;

/** 1 where no valid sequence of UTF-8 begins. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  const length = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  return length > 1 && isUtf8(bytes.subarray(at, at + length)) ? length : 1;
}

const enum Sort {
  Other,
  Lower,
  Upper,
  Digit,
  /** Stands beside figures and words, not within them. */
  Sign,
  Opening,
  Closing,
  Apostrophe,
  /** No text has it. */
  Foreign,
}

const SIGNS = '€£¥¢§°²³µ½¼¾«»©®–—…•™\u00a0×±ªº¿¡·';

/** How the bytes read in one encoding, by their neighbours. */
class Reading {
  readonly encoding: 'windows-1252' | 'cp850';
  readonly #sorts: Uint8Array;
  plausible = 0;
  #implausible = 0;
  #letters = 0;
  #within = 0;

  constructor(encoding: 'windows-1252' | 'cp850') {
    this.encoding = encoding;
    this.#sorts = sortsOf(encoding);
  }

  get isConvincing(): boolean {
    return this.plausible >= MIN_PLAUSIBLE && this.#implausible * MIN_RATIO <= this.plausible;
  }

  /** `München` in a short file, without any other letter beyond ASCII. */
  get isOneWithinWord(): boolean {
    return this.#within === 1 && this.plausible === 1 && this.#implausible === 0;
  }

  get score(): number {
    return this.#letters * 2 + this.plausible - this.#implausible * MIN_RATIO;
  }

  weigh(before: number, byte: number, after: number): void {
    const sort = this.#sorts[byte]!;
    const previous = this.#sorts[before]!;
    const next = this.#sorts[after]!;
    const isRun = before >= 0x80 && after >= 0x80;
    if (isRun || isMisplaced(sort, previous, next)) return void this.#implausible++;
    if (!isLetter(sort)) this.plausible++;
    else {
      const beside = Number(isPlainLetter(before, previous)) + Number(isPlainLetter(after, next));
      if (beside === 0) return;
      this.plausible++;
      this.#letters++;
      if (beside === 2 && sort === Sort.Lower) this.#within++;
    }
  }
}

function isMisplaced(sort: Sort, previous: Sort, next: Sort): boolean {
  switch (sort) {
    case Sort.Lower:
      return previous === Sort.Digit || next === Sort.Digit;
    case Sort.Upper:
      return previous === Sort.Lower || previous === Sort.Digit;
    case Sort.Sign:
      return isLetter(previous) && isLetter(next);
    case Sort.Opening:
      return isLetter(previous);
    case Sort.Closing:
      return isLetter(next);
    default:
      return sort !== Sort.Apostrophe;
  }
}

function isPlainLetter(byte: number, sort: Sort): boolean {
  return byte < 0x80 && isLetter(sort);
}

function isLetter(sort: Sort): boolean {
  return sort === Sort.Lower || sort === Sort.Upper;
}

function sortsOf(encoding: 'windows-1252' | 'cp850'): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    if (byte === 0) return Sort.Foreign;
    const character = decodeText(new Uint8Array([byte]), encoding, 0);
    if (/\p{Nd}/u.test(character)) return Sort.Digit;
    if (/[a-z]/.test(character)) return Sort.Lower;
    if (/[A-Z]/.test(character)) return Sort.Upper;
    if (byte < 0x80) return Sort.Other;
    if ('‚„'.includes(character)) return Sort.Opening;
    if ('‘“‹'.includes(character)) return Sort.Sign;
    if ('”›'.includes(character)) return Sort.Closing;
    if (character === '’') return Sort.Apostrophe;
    if (SIGNS.includes(character)) return Sort.Sign;
    if (/\p{Ll}/u.test(character) && !'ƒı'.includes(character)) return Sort.Lower;
    return /\p{Lu}/u.test(character) ? Sort.Upper : Sort.Foreign;
  });
}
