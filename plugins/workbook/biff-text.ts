/**
 * Texts in legacy records: in a code page up to Excel 95; later two bytes per character, or one
 * where the upper one is zero (MS-XLS, 2.5.293 and 2.5.294), which may change at each continuation.
 */
import type { BiffRecord } from './biff-records.ts';
import { unreadable } from './unreadable.ts';

const IS_WIDE = 0x01;
const HAS_PHONETIC = 0x04;
const HAS_RUNS = 0x08;

/** Reads across the parts of a record. Throws `unreadable-file` past the last one. */
export class BiffText {
  readonly #parts: readonly Buffer[];
  #part = 0;
  #at: number;

  constructor(record: BiffRecord, at: number) {
    this.#parts = record.parts;
    this.#at = at;
  }

  byte(): number {
    return this.#take(1)[0]!;
  }

  word(): number {
    return this.byte() + this.byte() * 0x100;
  }

  long(): number {
    return this.word() + this.word() * 0x10000;
  }

  narrow(bytes: number, decoder: TextDecoder): string {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; left -= parts.at(-1)!.length) parts.push(this.#take(left));
    return decoder.decode(Buffer.concat(parts));
  }

  /** Flags, then so many characters, then formatting data. */
  wide(characters: number): string {
    let flags = this.byte();
    const runs = (flags & HAS_RUNS) === 0 ? 0 : this.word();
    const phonetic = (flags & HAS_PHONETIC) === 0 ? 0 : this.long();
    let text = '';
    for (let left = characters; left > 0;) {
      // Characters continued in the next part have flags of their own.
      if (this.#isAtPartEnd()) flags = this.byte();
      const size = (flags & IS_WIDE) === 0 ? 1 : 2;
      const bytes = this.#take(left * size);
      if (bytes.length % size !== 0) throw unreadable('a text is cut off within a character');
      text += bytes.toString(size === 1 ? 'latin1' : 'utf16le');
      left -= bytes.length / size;
    }
    this.#skip(runs * 4 + phonetic);
    return text.toWellFormed();
  }

  #skip(bytes: number): void {
    for (let left = bytes; left > 0;) left -= this.#take(left).length;
  }

  #isAtPartEnd(): boolean {
    return this.#at >= this.#parts[this.#part]!.length;
  }

  #take(length: number): Buffer {
    while (this.#isAtPartEnd()) {
      if (this.#part + 1 >= this.#parts.length) throw unreadable('a text is cut off');
      this.#part++;
      this.#at = 0;
    }
    const bytes = this.#parts[this.#part]!.subarray(this.#at, this.#at + length);
    this.#at += bytes.length;
    return bytes;
  }
}
