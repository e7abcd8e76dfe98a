/**
 * A segment of the old file, decoded and tokenized, copied to the new file up to where rows change.
 */
import { AppError } from '../../src/base/errors.ts';
import { changedFile, type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { Segment } from '../../src/tables/types.ts';
import type { Dialect } from './dialect.ts';
import { decodeText, encodedLength } from './encoding.ts';
import type { NewFile } from './new-file.ts';
import { RowSpans } from './tokenizer.ts';

/** Everything before the position was copied or skipped. */
export class SegmentText {
  readonly text: string;
  readonly spans: RowSpans;
  readonly #dialect: Dialect;
  readonly #file: NewFile;
  #position = 0;
  /** Byte of the old file at `#position`. */
  #offset: number;

  private constructor(
    text: string,
    spans: RowSpans,
    dialect: Dialect,
    file: NewFile,
    offset: number,
  ) {
    this.text = text;
    this.spans = spans;
    this.#dialect = dialect;
    this.#file = file;
    this.#offset = offset;
  }

  /** Throws `conflict` when the segment is not what the layout says. */
  static async read(
    source: FileSource,
    dialect: Dialect,
    segment: Segment,
    offset: number,
    file: NewFile,
  ): Promise<SegmentText> {
    const bytes = await readBytes(source, offset, segment.bytes);
    const text = decodeSegment(bytes, dialect, offset);
    const spans = new RowSpans();
    spans.scan(text, 0, {
      delimiter: dialect.delimiter.charCodeAt(0),
      isFinal: true,
      stopAt: text.length,
    });
    if (spans.state !== 'stop' || spans.count !== segment.rows) throw changedFile();
    return new SegmentText(text, spans, dialect, file, offset);
  }

  /** After the last row; without rows, at the start or after the header's line end. */
  appendPosition(isFirst: boolean): number {
    if (this.spans.count > 0) return this.spans.end(this.spans.count - 1);
    return isFirst ? /^(?:\r\n|\n|\r)?/.exec(this.text)![0].length : 0;
  }

  keepTo(position: number): void {
    const from = this.#offset;
    this.skipTo(position);
    this.#file.keep(from, this.#offset);
  }

  skipTo(position: number): void {
    if (position <= this.#position) return;
    const passed = this.text.slice(this.#position, position);
    this.#offset += encodedLength(passed, this.#dialect.encoding);
    this.#position = position;
  }
}

function decodeSegment(bytes: Uint8Array, dialect: Dialect, offset: number): string {
  try {
    return decodeText(bytes, dialect.encoding, offset);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unreadable-file') throw changedFile();
    throw error;
  }
}
