/**
 * The edited file under construction: pieces and segments, which always add up to the same bytes.
 */
import type { FileSource } from '../../src/base/file-source.ts';
import type { Piece } from '../../src/base/piece-writer.ts';
import type { Segment } from '../../src/dataset/types.ts';
import { PieceList, slicePieces } from './piece-list.ts';
import { readExactly } from './text-window.ts';

/** Grows at its end, piece by piece and segment by segment. */
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

  /** Bytes of the segment in progress. */
  get segmentBytes(): number {
    return this.#pieces.size - this.#segmentStart;
  }

  /** Continues with the old file's bytes from `from` (inclusive) to `to` (exclusive). */
  keep(from: number, to: number): void {
    this.#pieces.keep(from, to);
  }

  /** Continues with new bytes. */
  write(bytes: Uint8Array): void {
    this.#pieces.write(bytes);
  }

  /** Ends the segment in progress, which holds `rows` rows, and begins the next one. */
  endSegment(rows: number): void {
    this.#segments.push({ rows, bytes: this.segmentBytes });
    this.#segmentStart = this.#pieces.size;
  }

  /** Continues with new bytes that belong to the last segment with any bytes; only between two segments. */
  writeToLast(bytes: Uint8Array): void {
    const segment =
      this.#segments.findLast((candidate) => candidate.bytes > 0) ?? this.#segments[0];
    if (!segment) return this.write(bytes);
    segment.bytes += bytes.length;
    this.#pieces.write(bytes);
    this.#segmentStart = this.#pieces.size;
  }

  /** The result, with all segments ended. */
  finish(): { pieces: Piece[]; segments: Segment[] } {
    return { pieces: this.#pieces.pieces(), segments: this.#segments };
  }

  /** The result without its last `bytes` bytes, which stand in segments. */
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

  /** Up to `length` bytes from its present end. */
  async tail(length: number): Promise<Uint8Array> {
    const { size } = this.#pieces;
    const pieces = slicePieces(this.#pieces.pieces(), Math.max(0, size - length), size);
    return bytesOf(this.#source, pieces);
  }
}

/** The bytes that pieces stand for. */
export async function bytesOf(source: FileSource, pieces: readonly Piece[]): Promise<Uint8Array> {
  const parts = pieces.map((piece) =>
    piece instanceof Uint8Array ? piece : readExactly(source, piece.from, piece.to - piece.from),
  );
  return Buffer.concat(await Promise.all(parts));
}
