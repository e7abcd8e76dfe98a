/**
 * Gathers pieces into blocks: a piece of its own costs about 180 bytes besides its content, and a client may send its
 * body in chunks of one byte.
 */

const MIN_BLOCK_BYTES = 4 * 1024;
/** A piece of this size is kept as it came; smaller ones are copied together. */
const BLOCK_BYTES = 64 * 1024;

export class ByteBlocks {
  #blocks: Uint8Array[] = [];
  /** The last one while it has room. */
  #open: Uint8Array | null = null;
  #filled = 0;
  #length = 0;

  /** Bytes gathered so far. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of new memory that `add` will keep for a piece of so many bytes; 0 while it fits into what is there. */
  growth(bytes: number): number {
    const rest = bytes - (this.#open === null ? 0 : this.#open.length - this.#filled);
    return rest <= 0 ? 0 : Math.max(rest, this.#nextBlockBytes());
  }

  /** Takes a piece in; it may be kept as it is. */
  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    let rest = piece;
    if (this.#open !== null) {
      rest = rest.subarray(this.#put(rest));
    } else if (rest.length >= BLOCK_BYTES) {
      this.#blocks.push(rest);
      this.#length += rest.length;
      return;
    }
    if (rest.length === 0) return;
    this.#open = new Uint8Array(Math.max(rest.length, this.#nextBlockBytes()));
    this.#filled = 0;
    this.#blocks.push(this.#open);
    this.#put(rest);
  }

  /** The bytes from there to the end of their block; null when no more than so many were gathered. */
  from(position: number): Uint8Array | null {
    let start = 0;
    for (const block of this.#blocks) {
      const end = Math.min(start + block.length, this.#length);
      if (position < end) return block.subarray(position - start, end - start);
      start = end;
    }
    return null;
  }

  /** All of it in as few pieces as may be, without unused memory; nothing may be added afterwards. */
  pieces(): Uint8Array[] {
    const last = this.#blocks.length - 1;
    return this.#blocks.map((block, at) =>
      at === last && this.#open !== null ? block.slice(0, this.#filled) : block,
    );
  }

  /** As much as there is room for in the open block; how much that was. */
  #put(bytes: Uint8Array): number {
    const open = this.#open!;
    const count = Math.min(bytes.length, open.length - this.#filled);
    open.set(count === bytes.length ? bytes : bytes.subarray(0, count), this.#filled);
    this.#filled += count;
    this.#length += count;
    if (this.#filled === open.length) this.#open = null;
    return count;
  }

  /** As large as what is there already: a short body takes little. */
  #nextBlockBytes(): number {
    return Math.min(BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, this.#length));
  }
}
