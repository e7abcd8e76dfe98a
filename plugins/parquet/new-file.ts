import type { Piece } from '../../src/base/files/piece-writer.ts';

export class NewFile {
  readonly #pieces: Piece[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  add(piece: Piece): void {
    if (piece instanceof Uint8Array) {
      this.#size += piece.length;
      this.#pieces.push(piece);
      return;
    }
    this.#size += piece.to - piece.from;
    const last = this.#pieces.at(-1);
    const isNext = last !== undefined && !(last instanceof Uint8Array) && last.to === piece.from;
    if (isNext) this.#pieces[this.#pieces.length - 1] = { from: last.from, to: piece.to };
    else this.#pieces.push(piece);
  }
}
