/**
 * Snappy's block format. Short bodies are left to the library; it needs twice the size of a long one in memory, so that is
 * written to a file while it is read.
 */
import { snappyUncompress } from 'hysnappy';
import { mapped, type SpoolFile } from '../../../base/files/spool-file.ts';

const MAX_WHOLE_BYTES = 4 * 1024 * 1024;
/** A native copy costs as much as so many bytes one by one. */
const NEAR = 64;
/** What is kept of the output; encoders refer back 64 KiB at most. */
const WINDOW_BYTES = 1024 * 1024;

/** How long it says it will be; at most five bytes tell. */
export function uncompressedLength(body: Uint8Array): number {
  return varint(body).value;
}

/** `newFile` makes one for a long body. Throws an error that says what is wrong with it, and what the disk says. */
export function unsnapped(body: Uint8Array, newFile: () => SpoolFile): Uint8Array {
  const { value, length } = varint(body);
  if (value <= MAX_WHOLE_BYTES) return snappyUncompress(body, value);
  const file = newFile();
  const output = new Output(file, value);
  let at = length;
  const little = (bytes: number): number => {
    if (at + bytes > body.length) throw new Error('premature end of input');
    let number = 0;
    for (let index = 0; index < bytes; index++) number += body[at++]! * 256 ** index;
    return number;
  };
  while (at < body.length) {
    const tag = body[at++]!;
    const kind = tag & 3;
    const size = tag >> 2;
    if (kind === 0) {
      const count = (size < 60 ? size : little(size - 59)) + 1;
      if (at + count > body.length) throw new Error('premature end of input');
      output.literal(body, at, at + count);
      at += count;
    } else if (kind === 1) output.copy((size & 7) + 4, (size >> 3) * 256 + little(1));
    else output.copy(size + 1, little(kind === 2 ? 2 : 4));
  }
  output.end();
  return mapped(file.path);
}

function varint(body: Uint8Array): { value: number; length: number } {
  let value = 0;
  let length = 0;
  for (const byte of body.subarray(0, 5)) {
    value += (byte & 0x7f) * 128 ** length++;
    if (byte < 0x80) break;
  }
  return { value, length };
}

class Output {
  readonly #file: SpoolFile;
  readonly #length: number;
  /** The last of what was made; its older half goes to the file. */
  readonly #window = Buffer.alloc(2 * WINDOW_BYTES);
  #filled = 0;

  constructor(file: SpoolFile, length: number) {
    this.#file = file;
    this.#length = length;
  }

  literal(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at += WINDOW_BYTES) {
      const end = Math.min(to, at + WINDOW_BYTES);
      this.#makeRoom(end - at);
      const window = this.#window;
      let filled = this.#filled;
      if (end - at > NEAR) window.set(bytes.subarray(at, end), filled);
      else for (let next = at; next < end; next++) window[filled++] = bytes[next]!;
      this.#filled += end - at;
    }
  }

  copy(count: number, offset: number): void {
    this.#makeRoom(count);
    const window = this.#window;
    const from = this.#filled - offset;
    if (offset === 0 || from < 0) throw new Error('a reference to what is not there');
    let filled = this.#filled;
    // What it refers to may be what it makes.
    for (let at = from; at < from + count; at++) window[filled++] = window[at]!;
    this.#filled = filled;
  }

  end(): void {
    this.#file.addNow(this.#window.subarray(0, this.#filled));
    if (this.#file.length !== this.#length) throw new Error('premature end of input');
  }

  #makeRoom(count: number): void {
    if (this.#file.length + this.#filled + count > this.#length)
      throw new Error('more than its length says');
    if (this.#filled + count <= this.#window.length) return;
    const old = this.#filled - WINDOW_BYTES;
    this.#file.addNow(this.#window.subarray(0, old));
    this.#window.copyWithin(0, old, this.#filled);
    this.#filled = WINDOW_BYTES;
  }
}
