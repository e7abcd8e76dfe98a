/**
 * A CSV file as rows, streamed in segments of about 32 KiB with exact byte counts.
 *
 * The header is the first row with content at or after line `header_row`, declared or guessed;
 * lines above it are counted regardless of quotes and otherwise ignored. Cells are delivered verbatim, as `cellAt`
 * returns them. Memory: one chunk of the file plus its longest row.
 */
import { AppError, unreadable } from '../../src/base/errors.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { ReadAgain, type ReadOptions, type RowSink, type Segment } from '../../src/tables/types.ts';
import { cellValue } from './cell-value.ts';
import { BooleanSpelling, type Dialect, guessDelimiter } from './dialect.ts';
import { completeLength, decodeText, encodedLength, type Encoding, unitBytes } from './encoding.ts';
import { guessEncoding } from './encoding-guess.ts';
import { findLayout, type Layout, readSample } from './layout.ts';
import { afterLineEnd, type LineEndings, RowSpans } from './tokenizer.ts';

/** Target bytes of a segment, which an edit of one row has to read and parse again. */
export const SEGMENT_BYTES = 32_768;

/** A row is held in memory; a longer one is a damaged file. */
export const MAX_ROW_BYTES = 64 * 1024 * 1024;

/** A UTF-16 code unit takes at most three bytes in any of the encodings. */
const MAX_BYTES_PER_UNIT = 3;

/** Large enough for few calls, small enough for the processor's cache. */
const CHUNK_BYTES = 262_144;

/**
 * Throws `unreadable-file`, naming the byte offset, for invalid text or NUL, an unclosed quote, and
 * rows, cells or column counts over the limits; `ReadAgain` with the encoding when bytes past the
 * first 64 KiB are not UTF-8 but text.
 */
export async function readCsv(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
): Promise<void> {
  const layout = await findLayout(source, options);
  try {
    await readTable(source, layout, sink);
  } catch (error) {
    const isSupposed = layout.guessed.includes('encoding') && options.learned === undefined;
    if (!isSupposed || !(error instanceof AppError) || !/^invalid UTF-8/.test(error.message)) {
      throw error;
    }
    const { encoding } = await guessEncoding(source);
    throw encoding === 'utf-8' ? error : new ReadAgain({ encoding });
  }
}

async function readTable(source: FileSource, layout: Layout, sink: RowSink): Promise<void> {
  const { encoding, bom, guessed } = layout;
  const window = new TextWindow(source, encoding, bom);
  const endings = { lf: 0, crlf: 0, cr: 0 };
  await skipLines(window, layout.skippedLines, endings);
  await skipBlankLines(window, endings);
  const headerOffset = window.offset;
  const headerRow = endings.lf + endings.crlf + endings.cr + 1;
  const delimiter =
    layout.delimiter ?? guessDelimiter(await readSample(source, encoding, headerOffset));
  const header = await readHeader(window, delimiter);
  sink.header(cleanNames(header), undefined, delimiter);
  const bodyOffset = window.offset;
  const spelling = new BooleanSpelling();
  await readBody(window, delimiter, endings, spelling, sink);
  const dialect: Dialect = {
    encoding,
    delimiter,
    guessed,
    headerOffset,
    headerRow,
    skippedLines: layout.skippedLines,
    width: header.length,
    lineEndings: endings,
    booleans: spelling.toJSON(),
  };
  sink.layout({ ...dialect }, bodyOffset);
}

/**
 * Empty at the end of the file. The header's line end belongs to the first segment, as a line
 * without content: edits may add or remove it, and the body's start must not move.
 */
async function readHeader(window: TextWindow, delimiter: string): Promise<string[]> {
  const spans = await window.rows(1, delimiter, { lf: 0, crlf: 0, cr: 0 });
  if (spans.count === 0) return [];
  const cells = spans.spellings(window.text, 0).map(cellValue);
  window.moveTo(spans.contentEnd(0));
  return cells;
}

/**
 * Blank lines join the next segment, at the end of the file the previous one, so that only a table
 * without rows has a segment without rows.
 */
async function readBody(
  window: TextWindow,
  delimiter: string,
  endings: LineEndings,
  spelling: BooleanSpelling,
  sink: RowSink,
): Promise<void> {
  let held: { segment: Segment; rows: Row[] } | null = null;
  let blankBytes = 0;
  for (;;) {
    const wanted = SEGMENT_BYTES / unitBytes(window.encoding);
    const spans = await window.rows(wanted, delimiter, endings);
    if (spans.consumed === window.position) break;
    const rows = cellsOf(window.text, spans, spelling);
    const bytes = blankBytes + window.moveTo(spans.consumed);
    if (rows.length === 0) {
      blankBytes = bytes;
      continue;
    }
    blankBytes = 0;
    if (held) sink.segment(held.segment, held.rows);
    held = { segment: { rows: rows.length, bytes }, rows };
  }
  if (held) held.segment.bytes += blankBytes;
  else if (blankBytes > 0) held = { segment: { rows: 0, bytes: blankBytes }, rows: [] };
  if (held) sink.segment(held.segment, held.rows);
}

type Row = (string | number)[];

function cellsOf(text: string, spans: RowSpans, spelling: BooleanSpelling): Row[] {
  const rows = new Array<Row>(spans.count);
  for (let row = 0; row < spans.count; row++) {
    const cells = spans.cells(text, row);
    for (let position = 0; position < cells.length; position++) {
      const cell = cells[position]!;
      // `true` and `false` with up to three spaces around.
      if (typeof cell === 'string' && cell.length >= 4 && cell.length <= 8) {
        spelling.count(position, cell);
      }
    }
    rows[row] = cells;
  }
  return rows;
}

async function skipLines(window: TextWindow, count: number, endings: LineEndings): Promise<void> {
  for (let skipped = 0; skipped < count;) {
    await window.fill(2);
    const { text, position, isFinal } = window;
    if (window.available === 0) return;
    let end = position;
    while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++;
    const next = afterLineEnd(text, end, isFinal, endings);
    if (next >= 0) skipped++;
    window.moveTo(Math.max(end, next));
  }
}

async function skipBlankLines(window: TextWindow, endings: LineEndings): Promise<void> {
  for (;;) {
    await window.fill(2);
    const { text, position, isFinal } = window;
    if (text[position] !== '\n' && text[position] !== '\r') return;
    window.moveTo(afterLineEnd(text, position, isFinal, endings));
  }
}

function longRow(offset: number): AppError {
  return unreadable(`more than ${MAX_ROW_BYTES} bytes in the row at byte offset ${offset}`);
}

/**
 * The decoded window on a file being tokenized: grows at the end, is dropped at the start. Always
 * knows the byte offset of its position, from which segments are made.
 */
class TextWindow {
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
    // Half as much again lets the last row end inside the window; a longer row doubles it until it
    // fits.
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
