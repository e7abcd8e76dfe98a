/**
 * Rows as stages take them, from batches of columns: equal ones as one with their number, numbers that are only added
 * up or compared packed, and rows that fail a test of one column left out by its different cells.
 */
import { type Column, entryAt, type Entry, type Selection } from '../../columns/column.ts';
import type { MeasureOrder } from '../../columns/group-sums.ts';
import { Grouping } from '../../columns/grouping.ts';
import { PackedNumbers } from '../../columns/exact-sum.ts';
import { EntryTest } from '../../columns/select.ts';
import { STRATEGY } from '../limits.ts';
import type { Row, Value } from '../expressions/value.ts';
import type { RowTest } from './source.ts';

/** Of a source's rows: a cell, or a member of one. */
export interface CellPlace {
  /** Of the source's schema. */
  readonly index: number;
  readonly member: string | null;
}

export interface ColumnCell extends CellPlace {
  readonly decode: (entry: Entry) => Value;
  /** Times are rounded down to multiples of so many microseconds; null: not. */
  readonly floor: number | null;
  /** Null: the cell itself is wanted; else its numbers may be packed. */
  readonly numbers: MeasureOrder | null;
}

export interface CellBatch {
  readonly rows: number;
  /** Default: all. */
  readonly selection?: Selection;
  columnOf(cell: ColumnCell): Column;
}

type CountedRow = readonly [Row, number];
type CountedRows = Iterable<CountedRow>;

export interface ColumnTest {
  readonly passes: RowTest['passes'];
  /** What it looks at. */
  readonly cells: readonly ColumnCell[];
}

export interface ColumnPlan {
  readonly cells: readonly ColumnCell[];
  readonly tests: readonly ColumnTest[];
  /** Columns of a row. */
  readonly width: number;
  readonly onRead: (rows: number) => void;
  /** Another way to the same rows, better where nearly all differ; null for none. */
  readonly instead: () => CountedRows | null;
}

/** As `Source.readCounted`. */
export function* countedRows(
  batches: Iterable<CellBatch>,
  { cells, tests, width, onRead, instead }: ColumnPlan,
): Generator<CountedRow> {
  const empty: Row = new Array<Value>(width).fill(null);
  const keys = cells.filter(({ numbers }) => numbers === null);
  const measures = cells.filter(({ numbers }) => numbers !== null);
  const grouping = new Grouping(
    keys.length,
    measures.map(({ numbers }) => numbers!),
  );
  const ordered = [...keys, ...measures];
  let isBegun = false;
  const filters = tests.map((test) => rowFilter(test, empty));
  for (const batch of batches) {
    const { selection: before = null } = batch;
    const selection = filters.reduce((left, select) => select(batch, left), before);
    const columns = ordered.map((cell) => batch.columnOf(cell));
    grouping.push(batch.rows, columns, selection);
    const isDiverse = !isBegun && grouping.size > batch.rows * STRATEGY.diverseShare;
    isBegun = true;
    const others = isDiverse && measures.length === 0 ? instead() : null;
    if (others !== null) {
      for (const one of others) {
        onRead(one[1]);
        yield one;
      }
      return;
    }
    onRead(before === null ? batch.rows : before.reduce((sum, one) => sum + one, 0));
    if (grouping.isFull) yield* groupedRows(grouping, keys, measures, empty);
  }
  yield* groupedRows(grouping, keys, measures, empty);
}

/** The rows that pass a test besides: asked once per entry where it looks at one cell. */
function rowFilter(
  { cells, passes }: ColumnTest,
  empty: Row,
): (batch: CellBatch, before: Selection) => Selection {
  const [only, ...others] = cells;
  if (only !== undefined && others.length === 0) {
    const test = new EntryTest((entry) => {
      const row = empty.slice();
      putCell(row, only, only.decode(entry));
      return passes(row);
    });
    return (batch, before) => test.select(batch.columnOf(only), before);
  }
  return (batch, before) => {
    const columns = cells.map((cell) => ({ cell, valueAt: decoded(batch.columnOf(cell), cell) }));
    const kept = new Uint8Array(batch.rows);
    for (let at = 0; at < batch.rows; at++) {
      if (before?.[at] === 0) continue;
      const row = empty.slice();
      for (const { cell, valueAt } of columns) putCell(row, cell, valueAt(at));
      if (passes(row)) kept[at] = 1;
    }
    return kept;
  };
}

function decoded(column: Column, { decode }: ColumnCell): (row: number) => Value {
  if (column.kind === 'numbers') return (row) => decode(entryAt(column, row));
  const { codes, entries } = column;
  const known = new Map<number, Value>();
  return (row) => known.getOrInsertComputed(codes[row]!, (code) => decode(entries[code]!));
}

export function putCell(row: Row, { index, member }: CellPlace, value: Value): void {
  if (member === null) row[index] = value;
  else row[index] = { ...(row[index] as object | null), [member]: value };
}

function* groupedRows(
  grouping: Grouping,
  keys: readonly ColumnCell[],
  measures: readonly ColumnCell[],
  empty: Row,
): Generator<CountedRow> {
  for (const group of grouping.take()) {
    const row = empty.slice();
    keys.forEach((cell, at) => putCell(row, cell, cell.decode(group.keys[at]!)));
    measures.forEach((cell, at) => {
      const measure = group.measures[at]!;
      const isPacked = measure instanceof PackedNumbers;
      putCell(row, cell, isPacked ? (measure as unknown as Value) : cell.decode(measure));
    });
    yield [row, group.count];
  }
}
