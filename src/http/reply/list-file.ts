/**
 * The list of a page as a file: JSON, NDJSON, CSV, a workbook or Parquet. For lists short enough for memory; datasets and
 * events stream.
 */
import { AppError } from '../../base/errors.ts';
import { csvCell } from '../../base/text/csv-cell.ts';
import { contentDisposition } from '../../tables/encode/download-name.ts';
import type { Row } from '../../tables/encode/encode.ts';
import { encoderFor } from '../../tables/encode/encoders.ts';
import { type Format, formatDetails, FORMATS } from '../../tables/read/format.ts';
import { bodyReply, type Reply } from './reply.ts';
import type { ColumnType } from '../../tables/infer/file-type.ts';
import { Type } from '@sinclair/typebox';
import type { Context } from '../context.ts';
import type { ParameterDescription } from '../operation-description.ts';

/** The API pages through more. */
const MAX_LIST_ROWS = 10_000;

/** Lists and objects are JSON text in formats without a place for them. */
export type ListRow = Readonly<Record<string, unknown>>;

/** A download called `<name>.<format>` unless it is JSON. Throws `invalid-query` for too many rows. */
export async function listFile(
  name: string,
  format: Format,
  rows: readonly ListRow[],
): Promise<Reply> {
  requireListRows(rows.length);
  const { mediaType } = formatDetails[format];
  const headers = {
    'Content-Disposition': contentDisposition(name, format),
    'Cache-Control': 'no-store',
  };
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  switch (format) {
    case 'json':
      return bodyReply(JSON.stringify(rows), mediaType, {
        headers: { 'Cache-Control': 'no-store' },
      });
    case 'ndjson':
      return bodyReply(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), mediaType, {
        headers,
      });
    case 'csv':
      return bodyReply(csvOf(names, rows), mediaType, { headers });
    default:
      return bodyReply(await typedFile(format, names, rows), mediaType, { headers });
  }
}

/** Throws `invalid-query`. */
export function requireListRows(count: number): void {
  if (count <= MAX_LIST_ROWS) return;
  const [most, found] = [MAX_LIST_ROWS, count].map((one) => one.toLocaleString('en'));
  throw new AppError(
    'invalid-query',
    `A file of a list has up to ${most} rows, and ${found} match: filter it`,
  );
}

export function formatHrefs(path: string, query: URLSearchParams): Record<Format, string> {
  const entries = FORMATS.map((format) => {
    const asked = new URLSearchParams(query);
    asked.set('format', format);
    return [format, `${path}?${asked}`];
  });
  return Object.fromEntries(entries) as Record<Format, string>;
}

function csvOf(names: readonly string[], rows: readonly ListRow[]): string {
  const lines = rows.map((row) => names.map((name) => csvCell(String(plain(row[name]) ?? ''))));
  return [names.map(csvCell), ...lines].map((cells) => `${cells.join(',')}\n`).join('');
}

async function typedFile(
  format: Format,
  names: readonly string[],
  rows: readonly ListRow[],
): Promise<AsyncIterable<Uint8Array>> {
  const encode = await encoderFor(format);
  const columns = names.map((name) => ({
    name,
    type: typeOf(rows.map((row) => plain(row[name]))),
  }));
  const shape = { columns, rowIdAt: null, blank: 'null' as const };
  const stored = rows.map((row, at): Row => [
    at + 1,
    ...columns.map(({ name, type }) => storedValue(plain(row[name]), type)),
  ]);
  return eachPiece(encode(shape, stored));
}

/** Lets other requests in between. */
async function* eachPiece(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    yield chunk;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

type Plain = string | number | boolean | null;

function plain(value: unknown): Plain {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  return JSON.stringify(value);
}

function typeOf(values: readonly Plain[]): ColumnType {
  const present = values.filter((value) => value !== null);
  if (present.length === 0) return 'string';
  if (present.every((value) => typeof value === 'boolean')) return 'boolean';
  if (present.every((value) => Number.isSafeInteger(value))) return 'integer';
  return present.every((value) => typeof value === 'number') ? 'number' : 'string';
}

function storedValue(value: Plain, type: ColumnType): string | number | null {
  if (typeof value !== 'boolean') return value;
  return type === 'boolean' ? Number(value) : String(value);
}

/** Of the address; null without one. Throws `not-found` for an unknown one. */
export function askedFormat(context: Context): Format | null {
  const asked = context.queryValue('format');
  if (asked === null || asked === '') return null;
  const format = FORMATS.find((one) => one === asked);
  if (format !== undefined) return format;
  throw new AppError('not-found', 'Not found.');
}

export const formatParameter: ParameterDescription = {
  name: 'format',
  in: 'query',
  description: 'The rows as a file instead of a page',
  schema: Type.Union(FORMATS.map((format) => Type.Literal(format))),
};
