import { type AppError, unreadable } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';
import { completeLength, decodeText, encodedLength, type Encoding, unitBytes } from './encoding.ts';
import { type LineEndings, RowSpans } from './tokenizer.ts';

/** A row is held in memory; a longer one is a damaged file. */
export const MAX_ROW_BYTES = 64 * 1024 * 1024;

/** A UTF-16 code unit takes at most three bytes in any of the encodings. */
const MAX_BYTES_PER_UNIT = 3;

/** Large enough for few calls, small enough for the processor's cache. */
const CHUNK_BYTES = 262_144;

function longRow(offset: number): AppError {
  return unreadable(`more than ${MAX_ROW_BYTES} bytes in the row at byte offset ${offset}`);
}

/** The decoded window on a file being tokenized: grows at the end, is dropped at the start. */
export class TextWindow {
  readonly encoding: Encoding;
  readonly #source: FileSource;
  readonly #spans = new RowSpans();
  text = '';
  /** Everything before it is consumed. */
  position = 0;
  /** In the file, of `position`. */
  offset: number;
  #end: number;
  /** Every character has the same length in the file. */
  #isUniform = true;

  constructor(source: FileSource, encoding: Encoding, offset: number) {
    this.#source = source;
    this.encoding = encoding;
    this.offset = offset;
    this.#end = offset;
  }

  get isFinal(): boolean {
    return this.#end >= this.#source.size;
  }

  get available(): number {
    return this.text.length - this.position;
  }

  /**
   * Until `characters` are available or the file ends. Throws `unreadable-file` as `decodeText`
   * does.
   */
  async fill(characters: number): Promise<void> {
    while (this.available < characters && !this.isFinal) {
      const missing = (characters - this.available) * unitBytes(this.encoding);
      const bytes = await readBytes(this.#source, this.#end, Math.max(CHUNK_BYTES, missing));
      const isLast = this.#end + bytes.length >= this.#source.size;
      const complete = isLast ? bytes : bytes.subarray(0, completeLength(bytes, this.encoding));
      const text = decodeText(complete, this.encoding, this.#end);
      this.#isUniform =
        (this.#isUniform || this.available === 0) &&
        text.length * unitBytes(this.encoding) === complete.length;
      this.text = this.available === 0 ? text : this.text.slice(this.position) + text;
      this.position = 0;
      this.#end += complete.length;
    }
  }

  /** Returns the bytes passed. */
  moveTo(position: number): number {
    const bytes = this.#offsetOf(position) - this.offset;
    this.position = position;
    this.offset += bytes;
    return bytes;
  }

  /**
   * The rows that begin within the next `characters`; at least one line unless the file has ended.
   * The next call overwrites the result.
   */
  async rows(characters: number, delimiter: string, endings: LineEndings): Promise<RowSpans> {
    const spans = this.#spans;
    // Half as much again lets the last row end inside the window; a longer row doubles it.
    for (let wanted = characters * 1.5; ; wanted *= 2) {
      await this.fill(wanted);
      spans.scan(this.text, this.position, {
        delimiter: delimiter.charCodeAt(0),
        isFinal: this.isFinal,
        stopAt: this.position + characters,
      });
      if (spans.consumed > this.position || spans.state === 'stop') break;
      this.#refuse(spans);
    }
    this.#refuseLongRow(spans);
    endings.lf += spans.endings.lf;
    endings.crlf += spans.endings.crlf;
    endings.cr += spans.endings.cr;
    return spans;
  }

  #refuse({ state, openCell }: RowSpans): void {
    const cell = this.#offsetOf(openCell);
    if (state === 'open-quote') throw unreadable(`quote at byte offset ${cell} is never closed`);
    if (state === 'wide-row') {
      throw unreadable(`more than ${MAX_COLUMNS} columns in the row at byte offset ${this.offset}`);
    }
    if (state === 'large-cell') {
      throw unreadable(
        `more than ${MAX_CELL_CHARACTERS} characters in the cell at byte offset ${cell}`,
      );
    }
    if (this.available > MAX_ROW_BYTES) throw longRow(this.offset);
  }

  /** Only the last row of a scan can exceed the requested range. */
  #refuseLongRow(spans: RowSpans): void {
    const last = spans.count - 1;
    if (last < 0) return;
    const [start, end] = [spans.start(last), spans.end(last)];
    if ((end - start) * MAX_BYTES_PER_UNIT <= MAX_ROW_BYTES) return;
    const offset = this.#offsetOf(start);
    if (this.#offsetOf(end) - offset > MAX_ROW_BYTES) throw longRow(offset);
  }

  /** Must not be before the current position. */
  #offsetOf(position: number): number {
    if (this.#isUniform) return this.offset + (position - this.position) * unitBytes(this.encoding);
    return this.offset + encodedLength(this.text.slice(this.position, position), this.encoding);
  }
}
