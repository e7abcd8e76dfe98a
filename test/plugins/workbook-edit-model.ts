/**
 * A worksheet as a list of rows and cells and the literal meaning of every edit on it, as an oracle for the editor: it
 * predicts the edited XML character by character, without scanning any.
 */
import * as fc from 'fast-check';
import type { Cell } from '../../src/tables/types.ts';
import { type Changes, DATE_STYLES, workbookEntries, zip } from './workbook-files.ts';

/** Styles 1 and 2 of DATE_STYLES are dates, 5 is none. */
const DATE = 2;

interface CellModel {
  readonly column: number;
  readonly style: number;
  /** As a reader gives it. */
  readonly value: Cell;
  /** What stands between the tag's style and its end: attributes, content, closing tag. */
  readonly spelling: string;
  readonly isFormula: boolean;
}

interface RowModel {
  readonly number: number;
  readonly attributes: string;
  readonly space: string;
  readonly cells: readonly CellModel[];
}

export interface SheetModel {
  readonly prefix: string;
  readonly width: number;
  readonly tail: string;
  readonly isStored: boolean;
  readonly rows: readonly RowModel[];
  /** Between the last row and the end of the rows. */
  readonly end: string;
  /** Sheet rows that are rows of the table, in order; they stay so when an edit leaves them without content. */
  readonly mapped: readonly number[];
}

const SHARED = ['shared', 'x & y', '  ', 'é東'];

type Spelled = Pick<CellModel, 'style' | 'value' | 'spelling' | 'isFormula'>;

function plain(style: number, value: Cell, spelling: string, isFormula = false): Spelled {
  return { style, value, spelling, isFormula };
}

/** `#` stands for the prefix. */
const spelledCells: fc.Arbitrary<Spelled> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.integer({ min: -9, max: 99 }).map((n) => plain(0, n, `><#v>${n}</#v></#c>`)),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 0, max: 9 })
      .map((n) => plain(5, n / 8, ` t="n"><#v>${n / 8}</#v></#c>`)),
  },
  {
    weight: 3,
    arbitrary: fc
      .nat(SHARED.length - 1)
      .map((n) => plain(0, SHARED[n]!, ` t="s"><#v>${n}</#v></#c>`)),
  },
  {
    weight: 1,
    arbitrary: fc.constant(
      plain(5, 'in < line', ' t="inlineStr"><#is><#t>in &lt; line</#t></#is></#c>'),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map((b) => plain(0, b, ` t="b"><#v>${Number(b)}</#v></#c>`)),
  },
  { weight: 1, arbitrary: fc.constant(plain(DATE, '2024-05-01 00:00:00', '><#v>45413</#v></#c>')) },
  { weight: 1, arbitrary: fc.constant(plain(0, '#N/A', ' t="e"><#v>#N/A</#v></#c>')) },
  { weight: 1, arbitrary: fc.constant(plain(0, 7, '><#f>1+6</#f><#v>7</#v></#c>', true)) },
  { weight: 1, arbitrary: fc.constant(plain(0, '=RAND()', '><#f>RAND()</#f></#c>', true)) },
  { weight: 1, arbitrary: fc.constant(plain(5, '', '/>')) },
  { weight: 1, arbitrary: fc.constant(plain(DATE, '', '></#c>')) },
);

const rowsOf = (width: number): fc.Arbitrary<RowModel[]> =>
  fc
    .array(
      fc.record({
        skipped: fc.constantFrom(0, 0, 0, 1, 3),
        attributes: fc.constantFrom('', ' ht="15"', ' spans="1:9"'),
        space: fc.constantFrom('', '', '\n  ', '<!-- <row r="1"> -->'),
        // One column more than the table has.
        cells: fc.array(fc.option(spelledCells, { freq: 3, nil: null }), { maxLength: width + 1 }),
      }),
      { maxLength: 7 },
    )
    .map((list) => {
      let number = 1;
      return list.map(({ skipped, attributes, space, cells }) => {
        number += 1 + skipped;
        const found = cells.flatMap((cell, column) => (cell === null ? [] : [{ column, ...cell }]));
        return { number, attributes, space, cells: found };
      });
    });

export const sheets: fc.Arbitrary<SheetModel> = fc.integer({ min: 1, max: 4 }).chain((width) =>
  fc
    .record({
      prefix: fc.constantFrom('', '', 'x:'),
      tail: fc.constantFrom(
        '',
        '<#pageMargins left="0.7"/>',
        '<#mergeCells><#mergeCell ref="Y50:Z60"/></#mergeCells>',
      ),
      isStored: fc.boolean(),
      rows: rowsOf(width),
    })
    .map((sheet) => ({ ...sheet, width, end: '', mapped: tableRows(sheet.rows, width) })),
);

/** Rows with content within the table. */
function tableRows(rows: readonly RowModel[], width: number): number[] {
  return rows
    .filter(({ cells }) => cells.some(({ column, value }) => column < width && !isBlank(value)))
    .map(({ number }) => number);
}

export function isBlank(value: Cell | undefined): boolean {
  return (
    value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
  );
}

const values: fc.Arbitrary<Cell> = fc.oneof(
  fc.constantFrom<Cell>(
    null,
    '',
    'neu',
    ' sp ',
    'a\rb',
    '<&>',
    '=1+1',
    '2024-05-01',
    '2024-05-01 00:00:00',
    true,
    false,
    'é',
  ),
  fc.constantFrom<Cell>(0, -0, 7, 0.125, 1e21, -3),
);

/** Edits before they are fitted to a sheet. */
export const edits = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('update' as const), row: fc.nat(20), cells: cellsOf() }),
    fc.record({ kind: fc.constant('delete' as const), row: fc.nat(20), cells: fc.constant({}) }),
    fc.record({ kind: fc.constant('create' as const), row: fc.constant(0), cells: cellsOf() }),
  ),
  { minLength: 1, maxLength: 4 },
);

function cellsOf(): fc.Arbitrary<Record<string, Cell>> {
  return fc.dictionary(fc.nat(3).map(String), values, { maxKeys: 3 });
}

type EditList = typeof edits extends fc.Arbitrary<infer T> ? T : never;

/** The changes of a list of edits; those of rows or columns that do not exist, or twice of one row, are dropped. */
export function changesFor(sheet: SheetModel, list: EditList): Required<Changes> {
  const updates: Record<number, Record<number, Cell>> = {};
  const deletes: number[] = [];
  const creates: Record<number, Cell>[] = [];
  for (const { kind, row, cells } of list) {
    const fitting = Object.fromEntries(
      Object.entries(cells).filter(([column]) => Number(column) < sheet.width),
    );
    if (kind === 'create') creates.push(fitting);
    else if (sheet.mapped.length > 0) {
      const position = row % sheet.mapped.length;
      if (position in updates || deletes.includes(position)) continue;
      if (kind === 'delete') deletes.push(position);
      else updates[position] = fitting;
    }
  }
  return { updates, deletes, creates };
}

/** The sheet after the changes, by the words of DS-87. */
export function edited(
  sheet: SheetModel,
  { updates, deletes, creates }: Required<Changes>,
): SheetModel {
  const { width } = sheet;
  const rows = new Map(sheet.rows.map((row) => [row.number, row]));
  const edit = (number: number, cells: ReadonlyMap<number, Cell>, above: RowModel | null): void => {
    const row = rows.get(number);
    const next = editedCells(row?.cells ?? [], cells, above);
    if (row === undefined && next.length === 0) return;
    const attributes = row?.attributes ?? '';
    rows.set(number, { number, attributes, space: row?.space ?? '', cells: next });
  };
  const blank = new Map(Array.from({ length: width }, (_, column) => [column, null as Cell]));
  const left = sheet.mapped.filter((_, position) => !deletes.includes(position));
  const firstCreated = (left.at(-1) ?? 1) + 1;
  for (const position of deletes) {
    const number = sheet.mapped[position]!;
    // A created row that takes the place of a deleted one is a single change.
    const isRefilled = number >= firstCreated && number < firstCreated + creates.length;
    if (!isRefilled) edit(number, blank, null);
  }
  for (const [position, cells] of Object.entries(updates)) {
    edit(sheet.mapped[Number(position)]!, toMap(cells), null);
  }
  const mapped = left;
  const last = mapped.at(-1) ?? null;
  const above = last === null ? null : (sheet.rows.find(({ number }) => number === last) ?? null);
  for (const cells of creates) {
    const number = (mapped.at(-1) ?? 1) + 1;
    edit(
      number,
      new Map([...blank, ...toMap(cells)]),
      above ?? { number: 0, attributes: '', space: '', cells: [] },
    );
    mapped.push(number);
  }
  const next = {
    ...sheet,
    rows: [...rows.values()].sort((a, b) => a.number - b.number),
    mapped,
  };
  const removed = deletes.map((position) => sheet.mapped[position]!);
  return withoutRows(
    next,
    removed.filter((number) => !mapped.includes(number)),
  );
}

/** Rows below move up, unless something beside the table would go with the rows. */
function withoutRows(sheet: SheetModel, removed: readonly number[]): SheetModel {
  const isInUse = sheet.rows.some(
    ({ number, cells }) =>
      removed.includes(number) && cells.some(({ spelling }) => /<#(?:v|is|f)>/.test(spelling)),
  );
  if (isInUse || removed.length === 0) return sheet;
  const moved = (number: number): number => number - removed.filter((one) => one < number).length;
  const rows: RowModel[] = [];
  let space = '';
  for (const row of sheet.rows) {
    if (removed.includes(row.number)) space += row.space;
    else {
      rows.push({ ...row, number: moved(row.number), space: space + row.space });
      space = '';
    }
  }
  return {
    ...sheet,
    rows,
    end: space + sheet.end,
    mapped: sheet.mapped.map(moved),
    tail: sheet.tail.replace(
      /Y(\d+):Z(\d+)/,
      (_, first: string, last: string) => `Y${moved(Number(first))}:Z${moved(Number(last))}`,
    ),
  };
}

function toMap(cells: Readonly<Record<number, Cell>>): Map<number, Cell> {
  return new Map(Object.entries(cells).map(([column, cell]) => [Number(column), cell]));
}

/** `above` is the row whose styles a created row gets, null for a row that is not created. */
function editedCells(
  present: readonly CellModel[],
  changes: ReadonlyMap<number, Cell>,
  above: RowModel | null,
): CellModel[] {
  const cells = new Map(present.map((cell) => [cell.column, cell]));
  for (const [column, wanted] of changes) {
    const cell = cells.get(column);
    const styleAbove = above?.cells.find((one) => one.column === column)?.style ?? 0;
    const style = cell?.style || styleAbove;
    const next = spelled(column, style, wanted);
    if (cell === undefined && next.value === '' && (above === null || style === 0)) continue;
    if (cell && !cell.isFormula && cell.value === next.value && cell.style === style) continue;
    cells.set(column, next);
  }
  return [...cells.values()].sort((a, b) => a.column - b.column);
}

function spelled(column: number, style: number, wanted: Cell): CellModel {
  const isDate =
    style === DATE && typeof wanted === 'string' && /^2024-05-01( 00:00:00)?$/.test(wanted);
  const value = isDate ? '2024-05-01 00:00:00' : shown(wanted, style);
  const number = isDate ? 45413 : typeof wanted === 'number' ? wanted + 0 : null;
  let spelling = '/>';
  if (number !== null) spelling = `><#v>${String(number).toUpperCase()}</#v></#c>`;
  else if (typeof wanted === 'boolean') spelling = ` t="b"><#v>${Number(wanted)}</#v></#c>`;
  else if (typeof wanted === 'string' && wanted !== '') {
    const space = wanted.trim() !== wanted || wanted.includes('\n') ? ' xml:space="preserve"' : '';
    const text = wanted.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    spelling = ` t="inlineStr"><#is><#t${space}>${text.replaceAll('\r', '_x000D_')}</#t></#is></#c>`;
  }
  return { column, style, value, spelling, isFormula: false };
}

/** How a value reads in a cell of a style; numbers in date cells are dates. */
function shown(wanted: Cell, style: number): Cell {
  if (wanted === null) return '';
  if (typeof wanted !== 'number') return wanted;
  if (style !== DATE || wanted < 0 || wanted > 2_958_465) return wanted + 0;
  const dates: Record<string, string> = {
    '0': '00:00:00',
    '7': '1900-01-07 00:00:00',
    '0.125': '03:00:00',
  };
  return dates[String(wanted + 0)] ?? wanted;
}

function sheetData(sheet: SheetModel): string {
  const header = Array.from({ length: sheet.width }, (_, column) => {
    return `<#c r="${letter(column)}1" t="inlineStr"><#is><#t>h${column}</#t></#is></#c>`;
  });
  const rows = sheet.rows.map(({ number, attributes, space, cells }) => {
    const inner = cells.map(({ column, style, spelling }) => {
      return `<#c r="${letter(column)}${number}"${style > 0 ? ` s="${style}"` : ''}${spelling}`;
    });
    const content = inner.length > 0 ? `>${inner.join('')}</#row>` : '/>';
    return `${space}<#row r="${number}"${attributes}${content}`;
  });
  return `<#row r="1">${header.join('')}</#row>${rows.join('')}`;
}

function letter(column: number): string {
  return 'ABCDEFGH'[column]!;
}

/** XML of the worksheet part. */
export function sheetXml(sheet: SheetModel): string {
  const { prefix, tail } = sheet;
  const namespace = prefix === '' ? 'xmlns' : 'xmlns:x';
  return `<#worksheet ${namespace}="m"><#sheetData>${sheetData(sheet)}${sheet.end}</#sheetData>${tail}</#worksheet>`
    .replaceAll('#', prefix)
    .replaceAll(`${prefix}N/A`, '#N/A');
}

/** A workbook with the sheet and another one. */
export function fileOf(sheet: SheetModel): Buffer {
  const entries = workbookEntries({
    sheets: { Data: sheetXml(sheet), Other: '<row r="1"><c r="A1"><f>1</f><v>1</v></c></row>' },
    strings: SHARED.map((text) => `<t xml:space="preserve">${text.replace('&', '&amp;')}</t>`),
    styles: DATE_STYLES,
    workbookTail: '<calcPr fullCalcOnLoad="1"/>',
    extra: [{ name: 'docProps/app.xml', data: '<Properties/>' }],
  });
  return zip(entries.map((entry) => ({ ...entry, isStored: sheet.isStored })));
}

/** Rows of the table as the present typed copy has them, without blank cells at the end. */
export function tableOf(sheet: SheetModel): Cell[][] {
  return sheet.mapped.map((number) => {
    const row = sheet.rows.find((candidate) => candidate.number === number);
    const cells: Cell[] = [];
    for (const { column, value } of row?.cells ?? []) {
      if (column >= sheet.width || value === '') continue;
      while (cells.length < column) cells.push('');
      cells[column] = value;
    }
    return cells;
  });
}
