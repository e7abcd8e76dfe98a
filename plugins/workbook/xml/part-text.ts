/** One character per byte. Only UTF-8, because bytes that are text in one encoding can be markup in another. */
import { unreadable } from '../../../src/base/errors.ts';
import { MAX_UNIT_BYTES } from '../limits.ts';
import { afterElement, afterTag, nextTag } from './xml-cursor.ts';
import { refuseOtherEncodings } from './xml-text.ts';

export class PartText {
  readonly part: string;
  /** Moves with every `fill`. */
  text = '';
  /** Everything before is consumed; set by the caller. */
  position = 0;
  isFinal = false;
  readonly #chunks: AsyncGenerator<Uint8Array>;
  #isFirst = true;
  #passed = 0;

  constructor(part: string, chunks: AsyncGenerator<Uint8Array>) {
    this.part = part;
    this.#chunks = chunks;
  }

  /** Byte offset in the part of a window position. */
  offsetOf(position: number): number {
    return this.#passed + position;
  }

  /** Bytes of the part before `position`. */
  get offset(): number {
    return this.offsetOf(this.position);
  }

  /**
   * Drops consumed text and doubles the rest, so that rescanning costs little; false at the end. Throws
   * `unreadable-file` when more than MAX_UNIT_BYTES would be held.
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

  /** Refuses a part that ends too early. */
  async more(reason = 'is malformed XML'): Promise<void> {
    if (!(await this.fill())) throw unreadable(`${this.part} ${reason}`);
  }

  /** Passes the elements up to the next closing tag; waits only for text and for what asks for it. */
  async eachElement(visit: (from: number, to: number) => Promise<void> | void): Promise<void> {
    for (;;) {
      const at = nextTag(this.text, this.position, this.part);
      if (at >= 0 && this.text.startsWith('</', at)) return;
      const end = at < 0 ? -1 : afterElement(this.text, at, this.part);
      if (end < 0) await this.more();
      else {
        const visited = visit(at, end);
        this.position = end;
        if (visited) await visited;
      }
    }
  }

  async passTag(): Promise<void> {
    for (;;) {
      const at = nextTag(this.text, this.position, this.part);
      const end = at < 0 ? -1 : afterTag(this.text, at);
      if (end >= 0) return void (this.position = end);
      await this.more();
    }
  }

  /** Whether the rest of the part holds what is at most `longest` characters long; closes it. */
  async holds(isIn: (text: string) => boolean, longest: number): Promise<boolean> {
    try {
      while (await this.fill()) {
        if (isIn(this.text)) return true;
        this.position = Math.max(0, this.text.length - longest);
      }
      return false;
    } finally {
      await this.close();
    }
  }

  async drain(): Promise<void> {
    while (!(await this.#chunks.next()).done);
    this.isFinal = true;
  }

  async close(): Promise<void> {
    await this.#chunks.return(undefined);
  }

  #decoded(bytes: Uint8Array): string {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    if (this.#isFirst) refuseOtherEncodings(text, this.part);
    this.#isFirst = false;
    return text;
  }
}
