/**
 * Runs a statement in SQL as one more kind of query: its rows are a table like that of a pipeline, so formats, limits,
 * figures and errors are those of searches.
 */
import type { StatementSync } from 'node:sqlite';
import { isOutgrown, memoryProblem } from '../run/budget.ts';
import type { Meter } from '../run/operator.ts';
import type { Table } from '../run/run.ts';
import { Schema } from '../run/schema.ts';
import { requireLookedUp, type SearchScope, UnknownYet } from '../sources/looked-up.ts';
import { unknownDataset } from '../plan/query-context.ts';
import { Problem, unknownName, type Place } from '../syntax/problem.ts';
import { finite, isObject, type Row, type Value, valueOfJson } from '../expressions/value.ts';
import { STRATEGY } from '../limits.ts';
import {
  messageOf,
  Refusal,
  type Shown,
  SqlDatabase,
  storedValue,
  uniqueNames,
} from './database.ts';
import { SQL_FUNCTIONS, SQL_TABLE_FUNCTIONS } from './functions.ts';
import {
  commonTables,
  isCompound,
  placeOfName,
  placeOfText,
  possibleTables,
  readStatement,
  shortened,
  type Statement,
} from './statement.ts';

export interface SqlOrder {
  /** Queries of the search language by the table they are. */
  readonly queries: Readonly<Record<string, string>>;
  /** Of the parameters without a name; integers past 2^53 as `{int}`. */
  readonly values: readonly Value[];
  /** Such integers by name, which are doubles for the search language. */
  readonly exactly: Readonly<Record<string, Value>>;
  /** Rows left out before the first. */
  readonly offset: number;
}

interface SqlRun {
  readonly text: string;
  readonly sql: SqlOrder;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly memoryBytes: number;
  readonly scope: SearchScope;
  readonly meter: Meter;
  /** Rows of a query of the search language; without rows when it is only checked. */
  readonly query: (text: string) => Table;
  /** Called when the database is no longer needed. */
  readonly onClose: (close: () => void) => void;
}

/** Throws Problem with its place, Stale and UnknownYet. Rows are read while the batches are taken. */
export function openStatement(run: SqlRun): Table {
  const statement = readStatement(run.text);
  const queries = { ...Object.fromEntries(statement.queries), ...run.sql.queries };
  const db = new SqlDatabase(commonTables(statement));
  run.onClose(() => db.close());
  const prepared = new Preparation(db, statement, queries, run).statement();
  const columns = prepared.columns();
  // Rows of several selects are of the columns of the first by name only.
  const shown = isCompound(statement) ? columns.map(() => null) : db.shown(prepared);
  const names = uniqueNames(columns.map(({ name }) => name));
  const schema = new Schema(
    names.map((name, at) => ({
      name,
      type: 'json',
      ...(shown[at] && { native: shown[at].native }),
    })),
  );
  return { schema, batches: batchesOf(prepared, shown, statement, run) };
}

/** Finds the tables of a statement: SQLite names those it does not know, one after the other. */
class Preparation {
  constructor(
    private readonly db: SqlDatabase,
    private readonly text: Statement,
    private readonly queries: Readonly<Record<string, string>>,
    private readonly run: SqlRun,
  ) {}

  statement(): StatementSync {
    const { datasetNames, datasets } = this.run.scope;
    const unasked = possibleTables(this.text).find(
      (name) => datasetNames.includes(name) && !Object.hasOwn(datasets, name),
    );
    if (unasked !== undefined) throw new UnknownYet('datasets', unasked);
    for (const name of possibleTables(this.text)) {
      // One that SQLite would find without it.
      if (SQL_TABLE_FUNCTIONS.has(name) && Object.hasOwn(this.queries, name)) this.#add(name);
    }
    for (;;) {
      try {
        this.db.prepare(this.text.text);
        break;
      } catch (error) {
        const table = unknownTable(error);
        if (table === null || this.db.has(table)) throw this.problem(error);
        this.#add(table);
      }
    }
    this.db.begin();
    // Again, as the tables may have become others before they were frozen.
    return this.db.prepare(this.text.text);
  }

  #add(name: string): void {
    const query = Object.entries(this.queries).find(
      ([table]) => table.toLowerCase() === name.toLowerCase(),
    );
    if (query) {
      this.#addQuery(name, query[1]);
      return;
    }
    const order = requireLookedUp(this.run.scope.datasets, 'datasets', name);
    if (order === null) {
      const names = [...this.run.scope.datasetNames, ...Object.keys(this.queries)];
      throw new Problem(
        'unknown_source',
        `Unknown dataset '${shortened(name)}' or no permission to read it`,
        {
          place: placeOfName(this.text, name),
          ...unknownDataset(name, names),
        },
      );
    }
    this.db.addDataset(order);
  }

  #addQuery(name: string, text: string): void {
    const { meter, query } = this.run;
    try {
      const { schema, batches } = query(text);
      const { shown } = schema;
      const rows = function* (): Generator<Row> {
        for (const batch of batches)
          for (const row of batch) yield shown.map(({ index }) => row[index] ?? null);
      };
      const names = shown.map(({ column }) => column.name);
      this.db.addTable(name, names, rows(), (bytes) => meter.hold(bytes));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { code, suggestion, allowed } = error;
      // Budgets are of the statement as a whole.
      const message = code.endsWith('_budget')
        ? error.text
        : `In the query '${name}': ${error.told(text).error}`;
      throw new Problem(code, message, {
        place: placeOfName(this.text, name),
        suggestion: message.includes('did you mean') ? null : suggestion,
        ...(allowed && { allowed }),
      });
    }
  }

  problem(error: unknown): unknown {
    return problemOf(error, this.text, this.run, this.db);
  }
}

/** Null for an error of another kind. */
function unknownTable(error: unknown): string | null {
  if (error instanceof Refusal) return error.refused.kind === 'table' ? error.refused.name : null;
  return /^no such table: (.*)$/s.exec(messageOf(error))?.[1] ?? null;
}

function isOfSqlite(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'ERR_SQLITE_ERROR';
}

const UNKNOWN_NAME =
  /^no such (?<what>column|function|window): (?:"(?<quoted>.*)"(?: - should.*)?|(?<name>.*))$/s;

/** What SQLite says, with its place, and the nearest name where one is unknown. */
function problemOf(
  error: unknown,
  text: Statement,
  { memoryBytes }: SqlRun,
  db?: SqlDatabase,
): unknown {
  if (error instanceof Problem) return error;
  if (isOutgrown(error)) return memoryProblem(memoryBytes);
  if (error instanceof Refusal) return refusalProblem(error, text);
  if (!isOfSqlite(error)) return error;
  // Files are attached under names that mean nothing to who asks.
  const message = messageOf(error).replace(/\b(?:temp|main|s[0-9a-f]{32})\./g, '');
  const place = (name: string, table?: string): { place: Place | null } => ({
    place: placeOfName(text, name, table),
  });
  const unknown = UNKNOWN_NAME.exec(message)?.groups;
  if (unknown) {
    const { what, quoted, name: written = quoted! } = unknown;
    const cut = written.lastIndexOf('.');
    const name = db?.columns.includes(written) || cut < 0 ? written : written.slice(cut + 1);
    const table = name === written ? undefined : written.slice(0, cut);
    if (what === 'function') return unknownFunction(name, text);
    if (what === 'column')
      return new Problem('unknown_column', `Unknown column '${shortened(written)}'`, {
        ...place(name, table),
        ...unknownName(name, db?.columns ?? []),
        listsAllowed: db !== undefined && db.columns.length > 0,
      });
  }
  const near =
    /^near "(.*)": syntax error$/s.exec(message) ?? /^unrecognized token: "(.*)"$/s.exec(message);
  if (near) {
    const wrong = near[1]!;
    const isWrong = (part: string): boolean => {
      try {
        db?.prepare(part);
        return false;
      } catch (again) {
        return messageOf(again) === messageOf(error);
      }
    };
    const found = /^['"`[]/.test(wrong)
      ? `Not closed: ${shortened(wrong)}`
      : `SQL is not understood at '${shortened(wrong)}'`;
    return new Problem('syntax', found, { place: placeOfText(text, wrong, isWrong) });
  }
  if (message === 'incomplete input') {
    const { at, length } = text.tokens.at(-1)!;
    return new Problem('syntax', 'The statement is not complete', { place: { at, length } });
  }
  const named =
    /^(?:ambiguous column name: |wrong number of arguments to function |misuse of \w+(?: function)?:? )(?:.*\.)?(\w+)/.exec(
      message,
    );
  return new Problem('bad_value', message, place(named?.[1] ?? ''));
}

function unknownFunction(name: string, text: Statement): Problem {
  return new Problem('unknown_function', `Unknown function '${shortened(name)}'`, {
    place: placeOfName(text, name),
    ...unknownName(name, SQL_FUNCTIONS),
  });
}

function refusalProblem({ refused: { kind, name } }: Refusal, text: Statement): Problem {
  if (kind === 'function') return unknownFunction(name, text);
  if (kind === 'table')
    return new Problem(
      'unknown_source',
      `Unknown dataset '${shortened(name)}' or no permission to read it`,
      {
        place: placeOfName(text, name),
      },
    );
  return new Problem('syntax', 'A statement may only read');
}

type Bound = readonly [Record<string, Stored>, ...Stored[]];
type Stored = string | number | bigint | null;

/** Throws `unknown_placeholder` for a parameter without a value, and for a value without a parameter. */
function valuesOf({ tokens }: Statement, { parameters, sql }: SqlRun): Bound {
  const asked = tokens.filter(({ kind }) => kind === 'value');
  const given = { ...parameters, ...sql.exactly };
  const problem = (text: string, place?: Place): Problem =>
    new Problem('unknown_placeholder', text, {
      ...(place && { place: { at: place.at, length: place.length } }),
    });
  const named: Record<string, Stored> = {};
  let highest = 0;
  for (const token of asked) {
    const name = token.text.slice(1);
    if (token.text[0] === '?') {
      highest = name === '' ? highest + 1 : Math.max(highest, Number(name));
      if (highest > sql.values.length)
        throw problem(
          `There is no value for the parameter ${token.text}: send 'params' as a list`,
          token,
        );
    } else if (Object.hasOwn(given, name)) named[token.text] = boundValue(given[name]!);
    else throw problem(`There is no value for the parameter ${token.text}`, token);
  }
  if (highest < sql.values.length)
    throw problem(`There are ${sql.values.length} values for ${highest} parameters`);
  return [named, ...sql.values.map(boundValue)];
}

function boundValue(value: Value): Stored {
  const isWide = isObject(value) && typeof value['int'] === 'string';
  return storedValue(isWide ? BigInt(value['int'] as string) : value);
}

type Cells = readonly (string | number | bigint | Uint8Array | null)[];

function* batchesOf(
  prepared: StatementSync,
  shown: readonly (Shown | null)[],
  text: Statement,
  run: SqlRun,
): Generator<Row[]> {
  try {
    let [left, size]: [number, number] = [run.sql.offset, STRATEGY.firstBatchRows];
    let batch: Row[] = [];
    let characters = 0;
    const values = valuesOf(text, run);
    for (const cells of prepared.iterate(...values) as unknown as Iterable<Cells>) {
      if (left-- > 0) {
        if (left % STRATEGY.batchRows === 0) run.meter.tick();
        continue;
      }
      batch.push(cells.map((cell, at) => valueOf(cell, shown[at]?.form)));
      for (const cell of cells) if (typeof cell === 'string') characters += cell.length;
      if (batch.length < size && characters < STRATEGY.batchCharacters) continue;
      run.meter.tick();
      yield batch;
      batch = [];
      characters = 0;
      size = Math.min(size * 2, STRATEGY.batchRows);
    }
    if (batch.length > 0) yield batch;
  } catch (error) {
    throw problemOf(error, text, run);
  }
}

/** Bytes as their hexadecimal digits. */
function valueOf(cell: Cells[number], form: Shown['form'] = 'plain'): Value {
  switch (typeof cell) {
    case 'bigint': {
      if (form === 'boolean' && (cell === 0n || cell === 1n)) return cell === 1n;
      const number = Number(cell);
      return Number.isSafeInteger(number) ? number : cell;
    }
    case 'number':
      return Number.isFinite(cell) ? finite(cell) : String(cell);
    case 'string':
      return form === 'json' ? (valueOfJson(cell) ?? cell) : cell;
    default:
      return cell && Buffer.from(cell).toString('hex').toUpperCase();
  }
}
