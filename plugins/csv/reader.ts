/**
 * A CSV file as rows, streamed in segments of about 32 KiB with exact byte counts.
 *
 * The header is the first row with content at or after line `header_row`, declared or guessed; lines above it are
 * counted regardless of quotes. Cells are delivered verbatim. Memory: one chunk of the file plus its longest row.
 */
import { AppError } from '../../src/base/errors.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { ReadAgain, type ReadOptions, type RowSink, type Segment } from '../../src/tables/types.ts';
import { cellValue } from './cell-value.ts';
import { BooleanSpelling, type Dialect, guessDelimiter, MAX_BOOLEAN_LENGTH } from './dialect.ts';
import { unitBytes } from './encoding.ts';
import { guessEncoding } from './encoding-guess.ts';
import { findLayout, type Layout, readSample } from './layout.ts';
import { TextWindow } from './text-window.ts';
import { afterLineEnd, type LineEndings, type RowSpans } from './tokenizer.ts';
import { findTotal, isBlank, isTotalLike, type TotalRow } from './total-row.ts';

/** Target bytes of a segment, which an edit of one row has to read and parse again. */
export const SEGMENT_BYTES = 32_768;

/**
 * Throws `unreadable-file`, naming the byte offset, for invalid text or NUL, an unclosed quote, and anything over the
 * limits; `ReadAgain` with the encoding when bytes past the first 64 KiB are not UTF-8 but text.
 */
export async function readCsv(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
): Promise<void> {
  const layout = await findLayout(source, options);
  try {
    await readTable(source, layout, options, sink);
  } catch (error) {
    const isSupposed = layout.guessed.includes('encoding') && options.learned === undefined;
    if (!isSupposed || !(error instanceof AppError) || !/^invalid UTF-8/.test(error.message)) {
      throw error;
    }
    const { encoding } = await guessEncoding(source);
    throw encoding === 'utf-8' ? error : new ReadAgain({ encoding });
  }
}

async function readTable(
  source: FileSource,
  layout: Layout,
  options: ReadOptions,
  sink: RowSink,
): Promise<void> {
  const { encoding, bom } = layout;
  const window = new TextWindow(source, encoding, bom);
  const endings = { lf: 0, crlf: 0, cr: 0 };
  await skipLines(window, layout.skippedLines, endings);
  await skipBlankLines(window, endings);
  const headerOffset = window.offset;
  const headerRow = endings.lf + endings.crlf + endings.cr + 1;
  const delimiter =
    layout.delimiter ?? guessDelimiter(await readSample(source, encoding, headerOffset));
  const header = await readHeader(window, delimiter);
  const names = cleanNames(header);
  sink.header(names, undefined, delimiter);
  const bodyOffset = window.offset;
  const spelling = new BooleanSpelling();
  const last = await readBody(window, delimiter, endings, spelling, sink);
  const total =
    options.totalRow === 'none' || last === null
      ? null
      : await takeTotal(last, new TextWindow(source, encoding, bodyOffset), delimiter, {
          ...options,
          names,
          end: window.offset,
        });
  if (last !== null && (last.segment.bytes > 0 || last.segment.rows > 0)) {
    sink.segment(last.segment, last.rows);
  }
  const isGuessed = total !== null && options.totalRow === undefined;
  const dialect: Dialect = {
    encoding,
    delimiter,
    guessed: isGuessed ? [...layout.guessed, 'total_row'] : layout.guessed,
    headerOffset,
    headerRow,
    skippedLines: layout.skippedLines,
    width: header.length,
    lineEndings: endings,
    booleans: spelling.toJSON(),
    total,
    mayHaveTotal: options.totalRow === undefined,
    endsLikeTotal: isTotalLike(last?.rows.at(-1) ?? []),
  };
  sink.layout({ ...dialect }, bodyOffset);
}

/**
 * Empty at the end of the file. The header's line end belongs to the first segment, as a line without content: the
 * body's start must not move when edits add or remove it.
 */
async function readHeader(window: TextWindow, delimiter: string): Promise<string[]> {
  const spans = await window.rows(1, delimiter, { lf: 0, crlf: 0, cr: 0 });
  if (spans.count === 0) return [];
  const cells = spans.spellings(window.text, 0).map(cellValue);
  window.moveTo(spans.contentEnd(0));
  return cells;
}

/**
 * Blank lines join the next segment, at the end of the file the previous one: only a table without rows has a segment
 * without rows. The last segment is returned, not delivered.
 */
async function readBody(
  window: TextWindow,
  delimiter: string,
  endings: LineEndings,
  spelling: BooleanSpelling,
  sink: RowSink,
): Promise<LastSegment | null> {
  let held: LastSegment | null = null;
  let before = 0;
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
    before += held?.rows.length ?? 0;
    held = { segment: { rows: rows.length, bytes }, rows, before };
  }
  if (held) held.segment.bytes += blankBytes;
  else if (blankBytes > 0) held = { segment: { rows: 0, bytes: blankBytes }, rows: [], before };
  return held;
}

type Row = (string | number)[];

interface LastSegment {
  readonly segment: Segment;
  readonly rows: Row[];
  /** Rows of the segments before it. */
  readonly before: number;
}

/** With blank rows beside it. The window is at the body. */
async function takeTotal(
  { segment, rows, before }: LastSegment,
  window: TextWindow,
  delimiter: string,
  options: ReadOptions & { readonly names: readonly string[]; readonly end: number },
): Promise<TotalRow | null> {
  const at = rows.findLastIndex((row) => !row.every(isBlank));
  const isPossible = at >= 0 && (options.totalRow === 'last' || isTotalLike(rows[at]!));
  if (!isPossible) return null;
  const count = rows.slice(0, at).findLastIndex((row) => !row.every(isBlank)) + 1;
  const place = { names: options.names, rows: before + count, at: before + at };
  const found = await findTotal(window, delimiter, place, options);
  if (found === null) return null;
  const { offset, ...total } = found;
  const bytes = options.end - offset;
  rows.length = segment.rows = count;
  // A segment without rows belongs to a table without any.
  const rest = segment.bytes - bytes;
  segment.bytes = count > 0 || before === 0 ? rest : 0;
  return { ...total, bytes: bytes + rest - segment.bytes };
}

function cellsOf(text: string, spans: RowSpans, spelling: BooleanSpelling): Row[] {
  const rows = new Array<Row>(spans.count);
  for (let row = 0; row < spans.count; row++) {
    const cells = spans.cells(text, row);
    for (let position = 0; position < cells.length; position++) {
      const cell = cells[position]!;
      // `true` and the like, short ones with spaces around.
      if (typeof cell === 'string' && cell.length >= 4 && cell.length <= MAX_BOOLEAN_LENGTH) {
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
