/**
 * Rows of a dataset as pages show them: texts with all digits of the file's numbers.
 */
import { JsonNumber, parseJson } from '../../base/json/json.ts';
import type { RowsPage } from '../../tables/copy/table-cache.ts';

export type PageRow = Readonly<Record<string, unknown>>;

/** The rows of a page read as `json`. */
export async function rowsOf({ body }: RowsPage): Promise<readonly PageRow[]> {
  return parseJson(await new Response(body).text()) as readonly PageRow[];
}

/** A cell as it is read and edited: no grouping, a point before decimals; `''` for a blank. */
export function cellText(row: PageRow, column: string): string {
  const value = Object.hasOwn(row, column) ? row[column] : null;
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.source;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
