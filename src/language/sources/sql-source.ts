/**
 * A source that is a table of an SQLite database.
 *
 * The SQL consists of the source's own texts; whatever a query says is a bound value.
 */
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { PackedNumbers } from '../../columns/exact-sum.ts';
import { STRATEGY } from '../limits.ts';
import { timeFromMicros } from '../expressions/time.ts';
import { cellTypeOf, Schema, type CellType, type Column, type Part } from '../run/schema.ts';
import { valueOfJson, type Row, type Value } from '../expressions/value.ts';
import {
  type CellBatch,
  type CellPlace,
  type ColumnCell,
  type ColumnPlan,
  countedRows,
  putCell,
} from './column-rows.ts';
import type { ColumnRead, ReadPlan, RowCondition, Source, SourceOrder, Wanted } from './source.ts';
import type { Column as ColumnOfCells, Entry, Selection } from '../../columns/column.ts';
import type { MeasureOrder } from '../../columns/group-sums.ts';
import { floored } from '../../columns/order.ts';

/** In `plain` integers past 2^53 keep their digits. */
type CellForm = 'plain' | 'micros' | 'json' | 'boolean';

export interface SqlColumn extends CellType {
  readonly name: string;
  readonly sql: string;
  readonly form: CellForm;
  readonly isHidden?: boolean;
  /** In place of NULL. */
  readonly blank?: Value;
  /** Converts stored JSON to text. */
  readonly toJson?: (stored: string) => string;
  /** For JSON in binary form: SQL that reads its members. */
  readonly members?: string;
  /** Too many different cells for grouping equal rows to help. */
  readonly isDiverse?: boolean;
  /** SQL orders its cells as the language does. */
  readonly isSortable?: boolean;
}

export interface SqlCondition {
  readonly sql: string;
  readonly params: readonly SQLQueryBindings[];
  /** True for no other rows than those that meet the condition. */
  readonly isExact?: boolean;
  /** Selects so few rows that no other index should be used. */
  readonly isNarrow?: boolean;
}

/** `backward`: from the last of `forward` to the first. */
export type MergedOrder = SourceOrder | 'backward';

/** Rows of another kind of store with the same columns, in batches of columns. */
export interface MoreRows {
  /** What `take` makes of each; it asks for all the columns it needs. */
  batches<Taken>(take: (batch: MoreBatch) => Taken): Iterable<Taken>;
  /** Rows of both in the order of the source: `own` are those of its table, `take` gives the row at a place. */
  merged(
    order: MergedOrder,
    own: Iterable<Stored>,
    take: (batch: MoreBatch) => (place: number) => Stored,
  ): Iterable<Stored>;
  /** What `merged` compares, as columns. */
  keys(order: MergedOrder): string;
}

export interface MoreBatch {
  readonly rows: number;
  /** Those that meet the conditions, and perhaps others where SQL would give others too. */
  readonly selection: Selection;
  /** Members are JSON; with `hasNumbers` their numbers are numbers. */
  columnOf(cell: CellPlace, hasNumbers: boolean): ColumnOfCells;
  /** As the SQL of the cell would give it. */
  cellsOf(cell: CellPlace): (place: number) => unknown;
}

interface SqlTable {
  readonly name: string;
  readonly db: Database;
  readonly from: string;
  readonly columns: readonly SqlColumn[];
  readonly orders: Readonly<Record<SourceOrder, string>>;
  /** Rows the caller may read; null for all. */
  readonly restriction: SqlCondition | null;
  readonly readableIndexes: readonly string[] | null;
  /** True for every row that meets the condition, perhaps for others too; null for none. */
  readonly condition?: (condition: RowCondition) => SqlCondition | null;
  readonly hasWideIntegers: boolean;
  /** By SQL names of columns; null when they cannot be had. */
  readonly columnReader?: ColumnBatches;
  /** Told which way the rows are read. */
  readonly onColumnUse?: (isUsed: boolean) => void;
  /** Of the order `forward`, all different: with `more` no other column is sorted by. */
  readonly forwardColumn?: string;
  /** Null when there are no others that meet the conditions. */
  readonly more?: (conditions: readonly RowCondition[]) => MoreRows | null;
  /**
   * Replaces a condition that few rows meet by one that names them; null when scanning in the requested order is
   * better.
   */
  readonly rare?: (
    where: readonly SqlCondition[],
    conditions: readonly RowCondition[],
  ) => SqlCondition | null;
}

interface BoundSql {
  readonly sql: string;
  readonly params: SQLQueryBindings[];
}

/** Integers up to here can be summed in 64 bits; 0 and 1 may be `true` and `false` of JSON. */
const MAX_PACKED = 4_294_967_296;

interface Cell extends CellPlace {
  readonly sql: string;
  readonly decode: (stored: unknown) => Value;
}

export type ColumnBatches = (
  names: readonly string[],
  tick: () => void,
) => Iterable<{ readonly rows: number; readonly columns: readonly ColumnOfCells[] }> | null;

/** The caller holds the transaction. */
export class SqlSource implements Source {
  readonly name: string;
  readonly schema: Schema;
  readonly readableIndexes: readonly string[] | null;
  readonly table: SqlTable;
  readonly readColumns?: Source['readColumns'];
  readonly #used = new Map<number, 'all' | Part[]>();

  constructor(table: SqlTable) {
    this.table = table;
    if (table.more) this.readColumns = (read) => this.#readBoth(table.more!, read);
    else if (table.columnReader)
      this.readColumns = (read) =>
        columnRows(table, table.columnReader!, read, () => {
          // The tests were left to this source.
          const rows =
            read.tests.length > 0 ? null : this.readCounted(read.conditions, read.wanted);
          if (rows !== null) table.onColumnUse?.(false);
          return rows;
        });
    this.name = table.name;
    this.readableIndexes = table.readableIndexes;
    this.schema = new Schema(
      table.columns.map(({ name, isHidden, ...type }, index): Column => ({
        name,
        ...cellTypeOf(type),
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
    const all = this.#conditions(conditions);
    const more = this.table.more?.(conditions) ?? null;
    const [by] = sort;
    const merged = by === undefined ? order : by.isDescending ? 'backward' : 'forward';
    const few = order === 'newest' && sort.length === 0 ? this.table.rare?.(all, conditions) : null;
    const where = whereSql(few ? [few] : all);
    // A second sort by one column does nothing, and SQLite takes 2,000 terms.
    const sorted = new Map<string, string>();
    for (const { column, isDescending } of sort) {
      if (sorted.has(column)) continue;
      const shown = shownSql(columns.find(({ name }) => name === column)!);
      sorted.set(column, isDescending ? `${shown} DESC` : shown);
    }
    const cut = limit === null ? '' : ` LIMIT ${Math.max(0, Math.trunc(limit))}`;
    const shown = more === null ? list : `${list}, ${more.keys(merged)}`;
    const rest = ` ORDER BY ${[...sorted.values(), orders[order]].join(', ')}${cut}`;
    const select = `SELECT ${shown} FROM ${from}`;
    const own = storedRows(db, select + where.sql + rest, where.params, hasWideIntegers);
    const taken = cells.map((cell, at) => ({ cell, name: `x${at}` }));
    const found =
      more === null
        ? own
        : limited(
            more.merged(merged, own, (batch) => storedAt(batch, taken)),
            limit,
          );
    const write = rowWriter(cells, columns.length);
    const texts = cells.flatMap(({ index }, at) => (isLong(columns[index]!) ? [`x${at}`] : []));
    let batch: Row[] = [];
    let size = STRATEGY.firstBatchRows;
    let characters = 0;
    for (const stored of found) {
      batch.push(write(stored));
      for (const name of texts) {
        const text = stored[name];
        if (typeof text === 'string') characters += text.length;
      }
      if (batch.length < size && characters < STRATEGY.batchCharacters) continue;
      yield batch;
      batch = [];
      characters = 0;
      size = Math.min(size * 2, STRATEGY.batchRows);
    }
    if (batch.length > 0) yield batch;
  }

  decides(condition: RowCondition): boolean {
    return this.table.condition?.(condition)?.isExact ?? false;
  }

  sortsBy(column: string): boolean {
    if (this.table.more) return column === this.table.forwardColumn;
    return this.table.columns.find(({ name }) => name === column)?.isSortable ?? false;
  }

  readCounted(
    conditions: readonly RowCondition[],
    wanted: Wanted,
  ): Iterable<readonly [Row, number]> | null {
    // The other rows are read by columns, or one by one.
    if (this.table.more || wanted.values().some(isListed)) return null;
    return this.#countedInSql(conditions, wanted);
  }

  /** Each of both in its way: the numbers of both are put together by whoever counts. */
  #readBoth(
    moreRows: NonNullable<SqlTable['more']>,
    read: ColumnRead,
  ): Iterable<readonly [Row, number]> | null {
    const { columns, onColumnUse } = this.table;
    const { conditions, wanted, tests, tick, onRead } = read;
    const cells = countedCells(columns, wanted);
    const tested = tests.map(({ column, parts, passes }) => {
      const cells = testedCells(columns[column]!, column, parts);
      return cells && { passes, cells };
    });
    if (cells === null || !tested.every((one) => one !== null)) return null;
    const all = new Map(
      [...wanted].map(([index, parts]) => [index, parts === 'all' ? parts : [...parts]] as const),
    );
    for (const { column, parts } of tests)
      for (const part of parts === 'all' ? [undefined] : parts) noteUse(all, column, part);
    const own = this.#countedInSql(conditions, unlisted(all));
    if (own === null) return null;
    const { length: width } = columns;
    const more = moreRows(conditions);
    onColumnUse?.(more !== null);
    return (function* () {
      for (const one of own) {
        onRead(one[1]);
        if (tests.every(({ passes }) => passes(one[0]))) yield one;
      }
      if (more === null) return;
      const needed = [...cells, ...tested.flatMap((test) => test.cells)];
      const batches = more.batches((batch) => {
        tick();
        return takenBatch(batch, needed);
      });
      yield* countedRows(batches, { cells, tests: tested, width, onRead, instead: () => null });
    })();
  }

  #countedInSql(
    conditions: readonly RowCondition[],
    wanted: Wanted,
  ): Iterable<readonly [Row, number]> | null {
    const { db, from, columns, hasWideIntegers } = this.table;
    const parts = partedCells(columns, wanted);
    if (parts === null || parts.length > STRATEGY.groupedParts) return null;
    const keys: Cell[] = parts.filter(({ number }) => number === null);
    const packed = parts
      .filter(({ number }) => number !== null)
      .map(({ number, isCompared, ...rest }): PackedCell => {
        const { members, sql } = columns[rest.index]!;
        return { rest, number: number!, needs: members ?? sql, isCompared };
      });
    const { sql, params } = whereSql(this.#conditions(conditions));
    const cells = [...keys, ...packed.map(({ rest }) => rest)];
    const table = from + sql;
    const text = packed.length === 0 ? countedSql(table, keys) : packedSql(table, keys, packed);
    const write = rowWriter(cells, columns.length);
    return (function* () {
      for (const stored of storedRows(db, text, params, hasWideIntegers)) {
        const times = Number(stored['n']);
        // Without keys there is a group also of no rows.
        if (times === 0) continue;
        const row = write(stored);
        packed.forEach(({ rest }, at) => putPacked(row, rest, stored, at, keys.length + at));
        yield [row, times] as const;
      }
    })();
  }

  #cells(wanted: Wanted): Cell[] {
    return [...wanted].flatMap(([index, parts]) => {
      const column = this.table.columns[index]!;
      const names = parts === 'all' ? null : memberNames(column, parts);
      if (names === null || names.length > STRATEGY.memberCells) return [wholeCell(column, index)];
      return names.map((member) => memberCell(column, index, member));
    });
  }

  #conditions(conditions: readonly RowCondition[]): readonly SqlCondition[] {
    const { restriction, condition } = this.table;
    const parts = conditions.map((one) => condition?.(one) ?? null);
    return [restriction, ...parts].filter((part) => part !== null);
  }
}

export function whereSql(conditions: readonly SqlCondition[]): BoundSql {
  if (conditions.length === 0) return { sql: '', params: [] };
  const hasNarrow = conditions.some(({ isNarrow }) => isNarrow);
  // A unary plus keeps SQLite from using an index for the condition.
  const terms = conditions.map(({ sql, isNarrow }) =>
    hasNarrow && !isNarrow ? `+(${sql})` : `(${sql})`,
  );
  return {
    sql: ` WHERE ${terms.join(' AND ')}`,
    params: conditions.flatMap(({ params }) => [...params]),
  };
}

type Stored = Record<string, unknown>;

function columnRows(
  { columns, condition, onColumnUse }: SqlTable,
  readerOf: ColumnBatches,
  { conditions, wanted, tests, tick, onRead }: ColumnRead,
  instead: ColumnPlan['instead'],
): Iterable<readonly [Row, number]> | null {
  if (condition && conditions.length > 0) return null;
  const cells = [...wanted].map(([index, parts]): ColumnCell => {
    const column = columns[index]!;
    const isPacked =
      column.form === 'plain' &&
      parts !== 'all' &&
      parts.every((part) => part.kind === 'numbers' && part.member === null);
    return { ...wholeColumn(column, index), numbers: isPacked ? measureOf(parts, null) : null };
  });
  const tested = tests.map(({ column, passes }) => ({
    passes,
    cells: [wholeColumn(columns[column]!, column)],
  }));
  const needed = [...cells, ...tested.flatMap((test) => test.cells)];
  const indexes = [...new Set(needed.map(({ index }) => index))];
  // Without any column the rows are counted all the same.
  const names = indexes.map((index) => columns[index]!.sql.replace('rows.', ''));
  const batches = readerOf(names.length === 0 ? ['_row_id'] : names, tick);
  if (batches === null) return null;
  onColumnUse?.(true);
  const cellBatches = Iterator.from(batches).map((batch) => ({
    rows: batch.rows,
    columnOf: ({ index }: ColumnCell) => batch.columns[indexes.indexOf(index)]!,
  }));
  const { length: width } = columns;
  return countedRows(cellBatches, { cells, tests: tested, width, onRead, instead });
}

function wholeColumn(column: SqlColumn, index: number): ColumnCell {
  return { index, member: null, decode: decoderOf(column), floor: null, numbers: null };
}

function measureOf(parts: readonly Part[], member: string | null): MeasureOrder {
  const own = parts.filter((part) => part.kind !== 'floor' && part.member === member);
  return { isCompared: isCompared(own, member), keepsValues: isListed(own) };
}

/** Null when one of them is better read row by row. */
function countedCells(columns: readonly SqlColumn[], wanted: Wanted): ColumnCell[] | null {
  const cells = partedCells(columns, wanted);
  return (
    cells &&
    cells.map(({ index, member, floor, number, decode }): ColumnCell => {
      const parts = wanted.get(index)!;
      if (number === null || parts === 'all')
        return { index, member, floor, decode, numbers: null };
      return { index, member, floor, decode: numberDecoder, numbers: measureOf(parts, member) };
    })
  );
}

/** JSON, unless it is a number already. */
function numberDecoder(entry: Entry): Value {
  return typeof entry === 'number' ? entry : memberDecoder(entry);
}

/** Null when it looks at more than members. */
function testedCells(
  column: SqlColumn,
  index: number,
  parts: 'all' | readonly Part[],
): ColumnCell[] | null {
  if (column.members === undefined) return [wholeColumn(column, index)];
  const names = parts === 'all' ? null : memberNames(column, parts);
  return (
    names?.map((member) => ({
      index,
      member,
      decode: memberDecoder,
      floor: null,
      numbers: null,
    })) ?? null
  );
}

/** Numbers of which each is needed are grouped as others are. */
function unlisted(wanted: ReadonlyMap<number, 'all' | Part[]>): Wanted {
  const plain = (part: Part): Part | null =>
    part.kind !== 'numbers' || !part.isListed
      ? part
      : part.member === null
        ? null
        : { kind: 'member', member: part.member };
  return new Map(
    [...wanted].map(([index, parts]) => {
      const all = parts === 'all' ? [null] : parts.map(plain);
      return [index, all.every((part) => part !== null) ? all : 'all'];
    }),
  );
}

/** With all the columns that are needed, so that it does not depend on what is read later. */
function takenBatch(batch: MoreBatch, needed: readonly ColumnCell[]): CellBatch {
  const columns = new Map(
    needed.map((cell) => {
      const column = batch.columnOf(cell, cell.numbers !== null);
      const isFloored = cell.floor !== null && column.kind === 'numbers';
      return [cell, isFloored ? floored(column, cell.floor!) : column] as const;
    }),
  );
  const { rows, selection } = batch;
  return { rows, selection, columnOf: (cell) => columns.get(cell)! };
}

function storedAt(
  batch: MoreBatch,
  cells: readonly { readonly cell: Cell; readonly name: string }[],
): (place: number) => Stored {
  const columns = cells.map(({ cell, name }) => ({ name, at: batch.cellsOf(cell) }));
  return (place) => {
    const stored: Stored = {};
    for (const { name, at } of columns) stored[name] = at(place);
    return stored;
  };
}

function* storedRows(
  db: Database,
  sql: string,
  params: readonly SQLQueryBindings[],
  hasWideIntegers: boolean,
): Generator<Stored> {
  const statement = db.prepare(sql).safeIntegers(hasWideIntegers);
  try {
    yield* statement.iterate(...params) as Iterable<Stored>;
  } finally {
    statement.finalize();
  }
}

function* limited<Item>(items: Iterable<Item>, limit: number | null): Generator<Item> {
  let left = limit === null ? Infinity : Math.max(0, Math.trunc(limit));
  if (left === 0) return;
  for (const item of items) {
    yield item;
    if (--left <= 0) return;
  }
}

function isLong({ isDiverse, form }: SqlColumn): boolean {
  return isDiverse === true && form !== 'micros';
}

/** Without a part, all of the cell is used. */
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

/** Names come from `Part` and have no quotes in them. */
function pathOf(member: string): string {
  if (!/^[A-Za-z_@][A-Za-z0-9_@:/$-]*$/.test(member)) throw new RangeError('no plain member');
  return `'$."${member}"'`;
}

function memberNames({ members }: SqlColumn, parts: readonly Part[]): readonly string[] | null {
  if (members === undefined) return null;
  const names = new Set<string>();
  for (const part of parts) {
    if (part.kind === 'floor' || part.member === null) return null;
    names.add(part.member);
  }
  return [...names];
}

/** A cell whose integers are summed: its other values, and what is read of it. */
interface PackedCell {
  readonly rest: Cell;
  readonly number: string;
  readonly needs: string;
  readonly isCompared: boolean;
}

interface GroupedCell extends Cell {
  /** SQL of the number; null: the cell itself is wanted. */
  readonly number: string | null;
  readonly isCompared: boolean;
  readonly floor: number | null;
}

/** Null when grouping would not help. */
function partedCells(columns: readonly SqlColumn[], wanted: Wanted): GroupedCell[] | null {
  const cells: GroupedCell[] = [];
  for (const [index, parts] of wanted) {
    const column = columns[index]!;
    const isWhole = parts === 'all';
    if (isWhole && column.isDiverse) return null;
    const found = isWhole ? [whole(column, index)] : groupedCells(column, index, parts);
    if (found === null) return null;
    cells.push(...found);
  }
  return cells;
}

function whole(column: SqlColumn, index: number): GroupedCell {
  return { ...wholeCell(column, index), number: null, isCompared: false, floor: null };
}

/** Expressions to group by; null when grouping would not help. */
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
        return {
          ...memberCell(column, index, name),
          number,
          isCompared: isCompared(parts, name),
          floor: null,
        };
      }) ?? null
    );
  }
  const isNumbers =
    column.type !== 'text' && parts.every((part) => part.kind === 'numbers') && !column.toJson;
  if (column.isDiverse && !isNumbers) return null;
  const cell = { ...whole(column, index), isCompared: isCompared(parts, null) };
  if (!isNumbers) return [cell];
  // A blank cell that counts as a text must not be grouped with the integers.
  return [{ ...cell, sql: shownSql(column), number: column.sql }];
}

function shownSql({ sql, blank }: SqlColumn): string {
  return blank === '' ? `ifnull(${sql}, '')` : sql;
}

function isListed(parts: 'all' | readonly Part[]): boolean {
  return parts !== 'all' && parts.some((part) => part.kind === 'numbers' && part.isListed);
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
  // One rounding for all steps: the finest must divide the others.
  if (!(least > 0) || !steps.every((step) => step % least === 0)) return null;
  const { sql } = column;
  const rounded = `${sql} - ((${sql} % ${least}) + ${least}) % ${least}`;
  return [{ ...whole(column, index), sql: rounded, floor: least }];
}

function countedSql(from: string, keys: readonly Cell[]): string {
  const list = keys.map(({ sql }, at) => `${sql} AS x${at}`);
  const groups = keys.length === 0 ? '' : ` GROUP BY ${keys.map((_key, at) => at + 1).join(', ')}`;
  return `SELECT ${[...list, 'count(*) AS n'].join(', ')} FROM ${from}${groups}`;
}

/**
 * Small integers are summed, all other values are part of the group key. The inner parts have a limit so that SQLite
 * computes each expression once per row.
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

function putPacked(row: Row, cell: Cell, stored: Stored, at: number, key: number): void {
  const count = Number(stored[`n${at}`]);
  if (stored[`x${key}`] !== null || count === 0) return;
  const part = (name: string): number => Number(stored[`${name}${at}`]);
  const parts = [
    { value: part('h'), exponent: 32 },
    { value: part('l'), exponent: 0 },
  ];
  const sum = new PackedNumbers(count, parts, part('a'), part('z'));
  putCell(row, cell, sum as unknown as Value);
}

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
