import { changedFile, type FileSource } from '../../base/files/file-source.ts';
import { PieceList } from '../../base/files/piece-list.ts';
import type { Segment, TableChanges, TableLayout } from '../types.ts';

/** New rows per turn of the event loop; about 5 ms at 8 columns. */
export const ROWS_PER_TURN = 2_000;

/** A segment of the old file. */
export interface OldSegment extends Readonly<Segment> {
  readonly index: number;
  readonly offset: number;
  /** Position of its first row in the file. */
  readonly firstRow: number;
  /** Its rows that change, counted from its first. */
  readonly touched: readonly number[];
}

/** The new version of a file of text: its segments are gone over once, in file order; those without changes are copied. */
export class SegmentEdit {
  /** Pieces and segments always cover the same bytes. */
  file = new PieceList();
  readonly segments: Segment[] = [];
  readonly rows: number;
  /** Of the old rows, in its bytes. */
  readonly end: number;
  readonly #layout: TableLayout;
  readonly #touched: readonly number[];
  #start: number;

  constructor(layout: TableLayout, { updates, deletes }: TableChanges) {
    this.#layout = layout;
    this.#touched = [...updates.keys(), ...deletes].sort((a, b) => a - b);
    this.rows = layout.segments.reduce((sum, segment) => sum + segment.rows, 0);
    this.end = layout.segments.reduce((sum, segment) => sum + segment.bytes, layout.bodyOffset);
    this.#start = layout.bodyOffset;
    this.file.add({ from: 0, to: layout.bodyOffset });
  }

  /** `tail`: bytes after the rows. Throws `conflict` when the file is not the layout's. */
  require(source: FileSource, tail: number): void {
    const isOther = this.end + tail !== source.size;
    if (isOther || (this.#touched.at(-1) ?? -1) >= this.rows) throw changedFile();
  }

  get isLastTouched(): boolean {
    return this.#touched.at(-1) === this.rows - 1;
  }

  /** `rewrite` returns false for a segment to copy; one with touched rows is never copied. */
  async walk(rewrite: (segment: OldSegment) => false | Promise<void>): Promise<void> {
    let offset = this.#layout.bodyOffset;
    let firstRow = 0;
    let next = 0;
    for (const [index, { rows, bytes }] of this.#layout.segments.entries()) {
      const touched: number[] = [];
      while (next < this.#touched.length && this.#touched[next]! < firstRow + rows) {
        touched.push(this.#touched[next++]! - firstRow);
      }
      const rewritten = rewrite({ rows, bytes, index, offset, firstRow, touched });
      if (rewritten === false) {
        this.file.add({ from: offset, to: offset + bytes });
        this.endSegment(rows);
      } else await rewritten;
      offset += bytes;
      firstRow += rows;
    }
  }

  /** What was added since the last one. */
  endSegment(rows: number): void {
    this.segments.push({ rows, bytes: this.openBytes });
    this.#start = this.file.size;
  }

  get openBytes(): number {
    return this.file.size - this.#start;
  }

  /** Gives what was added since to the last segment that is not empty. */
  extendLastSegment(): void {
    const segment = this.segments.findLast(({ bytes }) => bytes > 0) ?? this.segments[0];
    if (!segment) return;
    segment.bytes += this.openBytes;
    this.#start = this.file.size;
  }
}

/** A text of the old file, which begins at byte `offset`, taken from front to back. */
export class TakenText {
  readonly text: string;
  readonly #lengthOf: (text: string) => number;
  #position = 0;
  /** Byte of the old file at `#position`. */
  #offset: number;

  constructor(text: string, offset: number, lengthOf: (text: string) => number) {
    this.text = text;
    this.#offset = offset;
    this.#lengthOf = lengthOf;
  }

  /** Bytes of the old file up to `position` that were not taken before. */
  take(position: number): { from: number; to: number } {
    const from = this.#offset;
    if (position > this.#position) {
      this.#offset += this.#lengthOf(this.text.slice(this.#position, position));
      this.#position = position;
    }
    return { from, to: this.#offset };
  }
}
