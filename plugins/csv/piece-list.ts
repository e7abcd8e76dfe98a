/** Ranges of the old file and new bytes, in order; neighbours are joined. */
import type { Piece } from '../../src/base/files/piece-writer.ts';

export class PieceList {
  readonly #pieces: ({ from: number; to: number } | Uint8Array[])[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  keep(from: number, to: number): void {
    if (to <= from) return;
    this.#size += to - from;
    const last = this.#pieces.at(-1);
    if (last && !Array.isArray(last) && last.to === from) last.to = to;
    else this.#pieces.push({ from, to });
  }

  write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#size += bytes.length;
    const last = this.#pieces.at(-1);
    if (Array.isArray(last)) last.push(bytes);
    else this.#pieces.push([bytes]);
  }

  pieces(): Piece[] {
    return this.#pieces.map((piece) => (Array.isArray(piece) ? Buffer.concat(piece) : piece));
  }
}

export function sizeOf(pieces: readonly Piece[]): number {
  return pieces.reduce((size, piece) => size + lengthOf(piece), 0);
}

export function slicePieces(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const slice: Piece[] = [];
  let start = 0;
  for (const piece of pieces) {
    const begin = Math.max(0, from - start);
    const end = Math.min(lengthOf(piece), to - start);
    start += lengthOf(piece);
    if (begin >= end) continue;
    slice.push(
      piece instanceof Uint8Array
        ? piece.subarray(begin, end)
        : { from: piece.from + begin, to: piece.from + end },
    );
  }
  return slice;
}

function lengthOf(piece: Piece): number {
  return piece instanceof Uint8Array ? piece.length : piece.to - piece.from;
}
