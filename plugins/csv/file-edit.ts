/**
 * One edit in progress: goes over the segments once, in file order, and writes the new file. Rules
 * in `editor.ts`.
 */
import { mismatch } from '../../src/base/errors.ts';
import { changedFile, type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { EditPlan, Segment, TableChanges, TableLayout } from '../../src/tables/types.ts';
import { BooleanSpelling } from './boolean-spelling.ts';
import {
  type CellStyle,
  cellSpelling,
  cellText,
  isQuoted,
  type RowCells,
  rowSpelling,
} from './cell-text.ts';
import { cellValue } from './cell-value.ts';
import type { Dialect } from './dialect.ts';
import { encodedLength, encodeText, unitBytes } from './encoding.ts';
import { countEnding, type LineEnding, lineEndingOf, prevailingEnding } from './line-ending.ts';
import { NewFile } from './new-file.ts';
import { MAX_ROW_BYTES, SEGMENT_BYTES } from './reader.ts';
import { SegmentText } from './segment-text.ts';
import type { LineEndings } from './tokenizer.ts';

/** New rows per event-loop turn; about 5 ms at 8 columns. */
const ROWS_PER_TURN = 2_000;

interface CellChange {
  readonly position: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export class FileEdit {
  readonly #source: FileSource;
  readonly #layout: TableLayout;
  readonly #changes: TableChanges;
  readonly #dialect: Dialect;
  readonly #style: CellStyle;
  readonly #ending: LineEnding;
  readonly #endings: LineEndings;
  readonly #file: NewFile;
  readonly #cells: CellChange[] = [];
  /** The old file has no final line end; nor shall the new one. */
  #isUnterminated = false;
  /** The unterminated last line is a deleted row. */
  #losesLastLine = false;

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
    this.#file = new NewFile(source, layout.bodyOffset);
  }

  async run(): Promise<EditPlan> {
    const { segments, bodyOffset } = this.#layout;
    const { updates, deletes, creates } = this.#changes;
    const rows = segments.reduce((sum, segment) => sum + segment.rows, 0);
    const size = segments.reduce((sum, segment) => sum + segment.bytes, bodyOffset);
    const touched = [...updates.keys(), ...deletes].sort((a, b) => a - b);
    if (size !== this.#source.size || (touched.at(-1) ?? -1) >= rows) throw changedFile();
    if (creates.length > 0 && this.#dialect.width === 0) {
      throw mismatch('a file without a header row takes no rows');
    }
    this.#isUnterminated = (await this.#oldLineEnd()) === '';
    this.#losesLastLine = this.#isUnterminated && deletes.has(rows - 1);
    await this.#walk(touched);
    const file =
      this.#losesLastLine && creates.length === 0
        ? this.#file.finishWithout(await this.#lastLineEndBytes())
        : this.#file.finish();
    const dialect: Dialect = {
      ...this.#dialect,
      lineEndings: this.#endings,
      booleans: this.#style.spelling.toJSON(),
    };
    return {
      pieces: file.pieces,
      layout: { dialect: { ...dialect }, bodyOffset, segments: file.segments },
      cells: this.#cells,
    };
  }

  async #oldLineEnd(): Promise<LineEnding | ''> {
    const { encoding } = this.#dialect;
    const from = Math.max(0, this.#source.size - 2 * unitBytes(encoding));
    return lineEndingOf(await readBytes(this.#source, from, this.#source.size - from), encoding);
  }

  async #lastLineEndBytes(): Promise<number> {
    const { encoding } = this.#dialect;
    const ending = lineEndingOf(await this.#file.tail(2 * unitBytes(encoding)), encoding);
    countEnding(this.#endings, ending, -1);
    return encodedLength(ending, encoding);
  }

  async #walk(touched: readonly number[]): Promise<void> {
    const { segments, bodyOffset } = this.#layout;
    const isAppended = this.#changes.creates.length > 0;
    let offset = bodyOffset;
    let firstRow = 0;
    let next = 0;
    for (const [index, segment] of segments.entries()) {
      const rows: number[] = [];
      while (next < touched.length && touched[next]! < firstRow + segment.rows) {
        rows.push(touched[next++]!);
      }
      const takesRows = isAppended && index === segments.length - 1;
      if (rows.length > 0 || takesRows) {
        await this.#rewrite(segment, offset, firstRow, rows, takesRows);
      } else {
        this.#file.keep(offset, offset + segment.bytes);
        this.#file.endSegment(segment.rows);
      }
      offset += segment.bytes;
      firstRow += segment.rows;
    }
    if (isAppended && segments.length === 0) {
      this.#file.endSegment(await this.#append(0, true));
    }
  }

  async #rewrite(
    segment: Segment,
    offset: number,
    firstRow: number,
    rows: readonly number[],
    takesRows: boolean,
  ): Promise<void> {
    const { updates, deletes } = this.#changes;
    const part = await SegmentText.read(this.#source, this.#dialect, segment, offset, this.#file);
    let count = segment.rows;
    for (const row of rows) {
      if (deletes.has(row)) {
        this.#delete(part, row - firstRow);
        count--;
      } else this.#update(part, row - firstRow, updates.get(row)!);
    }
    if (takesRows) {
      part.keepTo(part.appendPosition(offset === this.#layout.bodyOffset));
      count = await this.#append(count, part.text === '');
    }
    part.keepTo(part.text.length);
    this.#file.endSegment(count);
  }

  #delete(part: SegmentText, row: number): void {
    const { spans, text } = part;
    part.keepTo(spans.start(row));
    part.skipTo(spans.end(row));
    const ending = text.slice(spans.contentEnd(row), spans.end(row)) as LineEnding | '';
    countEnding(this.#endings, ending, -1);
    for (const [position, spelling] of spans.spellings(text, row).entries()) {
      this.#note(position, cellValue(spelling), undefined);
    }
  }

  #update(part: SegmentText, row: number, cells: RowCells): void {
    const { spans, text } = part;
    const spellings = spans.spellings(text, row);
    const width = spellings.length;
    const beyond: [number, string][] = [];
    for (const [position, cell] of cells) {
      const after = cellText(cell, position, this.#style);
      if (position >= width) {
        if (after !== '') beyond.push([position, after]);
        continue;
      }
      const before = cellValue(spellings[position]!);
      if (before === after) continue;
      spellings[position] = cellSpelling(after, this.#style, isQuoted(spellings[position]!));
      this.#note(position, before, after);
    }
    this.#extend(spellings, beyond);
    const spelling = this.#rowSpelling(spellings);
    part.keepTo(spans.start(row));
    if (spelling === text.slice(spans.start(row), spans.contentEnd(row))) return;
    part.skipTo(spans.contentEnd(row));
    this.#file.write(encodeText(spelling, this.#dialect.encoding));
  }

  #extend(spellings: string[], cells: readonly [number, string][]): void {
    const texts = new Map(cells);
    const end = Math.max(-1, ...texts.keys()) + 1;
    for (let position = spellings.length; position < end; position++) {
      const after = texts.get(position) ?? '';
      spellings.push(cellSpelling(after, this.#style));
      this.#note(position, undefined, after);
    }
  }

  /**
   * Writes the new rows and returns the rows of the last segment, which has `rows` already.
   * `isEmpty`: the unterminated line is in an earlier segment.
   */
  async #append(rows: number, isEmpty: boolean): Promise<number> {
    const { creates } = this.#changes;
    const { encoding, width } = this.#dialect;
    if (this.#isUnterminated && !this.#losesLastLine) {
      const bytes = encodeText(this.#ending, encoding);
      if (isEmpty) this.#file.writeToLast(bytes);
      else this.#file.write(bytes);
      countEnding(this.#endings, this.#ending, 1);
    }
    let count = rows;
    let pending = '';
    const flush = () => {
      this.#file.write(encodeText(pending, encoding));
      pending = '';
    };
    for (const [index, cells] of creates.entries()) {
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await Bun.sleep(0);
      if (count > 0 && this.#file.segmentBytes + pending.length >= SEGMENT_BYTES) {
        flush();
        this.#file.endSegment(count);
        count = 0;
      }
      const isOpen = this.#isUnterminated && index === creates.length - 1;
      const ending = isOpen ? '' : this.#ending;
      countEnding(this.#endings, ending, 1);
      pending += this.#newRow(cells, width) + ending;
      count++;
    }
    flush();
    return count;
  }

  #newRow(cells: RowCells, width: number): string {
    const spellings = new Array<string>(width).fill('');
    const beyond: [number, string][] = [];
    for (const [position, cell] of cells) {
      const text = cellText(cell, position, this.#style);
      if (text === '') continue;
      if (position >= width) {
        beyond.push([position, text]);
        continue;
      }
      spellings[position] = cellSpelling(text, this.#style);
      this.#note(position, undefined, text);
    }
    this.#extend(spellings, beyond);
    return this.#rowSpelling(spellings);
  }

  #rowSpelling(spellings: readonly string[]): string {
    const { delimiter, encoding } = this.#dialect;
    const spelling = rowSpelling(spellings, delimiter);
    if (encodedLength(spelling, encoding) <= MAX_ROW_BYTES) return spelling;
    throw mismatch(`a row may not exceed ${MAX_ROW_BYTES} bytes`);
  }

  #note(position: number, before: string | undefined, after: string | undefined): void {
    this.#cells.push({ position, before, after });
    if (before !== undefined) this.#style.spelling.count(position, before, -1);
    if (after !== undefined) this.#style.spelling.count(position, after, 1);
  }
}
