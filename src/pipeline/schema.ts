/**
 * Columns of a stage and how names reach into rows (SL-40 to SL-44).
 *
 * A name is a column, else a path into a json column, else (terse form, when there is `extracted_fields`) a path in that.
 * Hidden columns can be named but are not shown.
 */
import { cuts, memberAt } from '../base/member-path.ts';
import type { Form } from './ast.ts';
import { Problem, unknownName, type Place } from './problem.ts';
import { isObject, type Row, type Value } from './value.ts';

/** Types of SL-40; everything stages compute is json. */
export type ColumnType = 'int' | 'text' | 'time' | 'json';

/** What a stage wants of a cell, when it is not all of it. */
export type Part =
  /** One member of the object in it. */
  | { readonly kind: 'member'; readonly member: string }
  /** The time, or one as far before it as to the last multiple of so many microseconds since 1970. */
  | { readonly kind: 'floor'; readonly micros: number }
  /** Numbers that are only added up, or also compared: of the cell itself, or of a member. */
  | { readonly kind: 'numbers'; readonly member: string | null; readonly isCompared: boolean };

/** How a stage uses what a name means: as it is, only in steps of time, only to add up numbers, or to compare them too. */
export type Use = 'value' | 'sum' | 'numbers' | { readonly micros: number };

/** A column of rows. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly isHidden?: boolean;
  /** Tells the source that cells of this column are wanted, or a part of them; travels with copies of the column. */
  readonly use?: (part?: Part) => void;
}

/** What a name means in rows of one schema. */
export interface Reference {
  readonly get: (row: Row) => Value;
  readonly type: ColumnType;
  /** Position of the column when the name is one. */
  readonly column: number | null;
  /** For a path: the column it starts in and what follows. */
  readonly path: { readonly column: number; readonly rest: string } | null;
}

const EXTRACTED = 'extracted_fields';
const RAW = '_raw';
/** A member that is reached in one step; a leading digit would be a position in an array. */
const SIMPLE = /^[A-Za-z_@][A-Za-z0-9_@:/$-]*$/;

/** The columns of rows, in order; names are unique. */
export class Schema {
  readonly columns: readonly Column[];
  /** After stages whose columns depend on data, an unknown name is null instead of an error (SL-41). */
  readonly isOpen: boolean;
  readonly #index: ReadonlyMap<string, number>;

  constructor(columns: readonly Column[], options: { readonly isOpen?: boolean } = {}) {
    this.columns = columns;
    this.isOpen = options.isOpen ?? false;
    this.#index = new Map(columns.map(({ name }, index) => [name, index]));
  }

  /** Position of a column by its full name, or -1. */
  indexOf(name: string): number {
    return this.#index.get(name) ?? -1;
  }

  /** Tells the source that a column's cells are wanted. */
  use(index: number): void {
    this.columns[index]!.use?.();
  }

  /** Tells the source that everything shown is wanted. */
  useShown(): void {
    for (const { use, isHidden } of this.columns) if (!isHidden) use?.();
  }

  has(name: string): boolean {
    return this.#index.has(name);
  }

  /** Columns that are shown, with their positions. */
  get shown(): readonly { readonly column: Column; readonly index: number }[] {
    return this.columns
      .map((column, index) => ({ column, index }))
      .filter(({ column }) => !column.isHidden);
  }

  /** All names, hidden ones too, for errors. */
  get names(): readonly string[] {
    return this.columns.map(({ name }) => name);
  }

  /** What the name means, or null when it means nothing here. */
  find(name: string, form: Form, use: Use = 'value'): Reference | null {
    const column = this.indexOf(name === RAW ? this.#rawName(form) : name);
    if (column >= 0) {
      this.#useColumn(column, use);
      return columnReference(column, this.columns[column]!.type);
    }
    return this.#findPath(name, form, use) ?? (this.isOpen ? NOTHING : null);
  }

  /** Elsewhere the text of an event is called so; here it is a name for it where it would mean a member nobody has. */
  #rawName(form: Form): string {
    const isEvents = form === 'terse' && this.has(EXTRACTED) && this.has('data');
    return isEvents && !this.has(RAW) ? 'data' : RAW;
  }

  #useColumn(index: number, use: Use): void {
    const { type, use: tell } = this.columns[index]!;
    if (typeof use === 'object' && type === 'time') tell?.({ kind: 'floor', micros: use.micros });
    else if (use === 'value' || type === 'time') tell?.();
    else tell?.({ kind: 'numbers', member: null, isCompared: use === 'numbers' });
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
    // A name with separators may mean a member of that name or a way through members.
    if (!SIMPLE.test(rest) || (form === 'flag' && rest.includes('__'))) tell?.();
    else if (use === 'sum' || use === 'numbers')
      tell?.({ kind: 'numbers', member: rest, isCompared: use === 'numbers' });
    else tell?.({ kind: 'member', member: rest });
    return pathReference(column, rest, form);
  }

  /** As {@link find}; throws `unknown_column`. */
  require(name: string, form: Form, place: Place | null, use: Use = 'value'): Reference {
    return this.find(name, form, use) ?? raiseUnknown(name, this, place);
  }
}

function raiseUnknown(name: string, schema: Schema, place: Place | null): never {
  throw unknownColumn(name, schema, place);
}

/** The error for a name that is no column; `prefix` replaces the usual beginning of its text. */
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

function columnReference(column: number, type: ColumnType): Reference {
  return { get: (row) => row[column] ?? null, type, column, path: null };
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

/** The value at a path, undefined when there is none; a member whose name contains separators wins over walking. */
export function walk(value: Value, path: string, form: Form): Value | undefined {
  return memberAt(value, path, form === 'flag') as Value | undefined;
}
