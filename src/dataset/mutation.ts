/**
 * Validation of changes to a dataset: the envelope and every value, against the table's present columns, before
 * anything is locked or written (DS-73 to DS-78). Texts are literal parts of the contract.
 *
 * What is accepted here must be readable again from the file it is written to, with the same value; so text that a
 * reader would refuse (NUL, lone surrogates, oversized cells) is refused first.
 */
import { AppError, invalidRequest } from '../base/errors.ts';
import { isIntegerSource, JsonNumber } from '../base/json.ts';
import { compareBytes } from '../base/paths.ts';
import { BOOLEAN_TEXT } from './boolean-text.ts';
import { MAX_CELL_CHARACTERS } from './limits.ts';
import { declaredClass } from './declared-type.ts';
import { fileCell, Misfit } from './file-cell.ts';
import type { FileColumn } from './file-type.ts';
import type { Cell, Column } from './types.ts';

/** How strictly values are taken. */
export interface ValueRules {
  /** UTF-16 units of a text, where the file's format allows fewer than `MAX_CELL_CHARACTERS`. */
  readonly maxTextLength?: number;
  /**
   * Scalars that do not fit a type that was only inferred are taken as they are, and the type follows the file: so what
   * was deleted or overwritten can be put back when it had been the only one of its kind.
   */
  readonly isLenient?: boolean;
  /** An update or a delete may name up to `MAX_LISTED_ROWS` rows as a list; the API takes one (DS-73). */
  readonly takesLists?: boolean;
}

/** Each is looked up and located on its own, in one turn of the event loop: some 20 ms. */
const MAX_LISTED_ROWS = 500;

/** What a change does (DS-73). */
export type Action = 'create' | 'update' | 'delete';

/** Values of one row by column position, ready to be written. */
export type RowValues = ReadonlyMap<number, Cell>;

/** New values of a row. */
export interface RowUpdate {
  readonly rowId: number;
  readonly values: RowValues;
}

/** A change a caller asked for, valid against the columns it was checked with. */
export type Mutation =
  | { readonly action: 'create'; readonly rows: readonly RowValues[] }
  | { readonly action: 'update'; readonly rows: readonly RowUpdate[] }
  | { readonly action: 'delete'; readonly rowIds: readonly number[] };

const METHOD_OF_ACTION: Record<Action, string> = {
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
};
const ROW_ID = '_row_id';
/** Rows validated before the event loop gets a turn; about 2 ms of work at 8 columns. */
const ROWS_PER_TURN = 2_000;
/** Values checked one by one before the same; some 10 ms when each of them is refused. */
const VALUES_PER_TURN = 2_000;

/** An unchecked mutation body: a plain object of JSON values, numbers possibly as `JsonNumber` or bigint. */
export type JsonObject = Record<string, unknown>;

/**
 * The mutation in a request body, checked against `columns` (those a caller may write, in file order). Long
 * creates give the event loop turns, so the columns must be checked again under the lock.
 *
 * Throws `invalid-request` when the body is no object (DS-76) and `schema-mismatch` for everything of DS-75.
 */
export async function parseMutation(
  method: string,
  body: unknown,
  columns: readonly Column[],
  rules: ValueRules = {},
): Promise<Mutation> {
  if (!isObject(body)) {
    throw invalidRequest({
      type: 'dict_type',
      loc: ['body'],
      msg: 'Input should be a valid object',
      input: body,
    });
  }
  const action = actionOf(method, body);
  const table = { columns, byName: new Map(columns.map((one) => [one.name, one])), rules };
  if (action === 'create') return { action, rows: await parseCreate(body['data'], table) };

  const data = body['data'];
  const named = namedRows(action, data, rules);
  if (action === 'delete') return { action, rowIds: parseDelete(named) };
  return {
    action,
    rows: named.map((row) => ({
      rowId: parseRowId(row[ROW_ID]),
      values: parseRow(row, cellNames(row), table),
    })),
  };
}

/** The rows that an update or a delete names. */
function namedRows(action: Action, data: unknown, { takesLists }: ValueRules): JsonObject[] {
  const rows: unknown[] = takesLists === true && Array.isArray(data) ? data : [data];
  if (!rows.every(isObject)) throw mismatch(`${action} data must be an object`);
  if (rows.length > MAX_LISTED_ROWS) {
    throw mismatch(`${action} data may not name more than ${MAX_LISTED_ROWS} rows`);
  }
  return rows;
}

function parseDelete(rows: readonly JsonObject[]): number[] {
  const rowIds = rows.map((row) => {
    const rowId = parseRowId(row[ROW_ID]);
    refuseUnknown(cellNames(row), new Map());
    return rowId;
  });
  return [...new Set(rowIds)];
}

/** A value that a change would be refused for. */
export interface MisfitValue {
  /** Place of its row in the list, from 0. */
  readonly row: number;
  readonly column: string;
  /** The text of the refusal (DS-75). */
  readonly message: string;
}

/**
 * The values in a list of rows that do not fit `columns`, by the rules of a change; nothing is changed. Rows may be many: the
 * event loop gets its turns. Throws `schema-mismatch` when `data` is no list of objects or names other columns.
 */
export async function misfitValues(
  data: unknown,
  columns: readonly Column[],
  rules: ValueRules,
): Promise<MisfitValue[]> {
  if (!Array.isArray(data) || !data.every(isObject)) {
    throw mismatch('check data must be a list of objects');
  }
  const byName = new Map(columns.map((one) => [one.name, one]));
  const misfits: MisfitValue[] = [];
  let seen = 0;
  for (const [row, values] of (data as JsonObject[]).entries()) {
    const names = Object.keys(values);
    refuseUnknown(names, byName);
    for (const column of names) {
      const message = misfitMessage(values[column], byName.get(column)!, rules);
      if (message !== null) misfits.push({ row, column, message });
      if (++seen % VALUES_PER_TURN === 0) await Bun.sleep(0);
    }
  }
  return misfits;
}

function misfitMessage(value: unknown, column: Column, rules: ValueRules): string | null {
  try {
    parseValue(value, column, rules);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

function cellNames(data: JsonObject): string[] {
  return Object.keys(data).filter((name) => name !== ROW_ID);
}

/** What rows are checked against. */
interface TableRules {
  readonly columns: readonly Column[];
  readonly byName: ReadonlyMap<string, Column>;
  readonly rules: ValueRules;
}

function actionOf(method: string, body: JsonObject): Action {
  const action = body['action'];
  if (action !== 'create' && action !== 'update' && action !== 'delete') {
    throw mismatch('action must be create, update, or delete');
  }
  if (METHOD_OF_ACTION[action] !== method) {
    const fitting = (Object.keys(METHOD_OF_ACTION) as Action[]).find(
      (name) => METHOD_OF_ACTION[name] === method,
    );
    throw mismatch(`${method} requires action ${fitting}`);
  }
  return action;
}

async function parseCreate(data: unknown, table: TableRules): Promise<RowValues[]> {
  if (!Array.isArray(data) || !data.every(isObject)) {
    throw mismatch('create data must be a list of objects');
  }
  const rows: RowValues[] = [];
  for (const row of data as JsonObject[]) {
    rows.push(parseRow(row, Object.keys(row), table, true));
    if (rows.length % ROWS_PER_TURN === 0) await Bun.sleep(0);
  }
  return rows;
}

function parseRow(
  row: JsonObject,
  names: readonly string[],
  { columns, byName, rules }: TableRules,
  isNew = false,
): RowValues {
  refuseUnknown(names, byName);
  const values = new Map<number, Cell>();
  const named = names.length === columns.length ? null : new Set(names);
  for (const column of columns) {
    if (!named || named.has(column.name)) {
      values.set(column.position, parseValue(row[column.name], column, rules));
    } else if (isNew && column.file?.isRequired) parseValue(null, column, rules);
  }
  return values;
}

function refuseUnknown(names: readonly string[], byName: ReadonlyMap<string, Column>): void {
  const unknown = names.filter((name) => !byName.has(name));
  if (unknown.length === 0) return;
  const lowest = unknown.reduce((low, name) => (compareBytes(name, low) < 0 ? name : low));
  const quote = lowest.includes("'") ? '"' : "'";
  throw mismatch(`unknown column ${quote}${lowest}${quote}`);
}

function parseRowId(value: unknown): number {
  const text = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value;
  if (typeof text !== 'number' || !Number.isSafeInteger(text) || text < 1) {
    throw mismatch('_row_id must be a positive integer');
  }
  return text;
}

function parseValue(value: unknown, column: Column, rules: ValueRules): Cell {
  const cell = cellOf(value, column, rules);
  // What other types of a file have as text is made of numbers, moments or bytes.
  const isText = typeof cell === 'string' && (column.file?.type.kind ?? 'text') === 'text';
  return isText ? writableText(cell, column, rules) : cell;
}

function cellOf(value: unknown, column: Column, { isLenient }: ValueRules): Cell {
  if (column.file) return parseFileValue(value, column, column.file);
  if (value === null || value === '' || value === undefined) return '';
  if (isLenient === true && !column.declared) {
    if (typeof value === 'string' || typeof value === 'boolean') return value;
    return value instanceof JsonNumber || typeof value === 'number'
      ? parseNumber(value, column)
      : parseAnyScalar(value, column);
  }
  switch (column.declaredType === undefined ? column.type : declaredClass(column.declaredType)) {
    case 'integer':
      return parseInteger(value, column);
    case 'number':
      return parseNumber(value, column);
    case 'boolean':
      return parseBoolean(value, column);
    case 'string':
      if (typeof value !== 'string') throw misfit(column, 'string', value);
      return value;
    default:
      return parseAnyScalar(value, column);
  }
}

function parseFileValue(value: unknown, column: Column, file: FileColumn): Cell {
  const cell = fileCell(value, file);
  if (cell instanceof Misfit) throw misfit(column, cell.expected, value);
  return cell;
}

function parseInteger(value: unknown, column: Column): Cell {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  if (typeof value === 'string' && isIntegerSource(value.trim())) {
    const parsed = Number(value);
    if (Number.isSafeInteger(parsed)) return parsed === 0 ? 0 : parsed;
  }
  throw misfit(column, 'integer', value);
}

const NUMERIC_TEXT = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const NON_FINITE_TEXT = /^[+-]?(?:nan|inf|infinity)$/i;

function parseNumber(value: unknown, column: Column): Cell {
  if (typeof value === 'string') {
    const text = value.trim();
    if (NON_FINITE_TEXT.test(text)) throw misfit(column, 'finite number', value);
    if (!NUMERIC_TEXT.test(text)) throw misfit(column, 'number', value);
  } else if (
    typeof value !== 'number' &&
    typeof value !== 'bigint' &&
    !(value instanceof JsonNumber)
  ) {
    throw misfit(column, 'number', value);
  }
  const parsed = value instanceof JsonNumber ? value.value : Number(value);
  if (!Number.isFinite(parsed)) throw misfit(column, 'finite number', value);
  return parsed === 0 ? 0 : parsed;
}

function parseBoolean(value: unknown, column: Column): Cell {
  if (typeof value === 'boolean') return value;
  if (value === 0 || value === 1) return value === 1;
  if (typeof value === 'string') {
    const parsed = BOOLEAN_TEXT.get(value.trim().toLowerCase());
    if (parsed !== undefined) return parsed;
  }
  throw misfit(column, 'boolean', value);
}

function parseAnyScalar(value: unknown, column: Column): Cell {
  if (typeof value === 'string') return value;
  // As text: the column is raw text, and the copy must hold what the file will say.
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof JsonNumber) return value.source;
  throw misfit(column, 'string', value);
}

function writableText(text: string, column: Column, { maxTextLength }: ValueRules): string {
  if (text.includes('\u0000'))
    throw mismatch(`column '${column.name}': a text may not contain NUL`);
  if (!text.isWellFormed()) {
    throw mismatch(`column '${column.name}': a text may not contain a lone surrogate`);
  }
  const limit = maxTextLength ?? MAX_CELL_CHARACTERS;
  if (text.length > limit) {
    throw mismatch(`column '${column.name}': a text may not exceed ${limit} characters`);
  }
  return text;
}

function misfit(column: Column, expected: string, value: unknown): AppError {
  return mismatch(`column '${column.name}': expected ${expected}, received ${jsonTypeOf(value)}`);
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof JsonNumber) return 'number';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function mismatch(rest: string): AppError {
  return new AppError('schema-mismatch', `Schema validation failed: ${rest}`);
}

function isObject(value: unknown): value is JsonObject {
  return (
    value !== null &&
    typeof value === 'object' &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}
