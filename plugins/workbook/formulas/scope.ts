/** What names in formulas mean: worksheets, defined names (ECMA-376-1, 18.2.5) and tables (18.5). */
import { parseA1Ref, parseStructRef } from '@borgar/fx/xlsx';
import { TimeSlice } from '../../../src/base/scheduling/time-slice.ts';
import { parseRange } from '../cell-reference.ts';
import { MAX_ROWS, MAX_SHEET_COLUMNS } from '../limits.ts';
import { relationshipsOf, type WorkbookPackage } from '../xlsx/package.ts';
import { XmlCursor } from '../xml/xml-cursor.ts';
import { textOf, unescaped } from '../xml/xml-text.ts';

/** A rectangle of cells: rows from 1, columns from 0, both ends included. */
export interface Area {
  /** Index among the worksheets. */
  readonly sheet: number;
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

interface Table {
  readonly area: Area;
  readonly headerRows: number;
  readonly totalsRows: number;
  /** Lower case. */
  readonly columns: readonly string[];
}

/** A reference of a formula, before it is known which cell holds the formula. */
export type Reference =
  | {
      readonly kind: 'cells';
      /** Worksheets in order; empty: the formula's own. */
      readonly sheets: readonly number[];
      readonly top: Edge;
      readonly left: Edge;
      readonly bottom: Edge;
      readonly right: Edge;
    }
  | {
      readonly kind: 'table';
      readonly table: Table;
      readonly rows: TableRows;
      readonly left: number;
      readonly right: number;
    }
  /** `sheet`: where references without a sheet of their own lead. */
  | { readonly kind: 'name'; readonly formula: string; readonly sheet: number }
  /** Another workbook, or a name that nothing defines. */
  | { readonly kind: 'unknown' };

/** A row or column from 0, fixed by a `$` or because the whole column or row is meant. */
interface Edge {
  readonly at: number;
  readonly isFixed: boolean;
}

const TABLE_ROWS = ['data', 'all', 'headers', 'totals', 'this row'] as const;
type TableRows = (typeof TABLE_ROWS)[number];

export interface Place {
  readonly sheet: number;
  readonly row: number;
  readonly column: number;
}

const UNKNOWN = { kind: 'unknown' } as const;

export class WorkbookScope {
  /** By lower-case name, in workbook order; null for sheets without cells, such as charts. */
  readonly #sheets = new Map<string, number | null>();
  /** By lower-case name, in its sheet (lower case, '' for the workbook). */
  readonly #names = new Map<string, string>();
  readonly #tables = new Map<string, Table>();

  /** `textOfPart`: the parts as they are after the edit. Throws `unreadable-file`. */
  static async of(
    book: WorkbookPackage,
    textOfPart: (part: WorkbookPackage['workbook']) => Promise<string>,
  ): Promise<WorkbookScope> {
    const scope = new WorkbookScope();
    await scope.#takeWorkbook(book);
    for (const [sheet, { entry }] of book.worksheets.entries()) {
      for (const part of await relationshipsOf(book.archive, entry.name)) {
        if (part.type !== 'table') continue;
        scope.#takeTable(sheet, await textOfPart(part.entry), part.entry.name);
      }
    }
    return scope;
  }

  async #takeWorkbook(book: WorkbookPackage): Promise<void> {
    const slice = new TimeSlice();
    const indexes = new Map(book.worksheets.map(({ name }, index) => [name, index]));
    const cursor = new XmlCursor(book.workbookText, book.workbook.name);
    const order: string[] = [];
    while (cursor.next()) {
      if (slice.isOver) await slice.rest();
      if (cursor.kind === 'close') continue;
      if (cursor.local === 'sheet') {
        const name = unescaped(cursor.attribute('name') ?? '');
        order.push(name.toLowerCase());
        this.#sheets.set(name.toLowerCase(), indexes.get(name) ?? null);
      } else if (cursor.local === 'definedName') {
        const name = (cursor.attribute('name') ?? '').toLowerCase();
        const local = cursor.attribute('localSheetId');
        const scope = local === undefined ? '' : (order[Number(local)] ?? '');
        const from = cursor.to;
        if (!cursor.skip() || name === '') continue;
        this.#names.set(`${scope}\0${name}`, textOf(book.workbookText.slice(from, cursor.from)));
      }
    }
  }

  #takeTable(sheet: number, text: string, part: string): void {
    const cursor = new XmlCursor(text, part);
    if (!cursor.next()) return;
    const name = cursor.attribute('displayName') ?? cursor.attribute('name') ?? '';
    const range = parseRange(cursor.attribute('ref') ?? '');
    const headerRows = Number(cursor.attribute('headerRowCount') ?? 1);
    const totalsRows = Number(cursor.attribute('totalsRowCount') ?? 0);
    if (range === null) return;
    const columns: string[] = [];
    while (cursor.next()) {
      if (cursor.kind === 'close' || cursor.local !== 'tableColumn') continue;
      columns.push(unescaped(cursor.attribute('name') ?? '').toLowerCase());
    }
    const { first, last } = range;
    const area = {
      sheet,
      top: first.row,
      left: first.column,
      bottom: last.row,
      right: last.column,
    };
    this.#tables.set(name.toLowerCase(), { area, headerRows, totalsRows, columns });
  }

  /** `place`: where the formula stands; it decides which table `[@Price]` means. */
  reference(text: string, place: Place): Reference {
    if (text.endsWith(']') && text.includes('[')) return this.#tableReference(text, place);
    const found = parseA1Ref(text);
    if (!found || (found.workbookName ?? '') !== '') return UNKNOWN;
    const sheetName = (found.sheetName ?? '').toLowerCase();
    if ('name' in found) return this.#named(found.name.toLowerCase(), sheetName, place);
    const sheets = this.#sheetsOf(sheetName);
    if (sheets === null || found.range.trim) return UNKNOWN;
    const { top, left, bottom, right, $top, $left, $bottom, $right } = found.range;
    const edge = (at: number | null | undefined, whole: number, isFixed?: boolean | null): Edge =>
      at === null || at === undefined
        ? { at: whole, isFixed: true }
        : { at, isFixed: isFixed === true };
    return {
      kind: 'cells',
      sheets,
      top: edge(top, 0, $top),
      left: edge(left, 0, $left),
      bottom: edge(bottom, MAX_ROWS - 1, $bottom),
      right: edge(right, MAX_SHEET_COLUMNS - 1, $right),
    };
  }

  #named(name: string, sheetName: string, { sheet }: Place): Reference {
    const own = sheetName || this.#nameOf(sheet);
    const formula = this.#names.get(`${own}\0${name}`) ?? this.#names.get(`\0${name}`);
    if (formula !== undefined) {
      return { kind: 'name', formula, sheet: this.#sheets.get(own) ?? sheet };
    }
    const table = this.#tables.get(name);
    if (table === undefined) return UNKNOWN;
    return { kind: 'table', table, rows: 'data', left: 0, right: table.columns.length - 1 };
  }

  #nameOf(sheet: number): string {
    for (const [name, index] of this.#sheets) if (index === sheet) return name;
    return '';
  }

  /** `''`: none is named; `First:Last` names all between. Null for one that does not exist. */
  #sheetsOf(name: string): number[] | null {
    if (name === '') return [];
    const single = this.#sheets.get(name);
    if (single !== undefined) return single === null ? null : [single];
    const order = [...this.#sheets.keys()];
    const ends = name.split(':').map((end) => order.indexOf(end));
    if (ends.length !== 2 || ends.includes(-1)) return null;
    const between = order.slice(Math.min(...ends), Math.max(...ends) + 1);
    return between.flatMap((one) => this.#sheets.get(one) ?? []);
  }

  #tableReference(text: string, place: Place): Reference {
    const found = parseStructRef(text);
    if (!found || (found.workbookName ?? '') !== '') return UNKNOWN;
    const table = found.table
      ? this.#tables.get(found.table.toLowerCase())
      : [...this.#tables.values()].find(({ area }) => isWithin(place, area));
    if (table === undefined) return UNKNOWN;
    const columns = (found.columns ?? []).map((name) => table.columns.indexOf(name.toLowerCase()));
    if (columns.includes(-1)) return UNKNOWN;
    const sections = (found.sections ?? []).map((section) => section.toLowerCase());
    const rows = sections.length === 0 ? 'data' : sections.length === 1 ? sections[0]! : '';
    if (!isTableRows(rows)) return UNKNOWN;
    const left = columns[0] ?? 0;
    const right = columns[1] ?? columns[0] ?? table.columns.length - 1;
    return {
      kind: 'table',
      table,
      rows,
      left: Math.min(left, right),
      right: Math.max(left, right),
    };
  }
}

function isTableRows(name: string): name is TableRows {
  return (TABLE_ROWS as readonly string[]).includes(name);
}

export function isWithin({ sheet, row, column }: Place, area: Area): boolean {
  return (
    sheet === area.sheet &&
    area.top <= row &&
    row <= area.bottom &&
    area.left <= column &&
    column <= area.right
  );
}

/**
 * The cells a reference means at `place`, in a formula spelled for the cell `rows` above and `columns` to the left of it. Empty when there are none (the totals of a table without), or for `name` and `unknown`.
 */
export function areasOf(reference: Reference, place: Place, rows: number, columns: number): Area[] {
  if (reference.kind === 'table') return tableArea(reference, place);
  if (reference.kind !== 'cells') return [];
  const moved = ({ at, isFixed }: Edge, by: number, size: number): number =>
    isFixed || by === 0 ? at : (at + by + size) % size;
  const [top, bottom] = [reference.top, reference.bottom].map(
    (edge) => moved(edge, rows, MAX_ROWS) + 1,
  );
  const [left, right] = [reference.left, reference.right].map((edge) =>
    moved(edge, columns, MAX_SHEET_COLUMNS),
  );
  const sheets = reference.sheets.length > 0 ? reference.sheets : [place.sheet];
  return sheets.map((sheet) => ({
    sheet,
    top: Math.min(top!, bottom!),
    left: Math.min(left!, right!),
    bottom: Math.max(top!, bottom!),
    right: Math.max(left!, right!),
  }));
}

function tableArea(
  { table, rows, left, right }: Extract<Reference, { kind: 'table' }>,
  place: Place,
): Area[] {
  const { area, headerRows, totalsRows } = table;
  const data = { first: area.top + headerRows, last: area.bottom - totalsRows };
  const [top, bottom] =
    rows === 'all'
      ? [area.top, area.bottom]
      : rows === 'headers'
        ? [area.top, area.top + headerRows - 1]
        : rows === 'totals'
          ? [area.bottom - totalsRows + 1, area.bottom]
          : rows === 'data'
            ? [data.first, data.last]
            : [place.row, place.row];
  const isOutside = rows === 'this row' && (place.row < data.first || place.row > data.last);
  if (top > bottom || isOutside) return [];
  return [{ sheet: area.sheet, top, left: area.left + left, bottom, right: area.left + right }];
}
