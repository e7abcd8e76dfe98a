/**
 * A CSV file as a list of lines and the literal meaning of every edit on it, as an oracle for the editor: it predicts
 * the edited file byte by byte, without tokenizing anything.
 */
import * as fc from 'fast-check';
import type { Cell, Segment, TableChanges } from '../../src/tables/types.ts';
import { encoded, type TestEncoding } from './csv-table.ts';

interface Line {
  /** Spellings of the cells; none for a line without content. */
  readonly cells: string[];
  ending: string;
}

export interface FileModel {
  readonly encoding: TestEncoding;
  readonly delimiter: ',' | ';' | '\t' | '|';
  readonly above: Line[];
  readonly header: Line;
  readonly lines: Line[];
}

type RowEdit =
  | { readonly kind: 'update'; readonly row: number; readonly cells: readonly [number, Cell][] }
  | { readonly kind: 'delete'; readonly row: number }
  | { readonly kind: 'create'; readonly cells: readonly [number, Cell][] };

const texts = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', 'a', '12', '1.50', 'é', 'x y', ' ', '007', 'true') },
  { weight: 2, arbitrary: fc.constantFrom('a"b', '"', 'a,b', 'c;d', 'e\tf', 'g|h', '""') },
  { weight: 1, arbitrary: fc.constantFrom('l\nm', 'l\r\nm', 'l\rm', '\n', '\r') },
);

function needsQuotes(text: string, delimiter: string): boolean {
  return text.includes(delimiter) || /["\r\n]/.test(text);
}

function spell(text: string, delimiter: string, isQuoted: boolean): string {
  return isQuoted || needsQuotes(text, delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
}

function unspell(spelling: string): string {
  return spelling.startsWith('"') ? spelling.slice(1, -1).replaceAll('""', '"') : spelling;
}

/**
 * Random files: any delimiter, encoding, line endings (mixed ones such that no CR stands before an LF of its own),
 * blank lines, lines above the header, with or without final line end.
 */
export const files: fc.Arbitrary<FileModel> = fc
  .record({
    encoding: fc.constantFrom<TestEncoding>('utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be', 'latin1'),
    delimiter: fc.constantFrom<FileModel['delimiter']>(',', ';', '\t', '|'),
    endings: fc.constantFrom(['\n'], ['\r\n'], ['\r'], ['\n', '\r\n'], ['\r\n', '\r']),
    aboveCount: fc.nat(2),
    width: fc.integer({ min: 1, max: 4 }),
    rows: fc.array(
      fc.record({
        cells: fc.array(fc.tuple(texts, fc.boolean()), { minLength: 1, maxLength: 5 }),
        blanksBefore: fc.constantFrom(0, 0, 0, 1, 2),
        ending: fc.nat(),
      }),
      { maxLength: 7 },
    ),
    trailingBlanks: fc.constantFrom(0, 0, 1, 3),
    hasFinalEnding: fc.boolean(),
  })
  .map((spec) => {
    const endingAt = (index: number) => spec.endings[index % spec.endings.length]!;
    const lines: Line[] = [];
    for (const { cells, blanksBefore, ending } of spec.rows) {
      for (let blank = 0; blank < blanksBefore; blank++) {
        lines.push({ cells: [], ending: endingAt(blank) });
      }
      const spelled = cells.map(([text, quoted]) => spell(text, spec.delimiter, quoted));
      lines.push({
        cells: spelled.length === 1 && spelled[0] === '' ? ['""'] : spelled,
        ending: endingAt(ending),
      });
    }
    const header = {
      cells: Array.from({ length: spec.width }, (_, index) => `c${index}`),
      ending: endingAt(0),
    };
    const above = Array.from({ length: spec.aboveCount }, () => ({
      cells: ['"a title, with a quote'],
      ending: endingAt(1),
    }));
    if (spec.hasFinalEnding) {
      for (let blank = 0; blank < spec.trailingBlanks; blank++) {
        lines.push({ cells: [], ending: endingAt(blank) });
      }
    } else (lines.at(-1) ?? header).ending = '';
    return { encoding: spec.encoding, delimiter: spec.delimiter, above, header, lines };
  });

/** Random changes, to be fitted to a file by `changesFor`. */
export const edits: fc.Arbitrary<RowEdit[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('update' as const), row: fc.nat(), cells: cellsOf(6) }),
    fc.record({ kind: fc.constant('delete' as const), row: fc.nat() }),
    fc.record({ kind: fc.constant('create' as const), cells: cellsOf(6) }),
  ),
  { minLength: 1, maxLength: 5 },
);

function cellsOf(width: number): fc.Arbitrary<[number, Cell][]> {
  const cells = fc.oneof(texts, fc.constant(null), fc.constantFrom<Cell>(7, -1.5, 1e21, -0));
  return fc
    .dictionary(fc.nat(width - 1).map(String), cells, { maxKeys: 3 })
    .map((record) => Object.entries(record).map(([key, cell]) => [Number(key), cell]));
}

/** The changes in the editor's terms; edits of rows that do not exist, or twice of one row, are dropped. */
export function changesFor(file: FileModel, list: readonly RowEdit[]): TableChanges {
  return changesForRows(rowLines(file).length, list);
}

/** The same for a table of `count` rows. */
export function changesForRows(count: number, list: readonly RowEdit[]): TableChanges {
  const updates = new Map<number, Map<number, Cell>>();
  const deletes = new Set<number>();
  const creates: Map<number, Cell>[] = [];
  for (const edit of list) {
    if (edit.kind === 'create') creates.push(new Map(edit.cells));
    else if (count > 0) {
      const row = edit.row % count;
      if (updates.has(row) || deletes.has(row)) continue;
      if (edit.kind === 'delete') deletes.add(row);
      else updates.set(row, new Map(edit.cells));
    }
  }
  return { updates, deletes, creates };
}

/** The lines that are rows. */
function rowLines(file: FileModel): Line[] {
  return file.lines.filter((line) => line.cells.length > 0);
}

/** The rows' values. */
export function valuesOf(file: FileModel): string[][] {
  return rowLines(file).map((line) => line.cells.map(unspell));
}

function lineText(file: FileModel, line: Line): string {
  return line.cells.join(file.delimiter) + line.ending;
}

export function fileBytes(file: FileModel): Uint8Array {
  const lines = [...file.above, file.header, ...file.lines];
  return encoded(lines.map((line) => lineText(file, line)).join(''), file.encoding);
}

/** Cuts the body into segments after every `size`-th row; lines without content join a segment with rows. */
export function segmentsOf(
  file: FileModel,
  size: number,
): { bodyOffset: number; segments: Segment[] } {
  const bytesOf = (text: string) =>
    encoded(text, file.encoding).length - encoded('', file.encoding).length;
  const segments: Segment[] = [];
  let open = { rows: 0, bytes: bytesOf(file.header.ending) };
  for (const line of file.lines) {
    open.bytes += bytesOf(lineText(file, line));
    if (line.cells.length > 0 && ++open.rows === size) {
      segments.push(open);
      open = { rows: 0, bytes: 0 };
    }
  }
  const last = segments.at(-1);
  if (open.rows > 0 || (!last && open.bytes > 0)) segments.push(open);
  else if (last) last.bytes += open.bytes;
  const all = fileBytes(file).length;
  return { bodyOffset: all - segments.reduce((sum, { bytes }) => sum + bytes, 0), segments };
}

/** The file after the changes, by the words of DS-86. */
export function edited(file: FileModel, changes: TableChanges): FileModel {
  const ending = prevailing(file);
  const rows = rowLines(file);
  const isUnterminated = (file.lines.at(-1) ?? file.header).ending === '';
  const lines: Line[] = [];
  let insertAt = 0;
  for (const line of file.lines) {
    const row = rows.indexOf(line);
    if (row < 0) lines.push({ ...line });
    else if (!changes.deletes.has(row)) {
      lines.push({
        cells: updatedCells(file, line, changes.updates.get(row)),
        ending: line.ending,
      });
    }
    if (row === rows.length - 1 && row >= 0) insertAt = lines.length;
  }
  const header = { ...file.header };
  const created = changes.creates.map((cells) => ({
    cells: updatedCells(file, { cells: file.header.cells.map(() => ''), ending }, cells),
    ending,
  }));
  const before = (index: number) => lines[index - 1] ?? header;
  if (created.length > 0 && before(insertAt).ending === '') before(insertAt).ending = ending;
  lines.splice(insertAt, 0, ...created);
  if (isUnterminated) (lines.at(-1) ?? header).ending = '';
  // A line with neither content nor end is no line.
  const last = lines.at(-1);
  if (last && last.cells.length === 0 && last.ending === '') lines.pop();
  return { ...file, header, lines };
}

function updatedCells(
  file: FileModel,
  line: Line,
  cells: ReadonlyMap<number, Cell> = new Map(),
): string[] {
  const result = [...line.cells];
  for (const [position, cell] of [...cells].sort((a, b) => a[0] - b[0])) {
    const text = cell === null ? '' : cell === -0 ? '0' : String(cell);
    if (position >= result.length && text === '') continue;
    while (result.length <= position) result.push('');
    if (unspell(result[position]!) === text) continue;
    result[position] = spell(text, file.delimiter, result[position]!.startsWith('"'));
  }
  return result.length === 1 && result[0] === '' ? ['""'] : result;
}

function prevailing(file: FileModel): string {
  const all = [...file.above, file.header, ...file.lines].map((line) => line.ending);
  const count = (ending: string) => all.filter((one) => one === ending).length;
  return ['\n', '\r\n', '\r'].reduce((best, one) => (count(one) > count(best) ? one : best));
}
