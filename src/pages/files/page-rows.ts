/** Rows as texts with all digits of the file's numbers. */
import { JsonNumber, parseJson } from '../../base/json/json.ts';
import type { RowsPage } from '../../tables/copy/table-cache.ts';

export type PageRow = Readonly<Record<string, unknown>>;

/** Of a page read as `json`. */
export async function rowsOf({ body }: RowsPage): Promise<readonly PageRow[]> {
  return parseJson(await new Response(body).text()) as readonly PageRow[];
}

/** No grouping, a point before decimals; `''` for a blank. */
export function cellText(row: PageRow, column: string): string {
  const value = Object.hasOwn(row, column) ? row[column] : null;
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.source;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
