/**
 * One segment of the old file, decoded and tokenized, being copied into the new file up to where rows change.
 */
import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/file-source.ts';
import type { Segment } from '../../src/dataset/types.ts';
import type { Dialect } from './dialect.ts';
import { decodeText, encodedLength } from './encoding.ts';
import type { NewFile } from './new-file.ts';
import { readExactly } from './text-window.ts';
import { RowSpans } from './tokenizer.ts';

/** A position in the segment up to which everything was copied or left out. */
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

  /** Reads the segment at `offset` of the old file. Throws `conflict` when it is not what the layout says. */
  static async read(
    source: FileSource,
    dialect: Dialect,
    segment: Segment,
    offset: number,
    file: NewFile,
  ): Promise<SegmentText> {
    const bytes = await readExactly(source, offset, segment.bytes);
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

  /** Where new rows go: after the last row; without rows, at the start or after the header's line end. */
  appendPosition(isFirst: boolean): number {
    if (this.spans.count > 0) return this.spans.end(this.spans.count - 1);
    return isFirst ? /^(?:\r\n|\n|\r)?/.exec(this.text)![0].length : 0;
  }

  /** Copies what stands before `position`. */
  keepTo(position: number): void {
    const from = this.#offset;
    this.skipTo(position);
    this.#file.keep(from, this.#offset);
  }

  /** Leaves out what stands before `position`. */
  skipTo(position: number): void {
    if (position <= this.#position) return;
    const passed = this.text.slice(this.#position, position);
    this.#offset += encodedLength(passed, this.#dialect.encoding);
    this.#position = position;
  }
}

/** The file is not the one whose layout is known: another program wrote it since. */
export function changedFile(): AppError {
  return new AppError('conflict', 'The file changed while it was edited');
}

function decodeSegment(bytes: Uint8Array, dialect: Dialect, offset: number): string {
  try {
    return decodeText(bytes, dialect.encoding, offset);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unreadable-file') throw changedFile();
    throw error;
  }
}
