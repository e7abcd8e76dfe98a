/**
 * Edits a CSV file: only bytes of touched rows change, only segments with touched rows are read.
 *
 * Untouched cells keep their spelling; new rows follow the last row, before trailing blank lines. A file without a
 * final line end keeps none. Existing segments keep number and order, possibly without rows, so that their ids stay
 * true; only appended rows add segments.
 */
import { AppError, mismatch } from '../../src/base/errors.ts';
import { changedFile, type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { PieceList } from '../../src/base/files/piece-list.ts';
import { DELIMITERS, lostGuess } from '../../src/tables/infer/companion.ts';
import type { EditPlan, Segment, TableChanges, TableLayout, Cell } from '../../src/tables/types.ts';
import {
  type OldSegment,
  ROWS_PER_TURN,
  SegmentEdit,
  TakenText,
} from '../../src/tables/edit/segment-edit.ts';
import { cellValue } from './cell-value.ts';
import {
  BooleanSpelling,
  countEnding,
  type Dialect,
  guessDelimiter,
  type GuessedMember,
  type LineEnding,
  lineEndingOf,
  prevailingEnding,
  type Delimiter,
} from './dialect.ts';
import {
  decodeText,
  encodedLength,
  encodeText,
  type Encoding,
  unitBytes,
  unencodable,
} from './encoding.ts';
import { guessEncoding } from './encoding-guess.ts';
import { findLayout, readSample } from './layout.ts';
import { readCsv, SEGMENT_BYTES } from './reader.ts';
import { MAX_ROW_BYTES } from './text-window.ts';
import { type LineEndings, RowSpans } from './tokenizer.ts';
import { followingSums, isBlank, isTotalLike, sumSpelling, type TotalRow } from './total-row.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';

/** So many that agree on an encoding are not outweighed by the cells of an edit. */
const ENOUGH_LETTERS = 1_000;
const LETTERS_PER_CELL = 100;

type ChangedCell = EditPlan['cells'][number] & Record<'before' | 'after', string | undefined>;

/**
 * Throws `schema-mismatch` for text the file could not return and for rows added to a file without a header,
 * `conflict` when the file is not the layout's, `unreadable-file` when what was guessed would be guessed differently
 * afterwards. Reads the touched segments; 64 KiB more where the change could alter a guess; and, for letters beyond
 * ASCII in a guessed encoding other than UTF-8, the file until enough of them agree.
 */
export async function editCsv(
  source: FileSource,
  layout: TableLayout,
  changes: TableChanges,
): Promise<EditPlan> {
  const edit = new FileEdit(source, layout, changes, false);
  let plan = await edit.run();
  const lost = await edit.lostGuess();
  if (lost === 'delimiter') plan = await new FileEdit(source, layout, changes, true).run();
  else if (lost !== null) throw lostGuess(lost);
  return plan;
}

function isBeyondAscii({ before, after }: ChangedCell): boolean {
  return /[^\0-\x7f]/.test(`${before ?? ''}${after ?? ''}`);
}

async function isTotalFound(
  source: FileSource,
  { encoding, delimiter, headerRow }: Dialect,
): Promise<boolean> {
  let isFound = false;
  await readCsv(
    source,
    { encoding, delimiter, headerRow },
    {
      header: () => {},
      segment: () => {},
      layout: ({ total }) => {
        isFound = total !== null;
      },
    },
  );
  return isFound;
}

/** One edit in progress: goes over the segments once, in file order. */
class FileEdit {
  readonly #source: FileSource;
  readonly #layout: TableLayout;
  readonly #changes: TableChanges;
  readonly #dialect: Dialect;
  readonly #style: CellStyle;
  readonly #ending: LineEnding;
  readonly #endings: LineEndings;
  readonly #edit: SegmentEdit;
  readonly #cells: ChangedCell[] = [];
  /** Position in the old file of the row that is changed; null among new rows. */
  #row: number | null = null;
  /** The old file has no final line end; nor shall the new one. */
  #isUnterminated = false;
  /** The unterminated last line is a deleted row. */
  #losesLastLine = false;
  #endsLikeTotal = false;

  constructor(
    source: FileSource,
    layout: TableLayout,
    changes: TableChanges,
    quotesCandidates: boolean,
  ) {
    this.#source = source;
    this.#layout = layout;
    this.#changes = changes;
    this.#dialect = layout.dialect as unknown as Dialect;
    const { delimiter, encoding, booleans, lineEndings } = this.#dialect;
    const spelling = new BooleanSpelling(booleans);
    this.#style = { delimiter, encoding, spelling, quotesCandidates };
    this.#ending = prevailingEnding(lineEndings);
    this.#endings = { ...lineEndings };
    this.#edit = new SegmentEdit(layout, changes);
  }

  async run(): Promise<EditPlan> {
    const { segments, bodyOffset } = this.#layout;
    const { deletes, creates } = this.#changes;
    const { end, rows } = this.#edit;
    this.#edit.require(this.#source, this.#dialect.total?.bytes ?? 0);
    if (creates.length > 0 && this.#dialect.width === 0) {
      throw mismatch('a file without a header row takes no rows');
    }
    const old = new PieceList();
    old.add({ from: 0, to: end });
    this.#isUnterminated = (await this.#lastEnding(old)) === '';
    this.#losesLastLine = this.#isUnterminated && deletes.has(rows - 1);
    const last = creates.length > 0 ? segments.length - 1 : -1;
    await this.#edit.walk(
      (segment) =>
        (segment.touched.length > 0 || segment.index === last) &&
        this.#rewrite(segment, segment.index === last),
    );
    if (creates.length > 0 && segments.length === 0) {
      this.#edit.endSegment(await this.#append(0, true));
    }
    if (this.#losesLastLine && creates.length === 0) await this.#dropLastEnding();
    const total = await this.#carryTotal(end, this.#source.size);
    this.#endsLikeTotal = await this.#looksLikeTotal();
    const dialect: Dialect = {
      ...this.#dialect,
      total,
      endsLikeTotal: this.#endsLikeTotal,
      lineEndings: this.#endings,
      booleans: this.#style.spelling.toJSON(),
    };
    return {
      pieces: this.#edit.file.pieces,
      layout: { dialect: { ...dialect }, bodyOffset, segments: this.#edit.segments },
      cells: this.#cells,
    };
  }

  /** After `run`: what the new file would be guessed to have otherwise. */
  async lostGuess(): Promise<GuessedMember | null> {
    const { guessed, delimiter, encoding, width } = this.#dialect;
    const { headerOffset, headerRow, skippedLines } = this.#dialect;
    const after = this.#edit.file.over(this.#source);
    if (this.#endsLikeTotal && (await isTotalFound(after, this.#dialect))) return 'total_row';
    const isForeign = encoding !== 'utf-8' && guessed.includes('encoding');
    if (isForeign && (unitBytes(encoding) > 1 || this.#cells.some(isBeyondAscii))) {
      const enough = ENOUGH_LETTERS + this.#cells.length * LETTERS_PER_CELL;
      const found = await guessEncoding(after, enough);
      if (found.encoding !== encoding && !found.isAscii) return 'encoding';
    }
    const mayMove = headerRow > 1 || this.#cells.some(({ position }) => position >= width);
    if (mayMove && guessed.includes('header_row')) {
      const declared = guessed.includes('delimiter') ? {} : { delimiter };
      const found = await findLayout(after, { encoding, ...declared });
      if (found.skippedLines !== skippedLines) return 'header_row';
      if (found.delimiter !== undefined) return found.delimiter === delimiter ? null : 'delimiter';
    }
    const others = DELIMITERS.filter((candidate) => candidate !== delimiter);
    const mayChange = this.#cells.some(({ after }) => others.some((one) => after?.includes(one)));
    if (!guessed.includes('delimiter') || !mayChange) return null;
    const start = await readSample(after, encoding, headerOffset);
    return guessDelimiter(start) === delimiter ? null : 'delimiter';
  }

  /** Below the rows, with its sums as they are now. */
  async #carryTotal(from: number, to: number): Promise<TotalRow | null> {
    const { total, encoding, delimiter, mayHaveTotal } = this.#dialect;
    if (total === null) return null;
    const sums = followingSums(total.sums, this.#cells, !mayHaveTotal);
    if (mayHaveTotal && sums.length < total.sums.length) throw lostGuess('total_row');
    const changed = sums.filter(({ position, sum }) =>
      total.sums.some((one) => one.position === position && one.sum !== sum),
    );
    if (changed.length === 0) {
      this.#edit.file.add({ from, to });
      return { ...total, sums };
    }
    const text = await this.#decoded({ rows: 0, bytes: to - from }, from);
    const part = new SegmentText(text, this.#dialect, from);
    const { spans } = part;
    const rows = Array.from({ length: spans.count }, (_, row) => spans.spellings(text, row));
    const row = rows.findIndex((cells) => !cells.every((cell) => isBlank(cellValue(cell))));
    if (row < 0) throw changedFile();
    const spellings = rows[row]!;
    const values = { ...total.values };
    for (const sum of changed) {
      const before = spellings[sum.position] ?? '';
      const after = sumSpelling(sum, cellValue(before));
      spellings[sum.position] = cellSpelling(after, this.#style, before.startsWith('"'));
      values[sum.name] = Number(sum.sum);
    }
    const start = this.#edit.file.size;
    this.#edit.file.add(part.take(spans.start(row)));
    part.take(spans.contentEnd(row));
    this.#edit.file.add(encodeText(spellings.join(delimiter), encoding));
    this.#edit.file.add(part.take(text.length));
    return { bytes: this.#edit.file.size - start, sums, values };
  }

  /** Whether the sums of the last row have to tell that it is no total. */
  async #looksLikeTotal(): Promise<boolean> {
    const { total, mayHaveTotal, endsLikeTotal } = this.#dialect;
    if (total !== null || !mayHaveTotal) return false;
    if (!this.#edit.isLastTouched && this.#changes.creates.length === 0) return endsLikeTotal;
    const index = this.#edit.segments.findLastIndex(({ rows }) => rows > 0);
    if (index < 0) return false;
    const after = this.#edit.segments.slice(index).reduce((sum, { bytes }) => sum + bytes, 0);
    const from = this.#edit.file.size - after;
    const { encoding } = this.#dialect;
    const bytes = await this.#edit.file.slice(from, this.#edit.file.size).read(this.#source);
    const text = decodeText(bytes, encoding, from);
    const { spans } = new SegmentText(text, this.#dialect, from);
    for (let row = spans.count - 1; row >= 0; row--) {
      const cells = spans.spellings(text, row).map(cellValue);
      if (!cells.every(isBlank)) return isTotalLike(cells);
    }
    return false;
  }

  async #lastEnding(file: PieceList): Promise<LineEnding | ''> {
    const { encoding } = this.#dialect;
    const from = Math.max(0, file.size - 2 * unitBytes(encoding));
    return lineEndingOf(await file.slice(from, file.size).read(this.#source), encoding);
  }

  async #dropLastEnding(): Promise<void> {
    const ending = await this.#lastEnding(this.#edit.file);
    countEnding(this.#endings, ending, -1);
    let rest = encodedLength(ending, this.#dialect.encoding);
    this.#edit.file = this.#edit.file.slice(0, this.#edit.file.size - rest);
    for (const segment of this.#edit.segments.toReversed()) {
      const cut = Math.min(rest, segment.bytes);
      segment.bytes -= cut;
      rest -= cut;
    }
  }

  async #rewrite(segment: OldSegment, takesRows: boolean): Promise<void> {
    const { offset, firstRow, touched } = segment;
    const { updates, deletes } = this.#changes;
    const part = new SegmentText(await this.#decoded(segment, offset), this.#dialect, offset);
    if (part.spans.state !== 'stop' || part.spans.count !== segment.rows) throw changedFile();
    let count = segment.rows;
    for (const row of touched) {
      this.#row = firstRow + row;
      if (deletes.has(firstRow + row)) {
        this.#delete(part, row);
        count--;
      } else this.#update(part, row, updates.get(firstRow + row)!);
    }
    this.#row = null;
    if (takesRows) {
      this.#edit.file.add(part.take(part.appendPosition(offset === this.#layout.bodyOffset)));
      count = await this.#append(count, part.text === '');
    }
    this.#edit.file.add(part.take(part.text.length));
    this.#edit.endSegment(count);
  }

  async #decoded({ bytes }: Segment, offset: number): Promise<string> {
    const content = await readBytes(this.#source, offset, bytes);
    try {
      return decodeText(content, this.#dialect.encoding, offset);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unreadable-file') throw changedFile();
      throw error;
    }
  }

  #delete(part: SegmentText, row: number): void {
    const { spans, text } = part;
    this.#edit.file.add(part.take(spans.start(row)));
    part.take(spans.end(row));
    const ending = text.slice(spans.contentEnd(row), spans.end(row)) as LineEnding | '';
    countEnding(this.#endings, ending, -1);
    for (const [position, spelling] of spans.spellings(text, row).entries()) {
      this.#note(position, cellValue(spelling), undefined);
    }
  }

  #update(part: SegmentText, row: number, cells: RowCells): void {
    const { spans, text } = part;
    const spelling = this.#spelled(spans.spellings(text, row), cells);
    this.#edit.file.add(part.take(spans.start(row)));
    if (spelling === text.slice(spans.start(row), spans.contentEnd(row))) return;
    part.take(spans.contentEnd(row));
    this.#edit.file.add(encodeText(spelling, this.#dialect.encoding));
  }

  /** A cell past the row's end makes it longer unless it is blank. */
  #spelled(spellings: string[], cells: RowCells): string {
    for (const [position, cell] of cells) {
      const after = cellText(cell, position, this.#style);
      if (position >= spellings.length && after === '') continue;
      while (position >= spellings.length) spellings.push('');
      const spelling = spellings[position]!;
      const before = cellValue(spelling);
      if (before === after) continue;
      spellings[position] = cellSpelling(after, this.#style, spelling.startsWith('"'));
      this.#note(position, before, after);
    }
    // A row without any bytes would be a blank line.
    const row = spellings.join(this.#dialect.delimiter) || '""';
    if (encodedLength(row, this.#dialect.encoding) <= MAX_ROW_BYTES) return row;
    throw mismatch(`a row may not exceed ${MAX_ROW_BYTES} bytes`);
  }

  #note(position: number, before: string, after: string | undefined): void {
    this.#cells.push({ row: this.#row, position, before, after });
    this.#style.spelling.count(position, before, -1);
    if (after !== undefined) this.#style.spelling.count(position, after, 1);
  }

  /**
   * Returns the rows of the last segment, which has `rows` already. `isEmpty`: the unterminated line is in an earlier
   * segment.
   */
  async #append(rows: number, isEmpty: boolean): Promise<number> {
    const { creates } = this.#changes;
    const { encoding, width } = this.#dialect;
    if (this.#isUnterminated && !this.#losesLastLine) {
      this.#edit.file.add(encodeText(this.#ending, encoding));
      if (isEmpty) this.#edit.extendLastSegment();
      countEnding(this.#endings, this.#ending, 1);
    }
    let count = rows;
    let pending = '';
    const flush = (): void => {
      this.#edit.file.add(encodeText(pending, encoding));
      pending = '';
    };
    for (const [index, cells] of creates.entries()) {
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await Bun.sleep(0);
      const size = this.#edit.openBytes + pending.length;
      if (count > 0 && size >= SEGMENT_BYTES) {
        flush();
        this.#edit.endSegment(count);
        count = 0;
      }
      const isOpen = this.#isUnterminated && index === creates.length - 1;
      const ending = isOpen ? '' : this.#ending;
      countEnding(this.#endings, ending, 1);
      pending += this.#spelled(new Array<string>(width).fill(''), cells) + ending;
      count++;
    }
    flush();
    return count;
  }
}

/** A segment of the old file, tokenized. */
class SegmentText extends TakenText {
  readonly spans = new RowSpans();

  constructor(text: string, { delimiter, encoding }: Dialect, offset: number) {
    super(text, offset, (part) => encodedLength(part, encoding));
    const options = { delimiter: delimiter.charCodeAt(0), isFinal: true, stopAt: text.length };
    this.spans.scan(text, 0, options);
  }

  /** After the last row; without rows, at the start or after the header's line end. */
  appendPosition(isFirst: boolean): number {
    if (this.spans.count > 0) return this.spans.end(this.spans.count - 1);
    return isFirst ? /^(?:\r\n|\n|\r)?/.exec(this.text)![0].length : 0;
  }
}

interface CellStyle {
  readonly delimiter: Delimiter;
  readonly encoding: Encoding;
  readonly spelling: BooleanSpelling;
  /**
   * Also quote characters another delimiter could split at, where that would change how the file is
   * read.
   */
  readonly quotesCandidates: boolean;
}

type RowCells = ReadonlyMap<number, Cell>;

/**
 * Quoted when the text holds the delimiter, a quote or a line end, and when the cell it replaces was. Outer spaces need
 * no quotes: the reader keeps them.
 */
function cellSpelling(text: string, style: CellStyle, isQuotedAnyway: boolean): string {
  const isNecessary =
    text.includes(style.delimiter) ||
    /["\r\n]/.test(text) ||
    (style.quotesCandidates && DELIMITERS.some((candidate) => text.includes(candidate)));
  return isNecessary || isQuotedAnyway ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Integers past 2^53 get an exponent: plain digits would turn the column into text. Adding 0 turns -0 into 0, as JSON
 * does.
 */
function numberText(value: number): string {
  const isLong = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLong ? value.toExponential() : String(value + 0);
}

/**
 * Throws `schema-mismatch` for what the file could not return: characters outside its encoding, NUL, lone surrogates,
 * texts and positions over a table's limits.
 */
function cellText(cell: Cell, position: number, style: CellStyle): string {
  if (position >= MAX_COLUMNS) throw mismatch(`a row may not exceed ${MAX_COLUMNS} columns`);
  if (cell === null) return '';
  if (typeof cell === 'boolean') return style.spelling.spell(position, cell);
  if (typeof cell === 'number') return numberText(cell);
  if (typeof cell === 'bigint') return String(cell);
  if (cell.length > MAX_CELL_CHARACTERS) {
    throw mismatch(`a text may not exceed ${MAX_CELL_CHARACTERS} characters`);
  }
  const culprit = unencodable(cell, style.encoding);
  if (culprit === null) return cell;
  throw mismatch(`the file's encoding ${style.encoding} cannot hold the character ${culprit}`);
}
