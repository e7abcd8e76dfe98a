/**
 * The events of a request in order, until they are stored. Those of most requests fit into memory; of a longer one they stand in
 * a file without a name.
 */
import { deserialize, serialize } from 'bun:jsc';
import { closeSync, readSync, writeSync } from 'node:fs';
import { openNameless } from '../../base/files/temporary-files.ts';
import { collectGarbage } from '../../base/scheduling/garbage-collection.ts';
import type { EventDraft } from '../event.ts';

/** Characters in memory: more than bodies have that are not compressed. */
const MAX_KEPT = 40 * 1024 * 1024;
/** Characters of a piece. */
const PIECE = 2 * 1024 * 1024;
/** What an event takes besides its texts, in characters. */
const CHARACTERS_PER_EVENT = 200;

export class Drafts implements Disposable {
  readonly #folder: string;
  /** They follow those in the file. */
  #kept: EventDraft[][] = [[]];
  #keptCharacters = 0;
  #pieceCharacters = 0;
  #length = 0;
  #last: EventDraft | null = null;
  #file: number | null = null;
  /** Bytes of each piece in the file. */
  readonly #written: number[] = [];
  #end = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get length(): number {
    return this.#length;
  }

  get last(): EventDraft | null {
    return this.#last;
  }

  /** Throws what the disk says. */
  push(draft: EventDraft): void {
    this.#kept.at(-1)!.push(draft);
    this.#last = draft;
    this.#length += 1;
    this.#pieceCharacters += draft.data.length + draft.fields.length + CHARACTERS_PER_EVENT;
    if (this.#pieceCharacters < PIECE) return;
    this.#keptCharacters += this.#pieceCharacters;
    this.#pieceCharacters = 0;
    if (this.#file !== null || this.#keptCharacters > MAX_KEPT) this.#write();
    this.#kept.push([]);
  }

  /** All of them, some at a time; of a long request none of these is to be kept. */
  *pieces(): Generator<readonly EventDraft[]> {
    let at = 0;
    for (const length of this.#written) {
      yield this.#read(at, length);
      at += length;
      collectGarbage(2 * length);
    }
    yield* this.#kept;
  }

  /** The first so many. */
  first(count: number): EventDraft[] {
    const found: EventDraft[] = [];
    for (const piece of this.pieces()) {
      for (const draft of piece) {
        if (found.length === count) return found;
        found.push(draft);
      }
    }
    return found;
  }

  [Symbol.dispose](): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
    this.#kept = [[]];
  }

  #write(): void {
    this.#file ??= openNameless(this.#folder);
    for (const piece of this.#kept) {
      const bytes = serialize(piece, { binaryType: 'nodebuffer' });
      for (let at = 0; at < bytes.length;)
        at += writeSync(this.#file, bytes, at, bytes.length - at, this.#end + at);
      this.#end += bytes.length;
      this.#written.push(bytes.length);
      collectGarbage(2 * bytes.length);
    }
    this.#kept = [];
  }

  #read(from: number, length: number): EventDraft[] {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length;) {
      const count = readSync(this.#file!, bytes, at, length - at, from + at);
      if (count === 0) throw new Error('events that were kept on disk are gone');
      at += count;
    }
    return deserialize(bytes) as EventDraft[];
  }
}
