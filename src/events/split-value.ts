/**
 * The values a histogram splits by, as texts (EV-80): a column, or a member of `extracted_fields` by the names of searches (SL-41).
 */
import { memberAt } from '../base/member-path.ts';
import type { FilterRow } from './query-filter.ts';

/** How a value is read in SQL. */
export interface SplitSql {
  readonly sql: string;
  readonly params: readonly string[];
  /** The text of what SQL gave; null for none. */
  readonly textOf: (value: unknown) => string | null;
}

const COLUMNS: Readonly<Record<string, string>> = {
  index: '"index"',
  sourcetype: 'sourcetype',
  source: 'source',
  host: 'host',
};
const PREFIX = 'extracted_fields.';

/** Reads the values of a field. */
export function splitSql(name: string): SplitSql {
  if (Object.hasOwn(COLUMNS, name)) return { sql: COLUMNS[name]!, params: [], textOf };
  const member = memberName(name);
  if (member.includes('.')) {
    return {
      sql: 'json(fields)',
      params: [],
      textOf: (json) => textOf(memberAt(JSON.parse(String(json)), member, false)),
    };
  }
  const path = `$.${JSON.stringify(member)}`;
  // As a value, true is 1.
  const sql = `CASE fields -> ? WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE fields ->> ? END`;
  return { sql, params: [path, path], textOf };
}

/** The same of a row that was read. */
export function splitText(row: FilterRow, name: string): string | null {
  if (Object.hasOwn(COLUMNS, name)) return row[name as 'host'];
  return textOf(memberAt(JSON.parse(row.fields), memberName(name), false));
}

function memberName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
