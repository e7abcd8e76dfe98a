/** The new file: pieces and segments, which always cover the same bytes. */
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { Piece } from '../../src/base/files/piece-writer.ts';
import type { Segment } from '../../src/tables/types.ts';
import { PieceList, slicePieces } from './piece-list.ts';

export class NewFile {
  readonly #source: FileSource;
  readonly #pieces = new PieceList();
  readonly #segments: Segment[] = [];
  #segmentStart: number;

  /** Begins with the old file's bytes before its first segment. */
  constructor(source: FileSource, bodyOffset: number) {
    this.#source = source;
    this.#pieces.keep(0, bodyOffset);
    this.#segmentStart = bodyOffset;
  }

  get segmentBytes(): number {
    return this.#pieces.size - this.#segmentStart;
  }

  keep(from: number, to: number): void {
    this.#pieces.keep(from, to);
  }

  write(bytes: Uint8Array): void {
    this.#pieces.write(bytes);
  }

  endSegment(rows: number): void {
    this.#segments.push({ rows, bytes: this.segmentBytes });
    this.#segmentStart = this.#pieces.size;
  }

  /** Appends to the last segment that is not empty; only between two segments. */
  writeToLast(bytes: Uint8Array): void {
    const segment =
      this.#segments.findLast((candidate) => candidate.bytes > 0) ?? this.#segments[0];
    if (!segment) return this.write(bytes);
    segment.bytes += bytes.length;
    this.#pieces.write(bytes);
    this.#segmentStart = this.#pieces.size;
  }

  /** All segments must have ended. */
  finish(): { pieces: Piece[]; segments: Segment[] } {
    return { pieces: this.#pieces.pieces(), segments: this.#segments };
  }

  finishWithout(bytes: number): { pieces: Piece[]; segments: Segment[] } {
    let rest = bytes;
    for (const segment of this.#segments.toReversed()) {
      const cut = Math.min(rest, segment.bytes);
      segment.bytes -= cut;
      rest -= cut;
    }
    const pieces = slicePieces(this.#pieces.pieces(), 0, this.#pieces.size - bytes);
    return { pieces, segments: this.#segments };
  }

  async tail(length: number): Promise<Uint8Array> {
    const { size } = this.#pieces;
    const pieces = slicePieces(this.#pieces.pieces(), Math.max(0, size - length), size);
    return bytesOf(this.#source, pieces);
  }
}

export async function bytesOf(source: FileSource, pieces: readonly Piece[]): Promise<Uint8Array> {
  const parts = pieces.map((piece) =>
    piece instanceof Uint8Array ? piece : readBytes(source, piece.from, piece.to - piece.from),
  );
  return Buffer.concat(await Promise.all(parts));
}
