/**
 * A CSV file as rows, streamed in segments of about 32 KiB with exact byte counts.
 *
 * The header is the first row with content at or after line `header_row`; lines above it are
 * counted regardless of quotes and otherwise ignored. Cells are delivered verbatim, as `cellAt`
 * returns them. Memory: one chunk of the file plus its longest row.
 */
import { AppError } from '../../src/base/errors.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { ReadOptions, RowSink, Segment } from '../../src/tables/types.ts';
import { BooleanSpelling } from './boolean-spelling.ts';
import { cellValue } from './cell-value.ts';
import { guessDelimiter, SAMPLE_BYTES } from './delimiter.ts';
import type { Dialect } from './dialect.ts';
import { detectEncoding, unitBytes } from './encoding.ts';
import { TextWindow } from './text-window.ts';
import { type LineEndings, RowSpans } from './tokenizer.ts';

/** Target bytes of a segment, which an edit of one row has to read and parse again. */
export const SEGMENT_BYTES = 32_768;

/** A row is held in memory; a longer one is a damaged file. */
export const MAX_ROW_BYTES = 64 * 1024 * 1024;

/** A UTF-16 code unit takes at most three bytes in any of the encodings. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Throws `unreadable-file`, naming the byte offset, for invalid text or NUL, an unclosed quote, and
 * rows, cells or column counts over the limits.
 */
export async function readCsv(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
): Promise<void> {
  const { encoding, bom } = detectEncoding(await readBytes(source, 0, 3), options.encoding);
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
  sink.layout({ ...dialect }, bodyOffset);
}

async function delimiterAt(source: FileSource, window: TextWindow): Promise<Dialect['delimiter']> {
  const { offset, encoding } = window;
  const sample = await readBytes(source, offset, SAMPLE_BYTES);
  return guessDelimiter(sample, encoding, offset, offset + sample.length >= source.size);
}

/**
 * Empty at the end of the file. The header's line end belongs to the first segment, as a line
 * without content: edits may add or remove it, and the body's start must not move.
 */
async function readHeader(window: TextWindow, delimiter: string): Promise<string[]> {
  const spans = await new Scanner(window, delimiter, { lf: 0, crlf: 0, cr: 0 }).next(1);
  if (spans.count === 0) return [];
  const cells = spans.spellings(window.text, 0).map(cellValue);
  window.moveTo(spans.contentEnd(0));
  return cells;
}

/**
 * Blank lines join the next segment, at the end of the file the previous one, so that only a table
 * without rows has a segment without rows.
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
      // `true` and `false` with up to three spaces around.
      if (typeof cell === 'string' && cell.length >= 4 && cell.length <= 8) {
        spelling.count(position, cell);
      }
    }
    rows[row] = cells;
  }
  return rows;
}

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
   * The rows that begin within the next `characters`; at least one line unless the file has ended.
   * The next call overwrites the result.
   */
  async next(characters: number): Promise<RowSpans> {
    const window = this.window;
    const spans = this.#spans;
    // Half as much again lets the last row end inside the window; a longer row doubles it until it
    // fits.
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

  /** Only the last row of a scan can exceed the requested range. */
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

/** End of the line at `from`; without its end, the end of the text. */
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
  // A CR at the window's edge may be half of a CRLF: retry with more text.
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
