/** Values a histogram splits by, as text: a column or a member of `extracted_fields`, by its search-language name. */
import { memberAt } from '../../base/json/member-path.ts';
import type { FilterRow } from './query-filter.ts';

export interface SplitSql {
  readonly sql: string;
  readonly params: readonly string[];
  /** Converts an SQL value; null when missing. */
  readonly textOf: (value: unknown) => string | null;
}

const COLUMNS: Readonly<Record<string, string>> = {
  index: '"index"',
  sourcetype: 'sourcetype',
  source: 'source',
  host: 'host',
};
const PREFIX = 'extracted_fields.';

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
  // `->>` would give 1 for true.
  const sql = `CASE fields -> ? WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE fields ->> ? END`;
  return { sql, params: [path, path], textOf };
}

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
