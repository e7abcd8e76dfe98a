/**
 * The decoded window on a file being tokenized: grows at the end, is dropped at the start.
 *
 * Always knows the byte offset of its position, from which segments are made. Holds one chunk and
 * the row in progress.
 */
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { completeLength, decodeText, encodedLength, type Encoding, unitBytes } from './encoding.ts';

/** Large enough for few calls, small enough for the processor's cache. */
const CHUNK_BYTES = 262_144;

export class TextWindow {
  readonly encoding: Encoding;
  readonly #source: FileSource;
  #text = '';
  #position = 0;
  #offset: number;
  #end: number;
  /** Every character has the same length in the file. */
  #isUniform = true;

  constructor(source: FileSource, encoding: Encoding, offset: number) {
    this.#source = source;
    this.encoding = encoding;
    this.#offset = offset;
    this.#end = offset;
  }

  /** Everything before `position` is consumed. Moves with every `fill`. */
  get text(): string {
    return this.#text;
  }

  get position(): number {
    return this.#position;
  }

  get offset(): number {
    return this.#offset;
  }

  get isFinal(): boolean {
    return this.#end >= this.#source.size;
  }

  get available(): number {
    return this.#text.length - this.#position;
  }

  /**
   * Until `characters` are available or the file ends. Throws `unreadable-file` as `decodeText`
   * does.
   */
  async fill(characters: number): Promise<void> {
    while (this.available < characters && !this.isFinal) {
      const missing = (characters - this.available) * unitBytes(this.encoding);
      const bytes = await readBytes(this.#source, this.#end, Math.max(CHUNK_BYTES, missing));
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

  moveTo(position: number): number {
    const bytes = this.offsetOf(position) - this.#offset;
    this.#position = position;
    this.#offset += bytes;
    return bytes;
  }

  /** Must not be before the current position. */
  offsetOf(position: number): number {
    if (this.#isUniform) {
      return this.#offset + (position - this.#position) * unitBytes(this.encoding);
    }
    return this.#offset + encodedLength(this.#text.slice(this.#position, position), this.encoding);
  }
}
