/**
 * Rows as a workbook of one sheet (ECMA-376 SpreadsheetML): numbers and booleans are typed cells; text is text,
 * whatever it begins with.
 *
 * Texts stand in their cells, not in a shared table, so that memory is one piece of the sheet. Numbers with more digits
 * than a double holds become text, because a spreadsheet would round them. An overlong text is cut with a note, because
 * a spreadsheet would call the file damaged and cut it silently. Loaded on demand, not at start.
 */
import { AppError } from '../../base/errors.ts';
import { DeflateArchive } from './deflate-archive.ts';
import type { Row, RowShape } from './encode.ts';
import { columnLetters, MAX_CELL_TEXT, sheetText } from './sheet-text.ts';
import { wideNumber, type WideNumber } from '../infer/file-type.ts';
import { wideText } from '../values/wide-number.ts';

/** Without the header. */
export const MAX_XLSX_ROWS = 1_048_575;

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The parts around the sheet; Excel opens nothing less. */
const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml':
    `<Types xmlns="${PACKAGE}/content-types">` +
    `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/>` +
    `<Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${CONTENT}.worksheet+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${CONTENT}.styles+xml"/></Types>`,
  '_rels/.rels':
    `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" ` +
    `Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml':
    `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>` +
    `<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels':
    `<Relationships xmlns="${PACKAGE}/relationships">` +
    `<Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml':
    `<styleSheet xmlns="${MAIN}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>` +
    `<fills count="2"><fill><patternFill patternType="none"/></fill>` +
    `<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>` +
    `<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="1"><xf/></cellXfs>` +
    `<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
};

interface SheetColumn {
  readonly name: string;
  /** Among the row's values. */
  readonly index: number;
  readonly isBoolean: boolean;
  readonly wide: WideNumber | null;
  /** `A`, `B`, …, `AA`. */
  readonly letters: string;
}

/** Throws `invalid-query` for more rows than a sheet has. */
export function checkXlsxRows(rows: number): void {
  if (rows <= MAX_XLSX_ROWS) return;
  throw new AppError('invalid-query', `Too many rows for xlsx: ${rows}`);
}

/** In pieces. Throws `invalid-query` for too many rows, too late for a good answer: call `checkXlsxRows` first. */
export function* encodeXlsx(shape: RowShape, rows: Iterable<Row>): Generator<Uint8Array> {
  const archive = new DeflateArchive();
  for (const [name, content] of Object.entries(PARTS)) {
    yield* archive.file(name, [HEAD + content]);
  }
  yield* archive.file('xl/worksheets/sheet1.xml', sheet(columnsOf(shape), rows));
  yield archive.end();
}

function columnsOf({ columns, rowIdAt }: RowShape): SheetColumn[] {
  const cells = columns.map(({ name, type, file }, index) => ({
    name,
    index: index + 1,
    isBoolean: type === 'boolean',
    wide: wideNumber(file?.type),
  }));
  const rowId = { name: '_row_id', index: 0, isBoolean: false, wide: null };
  if (rowIdAt !== null) cells.splice(rowIdAt, 0, rowId);
  return cells.map((cell, index) => ({ ...cell, letters: columnLetters(index) }));
}

function* sheet(columns: readonly SheetColumn[], rows: Iterable<Row>): Generator<string> {
  yield `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>`;
  const names = columns.map(({ name, letters }) => textCell(`${letters}1`, name));
  if (names.length > 0) yield `<row r="1">${names.join('')}</row>`;
  let number = 1;
  for (const row of rows) {
    checkXlsxRows(number);
    number++;
    let text = `<row r="${number}">`;
    for (const column of columns) text += cellOf(column, row, number);
    yield `${text}</row>`;
  }
  yield '</sheetData></worksheet>';
}

function cellOf(
  { index, isBoolean, wide, letters }: SheetColumn,
  row: Row,
  number: number,
): string {
  const value = row[index]!;
  if (value === null || value === '') return '';
  const reference = letters + number;
  if (typeof value === 'string') {
    return wide ? numberCell(reference, wideText(value, wide)) : textCell(reference, value);
  }
  if (isBoolean) return `<c r="${reference}" t="b"><v>${Number(value)}</v></c>`;
  return typeof value === 'number'
    ? `<c r="${reference}"><v>${value}</v></c>`
    : numberCell(reference, String(value));
}

/** A number if a double has the same digits, else text. */
function numberCell(reference: string, digits: string): string {
  const isExact = String(Number(digits)) === digits;
  return isExact ? `<c r="${reference}"><v>${digits}</v></c>` : textCell(reference, digits);
}

function textCell(reference: string, text: string): string {
  const held = text.length > MAX_CELL_TEXT ? shortened(text) : text;
  return `<c r="${reference}" t="inlineStr"><is><t xml:space="preserve">${sheetText(held)}</t></is></c>`;
}

function shortened(text: string): string {
  const end = `… [cut here: ${text.length} characters, a cell holds ${MAX_CELL_TEXT}]`;
  const kept = text.slice(0, MAX_CELL_TEXT - end.length);
  return (kept.isWellFormed() ? kept : kept.slice(0, -1)) + end;
}
