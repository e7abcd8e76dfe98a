/**
 * Columns of a stage and how names reach into rows.
 *
 * A name is a column, else a path into a json column, else (terse form, when there is `extracted_fields`) a path in
 * that. Hidden columns can be named but are not shown.
 */
import { cuts, memberAt } from '../../base/json/member-path.ts';
import type { Form, Word } from '../syntax/ast.ts';
import { Problem, unknownName, type Place } from '../syntax/problem.ts';
import { type NativeColumn, nativeType } from '../../tables/encode/native-value.ts';
import { columnKey } from '../../tables/values/column-dates.ts';
import { timeOf, timeValue } from '../expressions/time.ts';
import { isObject, type Row, type Value } from '../expressions/value.ts';

/** Everything stages compute is json. */
type ColumnType = 'int' | 'text' | 'time' | 'json';

export type Part =
  | { readonly kind: 'member'; readonly member: string }
  /** The time may be rounded down to a multiple of so many microseconds since 1970. */
  | { readonly kind: 'floor'; readonly micros: number }
  /** Numbers that are only added up, or also compared: of the cell, or of a member. */
  | {
      readonly kind: 'numbers';
      readonly member: string | null;
      readonly isCompared: boolean;
      /** Each of them is needed, in any order. */
      readonly isListed: boolean;
    };

/** As it is, in steps of time, only to add numbers up, also to compare them, or each of them in any order. */
export type Use = 'value' | 'sum' | 'numbers' | 'list' | { readonly micros: number };

/** What columns keep that only show the cells of another. */
export interface CellType {
  readonly type: ColumnType;
  /** As the dataset has them that the cells come from; cells of other rows may be among them. */
  readonly native?: NativeColumn;
}

export function cellTypeOf({ type, native }: CellType): CellType {
  return { type, ...(native && { native }) };
}

/** Whether its dataset has dates or moments there. */
export function isOfDates({ native }: CellType): boolean {
  const kind = native && nativeType(native)?.kind;
  return kind === 'date' || kind === 'timestamp';
}

/** Whether its cells are dates whose texts do not sort by time. */
export function isSpelledFreely({ native }: CellType): boolean {
  const style = native?.dates?.style;
  return style != null && !style.isSortable && !style.pattern.startsWith('year-');
}

/** Reads texts as the column's cells are spelled, and as times are; null for a column that has no dates. */
export function timeReader(cells: CellType): ((text: string) => string | null) | null {
  if (!isOfDates(cells)) return null;
  const { native } = cells;
  const { dates } = native!;
  if (!dates) return timeOf;
  return (text) => {
    const key = columnKey(text, dates);
    if (key === null) return timeOf(text);
    // Keys of moments with a zone are in UTC, those without are in the zone of the run.
    return timeOf(dates.style?.hasZone ? `${key}${key.includes('T') ? '' : 'T00:00:00'}Z` : key);
  };
}

/** The times that cells of a column stand for; null for what is none. */
export function timeOfColumn(reference: Reference): (row: Row) => string | null {
  const { get } = reference;
  const read = timeReader(reference);
  if (read === null) return (row) => timeValue(get(row));
  return (row) => {
    const value = get(row);
    return typeof value === 'string' ? read(value) : null;
  };
}

export interface Column extends CellType {
  readonly name: string;
  readonly isHidden?: boolean;
  /** A part, or all, of the column's cells is used; copies of the column keep it. */
  readonly use?: (part?: Part) => void;
}

export interface Reference extends CellType {
  readonly get: (row: Row) => Value;
  readonly column: number | null;
  readonly path: { readonly column: number; readonly rest: string } | null;
}

const EXTRACTED = 'extracted_fields';
const RAW = '_raw';
/** A member reached in one step; a leading digit would be a position in an array. */
const SIMPLE = /^[A-Za-z_@][A-Za-z0-9_@:/$-]*$/;

/** In order; names are unique. */
export class Schema {
  readonly columns: readonly Column[];
  /** After stages whose columns depend on data, an unknown name is null instead of an error. */
  readonly isOpen: boolean;
  readonly #index: ReadonlyMap<string, number>;

  constructor(columns: readonly Column[], options: { readonly isOpen?: boolean } = {}) {
    this.columns = columns;
    this.isOpen = options.isOpen ?? false;
    this.#index = new Map(columns.map(({ name }, index) => [name, index]));
  }

  indexOf(name: string): number {
    return this.#index.get(name) ?? -1;
  }

  use(index: number): void {
    this.columns[index]!.use?.();
  }

  useShown(): void {
    for (const { use, isHidden } of this.columns) if (!isHidden) use?.();
  }

  has(name: string): boolean {
    return this.#index.has(name);
  }

  get shown(): readonly { readonly column: Column; readonly index: number }[] {
    return this.columns
      .map((column, index) => ({ column, index }))
      .filter(({ column }) => !column.isHidden);
  }

  get names(): readonly string[] {
    return this.columns.map(({ name }) => name);
  }

  /** Null when the name means nothing here. */
  find(name: string, form: Form, use: Use = 'value'): Reference | null {
    const column = this.indexOf(name === RAW ? this.#rawName(form) : name);
    if (column >= 0) {
      this.#useColumn(column, use);
      return columnReference(column, this.columns[column]!);
    }
    return this.#findPath(name, form, use) ?? (this.isOpen ? NOTHING : null);
  }

  /** `_raw` is SPL's name for the text of an event; here it is an alias of `data` unless a column has that name. */
  #rawName(form: Form): string {
    const isEvents = form === 'terse' && this.has(EXTRACTED) && this.has('data');
    return isEvents && !this.has(RAW) ? 'data' : RAW;
  }

  #useColumn(index: number, use: Use): void {
    const { type, use: tell } = this.columns[index]!;
    if (typeof use === 'object' && type === 'time') tell?.({ kind: 'floor', micros: use.micros });
    else if (use === 'value' || type === 'time') tell?.();
    else tell?.(numbersPart(null, use));
  }

  #findPath(name: string, form: Form, use: Use): Reference | null {
    for (const { head, rest } of cuts(name, form === 'flag')) {
      const column = this.indexOf(head);
      if (column < 0 || this.columns[column]!.type !== 'json') continue;
      return this.#path(column, rest, form, use);
    }
    const extracted = form === 'terse' ? this.indexOf(EXTRACTED) : -1;
    return extracted < 0 ? null : this.#path(extracted, name, form, use);
  }

  #path(column: number, rest: string, form: Form, use: Use): Reference {
    const tell = this.columns[column]!.use;
    // A name with separators may be one member or a path through several.
    if (!SIMPLE.test(rest) || (form === 'flag' && rest.includes('__'))) tell?.();
    else if (use === 'sum' || use === 'numbers' || use === 'list') tell?.(numbersPart(rest, use));
    else tell?.({ kind: 'member', member: rest });
    return pathReference(column, rest, form);
  }

  /** Throws `unknown_column`. */
  require(name: string, form: Form, place: Place | null, use: Use = 'value'): Reference {
    const found = this.find(name, form, use);
    if (found === null) throw unknownColumn(name, this, place);
    return found;
  }

  /** For names of the terse form. */
  requireAll(words: readonly Word[]): (Reference & { readonly name: string })[] {
    return words.map(({ text, place }) => ({ name: text, ...this.require(text, 'terse', place) }));
  }
}

function numbersPart(member: string | null, use: Use): Part {
  return { kind: 'numbers', member, isCompared: use === 'numbers', isListed: use === 'list' };
}

/** `prefix` replaces the usual beginning of the message. */
export function unknownColumn(
  name: string,
  schema: Schema,
  place: Place | null,
  text = `Unknown column '${name}'`,
): Problem {
  return new Problem('unknown_column', text, {
    place,
    ...unknownName(name, schema.names),
    listsAllowed: true,
  });
}

const NOTHING: Reference = { get: () => null, type: 'json', column: null, path: null };

function columnReference(column: number, type: CellType): Reference {
  return { get: (row) => row[column] ?? null, ...cellTypeOf(type), column, path: null };
}

function pathReference(column: number, rest: string, form: Form): Reference {
  const isSimple = SIMPLE.test(rest) && !(form === 'flag' && rest.includes('__'));
  const get = isSimple
    ? (row: Row): Value => {
        const value = row[column];
        return isObject(value) && Object.hasOwn(value, rest) ? value[rest]! : null;
      }
    : (row: Row): Value => walk(row[column] ?? null, rest, form) ?? null;
  return { get, type: 'json', column: null, path: { column, rest } };
}

/** A member whose own name contains separators wins. Undefined when there is none. */
export function walk(value: Value, path: string, form: Form): Value | undefined {
  return memberAt(value, path, form === 'flag') as Value | undefined;
}
