/**
 * SQL conditions for "the text contains this term".
 *
 * ASCII rows use SQLite's LIKE, which ignores ASCII case exactly as folding does (0.2 µs per row of 250 bytes); other
 * rows `svc_has_folded`. The substring index only names candidates, so the result cannot depend on it.
 */
import type { Database } from 'bun:sqlite';
import { foldCase } from '../../tables/filter/words.ts';
import { STRATEGY } from '../limits.ts';

/** A boolean expression with `?` placeholders. */
export interface SqlCondition {
  readonly sql: string;
  readonly params: readonly (string | number)[];
}

const NON_ASCII = /[^\x00-\x7f]/;

/** Case folding: NFC, upper case, lower case, final sigma to sigma. */
export function foldedText(text: string): string {
  return NON_ASCII.test(text) ? foldCase(text.normalize('NFC')) : text.toLowerCase();
}

export function registerTermFunctions(db: Database): void {
  const options = { deterministic: true, directOnly: true } as const;
  db.function('svc_has_folded', options, (text: string | null, folded: string) =>
    text !== null && foldedText(text).includes(folded) ? 1 : 0,
  );
  db.function('svc_spaced_has', options, (json: string, folded: string) =>
    foldedText(spacedJson(json)).includes(folded) ? 1 : 0,
  );
}

/** Exact, without the index. */
export function dataHas(term: string): SqlCondition {
  return columnHas('data', foldedText(term));
}

export function anyMemberHas(term: string): SqlCondition {
  const folded = foldedText(term);
  const texts = ['data', '"index"', 'sourcetype', 'source', 'host'].map((column) =>
    columnHas(column, folded),
  );
  return anyOf([...texts, ...timesHave(folded), fieldsHave(folded)]);
}

function columnHas(column: string, folded: string): SqlCondition {
  // No stored text contains NUL, and a LIKE pattern would end there.
  if (folded.includes('\0')) return { sql: '0', params: [] };
  if (folded.length > STRATEGY.likeCharacters) {
    return { sql: `svc_has_folded(${column}, ?)`, params: [folded] };
  }
  // A folded term with non-ASCII characters cannot occur in ASCII text.
  if (NON_ASCII.test(folded)) {
    return { sql: `(ascii = 0 AND svc_has_folded(${column}, ?))`, params: [folded] };
  }
  return {
    sql: `(CASE ascii WHEN 1 THEN ${column} LIKE ? ESCAPE '\\' ELSE svc_has_folded(${column}, ?) END)`,
    params: [likePattern(folded), folded],
  };
}

function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** The texts of both times, as RFC 3339 and as `YYYY-MM-DD HH:MM:SS.ffffff`. */
function timesHave(folded: string): SqlCondition[] {
  if (!isTimeLike(folded)) return [];
  return ['created', 'updated'].flatMap((column) => {
    const seconds = `${column} / 1000000`;
    const fraction = `printf('%06d', ${column} % 1000000)`;
    return [
      `strftime('%Y-%m-%dt%H:%M:%S', ${seconds}, 'unixepoch') || '.' || ${fraction} || 'z'`,
      `strftime('%Y-%m-%d %H:%M:%S', ${seconds}, 'unixepoch') || '.' || ${fraction}`,
    ].map((text) => ({ sql: `instr(${text}, ?) > 0`, params: [folded] }));
  });
}

/** The term could occur in the text of a time, which the substring index does not contain. */
export function isTimeLike(folded: string): boolean {
  return /^[0-9tz:. -]{1,27}$/.test(folded);
}

/** JSON text with one space after `:` and `,`. */
function fieldsHave(folded: string): SqlCondition {
  if (!/[:,\s]/.test(folded)) return columnHas('json(fields)', folded);
  return { sql: 'svc_spaced_has(json(fields), ?)', params: [folded] };
}

/** Adds one space after each `:` and `,` outside strings. */
export function spacedJson(json: string): string {
  // A pattern for whole strings would take seconds for a long one.
  let isInside = false;
  return json.replace(/\\.|[":,]/g, (part) => {
    if (part === '"') isInside = !isInside;
    return !isInside && (part === ':' || part === ',') ? `${part} ` : part;
  });
}

function anyOf(conditions: readonly SqlCondition[]): SqlCondition {
  return {
    sql: `(${conditions.map(({ sql }) => sql).join(' OR ')})`,
    params: conditions.flatMap(({ params }) => params),
  };
}

/** True when empty. */
export function allOf(conditions: readonly SqlCondition[]): SqlCondition {
  if (conditions.length === 0) return { sql: '1', params: [] };
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND '),
    params: conditions.flatMap(({ params }) => params),
  };
}
