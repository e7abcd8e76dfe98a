/**
 * Gathers pieces into blocks: each piece costs about 180 bytes besides its content, and a client may send chunks of one
 * byte.
 */

const MIN_BLOCK_BYTES = 4 * 1024;
/** Larger pieces are kept as they are. */
const BLOCK_BYTES = 64 * 1024;

export class ByteBlocks {
  #blocks: Uint8Array[] = [];
  /** The last block while it has room. */
  #open: Uint8Array | null = null;
  #filled = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Bytes of new memory that adding so many bytes takes. */
  growth(bytes: number): number {
    const rest = bytes - (this.#open === null ? 0 : this.#open.length - this.#filled);
    return rest <= 0 ? 0 : Math.max(rest, this.#nextBlockBytes());
  }

  /** May keep the piece itself. */
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

  /** To the end of their block; null when no more than `position` bytes were gathered. */
  from(position: number): Uint8Array | null {
    let start = 0;
    for (const block of this.#blocks) {
      const end = Math.min(start + block.length, this.#length);
      if (position < end) return block.subarray(position - start, end - start);
      start = end;
    }
    return null;
  }

  /** Without unused memory; nothing may be added afterwards. */
  pieces(): Uint8Array[] {
    const last = this.#blocks.length - 1;
    return this.#blocks.map((block, at) =>
      at === last && this.#open !== null ? block.slice(0, this.#filled) : block,
    );
  }

  /** Returns how much fitted into the open block. */
  #put(bytes: Uint8Array): number {
    const open = this.#open!;
    const count = Math.min(bytes.length, open.length - this.#filled);
    open.set(count === bytes.length ? bytes : bytes.subarray(0, count), this.#filled);
    this.#filled += count;
    this.#length += count;
    if (this.#filled === open.length) this.#open = null;
    return count;
  }

  /** Doubling: a short body takes little. */
  #nextBlockBytes(): number {
    return Math.min(BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, this.#length));
  }
}
