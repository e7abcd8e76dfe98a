/**
 * The body of a change. Texts of the plain forms are literal parts of the contract.
 *
 * Filters and keys see the rows as they are before the request.
 */
import { AppError, invalidRequest, mismatch } from '../../base/errors.ts';
import { JsonNumber } from '../../base/json/json.ts';
import { nearestName } from '../../config/nearest-name.ts';
import {
  isObject,
  type JsonObject,
  parseRow,
  requirePossible,
  type RowUpdate,
  type RowValues,
  splitRow,
  type TableRules,
  type ValueRules,
} from './mutation.ts';
import type { RowFinder } from './row-finder.ts';
import type { Column } from '../types.ts';

/** Of one request; each takes more than a kilobyte until written. */
export const MAX_CHANGED_ROWS = 50_000;
const MAX_STEPS = 1_000;
/** Rows validated per turn of the event loop; about 2 ms at 8 columns. */
const ROWS_PER_TURN = 2_000;

const ACTION_OF_METHOD: Readonly<Record<string, string>> = {
  POST: 'create',
  PATCH: 'update',
  DELETE: 'delete',
};
/** The members beyond `action` and `data`: a slip in one of them would change other rows than meant. */
const MEMBERS = ['filter', 'expected_count', 'dry_run', 'key', 'operations'];

/** Valid against the columns it was checked with. */
export type Step =
  | { readonly action: 'create'; readonly rows: readonly RowValues[] }
  | { readonly action: 'update'; readonly rows: readonly RowUpdate[] }
  | { readonly action: 'delete'; readonly rowIds: readonly number[] }
  /** `rowId` null: a new row. */
  | { readonly action: 'upsert'; readonly rows: readonly UpsertedRow[] };

interface UpsertedRow {
  readonly rowId: number | null;
  readonly values: RowValues;
}

/** All of it or nothing. */
export interface Mutation {
  readonly action: Step['action'] | 'batch';
  readonly steps: readonly Step[];
  readonly isDryRun: boolean;
}

/** The caller may then have to be allowed to read. */
export function looksAtRows(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { action, filter, dry_run: dryRun, operations } = body;
  if (action === 'upsert' || filter !== undefined || dryRun !== undefined) return true;
  return action === 'batch' && Array.isArray(operations) && operations.some(looksAtRows);
}

/**
 * Checks a body against `columns` (those the caller may write, in file order). Yields to the event loop: check the
 * columns again under the lock.
 *
 * Throws `invalid-request` when the body is no object, `precondition-failed` when a filter matches another number of
 * rows than expected, `invalid-query` for a wrong filter, `not-found` for an impossible row id and `schema-mismatch`
 * otherwise.
 */
export async function parseMutation(
  method: string,
  body: unknown,
  columns: readonly Column[],
  rules: ValueRules = {},
  finder: RowFinder | null = null,
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
  requireMembers(body);
  const isDryRun = dryRunOf(body);
  const table = { columns, byName: new Map(columns.map((one) => [one.name, one])), rules };
  const work = new StepParser(table, finder, isDryRun);
  if (action !== 'batch') return { action, isDryRun, steps: [await work.step(body)] };
  return { action, isDryRun, steps: await work.batch(body['operations']) };
}

function actionOf(method: string, body: JsonObject): Mutation['action'] {
  const { action } = body;
  const isPost = method === 'POST';
  if (isPost && action === 'upsert' && ('key' in body || 'data' in body)) return action;
  if (isPost && action === 'batch' && 'operations' in body) return action;
  if (action !== 'create' && action !== 'update' && action !== 'delete') {
    throw hinted(
      mismatch('action must be create, update, or delete'),
      'POST also takes upsert, with key (a list of column names) and data (a list of rows), and batch, with operations ' +
        '(a list of such bodies)',
    );
  }
  const fitting = ACTION_OF_METHOD[method];
  if (action !== fitting) throw mismatch(`${method} requires action ${fitting}`);
  return action;
}

function requireMembers(body: JsonObject): void {
  for (const name of Object.keys(body)) {
    if (name === 'action' || name === 'data' || MEMBERS.includes(name)) continue;
    const meant = nearestName(name, MEMBERS);
    if (meant !== null) throw mismatch(`unknown member '${name}'; did you mean '${meant}'?`);
  }
}

function dryRunOf({ dry_run: isDryRun }: JsonObject): boolean {
  if (isDryRun === undefined || typeof isDryRun === 'boolean') return isDryRun === true;
  throw mismatch('dry_run must be true or false');
}

class StepParser {
  readonly #table: TableRules;
  readonly #finder: RowFinder | null;
  readonly #isDryRun: boolean;
  /** Over all steps. */
  #rows = 0;

  constructor(table: TableRules, finder: RowFinder | null, isDryRun: boolean) {
    this.#table = table;
    this.#finder = finder;
    this.#isDryRun = isDryRun;
  }

  async batch(operations: unknown): Promise<Step[]> {
    if (!Array.isArray(operations) || !operations.every(isObject)) {
      throw mismatch('batch operations must be a list of objects');
    }
    if (operations.length > MAX_STEPS) {
      throw mismatch(`batch operations may not be more than ${MAX_STEPS}`);
    }
    const steps: Step[] = [];
    for (const [index, operation] of (operations as JsonObject[]).entries()) {
      try {
        if ('dry_run' in operation) throw mismatch('dry_run belongs beside operations');
        requireMembers(operation);
        steps.push(await this.step(operation));
      } catch (error) {
        throw error instanceof AppError ? placed(error, `operations[${index}]`) : error;
      }
    }
    return steps;
  }

  async step(body: JsonObject): Promise<Step> {
    const { action, data, filter } = body;
    switch (action) {
      case 'create':
        return { action, rows: await this.#create(data) };
      case 'update':
        return { action, rows: await this.#update(data, filter, body) };
      case 'delete':
        return { action, rowIds: await this.#delete(data, filter, body) };
      case 'upsert':
        return { action, rows: await this.#upsert(data, body['key']) };
      default:
        throw mismatch('action must be create, update, delete, or upsert');
    }
  }

  async #create(data: unknown): Promise<RowValues[]> {
    const list = listOf('create', data);
    return this.#each(list, (row) => parseRow(row, Object.keys(row), this.#table, true));
  }

  async #update(data: unknown, filter: unknown, body: JsonObject): Promise<RowUpdate[]> {
    if (filter !== undefined) {
      if (!isObject(data)) throw mismatch('update data must be an object');
      if ('_row_id' in data) throw mismatch('update data may not name a row beside a filter');
      const values = parseRow(data, Object.keys(data), this.#table);
      return (await this.#matching(filter, body)).map((rowId) => ({ rowId, values }));
    }
    const named = namedRows('update', data);
    const rows = await this.#each(named, (row) => {
      const { rowId, names } = splitRow(row);
      return { rowId, values: parseRow(row, names, this.#table) };
    });
    requirePossible(named);
    return rows;
  }

  async #delete(data: unknown, filter: unknown, body: JsonObject): Promise<readonly number[]> {
    if (filter !== undefined) {
      if (data !== undefined) throw mismatch('delete takes data or a filter, not both');
      return this.#matching(filter, body);
    }
    const named = namedRows('delete', data);
    const nothing = { ...this.#table, columns: [], byName: new Map() };
    const rows = await this.#each(named, (row) => {
      const { rowId, names } = splitRow(row);
      parseRow(row, names, nothing);
      return rowId;
    });
    requirePossible(named);
    return [...new Set(rows)];
  }

  async #upsert(data: unknown, key: unknown): Promise<UpsertedRow[]> {
    const list = listOf('upsert', data);
    const columns = this.#keyColumns(key);
    const rows = await this.#each(list, (row) => {
      for (const { name } of columns) {
        const value = row[name];
        if (value !== undefined && value !== null && value !== '') continue;
        throw mismatch(`key column '${name}' may not be blank`);
      }
      return parseRow(row, Object.keys(row), this.#table);
    });
    const rowIds = await this.#rowFinder.withKeys(columns, rows);
    return this.#each(
      rows.map((values, index) => ({ values, index })),
      ({ values, index }) => {
        const rowId = rowIds[index]!;
        const row = list[index]!;
        if (rowId !== null) return { rowId, values };
        return { rowId, values: parseRow(row, Object.keys(row), this.#table, true) };
      },
      true,
    );
  }

  #keyColumns(key: unknown): Column[] {
    const names: unknown[] = typeof key === 'string' ? [key] : Array.isArray(key) ? key : [];
    if (names.length === 0 || new Set(names).size < names.length) {
      throw mismatch('upsert key must be a list of different column names');
    }
    return names.map((name) => {
      const column = typeof name === 'string' ? this.#table.byName.get(name) : undefined;
      if (column !== undefined) return column;
      throw mismatch(`unknown key column ${JSON.stringify(name) ?? 'null'}`);
    });
  }

  async #matching(filter: unknown, body: JsonObject): Promise<readonly number[]> {
    if (!isObject(filter)) throw mismatch('filter must be an object, as for reading rows');
    const { expected_count: expected } = body;
    if (expected === undefined && !this.#isDryRun) {
      throw mismatch(
        'a filter needs expected_count, the number of rows it has to match; with dry_run the answer tells it',
      );
    }
    if (expected !== undefined && !(Number.isSafeInteger(expected) && Number(expected) >= 0)) {
      throw mismatch('expected_count must be an integer from 0 on');
    }
    const { total, rowIds } = await this.#rowFinder.matching(jsonText(filter));
    if (expected !== undefined && total !== expected) {
      const text = `Precondition failed: the filter matches ${total} rows, expected_count is ${String(expected)}`;
      throw new AppError('precondition-failed', text);
    }
    if (total > MAX_CHANGED_ROWS) throw tooManyRows();
    this.#count(total);
    return rowIds;
  }

  get #rowFinder(): RowFinder {
    if (this.#finder === null) throw new Error('Nothing finds the rows of this change');
    return this.#finder;
  }

  /** A refusal says which of several rows it is about. */
  async #each<In, Out>(
    list: readonly In[],
    parse: (item: In) => Out,
    isCounted = false,
  ): Promise<Out[]> {
    if (!isCounted) this.#count(list.length);
    const parsed: Out[] = [];
    for (const [index, item] of list.entries()) {
      try {
        parsed.push(parse(item));
      } catch (error) {
        const isOne = list.length === 1 || !(error instanceof AppError);
        throw isOne ? error : hinted(error, `The row is data[${index}]`);
      }
      if (parsed.length % ROWS_PER_TURN === 0) await Bun.sleep(0);
    }
    return parsed;
  }

  #count(rows: number): void {
    this.#rows += rows;
    if (this.#rows > MAX_CHANGED_ROWS) throw tooManyRows();
  }
}

function listOf(action: 'create' | 'upsert', data: unknown): JsonObject[] {
  if (Array.isArray(data) && data.every(isObject)) return data as JsonObject[];
  throw mismatch(`${action} data must be a list of objects`);
}

/** One row, or a list of them. */
function namedRows(action: 'update' | 'delete', data: unknown): JsonObject[] {
  const rows: unknown[] = Array.isArray(data) ? data : [data];
  if (rows.every(isObject)) return rows;
  throw mismatch(`${action} data must be an object`);
}

function tooManyRows(): AppError {
  return mismatch(`one request may not change more than ${MAX_CHANGED_ROWS} rows`);
}

/** Not yet among the types of JSON. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** With every digit. */
function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (member instanceof JsonNumber) return rawJSON(member.source);
    return typeof member === 'bigint' ? rawJSON(String(member)) : member;
  });
}

function hinted(error: AppError, hint: string): AppError {
  return new AppError(error.code, error.message, { headers: error.headers, hint });
}

function placed(error: AppError, place: string): AppError {
  const message = error.message.replace(/^(Schema validation failed: |)/, `$1${place}: `);
  const { code, headers, hint } = error;
  return new AppError(code, message, { headers, ...(hint !== undefined && { hint }) });
}
