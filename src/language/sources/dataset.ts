/** Cells as the dataset's own address shows them. */
import type { Database } from 'bun:sqlite';
import { type Blank, tableColumns } from '../../tables/read/query-table.ts';
import { nativeOf } from '../../tables/read/query-plan.ts';
import { TableColumns } from '../../tables/copy/table-columns.ts';
import type { Column } from '../../tables/types.ts';
import { wideText } from '../../tables/values/wide-number.ts';
import { SqlSource, type SqlColumn } from './sql-source.ts';

export interface DatasetOrder {
  readonly name: string;
  readonly path: string;
  readonly columns: readonly Column[];
  readonly blank: Blank;
  readonly sequence: number;
}

/** The caller holds the transaction. */
export function datasetSource(
  db: Database,
  order: DatasetOrder,
  onColumnUse: (isUsed: boolean) => void = () => {},
): SqlSource {
  const stored = TableColumns.of(db, order.path);
  const [rowId, ...cells] = tableColumns(order.columns);
  const columns = cells.map((column, index): SqlColumn => {
    const { type, file, dates } = order.columns[index]!;
    const { wide } = column;
    const form =
      wide || file?.type.kind === 'nested' ? 'json' : type === 'boolean' ? 'boolean' : 'plain';
    return {
      name: column.name,
      type: 'json',
      sql: column.sql,
      form,
      native: {
        ...nativeOf(order.columns[index]!),
        ...((dates || type !== 'string') && { isBlankNull: true }),
      },
      blank: order.blank === 'empty' ? '' : null,
      isSortable: form !== 'json',
      ...(wide && { toJson: (stored: string) => wideText(stored, wide) }),
    };
  });
  return new SqlSource({
    name: order.name,
    db,
    from: 'rows',
    columns: [
      ...columns,
      {
        name: '_row_id',
        type: 'int',
        sql: rowId!.sql,
        form: 'plain',
        isHidden: true,
        isSortable: true,
      },
    ],
    orders: { forward: 'rows._row_id', newest: 'rows._row_id DESC' },
    restriction: null,
    readableIndexes: null,
    ...(stored && {
      columnReader: (names, tick) => stored.read(names, tick),
      onColumnUse,
    }),
    hasWideIntegers: order.columns.some(
      ({ type, file }) => type === 'integer' || file !== undefined,
    ),
  });
}
