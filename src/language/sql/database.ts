/**
 * The database that one statement sees: nothing but views of typed copies that the caller may read, by public names, and
 * tables of rows that were given. It lives in memory and ends with the statement.
 *
 * Two walls: only copies of readable tables are attached, under names that cannot be guessed, and SQLite's authorizer
 * (which only `node:sqlite` gives) refuses all that does not read their public columns or call a listed function.
 * Nothing is written to disk: what is sorted and grouped is in the memory of this process, which has a limit.
 */
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { compileRegex } from '../../tables/filter/regex.ts';
import { nativeOf } from '../../tables/read/query-plan.ts';
import { tableColumns } from '../../tables/read/query-table.ts';
import type { Column } from '../../tables/types.ts';
import { wideText } from '../../tables/values/wide-number.ts';
import type { NativeColumn } from '../../tables/encode/native-value.ts';
import type { Row, Value } from '../expressions/value.ts';
import { jsonOf } from '../expressions/value.ts';
import { Stale } from '../sources/open-sources.ts';
import type { DatasetOrder } from '../sources/dataset.ts';
import { Problem } from '../syntax/problem.ts';
import { MAX_STATEMENT_BYTES } from './statement.ts';
import { SQL_FUNCTIONS, SQL_TABLE_FUNCTIONS } from './functions.ts';

/** SQLite's own, where they are less: its statements take so many attached files. */
const MAX_DATASETS = 10;
/** Of one text or list of bytes; a statement makes many of them in a moment. */
const MAX_VALUE_BYTES = 16 * 1024 ** 2;
const LIMITS = {
  length: MAX_VALUE_BYTES,
  sqlLength: MAX_STATEMENT_BYTES,
  likePatternLength: 5_000,
  variableNumber: 1_000,
  triggerDepth: 0,
} as const;

/** A result column that shows a column of a dataset as it is. */
export interface Shown {
  readonly form: 'plain' | 'boolean' | 'json';
  readonly native: NativeColumn;
}

/** Tables that are there without being made. */
const OF_SQLITE = /^(?:sqlite_|pragma_|json_|dbstat$|fts|rtree|geopoly)/i;

interface Attached {
  readonly order: DatasetOrder;
  readonly columns: ReadonlyMap<string, Column>;
  readonly readable: ReadonlySet<string>;
}

/** What the authorizer refused. */
type Refused = { readonly kind: 'table' | 'function' | 'action'; readonly name: string };

export class SqlDatabase {
  readonly #db: DatabaseSync;
  readonly #attached = new Map<string, Attached>();
  /** Views and tables by their names as SQLite compares them. */
  readonly #names = new Map<string, readonly string[]>();
  readonly #blocked = new Set<string>();
  readonly #common: ReadonlySet<string>;
  #refused: Refused | null = null;

  /** `common`: names of tables that the statement defines itself. */
  constructor(common: ReadonlySet<string>) {
    this.#common = common;
    // Types of the runtime do not know `limits` yet.
    this.#db = new DatabaseSync(':memory:', { enableDoubleQuotedStringLiterals: false });
    const limits = (this.#db as unknown as { limits: Record<string, number> }).limits;
    Object.assign(limits, LIMITS);
    this.#db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000');
    this.#db.function('regexp', { deterministic: true }, (pattern, text) => {
      if (pattern === null || text === null) return null;
      const test = compileRegex(String(pattern));
      if (!test) throw new Problem('bad_regex', 'A pattern of REGEXP is malformed or too long');
      return test(String(text)) ? 1 : 0;
    });
  }

  has(name: string): boolean {
    return this.#names.has(keyOf(name));
  }

  /** Names of the columns of all tables, and those that may stand before them. */
  get columns(): readonly string[] {
    return [...this.#names.values()].flat();
  }

  get tables(): readonly string[] {
    return [...this.#names.keys()];
  }

  /** Throws Stale when the copy was replaced meanwhile, `too_large` for too many. */
  addDataset(order: DatasetOrder): void {
    if (this.#attached.size === MAX_DATASETS)
      throw new Problem('too_large', `A statement may read ${MAX_DATASETS} datasets`);
    const schema = `s${crypto.randomUUID().replaceAll('-', '')}`;
    try {
      // A connection for reading only could not create the shared memory file of the copy.
      this.#db.prepare(`ATTACH ? AS ${schema}`).run(`${pathToFileURL(order.path)}?mode=rw`);
    } catch {
      throw new Stale();
    }
    const names = uniqueNames(order.columns.map(({ name }) => name.replaceAll('\0', '\ufffd')));
    const readable = new Set(['']);
    const cells = tableColumns(order.columns)
      .slice(1)
      .map(({ wide }, index) => {
        const { position, dates } = order.columns[index]!;
        const cell = `c${position}`;
        readable.add(cell);
        if (wide) return `${this.#wideFunction(wide)}(${cell})`;
        if (!dates?.isKeyed) return cell;
        readable.add(`k${position}`);
        // Texts that are no dates have keys that sort behind all digits.
        return `iif(k${position} < ':', k${position}, ${cell})`;
      });
    const columns = new Map(order.columns.map((column) => [`c${column.position}`, column]));
    this.#attached.set(schema, { order, columns, readable });
    if (this.#blocked.delete(keyOf(order.name))) this.#db.exec(`DROP VIEW ${quoted(order.name)}`);
    this.#create(
      order.name,
      names,
      `TEMP VIEW ${quoted(order.name)}(${names.map(quoted).join(', ')}) AS
      SELECT ${cells.join(', ')} FROM ${schema}.rows`,
    );
    this.#block(schema);
  }

  /** The tables of a copy are not found by their own names. */
  #block(schema: string): void {
    const tables = this.#db.prepare(
      `SELECT name FROM ${schema}.sqlite_schema WHERE type = 'table'`,
    );
    for (const { name } of tables.all() as { name: string }[]) {
      if (/^sqlite_/i.test(name) || this.has(name) || this.#blocked.has(keyOf(name))) continue;
      this.#blocked.add(keyOf(name));
      this.#db.exec(`CREATE TEMP VIEW ${quoted(name)} AS SELECT NULL`);
    }
  }

  /** `hold` is told the bytes of each row. */
  addTable(
    name: string,
    given: readonly string[],
    rows: Iterable<Row>,
    hold: (bytes: number) => void,
  ): void {
    const names = uniqueNames(given);
    // A table has at least one column.
    const columns = names.length === 0 ? ['_'] : names;
    this.#create(name, columns, `TABLE main.${quoted(name)}(${columns.map(quoted).join(', ')})`);
    const places = columns.map(() => '?').join(', ');
    const insert = this.#db.prepare(`INSERT INTO main.${quoted(name)} VALUES (${places})`);
    for (const row of rows) {
      const values = columns.map((_, at) => storedValue(row[at] ?? null));
      for (const value of values) hold(typeof value === 'string' ? 16 + value.length : 12);
      insert.run(...values);
    }
  }

  #create(name: string, columns: readonly string[], sql: string): void {
    try {
      this.#db.exec(`CREATE ${sql}`);
    } catch (error) {
      throw new Problem(
        'bad_request',
        `'${name}' cannot be a table of a statement: ${messageOf(error)}`,
      );
    }
    this.#names.set(keyOf(name), columns);
  }

  #wideFunction(wide: { readonly digits: number; readonly scale: number }): string {
    const name = `svc_wide_${wide.digits}_${wide.scale}`;
    const key = new RegExp(`^[01]\\d{${wide.digits}}$`);
    this.#db.function(name, { deterministic: true, useBigIntArguments: true }, (stored) =>
      typeof stored === 'string' && key.test(stored) ? exactNumber(wideText(stored, wide)) : stored,
    );
    return name;
  }

  /** Ends adding: from now on nothing is written. Throws Stale. */
  begin(): void {
    this.#db.exec('BEGIN; PRAGMA query_only = ON');
    for (const [schema, { order }] of this.#attached) {
      const state = this.#db.prepare(`SELECT value FROM ${schema}.meta WHERE key = 'state'`).get();
      const { sequence = 0 } = JSON.parse(String(state?.['value'] ?? '{}')) as {
        sequence?: number;
      };
      if (sequence !== order.sequence) throw new Stale();
    }
  }

  /** With the caller's rights. Throws what SQLite says, or Refusal. */
  prepare(sql: string): StatementSync {
    this.#refused = null;
    this.#db.setAuthorizer((action, first, second, database) =>
      this.#authorize(action, first, second, database),
    );
    try {
      const statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      statement.setReadBigInts(true);
      statement.setAllowBareNamedParameters(false);
      return statement;
    } catch (error) {
      throw this.#refused === null ? error : new Refusal(this.#refused);
    } finally {
      this.#db.setAuthorizer(null);
    }
  }

  #authorize(
    action: number,
    first: string | null,
    second: string | null,
    database: string | null,
  ): number {
    const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_RECURSIVE, SQLITE_READ } = constants;
    if (action === SQLITE_SELECT || action === SQLITE_RECURSIVE) return SQLITE_OK;
    if (action === constants.SQLITE_FUNCTION) {
      const name = (second ?? '').toLowerCase();
      if (SQL_FUNCTIONS.has(name) || name.startsWith('svc_wide_')) return SQLITE_OK;
      this.#refused ??= { kind: 'function', name };
      return SQLITE_DENY;
    }
    if (action !== SQLITE_READ || first === null) {
      this.#refused ??= { kind: 'action', name: '' };
      return SQLITE_DENY;
    }
    if (this.#mayRead(first, second ?? '', database ?? '')) return SQLITE_OK;
    this.#refused ??= { kind: 'table', name: first };
    return SQLITE_DENY;
  }

  #mayRead(table: string, column: string, database: string): boolean {
    const copy = this.#attached.get(database);
    if (copy) return table === 'rows' && copy.readable.has(column);
    if ((database === 'main' || database === '') && SQL_TABLE_FUNCTIONS.has(table)) return true;
    if (database === 'main' || database === 'temp') return this.has(table);
    // No column is read, and only what was written is known: a view, a table, or a part of the statement.
    if (database !== '' || column !== '') return false;
    return this.has(table) || (this.#common.has(keyOf(table)) && !OF_SQLITE.test(table));
  }

  /** By result column; null for what is computed. */
  shown(statement: StatementSync): readonly (Shown | null)[] {
    return statement.columns().map(({ database, column: cell }) => {
      const column = this.#attached.get(database ?? '')?.columns.get(cell ?? '');
      if (!column) return null;
      const form =
        column.file?.type.kind === 'nested'
          ? 'json'
          : column.type === 'boolean'
            ? 'boolean'
            : 'plain';
      return { form, native: { ...nativeOf(column), isBlankNull: true } };
    });
  }

  close(): void {
    this.#db.close();
  }
}

export class Refusal extends Error {
  constructor(readonly refused: Refused) {
    super('not allowed');
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** SQLite folds ASCII letters only. */
function keyOf(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Names that differ in case only, or not at all, get a number. */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set(names.map(keyOf));
  const used = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let n = 2; used.has(keyOf(unique)) || (unique !== name && taken.has(keyOf(unique))); n++)
      unique = `${name}_${n}`;
    used.add(keyOf(unique));
    return unique;
  });
}

const MAX_EXACT_DIGITS = 15;
const LONG_BITS = 64;

/** A number where 64 bits or a double hold it to the last digit, else its text. */
function exactNumber(text: string): bigint | number | string {
  if (!text.includes('.')) {
    const integer = BigInt(text);
    return BigInt.asIntN(LONG_BITS, integer) === integer ? integer : text;
  }
  return text.replace(/^-?0*\.?0*|\./g, '').length <= MAX_EXACT_DIGITS ? Number(text) : text;
}

/** Booleans are 1 and 0, lists and objects their JSON. */
export function storedValue(value: Value): string | number | bigint | null {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'bigint')
    return BigInt.asIntN(LONG_BITS, value) === value ? value : String(value);
  return typeof value === 'object' && value !== null ? jsonOf(value) : value;
}
