/**
 * Rows as stages take them, from batches of columns: equal ones as one with their number, numbers that are only added
 * up or compared packed, and rows that fail a test of one column left out by its different cells.
 */
import type { Column, Entry, Selection } from '../../columns/column.ts';
import type { MeasureOrder } from '../../columns/group-sums.ts';
import { Grouping } from '../../columns/grouping.ts';
import { PackedNumbers } from '../../columns/exact-sum.ts';
import { EntryTest } from '../../columns/select.ts';
import { STRATEGY } from '../limits.ts';
import type { Row, Value } from '../expressions/value.ts';
import type { RowTest } from './source.ts';

export interface ColumnCell {
  /** Of the source's schema. */
  readonly index: number;
  readonly decode: (entry: Entry) => Value;
  /** Null: the cell itself is wanted; else its numbers may be packed. */
  readonly numbers: MeasureOrder | null;
}

export interface CellBatch {
  readonly rows: number;
  columnOf(index: number): Column;
}

type CountedRows = Iterable<readonly [Row, number]>;

export interface ColumnPlan {
  readonly cells: readonly ColumnCell[];
  readonly tests: readonly (RowTest & Pick<ColumnCell, 'decode'>)[];
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
): Generator<readonly [Row, number]> {
  const empty: Row = new Array<Value>(width).fill(null);
  const keys = cells.filter(({ numbers }) => numbers === null);
  const measures = cells.filter(({ numbers }) => numbers !== null);
  const grouping = new Grouping(
    keys.length,
    measures.map(({ numbers }) => numbers!),
  );
  const ordered = [...keys, ...measures];
  let isBegun = false;
  const row = empty.slice();
  const filters = tests.map(({ column, passes, decode }) => {
    const test = new EntryTest((entry) => {
      row.fill(null);
      row[column] = decode(entry);
      return passes(row);
    });
    return { column, test };
  });
  for (const batch of batches) {
    const selection = filters.reduce<Selection>(
      (before, { column, test }) => test.select(batch.columnOf(column), before),
      null,
    );
    const columns = ordered.map(({ index }) => batch.columnOf(index));
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
    onRead(batch.rows);
    if (grouping.isFull) yield* groupedRows(grouping, keys, measures, empty);
  }
  yield* groupedRows(grouping, keys, measures, empty);
}

function* groupedRows(
  grouping: Grouping,
  keys: readonly ColumnCell[],
  measures: readonly ColumnCell[],
  empty: Row,
): Generator<readonly [Row, number]> {
  for (const group of grouping.take()) {
    const row = empty.slice();
    keys.forEach(({ index, decode }, at) => (row[index] = decode(group.keys[at]!)));
    measures.forEach(({ index, decode }, at) => {
      const measure = group.measures[at]!;
      row[index] =
        measure instanceof PackedNumbers ? (measure as unknown as Value) : decode(measure);
    });
    yield [row, group.count];
  }
}
