/**
 * How "the text holds this term" becomes SQL over `events` (EV-34, EV-35, SL-30, SL-63).
 *
 * A row that is all ASCII is searched by SQLite's LIKE, which ignores the case of ASCII letters exactly as folding does:
 * measured 0.2 µs a row of 250 bytes. Other rows go through `svc_has_folded`. The substring index only names candidates; the
 * condition here is always checked as well, so the answer cannot depend on it.
 */
import type { Database } from 'bun:sqlite';
import { foldCase } from '../dataset/words.ts';

/** A boolean SQL expression with `?` placeholders and their values. */
export interface SqlCondition {
  readonly sql: string;
  readonly params: readonly (string | number)[];
}

const NON_ASCII = /[^\x00-\x7f]/;
/** LIKE compares naively, so a long term in a long text could take minutes. */
const MAX_LIKE_LENGTH = 200;

/** The text without differences of case (SL-30): NFC, upper case, lower case, final sigma to sigma. */
export function foldedText(text: string): string {
  return NON_ASCII.test(text) ? foldCase(text.normalize('NFC')) : text.toLowerCase();
}

/** Makes the functions that the conditions of this file use known to a connection. */
export function registerTermFunctions(db: Database): void {
  const options = { deterministic: true, directOnly: true } as const;
  db.function('svc_has_folded', options, (text: string | null, folded: string) =>
    text !== null && foldedText(text).includes(folded) ? 1 : 0,
  );
  db.function('svc_spaced_has', options, (json: string, folded: string) =>
    foldedText(spacedJson(json)).includes(folded) ? 1 : 0,
  );
}

/** `data` holds the term. The exact condition, without the index. */
export function dataHas(term: string): SqlCondition {
  return columnHas('data', foldedText(term));
}

/** The term occurs in at least one of the nine members of an event (EV-34). */
export function anyMemberHas(term: string): SqlCondition {
  const folded = foldedText(term);
  const texts = ['data', '"index"', 'sourcetype', 'source', 'host'].map((column) =>
    columnHas(column, folded),
  );
  return anyOf([...texts, ...timesHave(folded), fieldsHave(folded)]);
}

function columnHas(column: string, folded: string): SqlCondition {
  // No text of an event holds NUL (EV-28, EV-62), and a pattern would end there.
  if (folded.includes('\0')) return { sql: '0', params: [] };
  if (folded.length > MAX_LIKE_LENGTH) {
    return { sql: `svc_has_folded(${column}, ?)`, params: [folded] };
  }
  // What stays non-ASCII when folded cannot be in an ASCII text.
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

/** The texts of the two times, as EV-2 and as `YYYY-MM-DD HH:MM:SS.ffffff`. */
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

/** Whether a folded term could stand in the text of a time; such a term is never looked up in the substring index. */
export function isTimeLike(folded: string): boolean {
  return /^[0-9tz:. -]{1,27}$/.test(folded);
}

/** `extracted_fields` as JSON text with one space after `:` and `,`. */
function fieldsHave(folded: string): SqlCondition {
  if (!/[:,\s]/.test(folded)) return columnHas('json(fields)', folded);
  return { sql: 'svc_spaced_has(json(fields), ?)', params: [folded] };
}

/** Compact JSON with one space after each `:` and `,` that stands outside of a string. */
export function spacedJson(json: string): string {
  // No pattern for a whole string: in a long one it would cost seconds.
  let isInside = false;
  return json.replace(/\\.|[":,]/g, (part) => {
    if (part === '"') isInside = !isInside;
    return !isInside && (part === ':' || part === ',') ? `${part} ` : part;
  });
}

/** One of the conditions holds. */
function anyOf(conditions: readonly SqlCondition[]): SqlCondition {
  return {
    sql: `(${conditions.map(({ sql }) => sql).join(' OR ')})`,
    params: conditions.flatMap(({ params }) => params),
  };
}

/** All of the conditions hold; true for none. */
export function allOf(conditions: readonly SqlCondition[]): SqlCondition {
  if (conditions.length === 0) return { sql: '1', params: [] };
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND '),
    params: conditions.flatMap(({ params }) => params),
  };
}
