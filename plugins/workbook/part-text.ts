/**
 * The XML of a part as it is expanded: a window on it, one character per byte, that grows at the end and is given up at
 * the start. Only UTF-8 is accepted, because bytes that are text in one encoding can be markup in another.
 */
import { unreadable } from './file-bytes.ts';
import { MAX_UNIT_BYTES } from './limits.ts';
import { refuseOtherEncodings } from './xml-encoding.ts';

/** A moving window on the XML of a part; to be closed by whoever made it. */
export class PartText {
  /** Name of the part, for errors. */
  readonly part: string;
  /** The window. Moves with every `fill`. */
  text = '';
  /** Characters before it are done with; the caller moves it. */
  position = 0;
  /** No more text follows the window. */
  isFinal = false;
  readonly #chunks: AsyncGenerator<Uint8Array>;
  #isFirst = true;
  #passed = 0;

  constructor(part: string, chunks: AsyncGenerator<Uint8Array>) {
    this.part = part;
    this.#chunks = chunks;
  }

  /** Bytes of the part before `position`. */
  get offset(): number {
    return this.#passed + this.position;
  }

  /** Bytes of the part before another position of the window. */
  offsetOf(position: number): number {
    return this.#passed + position;
  }

  /**
   * Drops what is done with and doubles what is left, so that going over an incomplete row again costs nothing to speak of;
   * false when nothing more follows. Throws `unreadable-file` when more than MAX_UNIT_BYTES would be held.
   */
  async fill(): Promise<boolean> {
    if (this.isFinal) return false;
    const rest = this.text.slice(this.position);
    if (rest.length > MAX_UNIT_BYTES) {
      throw unreadable(`${this.part} has an element of more than ${MAX_UNIT_BYTES} bytes`);
    }
    this.#passed += this.position;
    const parts = [rest];
    for (let added = 0; added <= rest.length;) {
      const { value, done } = await this.#chunks.next();
      if (done) {
        this.isFinal = true;
        break;
      }
      added += value.length;
      parts.push(this.#decoded(value));
    }
    this.text = parts.join('');
    this.position = 0;
    return parts.length > 1;
  }

  /** Reads to the end without keeping anything, so that size and checksum are checked. */
  async drain(): Promise<void> {
    while (!(await this.#chunks.next()).done);
    this.isFinal = true;
  }

  /** Stops expanding; harmless after the end. */
  async close(): Promise<void> {
    await this.#chunks.return(undefined);
  }

  #decoded(bytes: Uint8Array): string {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    if (!this.#isFirst) return text;
    this.#isFirst = false;
    refuseOtherEncodings(text, this.part);
    return text;
  }
}
