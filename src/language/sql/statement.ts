/**
 * What must be known of a statement before SQLite reads it: its tokens with their places, that it is one and only
 * reads, its parameters, and the queries that its first comments name as tables. Rights never depend on this.
 */
import { Problem, type Place } from '../syntax/problem.ts';

/** As SQLite takes texts apart. What is not closed is a token of its own up to the end, for SQLite to refuse. */
const TOKEN =
  /(?<space>[ \t\n\f\r]+)|(?<comment>--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?)|(?<text>'(?:[^']|'')*'?)|(?<name>"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?)|(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(?<value>\?\d*|[:@$][\w$\u0080-\uffff]+)|(?<other>[^])/gy;

interface Token extends Place {
  readonly kind: 'text' | 'name' | 'word' | 'value' | 'other';
  readonly text: string;
  /** Names without their quotes. */
  readonly value: string;
}

export interface Statement {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** Queries of the search language by the table they are, from lines such as `-- with errors: level=error | stats count`. */
  readonly queries: ReadonlyMap<string, string>;
}

const QUERY = /^--[ \t]*with[ \t]+(?:"([^"]+)"|([\w$]+))[ \t]*:[ \t]*(.*\S)/i;
const READING = ['SELECT', 'WITH', 'VALUES'];

/** Longer ones are made by programs, which have parameters for long lists. */
export const MAX_STATEMENT_BYTES = 256 * 1024;

/** Throws the problems `syntax` and `too_large`. */
export function readStatement(text: string): Statement {
  if (Buffer.byteLength(text) > MAX_STATEMENT_BYTES)
    throw new Problem('too_large', `A statement may have ${MAX_STATEMENT_BYTES} bytes`);
  const nul = text.indexOf('\0');
  if (nul >= 0) throw syntax('A statement has no NUL characters', { at: nul, length: 1 });
  const tokens: Token[] = [];
  const queries = new Map<string, string>();
  for (const match of text.matchAll(TOKEN)) {
    const { comment, space } = match.groups!;
    if (comment !== undefined && tokens.length === 0) {
      const [, quoted, plain, query] = QUERY.exec(comment) ?? [];
      if (query !== undefined) queries.set(quoted ?? plain!, query);
    }
    if (comment === undefined && space === undefined) tokens.push(tokenOf(match));
  }
  requireReading(tokens, text);
  return { text, tokens, queries };
}

function tokenOf({ 0: text, index: at, groups }: RegExpExecArray): Token {
  const kinds = ['text', 'name', 'word', 'value'] as const;
  const kind = kinds.find((one) => groups![one] !== undefined) ?? 'other';
  const mark = text[0]!;
  const value =
    kind === 'name' ? text.slice(1, -1).replaceAll(mark + mark, mark) : kind === 'word' ? text : '';
  return { kind, text, value, at, length: text.length };
}

function requireReading(tokens: readonly Token[], text: string): void {
  const [first] = tokens;
  if (first === undefined)
    throw syntax('There is no statement', { at: Math.max(0, text.length - 1), length: 1 });
  if (!READING.includes(first.text.toUpperCase())) {
    throw syntax(
      `A statement only reads, so it begins with SELECT, WITH or VALUES, not ${shortened(first.text)}`,
      first,
    );
  }
  const end = tokens.findIndex((token) => token.text === ';');
  const second = end < 0 ? undefined : tokens.slice(end).find((token) => token.text !== ';');
  if (second) throw syntax('One statement at a time: there is more after the semicolon', second);
}

const MAX_SHOWN = 64;

/** For messages: a name may be as long as a statement. */
export function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function syntax(text: string, { at, length }: Place): Problem {
  return new Problem('syntax', text, { place: { at, length } });
}

/** Without the sign before them. */
export function namedParameters(text: string): string[] {
  const values = [...text.matchAll(TOKEN)].flatMap(({ groups }) => groups!['value'] ?? []);
  return values.filter((value) => value[0] !== '?').map((value) => value.slice(1));
}

const BEFORE_TABLE = ['FROM', 'JOIN', ',', '('];

/** What may be tables, and others. */
export function possibleTables({ tokens }: Statement): string[] {
  const names = tokens.flatMap(({ value }, at) =>
    value !== '' && BEFORE_TABLE.includes(tokens[at - 1]?.text.toUpperCase() ?? '') ? [value] : [],
  );
  return [...new Set(names)];
}

/** Names of the tables that the statement defines itself, and maybe others. */
export function commonTables({ tokens }: Statement): ReadonlySet<string> {
  const is = (at: number, ...texts: string[]): boolean =>
    texts.includes(tokens[at]?.text.toUpperCase() ?? '');
  const names = new Set<string>();
  tokens.forEach(({ value }, at) => {
    if (value === '') return;
    let next = at + 1;
    if (is(next, '(')) while (next < tokens.length && !is(next++, ')'));
    if (is(next, 'AS') && is(next + 1, '(', 'NOT', 'MATERIALIZED')) names.add(value.toLowerCase());
  });
  return names;
}

/** Whether rows of several selects become one list, whose cells need not be of the columns of the first. */
export function isCompound({ tokens }: Statement): boolean {
  return tokens.some(
    ({ kind, text }) => kind === 'word' && /^(?:union|intersect|except)$/i.test(text),
  );
}

/** The first use of a name, best behind its table; null for none. */
export function placeOfName({ tokens }: Statement, name: string, table?: string): Place | null {
  const isNamed = (token: Token | undefined, wanted: string): boolean =>
    token !== undefined && token.value.toLowerCase() === wanted.toLowerCase();
  const uses = tokens.flatMap((token, at) => (isNamed(token, name) ? [at] : []));
  const best =
    table && uses.find((at) => tokens[at - 1]?.text === '.' && isNamed(tokens[at - 2], table));
  // SQLite has two names for its own tables.
  const own = /^sqlite_/.test(name)
    ? tokens.find(({ value }) => /^sqlite_/i.test(value))
    : undefined;
  const found = tokens[best || (uses[0] ?? -1)] ?? own;
  return found ? { at: found.at, length: found.length } : null;
}

/**
 * Where SQLite stopped reading, which names only the text: `isWrong` tells whether it stops there with the statement up to
 * an end. It reads from left to right, so all ends behind the place are wrong.
 */
export function placeOfText(
  { text, tokens }: Statement,
  wrong: string,
  isWrong: (text: string) => boolean,
): Place | null {
  const uses = tokens.filter((token) => token.text === wrong);
  let [low, high] = [0, uses.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { at, length } = uses[middle]!;
    if (isWrong(text.slice(0, at + length))) high = middle;
    else low = middle + 1;
  }
  const found = uses[low];
  const at = found?.at ?? text.indexOf(wrong);
  return at < 0 ? null : { at, length: Math.max(1, wrong.length) };
}
