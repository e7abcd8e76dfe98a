import { unreadable } from '../../../src/base/errors.ts';
import type { FileSource } from '../../../src/base/files/file-source.ts';
import type { Cell, ReadOptions, RowSink } from '../../../src/tables/types.ts';
import { referenceText } from '../cell-reference.ts';
import { MAX_CELLS, MAX_LEGACY_COLUMNS, MAX_LEGACY_ROWS } from '../limits.ts';
import { serialText } from '../serial-date.ts';
import { TableSink } from '../table-sink.ts';
import { type LegacyWorkbook, openLegacyWorkbook } from './legacy-workbook.ts';
import { type BiffRecord, BiffText, content, RecordType, substream } from './records.ts';

const ERRORS: Readonly<Record<number, string>> = {
  0x00: '#NULL!',
  0x07: '#DIV/0!',
  0x0f: '#VALUE!',
  0x17: '#REF!',
  0x1d: '#NAME?',
  0x24: '#NUM!',
  0x2a: '#N/A',
  0x2b: '#GETTING_DATA',
};

/** The worksheet `options.sheet`, or the first. Throws `unreadable-file`. */
export async function readLegacySheet(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
): Promise<void> {
  const book = await openLegacyWorkbook(source);
  const sheet = book.worksheets.find(({ name }) => name === (options.sheet ?? name));
  if (!sheet) throw unreadable(`it has no worksheet named ${JSON.stringify(options.sheet)}`);
  const rows = new LegacyCells(book).read(sheet.offset);
  const table = new TableSink(
    sink,
    { format: 'xls', sheet: sheet.name, table: null, grows: false },
    options,
  );
  let bytes = 0;
  for (const row of [...rows.keys()].sort((a, b) => a - b)) {
    const cells = rows.get(row)!;
    bytes += cells.size * CELL_BYTES;
    table.row(row + 1, bytes, (width) => inOrder(cells, width));
    options.look?.(row + 1, inOrder(cells, Infinity));
  }
  table.end(bytes);
}

/** Approximate size of a cell in the file. */
const CELL_BYTES = 14;

function inOrder(cells: ReadonlyMap<number, Cell>, width: number): Cell[] {
  const ordered: Cell[] = [];
  for (const [column, cell] of cells) {
    if (column >= width) continue;
    while (ordered.length < column) ordered.push('');
    ordered[column] = cell;
  }
  return ordered;
}

class LegacyCells {
  readonly #book: LegacyWorkbook;
  readonly #rows = new Map<number, Map<number, Cell>>();
  #count = 0;
  /** Cell of a formula with a text result, which the next text record holds. */
  #awaitsText: { row: number; column: number } | null = null;

  constructor(book: LegacyWorkbook) {
    this.#book = book;
  }

  read(offset: number): Map<number, Map<number, Cell>> {
    for (const record of substream(this.#book.stream, offset)) this.#take(record);
    return this.#rows;
  }

  #take(record: BiffRecord): void {
    switch (record.type) {
      case RecordType.number:
        return this.#set(record, this.#shown(content(record, 14).readDoubleLE(6), record));
      case RecordType.compactNumber:
        return this.#set(record, this.#shown(compactNumber(content(record, 10), 6), record));
      case RecordType.numbers:
        return this.#takeNumbers(content(record, 6));
      case RecordType.sharedLabel: {
        const found = this.#book.strings[content(record, 10).readUInt32LE(6)];
        if (found === undefined) throw unreadable('a cell names a shared text that does not exist');
        return this.#set(record, found);
      }
      case RecordType.label:
      case RecordType.richLabel:
        return this.#set(record, this.#text(record, 6));
      case RecordType.booleanOrError: {
        const bytes = content(record, 8);
        return this.#set(record, bytes[7] === 0 ? bytes[6] !== 0 : errorText(bytes[6]!));
      }
      case RecordType.formula:
        return this.#takeFormula(record);
      case RecordType.text:
        return this.#takeText(record);
      case RecordType.dimensions:
        return checkDimensions(record, this.#book.isUnicode);
      default:
    }
  }

  #set(record: BiffRecord, cell: Cell): void {
    const bytes = content(record, 6);
    this.#add(bytes.readUInt16LE(0), bytes.readUInt16LE(2), cell);
  }

  #add(row: number, column: number, cell: Cell): void {
    if (column >= MAX_LEGACY_COLUMNS) {
      throw unreadable(
        `it has a cell at ${referenceText({ row: row + 1, column })}, which no .xls worksheet has`,
      );
    }
    if (cell === '') return;
    if (++this.#count > MAX_CELLS) throw unreadable(`it has more than ${MAX_CELLS} cells`);
    const cells = this.#rows.get(row);
    if (cells) cells.set(column, cell);
    else this.#rows.set(row, new Map([[column, cell]]));
  }

  /** MULRK: row, first column, style and number each, last column. */
  #takeNumbers(bytes: Buffer): void {
    const row = bytes.readUInt16LE(0);
    const first = bytes.readUInt16LE(2);
    const last = bytes.readUInt16LE(bytes.length - 2);
    if (bytes.length !== 6 + (last - first + 1) * 6)
      throw unreadable('a record has the wrong length');
    for (let column = first, at = 4; column <= last; column++, at += 6) {
      const number = compactNumber(bytes, at + 2);
      this.#add(row, column, this.#asDate(number, bytes.readUInt16LE(at)));
    }
  }

  #takeFormula(record: BiffRecord): void {
    const bytes = content(record, 14);
    this.#awaitsText = null;
    if (bytes.readUInt16LE(12) !== 0xffff) {
      return this.#set(record, this.#shown(bytes.readDoubleLE(6), record));
    }
    const kind = bytes[6];
    if (kind === 0)
      this.#awaitsText = { row: bytes.readUInt16LE(0), column: bytes.readUInt16LE(2) };
    else if (kind === 1) this.#set(record, bytes[8] !== 0);
    else if (kind === 2) this.#set(record, errorText(bytes[8]!));
  }

  #takeText(record: BiffRecord): void {
    const cell = this.#awaitsText;
    if (cell === null) return;
    this.#awaitsText = null;
    this.#add(cell.row, cell.column, this.#text(record, 0));
  }

  #text(record: BiffRecord, at: number): string {
    const text = new BiffText(record, at);
    const length = text.word();
    if (length === 0) return '';
    return this.#book.text(text, length);
  }

  #shown(number: number, record: BiffRecord): Cell {
    return this.#asDate(number, content(record, 6).readUInt16LE(4));
  }

  #asDate(number: number, format: number): Cell {
    if (!Number.isFinite(number)) return '#NUM!';
    const kind = this.#book.kinds[format] ?? 'none';
    return serialText(number, kind, this.#book.is1904) ?? number;
  }
}

/** 30 bits of an integer or of the upper part of a double, and whether to divide by 100. */
function compactNumber(bytes: Buffer, at: number): number {
  const packed = bytes.readInt32LE(at);
  const isInteger = (packed & 2) !== 0;
  const number = isInteger
    ? packed >> 2
    : new Float64Array(new Int32Array([0, packed & ~3]).buffer)[0]!;
  return (packed & 1) === 0 ? number : number / 100;
}

function errorText(code: number): string {
  return ERRORS[code] ?? '#N/A';
}

/** Not needed for reading, but impossible dimensions mean a damaged sheet. */
function checkDimensions(record: BiffRecord, isLong: boolean): void {
  const bytes = content(record, isLong ? 8 : 4);
  const [first, last] = isLong
    ? [bytes.readUInt32LE(0), bytes.readUInt32LE(4)]
    : [bytes.readUInt16LE(0), bytes.readUInt16LE(2)];
  if (first > MAX_LEGACY_ROWS || last > MAX_LEGACY_ROWS) {
    throw unreadable('its sheet claims rows that no worksheet has');
  }
}
