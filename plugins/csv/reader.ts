/**
 * A CSV file as rows, streamed in segments of about 32 KiB with exact byte counts (DS-62, DS-63).
 *
 * The header is the first row with content at or after line `header_row`; lines above it are counted as they
 * stand, whatever quotes they hold, and are not read otherwise. Cells are delivered verbatim, as `cellAt` gives them.
 * Memory is one chunk of the file plus its longest row.
 */
import { AppError } from '../../src/base/errors.ts';
import { cleanNames } from '../../src/dataset/header-names.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/dataset/limits.ts';
import type { FileSource } from '../../src/base/file-source.ts';
import type { ReadOptions, RowSink, Segment } from '../../src/dataset/types.ts';
import { BooleanSpelling } from './boolean-spelling.ts';
import { cellValue } from './cell-value.ts';
import { guessDelimiter, SAMPLE_BYTES } from './delimiter.ts';
import { type Dialect, dialectRecord } from './dialect.ts';
import { detectEncoding, unitBytes } from './encoding.ts';
import { readExactly, TextWindow } from './text-window.ts';
import { type LineEndings, RowSpans } from './tokenizer.ts';

/** Bytes of file a segment aims at: what an edit of one row has to read and parse again. */
export const SEGMENT_BYTES = 32_768;

/** A longer row is a damaged file; it would have to be held in memory as a whole. */
export const MAX_ROW_BYTES = 64 * 1024 * 1024;

/** A UTF-16 code unit takes at most three bytes in any of the encodings. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Delivers the table to `sink`. Throws `unreadable-file` for bytes that are not text of the file's encoding, NUL,
 * a quote that is never closed, and rows, cells or column counts over the limits; the text names the byte offset.
 */
export async function readCsv(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
): Promise<void> {
  const { encoding, bom } = detectEncoding(await readExactly(source, 0, 3), options.encoding);
  const window = new TextWindow(source, encoding, bom);
  const endings = { lf: 0, crlf: 0, cr: 0 };
  await skipLines(window, (options.headerRow ?? 1) - 1, endings);
  await skipBlankLines(window, endings);
  const headerOffset = window.offset;
  const delimiter = options.delimiter ?? (await delimiterAt(source, window));

  const header = await readHeader(window, delimiter);
  sink.header(cleanNames(header));
  const bodyOffset = window.offset;
  const spelling = new BooleanSpelling();
  await readBody(new Scanner(window, delimiter, endings), spelling, sink);
  const dialect: Dialect = {
    encoding,
    delimiter,
    isGuessed: options.delimiter === undefined,
    headerOffset,
    width: header.length,
    lineEndings: endings,
    booleans: spelling.toJSON(),
  };
  sink.layout(dialectRecord(dialect), bodyOffset);
}

async function delimiterAt(source: FileSource, window: TextWindow): Promise<Dialect['delimiter']> {
  const { offset, encoding } = window;
  const sample = await readExactly(source, offset, SAMPLE_BYTES);
  return guessDelimiter(sample, encoding, offset, offset + sample.length >= source.size);
}

/**
 * The cells of the header row; none at the end of the file. Its line end is left to the first segment, where it reads
 * as a line without content: edits may have to add or remove it, and so never move the start of the body.
 */
async function readHeader(window: TextWindow, delimiter: string): Promise<string[]> {
  const spans = await new Scanner(window, delimiter, { lf: 0, crlf: 0, cr: 0 }).next(1);
  if (spans.count === 0) return [];
  const cells = spans.spellings(window.text, 0).map(cellValue);
  window.moveTo(spans.contentEnd(0));
  return cells;
}

/**
 * Delivers the segments. Lines without content join the segment after them, at the end of the file the one before,
 * so that only a table without any row has a segment without rows.
 */
async function readBody(scanner: Scanner, spelling: BooleanSpelling, sink: RowSink): Promise<void> {
  const { window } = scanner;
  let held: { segment: Segment; rows: Row[] } | null = null;
  let blankBytes = 0;
  for (;;) {
    const spans = await scanner.next(SEGMENT_BYTES / unitBytes(window.encoding));
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
  if (held)
    sink.segment({ rows: held.segment.rows, bytes: held.segment.bytes + blankBytes }, held.rows);
  else if (blankBytes > 0) sink.segment({ rows: 0, bytes: blankBytes }, []);
}

type Row = (string | number)[];

function cellsOf(text: string, spans: RowSpans, spelling: BooleanSpelling): Row[] {
  const rows = new Array<Row>(spans.count);
  for (let row = 0; row < spans.count; row++) {
    const cells = spans.cells(text, row);
    for (let position = 0; position < cells.length; position++) {
      const cell = cells[position]!;
      // `true` and `false` with up to three spaces around; longer cells are no booleans worth a look.
      if (typeof cell === 'string' && cell.length >= 4 && cell.length <= 8) {
        spelling.count(position, cell);
      }
    }
    rows[row] = cells;
  }
  return rows;
}

/** Scans the window row by row, reading on as far as a row needs. */
class Scanner {
  readonly window: TextWindow;
  readonly #delimiter: number;
  readonly #endings: LineEndings;
  readonly #spans = new RowSpans();

  constructor(window: TextWindow, delimiter: string, endings: LineEndings) {
    this.window = window;
    this.#delimiter = delimiter.charCodeAt(0);
    this.#endings = endings;
  }

  /**
   * The rows that begin within the next `characters`; at least one line unless the file has ended. The result is
   * overwritten by the next call.
   */
  async next(characters: number): Promise<RowSpans> {
    const window = this.window;
    const spans = this.#spans;
    // Half as much again lets the last row end inside the window; a row that is longer doubles it until it fits.
    for (let wanted = characters * 1.5; ; wanted *= 2) {
      await window.fill(wanted);
      const stopAt = window.position + characters;
      spans.scan(window.text, window.position, {
        delimiter: this.#delimiter,
        isFinal: window.isFinal,
        stopAt,
      });
      if (spans.consumed > window.position || spans.state === 'stop') break;
      this.#refuse(spans);
    }
    this.#refuseLongRow(spans);
    this.#endings.lf += spans.endings.lf;
    this.#endings.crlf += spans.endings.crlf;
    this.#endings.cr += spans.endings.cr;
    return spans;
  }

  #refuse(spans: RowSpans): void {
    const row = this.window.offset;
    const cell = this.window.offsetOf(spans.openCell);
    if (spans.state === 'open-quote')
      throw unreadable(`quote at byte offset ${cell} is never closed`);
    if (spans.state === 'wide-row') {
      throw unreadable(`more than ${MAX_COLUMNS} columns in the row at byte offset ${row}`);
    }
    if (spans.state === 'large-cell') {
      throw unreadable(
        `more than ${MAX_CELL_CHARACTERS} characters in the cell at byte offset ${cell}`,
      );
    }
    if (this.window.available > MAX_ROW_BYTES) throw longRow(row);
  }

  /** Only the last row of a scan can be longer than the stretch it was asked for. */
  #refuseLongRow(spans: RowSpans): void {
    if (spans.count === 0) return;
    const start = spans.start(spans.count - 1);
    if ((spans.end(spans.count - 1) - start) * MAX_BYTES_PER_UNIT <= MAX_ROW_BYTES) return;
    const offset = this.window.offsetOf(start);
    if (this.window.offsetOf(spans.end(spans.count - 1)) - offset > MAX_ROW_BYTES) {
      throw longRow(offset);
    }
  }
}

/** Passes `count` lines, or as many as there are. */
async function skipLines(window: TextWindow, count: number, endings: LineEndings): Promise<void> {
  for (let skipped = 0; skipped < count;) {
    await window.fill(2);
    if (window.available === 0) return;
    const next = lineEndIn(window.text, window.position, window.isFinal, endings);
    if (next.isLine) skipped++;
    window.moveTo(next.at);
  }
}

async function skipBlankLines(window: TextWindow, endings: LineEndings): Promise<void> {
  for (;;) {
    await window.fill(2);
    const code = window.text[window.position];
    if (code !== '\n' && code !== '\r') return;
    window.moveTo(lineEndIn(window.text, window.position, window.isFinal, endings).at);
  }
}

/** The character after the line at `from`, or as far as the text reaches without its end. */
function lineEndIn(
  text: string,
  from: number,
  isFinal: boolean,
  endings: LineEndings,
): { at: number; isLine: boolean } {
  let at = from;
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++;
  if (at === text.length) return { at, isLine: isFinal };
  if (text[at] === '\n') {
    endings.lf++;
    return { at: at + 1, isLine: true };
  }
  // A CR at the edge of the window may be half of a CRLF: come back with more text.
  if (at + 1 === text.length && !isFinal) return { at, isLine: false };
  if (text[at + 1] === '\n') endings.crlf++;
  else endings.cr++;
  return { at: at + (text[at + 1] === '\n' ? 2 : 1), isLine: true };
}

function longRow(offset: number): AppError {
  return unreadable(`more than ${MAX_ROW_BYTES} bytes in the row at byte offset ${offset}`);
}

function unreadable(reason: string): AppError {
  return new AppError('unreadable-file', reason);
}
