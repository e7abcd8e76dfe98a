/**
 * The words of the contract as the simplest program: a CSV table in memory, its types, filters, sorts and pages
 * (DS-36 to DS-60). Shares no code with the product, and knows no index, cursor or cache.
 */

export type ModelType = 'integer' | 'number' | 'boolean' | 'string';
type ModelValue = string | number | boolean;

interface ModelColumn {
  readonly name: string;
  readonly type: ModelType;
}

interface ModelRow {
  readonly _row_id: number;
  readonly [column: string]: ModelValue;
}

export interface ModelTable {
  readonly columns: readonly ModelColumn[];
  readonly rows: readonly ModelRow[];
}

interface ModelQuery {
  readonly filter?: unknown;
  readonly sort?: readonly { readonly column: string; readonly descending: boolean }[];
  readonly offset?: number;
  readonly limit?: number;
}

/** The table of cell texts. Names must be unique and ordinary. */
export function modelTable(
  names: readonly string[],
  texts: readonly (readonly string[])[],
): ModelTable {
  const columns = names.map((name, index) => ({
    name,
    type: typeOf(texts.map((row) => row[index] ?? '')),
  }));
  const rows = texts.map((cells, index) => {
    const values = columns.map(({ name, type }, column) => [
      name,
      valueOf(cells[column] ?? '', type),
    ]);
    return { _row_id: index + 1, ...Object.fromEntries(values) } as ModelRow;
  });
  return { columns: [{ name: '_row_id', type: 'integer' }, ...columns], rows };
}

/** All rows that match, in order; and those of the page. */
export function modelRows(
  table: ModelTable,
  { filter, sort = [], offset = 0, limit = Number.POSITIVE_INFINITY }: ModelQuery,
): { all: ModelRow[]; page: ModelRow[] } {
  const all = table.rows
    .filter((row) => matches(table, filter ?? {}, row))
    .toSorted((a, b) => {
      for (const { column, descending } of sort) {
        const difference = inOrder(a[column]!, b[column]!, typeIn(table, column), descending);
        if (difference !== 0) return difference;
      }
      return a._row_id - b._row_id;
    });
  return { all, page: all.slice(offset, offset + limit) };
}

const INTEGER = /^ *-?(?:0|[1-9][0-9]*) *$/;
const NUMBER = /^ *-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)? *$/;
const BOOLEAN = /^ *(?:true|false) *$/i;

function typeOf(texts: readonly string[]): ModelType {
  const values = texts.filter((text) => text.trim() !== '');
  if (values.length === 0) return 'string';
  const isInteger = (text: string) => INTEGER.test(text) && Number.isSafeInteger(Number(text));
  // A digit string past the integers is text, not a number that would lose digits.
  const isNumber = (text: string) =>
    isInteger(text) || (!INTEGER.test(text) && NUMBER.test(text) && Number.isFinite(Number(text)));
  if (values.every(isInteger)) return 'integer';
  if (values.every(isNumber)) return 'number';
  return values.every((text) => BOOLEAN.test(text)) ? 'boolean' : 'string';
}

function valueOf(text: string, type: ModelType): ModelValue {
  if (text.trim() === '') return '';
  if (type === 'string') return text;
  return type === 'boolean' ? text.trim().toLowerCase() === 'true' : Number(text) + 0;
}

function typeIn({ columns }: ModelTable, name: string): ModelType {
  return columns.find((column) => column.name === name)!.type;
}

function matches(table: ModelTable, filter: unknown, row: ModelRow): boolean {
  return Object.entries(filter as object).every(([key, operand]) => {
    if (key === '$and') return (operand as unknown[]).every((part) => matches(table, part, row));
    if (key === '$or') return (operand as unknown[]).some((part) => matches(table, part, row));
    if (key === '$not') return !matches(table, operand, row);
    const isOperators = typeof operand === 'object' && operand !== null;
    return cellMatches(isOperators ? operand : { $eq: operand }, row[key]!, typeIn(table, key));
  });
}

function cellMatches(operators: object, cell: ModelValue, type: ModelType): boolean {
  return Object.entries(operators).every(([operator, operand]) => {
    switch (operator) {
      case '$eq':
        return isEqual(cell, operand, type);
      case '$ne':
        return !isEqual(cell, operand, type);
      case '$in':
        return (operand as unknown[]).some((one) => isEqual(cell, one, type));
      case '$nin':
        return !(operand as unknown[]).some((one) => isEqual(cell, one, type));
      case '$null':
        return (cell === '') === operand;
      case '$not':
        return !cellMatches(operand as object, cell, type);
      case '$gt':
      case '$gte':
      case '$lt':
      case '$lte':
        return isInRange(operator, cell, operandOf(operand, type), type);
      default:
        return textMatches(operator, String(cell), String(operand));
    }
  });
}

function isEqual(cell: ModelValue, operand: unknown, type: ModelType): boolean {
  if (operand === null) return false;
  return operand === '' ? cell === '' : cell === operandOf(operand, type);
}

/** The operand as a value of the column. */
function operandOf(operand: unknown, type: ModelType): ModelValue {
  if (type === 'string') return String(operand);
  if (type !== 'boolean') return Number(operand);
  return ['true', '1', 'yes'].includes(String(operand).toLowerCase());
}

function isInRange(
  operator: string,
  cell: ModelValue,
  bound: ModelValue,
  type: ModelType,
): boolean {
  if (cell === '') return false;
  const difference = compare(cell, bound, type);
  if (difference === 0) return operator === '$gte' || operator === '$lte';
  return difference > 0 === operator.startsWith('$g');
}

function textMatches(operator: string, text: string, operand: string): boolean {
  switch (operator) {
    case '$contains':
      return text.includes(operand);
    case '$icontains':
      return text.toLowerCase().includes(operand.toLowerCase());
    case '$startswith':
      return text.startsWith(operand);
    case '$endswith':
      return text.endsWith(operand);
    case '$regex':
      return new RegExp(operand, 'u').test(text);
    default:
      throw new Error(`The model has no ${operator}`);
  }
}

/** Of two cells that are not blank. */
function compare(a: ModelValue, b: ModelValue, type: ModelType): number {
  if (type !== 'string') return Number(a) - Number(b);
  const [x, y] = [a, b].map((text) => [...String(text)].map((letter) => letter.codePointAt(0)!));
  for (let index = 0; index < Math.min(x!.length, y!.length); index++) {
    if (x![index] !== y![index]) return x![index]! - y![index]!;
  }
  return x!.length - y!.length;
}

/** Blank texts are the smallest, blanks of other types come last in both orders (DS-58). */
function inOrder(a: ModelValue, b: ModelValue, type: ModelType, descending: boolean): number {
  if (type !== 'string' && (a === '' || b === '')) return Number(a === '') - Number(b === '');
  const difference = compare(a, b, type);
  return descending ? -difference : difference;
}
