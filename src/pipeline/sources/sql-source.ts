/**
 * A source that is a table of an SQLite database: which columns, in which orders, under which restriction.
 *
 * SQL is put together from the source's own texts; whatever a query says reaches it as bound values (SL-150).
 */
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { PackedIntegers } from '../exact-sum.ts';
import { timeFromMicros } from '../micros.ts';
import { Schema, type Column, type ColumnType, type Part } from '../schema.ts';
import { valueOfJson, type Row, type Value } from '../value.ts';
import type { ReadPlan, RowCondition, Source, SourceOrder, Wanted } from './source.ts';

/** What SQL gives for a cell, and what it means. */
type CellForm =
  /** As it is; integers past 2^53 keep their digits. */
  | 'plain'
  /** Microseconds since 1970. */
  | 'micros'
  /** JSON text. */
  | 'json'
  | 'boolean';

/** A column of such a table. */
export interface SqlColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly sql: string;
  readonly form: CellForm;
  readonly isHidden?: boolean;
  /** In place of NULL. */
  readonly blank?: Value;
  /** Makes the JSON text of a stored one. */
  readonly toJson?: (stored: string) => string;
  /** JSON in binary form: SQL for its members. */
  readonly members?: string;
  /** So many different cells that putting equal rows together does not help. */
  readonly isDiverse?: boolean;
  /** SQL orders its cells as SL-11 does. */
  readonly isSortable?: boolean;
}

/** A piece of SQL and its values. */
export interface SqlCondition {
  readonly sql: string;
  readonly params: readonly SQLQueryBindings[];
  /** Holds for no other rows than those that meet the condition. */
  readonly isExact?: boolean;
  /** Names so few rows that no index on anything else should be used. */
  readonly isNarrow?: boolean;
}

/** Where rows are. */
interface SqlTable {
  readonly name: string;
  readonly db: Database;
  /** After FROM. */
  readonly from: string;
  readonly columns: readonly SqlColumn[];
  readonly orders: Readonly<Record<SourceOrder, string>>;
  /** Rows the caller may read; null for all. */
  readonly restriction: SqlCondition | null;
  readonly readableIndexes: readonly string[] | null;
  /** SQL that holds for every row that meets the condition, perhaps for others too; null for none. */
  readonly condition?: (condition: RowCondition) => SqlCondition | null;
  /** Whether SQLite's integers may be past 2^53. */
  readonly hasWideIntegers: boolean;
  /** In place of a condition that few rows meet, one that names them; null when walking in the order asked for is better. */
  readonly rare?: (
    where: BoundSql,
    conditions: readonly RowCondition[],
  ) => { readonly sql: string; readonly params: readonly SQLQueryBindings[] } | null;
}

/** SQL with what its question marks stand for. */
interface BoundSql {
  readonly sql: string;
  readonly params: SQLQueryBindings[];
}

/** Batches grow, so that who wants few rows does not wait for many. */
const FIRST_BATCH_ROWS = 16;
const BATCH_ROWS = 512;
/** Texts may have a megabyte each, and several copies of a batch are in memory at a time. */
const BATCH_CHARACTERS = 1024 * 1024;
/** Rows are put together by so many parts at most. */
const MAX_GROUPED_PARTS = 8;
/** Integers up to here can be added up in 64 bits; 0 and 1 may be `true` and `false` of JSON. */
const MAX_PACKED = 4_294_967_296;

/** How one or several cells of SQL become a cell of a row. */
interface Cell {
  readonly index: number;
  readonly sql: string;
  readonly decode: (stored: unknown) => Value;
  /** The member it is of the object in the cell. */
  readonly member: string | null;
}

/** The table as a source of queries. Reads inside a transaction its owner began. */
export class SqlSource implements Source {
  readonly name: string;
  readonly schema: Schema;
  readonly readableIndexes: readonly string[] | null;
  readonly table: SqlTable;
  readonly #used = new Map<number, 'all' | Part[]>();

  constructor(table: SqlTable) {
    this.table = table;
    this.name = table.name;
    this.readableIndexes = table.readableIndexes;
    this.schema = new Schema(
      table.columns.map(({ name, type, isHidden }, index): Column => ({
        name,
        type,
        ...(isHidden && { isHidden }),
        use: (part) => noteUse(this.#used, index, part),
      })),
    );
  }

  *read(
    order: SourceOrder,
    { conditions = [], wanted = this.#used, sort = [], limit = null }: ReadPlan = {},
  ): Generator<Row[]> {
    const { db, from, orders, columns, hasWideIntegers } = this.table;
    const cells = this.#cells(wanted);
    const list = cells.map(({ sql }, at) => `${sql} AS x${at}`).join(', ') || '1';
    const all = this.where(conditions);
    const few = order === 'newest' && sort.length === 0 ? this.table.rare?.(all, conditions) : null;
    const where = few ? { sql: ` WHERE ${few.sql}`, params: few.params } : all;
    const sorts = sort.map(({ column, isDescending }) => {
      const { sql } = columns.find(({ name }) => name === column)!;
      return isDescending ? `${sql} DESC` : sql;
    });
    const cut = limit === null ? '' : ` LIMIT ${Math.max(0, Math.trunc(limit))}`;
    const sql = `SELECT ${list} FROM ${from}${where.sql} ORDER BY ${[...sorts, orders[order]].join(', ')}${cut}`;
    const statement = db.prepare(sql).safeIntegers(hasWideIntegers);
    const write = rowWriter(cells, columns.length);
    const texts = cells.flatMap(({ index }, at) => (isLong(columns[index]!) ? [`x${at}`] : []));
    try {
      let batch: Row[] = [];
      let size = FIRST_BATCH_ROWS;
      let characters = 0;
      for (const stored of statement.iterate(...where.params) as Iterable<Stored>) {
        batch.push(write(stored));
        for (const name of texts) {
          const text = stored[name];
          if (typeof text === 'string') characters += text.length;
        }
        if (batch.length < size && characters < BATCH_CHARACTERS) continue;
        yield batch;
        batch = [];
        characters = 0;
        size = Math.min(size * 2, BATCH_ROWS);
      }
      if (batch.length > 0) yield batch;
    } finally {
      statement.finalize();
    }
  }

  decides(condition: RowCondition): boolean {
    return this.table.condition?.(condition)?.isExact ?? false;
  }

  sortsBy(column: string): boolean {
    return this.table.columns.find(({ name }) => name === column)?.isSortable ?? false;
  }

  readCounted(
    conditions: readonly RowCondition[],
    wanted: Wanted,
  ): Iterable<readonly [Row, number]> | null {
    const { db, from, columns, hasWideIntegers } = this.table;
    const keys: Cell[] = [];
    const packed: PackedCell[] = [];
    for (const [index, parts] of wanted) {
      const column = columns[index]!;
      if (parts === 'all') {
        if (column.isDiverse) return null;
        keys.push(wholeCell(column, index));
        continue;
      }
      for (const cell of groupedCells(column, index, parts) ?? []) {
        if (cell.number === null) keys.push(cell);
        else {
          const needs = column.members ?? column.sql;
          packed.push({ rest: cell, number: cell.number, needs, isCompared: cell.isCompared });
        }
      }
      if (groupedCells(column, index, parts) === null) return null;
    }
    if (keys.length + packed.length > MAX_GROUPED_PARTS) return null;
    const where = this.where(conditions);
    const cells = [...keys, ...packed.map(({ rest }) => rest)];
    const sql =
      packed.length === 0
        ? countedSql(from + where.sql, keys)
        : packedSql(from + where.sql, keys, packed);
    const write = rowWriter(cells, columns.length);
    return (function* () {
      const statement = db.prepare(sql).safeIntegers(hasWideIntegers);
      try {
        for (const stored of statement.iterate(...where.params) as Iterable<Stored>) {
          const times = Number(stored['n']);
          const row = write(stored);
          packed.forEach(({ rest }, at) => putPacked(row, rest, stored, at, keys.length + at));
          yield [row, times] as const;
        }
      } finally {
        statement.finalize();
      }
    })();
  }

  #cells(wanted: Wanted): Cell[] {
    return [...wanted].flatMap(([index, parts]) => {
      const column = this.table.columns[index]!;
      const names = parts === 'all' ? null : memberNames(column, parts);
      if (names === null) return [wholeCell(column, index)];
      return names.map((member) => memberCell(column, index, member));
    });
  }

  /** ` WHERE …` for the caller's restriction and what the conditions allow to tell. */
  where(conditions: readonly RowCondition[]): BoundSql {
    const { restriction, condition } = this.table;
    const parts = conditions.map((one) => condition?.(one) ?? null);
    const all = [restriction, ...parts].filter((part) => part !== null);
    if (all.length === 0) return { sql: '', params: [] };
    const hasNarrow = all.some(({ isNarrow }) => isNarrow);
    // A plus keeps SQLite from taking a condition for a reason to use an index.
    const terms = all.map(({ sql, isNarrow }) =>
      hasNarrow && !isNarrow ? `+(${sql})` : `(${sql})`,
    );
    return {
      sql: ` WHERE ${terms.join(' AND ')}`,
      params: all.flatMap(({ params }) => [...params]),
    };
  }
}

type Stored = Record<string, unknown>;

/** Whether cells may hold long texts. */
function isLong({ isDiverse, form }: SqlColumn): boolean {
  return isDiverse === true && form !== 'micros';
}

/** Remembers that a part of a column is used; without one, all of it. */
export function noteUse(used: Map<number, 'all' | Part[]>, index: number, part?: Part): void {
  const known = used.get(index);
  if (part === undefined) used.set(index, 'all');
  else if (known === undefined) used.set(index, [part]);
  else if (known !== 'all') known.push(part);
}

function wholeCell(column: SqlColumn, index: number): Cell {
  return { index, sql: column.sql, decode: decoderOf(column), member: null };
}

function memberCell({ members }: SqlColumn, index: number, member: string): Cell {
  return { index, sql: `${members} -> ${pathOf(member)}`, decode: memberDecoder, member };
}

const memberDecoder = decoderOf({ form: 'json' });

/** A member as the path of SQLite; the names come from `Part`, which has no quotes in them. */
function pathOf(member: string): string {
  if (!/^[A-Za-z_@][A-Za-z0-9_@:/$-]*$/.test(member)) throw new RangeError('no plain member');
  return `'$."${member}"'`;
}

/** The members parts are about; null when the whole cell is needed. */
function memberNames({ members }: SqlColumn, parts: readonly Part[]): readonly string[] | null {
  if (members === undefined) return null;
  const names = new Set<string>();
  for (const part of parts) {
    if (part.kind === 'floor' || part.member === null) return null;
    names.add(part.member);
  }
  return [...names];
}

/** A cell whose integers are added up: its other values, and what is read of it. */
interface PackedCell {
  readonly rest: Cell;
  readonly number: string;
  /** The column it is made from. */
  readonly needs: string;
  readonly isCompared: boolean;
}

type GroupedCell = Cell & { readonly number: string | null; readonly isCompared: boolean };

/** What rows are put together by for the parts of a column; null when that would not help. */
function groupedCells(
  column: SqlColumn,
  index: number,
  parts: readonly Part[],
): GroupedCell[] | null {
  if (column.form === 'micros') return flooredCell(column, index, parts);
  if (column.members !== undefined) {
    const names = memberNames(column, parts);
    return (
      names?.map((name) => {
        const isNumbers = parts.every(
          (part) => part.kind === 'numbers' || part.kind === 'floor' || part.member !== name,
        );
        const number = isNumbers ? `${column.members} ->> ${pathOf(name)}` : null;
        return { ...memberCell(column, index, name), number, isCompared: isCompared(parts, name) };
      }) ?? null
    );
  }
  const isNumbers =
    column.type !== 'text' && parts.every((part) => part.kind === 'numbers') && !column.toJson;
  if (column.isDiverse && !isNumbers) return null;
  const cell = { ...wholeCell(column, index), isCompared: isCompared(parts, null) };
  if (!isNumbers) return [{ ...cell, number: null }];
  // A blank cell that counts as a text must not come together with the integers.
  const sql = column.blank === '' ? `ifnull(${column.sql}, '')` : column.sql;
  return [{ ...cell, sql, number: column.sql }];
}

function isCompared(parts: readonly Part[], member: string | null): boolean {
  return parts.some((part) => part.kind === 'numbers' && part.member === member && part.isCompared);
}

function flooredCell(
  column: SqlColumn,
  index: number,
  parts: readonly Part[],
): GroupedCell[] | null {
  const steps = parts.map((part) => (part.kind === 'floor' ? part.micros : 0));
  const least = Math.min(...steps);
  // A day has no multiple of every span: the finest must divide all others.
  if (!(least > 0) || !steps.every((step) => step % least === 0)) return null;
  const { sql } = column;
  const floored = `${sql} - ((${sql} % ${least}) + ${least}) % ${least}`;
  return [{ ...wholeCell(column, index), sql: floored, number: null, isCompared: false }];
}

function countedSql(from: string, keys: readonly Cell[]): string {
  const list = keys.map(({ sql }, at) => `${sql} AS x${at}`);
  const groups = keys.length === 0 ? '' : ` GROUP BY ${keys.map((_key, at) => at + 1).join(', ')}`;
  return `SELECT ${[...list, 'count(*) AS n'].join(', ')} FROM ${from}${groups}`;
}

/**
 * Small integers are added up, all other values are part of what rows are put together by. The inner parts have a limit so
 * that SQLite works each expression out once for a row.
 */
function packedSql(from: string, keys: readonly Cell[], packed: readonly PackedCell[]): string {
  const names = keys.map((_key, at) => `x${at}`);
  const needs = [...new Set(packed.map(({ needs: sql }) => sql))];
  const inner = [
    ...keys.map(({ sql }, at) => `${sql} AS x${at}`),
    ...needs.map((sql) => (sql.includes('.') ? `${sql} AS ${sql.split('.')[1]}` : sql)),
    ...packed.map(({ number }, at) => `${number} AS v${at}`),
  ];
  const middle = packed.map(({ rest }, at) => {
    const isSmall = `(v${at} BETWEEN 2 AND ${MAX_PACKED} OR v${at} BETWEEN -${MAX_PACKED} AND -1)`;
    const sql = rest.sql.replace('rows.', '');
    return `v${at}, CASE WHEN typeof(v${at}) = 'integer' AND ${isSmall} THEN NULL ELSE ${sql} END AS x${keys.length + at}`;
  });
  const outer = packed.flatMap(({ isCompared: needsEnds }, at) => [
    `x${keys.length + at}`,
    `count(v${at}) AS n${at}`,
    `sum(v${at}) / ${MAX_PACKED} AS h${at}`,
    `sum(v${at}) % ${MAX_PACKED} AS l${at}`,
    ...(needsEnds ? [`min(v${at}) AS a${at}`, `max(v${at}) AS z${at}`] : []),
  ]);
  const groups = [...names, ...packed.map((_one, at) => `x${keys.length + at}`)];
  return `SELECT ${[...names, ...outer, 'count(*) AS n'].join(', ')} FROM (
    SELECT ${[...names, ...middle].join(', ')} FROM (SELECT ${inner.join(', ')} FROM ${from} LIMIT -1) LIMIT -1
  ) GROUP BY ${groups.join(', ')}`;
}

/** Puts the sum of integers in place of the cell they came from. */
function putPacked(row: Row, cell: Cell, stored: Stored, at: number, key: number): void {
  const count = Number(stored[`n${at}`]);
  if (stored[`x${key}`] !== null || count === 0) return;
  const part = (name: string): number => Number(stored[`${name}${at}`]);
  const sum = new PackedIntegers(count, part('h'), part('l'), part('a'), part('z'));
  put(row, cell, sum as unknown as Value);
}

function put(row: Row, { index, member }: Cell, value: Value): void {
  if (member === null) row[index] = value;
  else row[index] = { ...(row[index] as object | null), [member]: value };
}

/** Makes rows of what SQL gives for cells. */
function rowWriter(cells: readonly Cell[], width: number): (stored: Stored) => Row {
  const empty: Row = new Array<Value>(width).fill(null);
  const targets = cells.map((cell, at) => ({ ...cell, name: `x${at}` }));
  return (stored) => {
    const row = empty.slice();
    for (const { name, index, member, decode } of targets) {
      const value = stored[name];
      if (member === null) row[index] = decode(value);
      else if (value !== null) {
        const object = (row[index] ??= {}) as Record<string, Value>;
        object[member] = decode(value);
      }
    }
    return row;
  };
}

/** How a cell of SQL becomes a value. */
function decoderOf({
  form,
  blank = null,
  toJson,
}: Omit<SqlColumn, 'sql' | 'name' | 'type'>): (stored: unknown) => Value {
  switch (form) {
    case 'micros':
      return (stored) => (stored === null ? null : timeFromMicros(Number(stored)));
    case 'json':
      return (stored) => {
        if (typeof stored !== 'string') return plain(stored, blank);
        const value = valueOfJson(toJson ? toJson(stored) : stored);
        return value === undefined ? stored : value;
      };
    case 'boolean':
      return (stored) =>
        typeof stored === 'number' || typeof stored === 'bigint'
          ? Number(stored) === 1
          : plain(stored, blank);
    default:
      return (stored) => plain(stored, blank);
  }
}

function plain(stored: unknown, blank: Value): Value {
  if (stored === null || stored === undefined) return blank;
  if (typeof stored === 'bigint') {
    const number = Number(stored);
    return Number.isSafeInteger(number) ? number : stored;
  }
  return typeof stored === 'number' || typeof stored === 'string' ? stored : null;
}
