/** Declared once in the document; operations refer to them. */
import type { JsonObject } from './models.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: JsonObject;
}

const text = { type: 'string' };

const listParameters: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'At most so many rows; without it all that match',
    schema: { type: 'integer', minimum: 1 },
  },
  {
    name: 'offset',
    in: 'query',
    description: 'Rows to skip; a cursor is faster',
    schema: { type: 'integer', minimum: 0, default: 0 },
  },
  {
    name: 'cursor',
    in: 'query',
    description: 'From the `Link` header of the page before',
    schema: text,
  },
  {
    name: 'sort',
    in: 'query',
    description: 'Column names with commas between; `-` in front sorts downwards',
    schema: text,
  },
  {
    name: 'order',
    in: 'query',
    description: 'For columns of `sort` without `-`',
    schema: { enum: ['asc', 'desc'], default: 'asc' },
  },
  {
    name: 'filter',
    in: 'query',
    description:
      'A JSON object: `{"price":{"$gt":50},"$or":[{"name":"a"},{"name":"b"}]}`. Operators: $eq $ne $gt $gte $lt $lte ' +
      '$in $nin $contains $icontains $startswith $endswith $regex $null $not; $and, $or and $not combine',
    schema: text,
  },
  {
    name: 'q',
    in: 'query',
    description: 'Words that the cells of a row contain; the last one may be a beginning',
    schema: text,
  },
  {
    name: 'columns',
    in: 'query',
    description: 'Just these columns, with commas between',
    schema: text,
  },
  {
    name: 'format',
    in: 'query',
    description: 'Wins over `Accept`',
    schema: { enum: ['json', 'ndjson', 'csv', 'xlsx', 'parquet'], default: 'json' },
  },
  {
    name: 'at',
    in: 'query',
    description:
      'As it was right after this change (its id in the history), or at this time (RFC 3339); for those who may also write it',
    schema: text,
  },
];

const dryRun: Parameter = {
  name: 'dry_run',
  in: 'query',
  description: '1: check everything and write nothing',
  schema: { enum: ['0', '1'], default: '0' },
};

const rowId: Parameter = {
  name: 'row_id',
  in: 'path',
  required: true,
  description: '`_row_id` of the row',
  schema: { type: 'integer', minimum: 1 },
};

const conditional: readonly Parameter[] = [
  {
    name: 'If-None-Match',
    in: 'header',
    description: 'An `ETag` of an earlier answer; 304 when nothing changed',
    schema: text,
  },
  {
    name: 'If-Match',
    in: 'header',
    description: 'An `ETag` of this dataset; 412 when the file has changed since',
    schema: text,
  },
  {
    name: 'Prefer',
    in: 'header',
    description:
      '`handling=lenient`: values that do not fit an inferred type are taken, and the type follows',
    schema: text,
  },
];

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A repeat with the same key is answered as the first request and changes nothing',
  schema: { type: 'string', maxLength: 255 },
};

const all: ReadonlyMap<string, Parameter> = new Map(
  [...listParameters, dryRun, rowId, ...conditional, idempotencyKey].map((parameter) => [
    parameter.name,
    parameter,
  ]),
);

export const LIST_PARAMETERS = referTo([
  ...listParameters.map(({ name }) => name),
  'If-None-Match',
]);
export const READ_PARAMETERS = referTo(['If-None-Match']);
export const SCHEMA_PARAMETERS = referTo(['at', 'If-None-Match']);
export const CHANGE_PARAMETERS = referTo(['dry_run', 'If-Match', 'Prefer', 'Idempotency-Key']);
export const ROW_PARAMETERS = referTo(['columns', 'at', 'If-None-Match']);
export const ROW_PARAMETER = referTo(['row_id'])[0]!;

export function parameterComponents(): JsonObject {
  return Object.fromEntries(all);
}

export const headerComponents: JsonObject = {
  ETag: { description: 'The version of this answer', schema: text },
  'X-Total-Count': { description: 'Rows that match, on all pages', schema: { type: 'integer' } },
  Link: { description: 'The next page, with `rel="next"`; absent on the last', schema: text },
};

export function headersNamed(...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function referTo(names: readonly string[]): readonly JsonObject[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
