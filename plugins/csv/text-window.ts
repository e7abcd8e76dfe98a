/**
 * The decoded part of a file that is being tokenized: grows at the end, is given up at the start.
 *
 * Knows at every moment which byte of the file its current position is, which is what segments are made of. Holds
 * one chunk and the row in progress, whatever the size of the file.
 */
import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/file-source.ts';
import { completeLength, decodeText, encodedLength, type Encoding, unitBytes } from './encoding.ts';

/** Bytes read at once: large enough for few calls, small enough to stay in the processor's cache. */
const CHUNK_BYTES = 262_144;

/** A stretch of decoded text that only moves forward. */
export class TextWindow {
  readonly encoding: Encoding;
  readonly #source: FileSource;
  #text = '';
  #position = 0;
  /** Byte of the file at `position`. */
  #offset: number;
  /** Byte of the file after the text. */
  #end: number;
  /** Every character of the text is one unit long in the file. */
  #isUniform = true;

  constructor(source: FileSource, encoding: Encoding, offset: number) {
    this.#source = source;
    this.encoding = encoding;
    this.#offset = offset;
    this.#end = offset;
  }

  /** The decoded text; characters before `position` are done with. Moves with every `fill`. */
  get text(): string {
    return this.#text;
  }

  get position(): number {
    return this.#position;
  }

  /** Byte of the file at `position`. */
  get offset(): number {
    return this.#offset;
  }

  /** No byte of the file follows the text. */
  get isFinal(): boolean {
    return this.#end >= this.#source.size;
  }

  /** Characters from `position` on. */
  get available(): number {
    return this.#text.length - this.#position;
  }

  /** Reads on until `characters` are available or the file ends. Throws `unreadable-file` as `decodeText` does. */
  async fill(characters: number): Promise<void> {
    while (this.available < characters && !this.isFinal) {
      const missing = (characters - this.available) * unitBytes(this.encoding);
      const bytes = await readExactly(this.#source, this.#end, Math.max(CHUNK_BYTES, missing));
      const isLast = this.#end + bytes.length >= this.#source.size;
      const complete = isLast ? bytes : bytes.subarray(0, completeLength(bytes, this.encoding));
      const text = decodeText(complete, this.encoding, this.#end);
      this.#isUniform =
        (this.#isUniform || this.available === 0) &&
        text.length * unitBytes(this.encoding) === complete.length;
      this.#text = this.available === 0 ? text : this.#text.slice(this.#position) + text;
      this.#position = 0;
      this.#end += complete.length;
    }
  }

  /** Moves on to another position in the text; the bytes passed. */
  moveTo(position: number): number {
    const bytes = this.offsetOf(position) - this.#offset;
    this.#position = position;
    this.#offset += bytes;
    return bytes;
  }

  /** Byte of the file at a position of the text that is not before the current one. */
  offsetOf(position: number): number {
    if (this.#isUniform) {
      return this.#offset + (position - this.#position) * unitBytes(this.encoding);
    }
    return this.#offset + encodedLength(this.#text.slice(this.#position, position), this.encoding);
  }
}

/**
 * `length` bytes at `offset`, fewer only where the source ends. Throws `unavailable` when the file is shorter than
 * it was when it was opened: another program is writing it.
 */
export async function readExactly(
  source: FileSource,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const wanted = Math.max(0, Math.min(length, source.size - offset));
  if (wanted === 0) return new Uint8Array(0);
  const bytes = await source.read(offset, wanted);
  if (bytes.length === wanted) return bytes;
  throw new AppError('unavailable', 'The file was cut short while it was read');
}
