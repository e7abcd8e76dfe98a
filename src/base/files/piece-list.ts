/** A new file: ranges of the old file and new bytes, in order; adjacent ranges are joined. */
import { type FileSource, readBytes } from './file-source.ts';
import type { Piece } from './piece-writer.ts';

export class PieceList {
  readonly pieces: Piece[] = [];
  size = 0;

  add(...pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (lengthOf(piece) === 0) continue;
      this.size += lengthOf(piece);
      const last = this.pieces.at(-1);
      const isNext = last && 'to' in last && 'from' in piece && last.to === piece.from;
      if (isNext) this.pieces[this.pieces.length - 1] = { from: last.from, to: piece.to };
      else this.pieces.push(piece);
    }
  }

  /** `to` is exclusive, and may be past the end. */
  slice(from: number, to: number): PieceList {
    const slice = new PieceList();
    let start = 0;
    for (const piece of this.pieces) {
      const begin = Math.max(0, from - start);
      const end = Math.min(lengthOf(piece), to - start);
      start += lengthOf(piece);
      if (begin >= end) continue;
      slice.add(
        piece instanceof Uint8Array
          ? piece.subarray(begin, end)
          : { from: piece.from + begin, to: piece.from + end },
      );
    }
    return slice;
  }

  /** Pieces of a file made from this one, as pieces of the old file. */
  through(pieces: readonly Piece[]): readonly Piece[] {
    const file = new PieceList();
    for (const piece of pieces) {
      if ('from' in piece) file.add(...this.slice(piece.from, piece.to).pieces);
      else file.add(piece);
    }
    return file.pieces;
  }

  /** The new file as if it were there. */
  over(source: FileSource): FileSource {
    return {
      size: this.size,
      read: (offset, length) => this.slice(offset, offset + length).read(source),
    };
  }

  /** `source` is the old file. */
  async read(source: FileSource): Promise<Buffer> {
    const parts = this.pieces.map((piece) =>
      piece instanceof Uint8Array ? piece : readBytes(source, piece.from, piece.to - piece.from),
    );
    return Buffer.concat(await Promise.all(parts));
  }
}

function lengthOf(piece: Piece): number {
  return piece instanceof Uint8Array ? piece.length : piece.to - piece.from;
}
