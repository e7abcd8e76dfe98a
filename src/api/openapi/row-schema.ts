/** The rows of a dataset as JSON Schema, with a real value of each column as its example. */
import type { DescribedColumn, DescribedRows } from '../../operations/resources.ts';
import type { JsonObject } from './models.ts';

const ROW_ID = { type: 'integer', minimum: 1, description: 'Stays with its row' };

export function rowSchema({ columns, blank }: DescribedRows): JsonObject {
  const properties = columns.map((column): [string, JsonObject] => [
    column.name,
    columnSchema(column, blank === 'null' ? 'null' : 'string'),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries([['_row_id', ROW_ID], ...properties]),
    required: ['_row_id'],
  };
}

/** Omitted columns are blank in a new row and unchanged in an old one. */
export function inputSchema(
  { writableColumns }: DescribedRows,
  { withRowId }: { readonly withRowId: boolean },
): JsonObject {
  const properties = writableColumns.map((column): [string, JsonObject] => [
    column.name,
    columnSchema(column, 'string', 'null'),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries([
      ...(withRowId ? [['_row_id', ROW_ID] as const] : []),
      ...properties,
    ]),
    ...(withRowId ? { required: ['_row_id'] } : {}),
    additionalProperties: false,
  };
}

function columnSchema({ type, example }: DescribedColumn, ...besides: string[]): JsonObject {
  const types = [...new Set([type, ...besides])];
  return {
    type: types.length === 1 ? types[0] : types,
    ...(example === undefined ? {} : { examples: [example] }),
  };
}
