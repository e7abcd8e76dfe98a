/**
 * Rows as a workbook of one sheet (ECMA-376 SpreadsheetML); text is text, whatever it begins with.
 *
 * Texts stand in their cells, not in a shared table, so that memory is one piece of the sheet. Numbers with more
 * digits than a double become text, because a spreadsheet would round them; so do moments finer than their serial
 * number and days that spreadsheets count differently. An overlong text is cut with a note, because a spreadsheet
 * would cut it silently. Loaded on demand.
 */
import { AppError } from '../../base/errors.ts';
import { DeflateArchive } from './deflate-archive.ts';
import type { Row, RowShape } from './encode.ts';
import { isoDates, nativeType, rememberedDays } from './native-value.ts';
import { columnLetters, MAX_CELL_TEXT, sheetText } from './sheet-text.ts';
import { type FileType, wideNumber, type WideNumber } from '../infer/file-type.ts';
import { wideText } from '../values/wide-number.ts';

/** Without the header. */
export const MAX_XLSX_ROWS = 1_048_575;

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Formats of cells with a style, which counts from 1: a date, a time, both, and those with a fraction of a second. */
const FORMATS = [
  'yyyy-mm-dd',
  'hh:mm:ss',
  'yyyy-mm-dd hh:mm:ss',
  'hh:mm:ss.000',
  'yyyy-mm-dd hh:mm:ss.000',
] as const;
/** Those below are built in. */
const FIRST_FORMAT = 164;
/** In characters: a date in a narrower column is shown as `####`. */
const WIDTHS: Readonly<Record<'date' | 'time' | 'timestamp', number>> = {
  date: 12,
  time: 14,
  timestamp: 24,
};

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
    `<styleSheet xmlns="${MAIN}"><numFmts count="${FORMATS.length}">${FORMATS.map(
      (code, at) => `<numFmt numFmtId="${FIRST_FORMAT + at}" formatCode="${code}"/>`,
    ).join(
      '',
    )}</numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>` +
    `<fills count="2"><fill><patternFill patternType="none"/></fill>` +
    `<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>` +
    `<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="${FORMATS.length + 1}"><xf/>${FORMATS.map(
      (_code, at) => `<xf numFmtId="${FIRST_FORMAT + at}" applyNumberFormat="1"/>`,
    ).join('')}</cellXfs>` +
    `<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
};

interface SheetColumn {
  readonly name: string;
  /** Among the row's values. */
  readonly index: number;
  readonly isBoolean: boolean;
  readonly wide: WideNumber | null;
  readonly moment: keyof typeof WIDTHS | null;
  /** The cell of a text that is a date or a time; null for another. */
  readonly momentCell: ((reference: string, text: string) => string | null) | null;
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
  const cells = columns.map((column, index) => {
    const moment = momentKind(nativeType(column));
    const isoOf = isoDates(column);
    const cellOfIso = momentCells(moment === 'timestamp');
    return {
      name: column.name,
      index: index + 1,
      isBoolean: column.type === 'boolean',
      wide: wideNumber(column.file?.type),
      moment,
      momentCell:
        moment &&
        ((reference: string, text: string) => {
          const iso = isoOf(text);
          return iso === null ? null : cellOfIso(reference, iso);
        }),
    };
  });
  const plain = { isBoolean: false, wide: null, moment: null, momentCell: null };
  const rowId = { ...plain, name: '_row_id', index: 0 };
  if (rowIdAt !== null) cells.splice(rowIdAt, 0, rowId);
  return cells.map((cell, index) => ({ ...cell, letters: columnLetters(index) }));
}

function momentKind(type: FileType | null): SheetColumn['moment'] {
  const kind = type?.kind;
  return kind === 'date' || kind === 'time' || kind === 'timestamp' ? kind : null;
}

function* sheet(columns: readonly SheetColumn[], rows: Iterable<Row>): Generator<string> {
  yield `${HEAD}<worksheet xmlns="${MAIN}">${widths(columns)}<sheetData>`;
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

function widths(columns: readonly SheetColumn[]): string {
  const cols = columns.flatMap(({ moment }, at) =>
    moment === null
      ? []
      : [`<col min="${at + 1}" max="${at + 1}" width="${WIDTHS[moment]}" customWidth="1"/>`],
  );
  return cols.length === 0 ? '' : `<cols>${cols.join('')}</cols>`;
}

function cellOf(
  { index, isBoolean, wide, momentCell, letters }: SheetColumn,
  row: Row,
  number: number,
): string {
  const value = row[index]!;
  if (value === null || value === '') return '';
  const reference = letters + number;
  if (typeof value === 'string') {
    const dated = momentCell?.(reference, value) ?? null;
    if (dated !== null) return dated;
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

const MOMENT =
  /^(?:(\d{4}-\d\d-\d\d)(?:T|$))?(?:([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?Z?)?$/;
/** Days from 1899-12-30 to 1970: what spreadsheets count from, the same in all of them from 1900-03-01 on. */
const SERIAL_SHIFT = 25_569;
const FIRST_SERIAL = 61;
const LAST_SERIAL = 2_958_465;
const DAY_SECONDS = 86_400;
const MAX_FRACTION_DIGITS = 6;

/** In UTC; a date alone is midnight where the column has times. Null for what no spreadsheet can give back. */
function momentCells(hasTimes: boolean): (reference: string, iso: string) => string | null {
  const daysOfDate = rememberedDays();
  return (reference, iso) => {
    const [, date, hours, minutes, seconds, fraction = ''] = MOMENT.exec(iso) ?? [];
    if (date === undefined && hours === undefined) return null;
    const day = date === undefined ? -SERIAL_SHIFT : daysOfDate(date);
    const whole = day === null ? NaN : day + SERIAL_SHIFT;
    if (date !== undefined && !(whole >= FIRST_SERIAL && whole <= LAST_SERIAL)) return null;
    const digits = Math.ceil(fraction.length / 3) * 3;
    const perSecond = 10 ** digits;
    const clock = hours === undefined ? 0 : +hours * 3600 + +minutes! * 60 + +seconds!;
    const units = clock * perSecond + (digits === 0 ? 0 : +fraction.padEnd(digits, '0'));
    const serial = whole + units / (DAY_SECONDS * perSecond);
    // A double has room for microseconds until 2079, for milliseconds and seconds always.
    const isHeld = Math.round((serial - whole) * DAY_SECONDS * perSecond) === units;
    if (digits > MAX_FRACTION_DIGITS || !isHeld) return null;
    const style = date === undefined ? 2 : hours === undefined && !hasTimes ? 1 : 3;
    return `<c r="${reference}" s="${digits > 0 ? style + 2 : style}"><v>${serial}</v></c>`;
  };
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
