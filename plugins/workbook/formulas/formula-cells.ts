/** Formulas that are spelled alike, or share one spelling, share a template: its tokens and tree are made once. */
import { parse, tokenize } from '@borgar/fx/xlsx';
import { type CellRange, columnOf } from '../cell-reference.ts';
import { parseFormula, shiftFormula } from '../xlsx/formula.ts';
import type { RowScanner } from '../xlsx/row-scanner.ts';
import { ABSENT } from '../xlsx/sheet-tag.ts';
import { type Area, areasOf, type Place, type Reference, type WorkbookScope } from './scope.ts';

export type Tree = ReturnType<typeof parse>;

/**
 * What they refer to is only known when they are calculated. Others without arguments, such as NOW, keep their result
 * until a cell they refer to changes.
 */
const REACHING = new Set(['INDIRECT', 'OFFSET', 'CELL']);
/** Of a defined name; one with more is taken to mean any cell. */
const MAX_NAMED_AREAS = 1_000;

/** Names may refer to names, but not in circles. */
interface Named {
  readonly template: Template;
  readonly areas: readonly Area[];
}

export type NamedTemplates = Map<string, Named | 'open'>;

export class Template {
  readonly text: string;
  /** By their spelling. */
  readonly references = new Map<string, Reference>();
  /** What defined names stand for, by their spelling. */
  readonly named = new Map<string, Named>();
  /** Any change may reach it. */
  readonly isReaching: boolean;
  #tree: Tree | null | undefined;

  constructor(text: string, place: Place, scope: WorkbookScope, names: NamedTemplates) {
    this.text = text;
    let isReaching = false;
    for (const { type, value } of tokenize(text, { withLocation: false })) {
      if (type === 'func') isReaching ||= REACHING.has(functionName(value));
      // `A1:INDEX(…)`; a range between plain references is one token.
      if (type === 'operator') isReaching ||= value === ':';
      const isReference = type.startsWith('range') || type === 'structured';
      if (!isReference || this.references.has(value)) continue;
      const reference = scope.reference(value, place);
      this.references.set(value, reference);
      if (reference.kind !== 'name') continue;
      const named = namedTemplate(reference, place, scope, names);
      if (named === null) isReaching = true;
      else this.named.set(value, named);
    }
    this.isReaching = isReaching;
  }

  get isRelative(): boolean {
    return [...this.references.values()].some(
      (one) =>
        one.kind === 'cells' &&
        ![one.top, one.left, one.bottom, one.right].every(({ isFixed }) => isFixed),
    );
  }

  /** Null where the text is no formula that can be understood. */
  get tree(): Tree | null {
    if (this.#tree === undefined) {
      try {
        // The error stays behind when a worksheet or its cells are gone.
        const text = this.text.replaceAll(/(?:'(?:[^']|'')*'|[\w.]+)!#REF!/g, '#REF!');
        this.#tree = parse(tokenize(text, { withLocation: false }));
      } catch {
        this.#tree = null;
      }
    }
    return this.#tree;
  }

  *areas(place: Place, rows: number, columns: number): Generator<Area> {
    for (const reference of this.references.values()) {
      yield* areasOf(reference, place, rows, columns);
    }
    for (const { areas } of this.named.values()) yield* areas;
  }
}

/** Null when any change may reach it. */
function namedTemplate(
  { formula, sheet }: Extract<Reference, { kind: 'name' }>,
  place: Place,
  scope: WorkbookScope,
  names: NamedTemplates,
): Named | null {
  const key = `${sheet}\0${formula}`;
  let named = names.get(key);
  if (named === undefined) {
    names.set(key, 'open');
    const own = { ...place, sheet };
    const template = new Template(formula, own, scope, names);
    const areas = new Map(
      [...template.areas(own, 0, 0)].map((area) => [JSON.stringify(area), area]),
    );
    named = { template, areas: [...areas.values()] };
    names.set(key, named);
  }
  if (named === 'open') return null;
  const { template, areas } = named;
  const isVague = template.isReaching || template.isRelative || areas.length > MAX_NAMED_AREAS;
  return isVague ? null : named;
}

/** `_xlfn.XLOOKUP` is XLOOKUP in files that older programs must open. */
export function functionName(spelling: string): string {
  return spelling.toUpperCase().replace(/^(?:_XLFN\.)?(?:_XLWS\.)?/, '');
}

export interface FormulaCell extends Place {
  readonly template: Template;
  /** How far it is from the cell the template is spelled for. */
  readonly rows: number;
  readonly columns: number;
  /** Cells that an array formula or data table fills; null for the formula of one cell. */
  readonly filled: Area | null;
  readonly hasValue: boolean;
}

export function areasOfCell(cell: FormulaCell): Generator<Area> {
  return cell.template.areas(cell, cell.rows, cell.columns);
}

/** As it would stand in its cell, without `=`. */
export function textOfCell({ template, rows, columns }: FormulaCell): string {
  return rows === 0 && columns === 0 ? template.text : shiftFormula(template.text, rows, columns);
}

interface Spelled {
  readonly template: Template;
  /** The cell it is spelled for. */
  readonly place: Place;
}

const CELL = /(?<![\w.$])(\$?)([A-Z]{1,3})(\$?)([1-9]\d{0,6})(?![\w.(!])/g;

/** Most formulas were filled down or to the right; parsing one takes some 40 µs. */
function relative(text: string, { row, column }: Place): string {
  return text.replaceAll(
    CELL,
    (_, fixedColumn: string, letters: string, fixedRow: string, digits: string) => {
      const from = fixedColumn === '' ? `[${columnOf(letters) - column}]` : letters;
      return `${from}${fixedRow}${fixedRow === '' ? `[${Number(digits) - row}]` : digits}`;
    },
  );
}

/** Gathers the formulas of one worksheet, row by row. */
export class SheetFormulaCells {
  readonly #sheet: number;
  readonly #part: string;
  readonly #scope: WorkbookScope;
  readonly #names: NamedTemplates;
  readonly #shared = new Map<string, Spelled>();
  readonly #templates = new Map<string, Spelled>();

  constructor(sheet: number, part: string, scope: WorkbookScope, names: NamedTemplates) {
    this.#sheet = sheet;
    this.#names = names;
    this.#part = part;
    this.#scope = scope;
  }

  *of(text: string, row: RowScanner): Generator<FormulaCell> {
    for (let index = 0; index < row.count; index++) {
      const cell = row.cells[index]!;
      if (cell.formulaFrom === ABSENT) continue;
      const { column, valueFrom, valueTo, type } = cell;
      const element = text.slice(cell.formulaFrom, cell.formulaTo);
      const { kind, range, shared, text: spelling } = parseFormula(element, this.#part);
      const place = { sheet: this.#sheet, row: cell.row, column };
      if (kind === 'shared' && spelling !== '') {
        const template = new Template(spelling, place, this.#scope, this.#names);
        this.#shared.set(shared, { template, place });
      }
      const known = kind === 'shared' ? this.#shared.get(shared) : undefined;
      const { template, place: spelled } = known ?? this.#template(spelling, place);
      yield {
        ...place,
        template,
        rows: cell.row - spelled.row,
        columns: column - spelled.column,
        filled: kind === 'array' || kind === 'table' ? areaOf(range, place) : null,
        hasValue: valueFrom !== ABSENT && (valueFrom < valueTo || type === 'text'),
      };
    }
  }

  #template(text: string, place: Place): Spelled {
    const isPlain = !/["'[]/.test(text);
    const key = isPlain ? relative(text, place) : text;
    const known = this.#templates.get(key);
    // Where references were not looked at, the very same text means the same cells.
    if (known !== undefined) return isPlain ? known : { template: known.template, place };
    const made = { template: new Template(text, place, this.#scope, this.#names), place };
    this.#templates.set(key, made);
    return made;
  }
}

function areaOf(range: CellRange | null, { sheet, row, column }: Place): Area {
  const { first, last } = range ?? { first: { row, column }, last: { row, column } };
  return { sheet, top: first.row, left: first.column, bottom: last.row, right: last.column };
}
