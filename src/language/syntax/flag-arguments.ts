/**
 * Shell-like tokens and `--name=value` options. Values stay as written: commands read them at binding, when
 * placeholders have their values.
 */
import type { FlagArguments, Word } from './ast.ts';
import { markPlaceholders, unmarkPlaceholders } from './placeholder.ts';
import { Problem, unknownName, type Place } from './problem.ts';

export interface Flag {
  readonly name: string;
  readonly type: 'text' | 'int' | 'list' | 'mapping' | 'condition' | 'expression';
  readonly isRequired?: boolean;
  readonly isRepeatable?: boolean;
  readonly default?: string | number;
  readonly choices?: readonly string[];
  readonly help: string;
}

interface FlagSyntax {
  readonly name: string;
  readonly flags: readonly Flag[];
  /** The one positional word. */
  readonly word: string | null;
}

/** The next `|` outside quotes. Throws `syntax`. */
export function flagStageEnd(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const character = text[at];
    if (character === '|') return at;
    if (character === '\\') at++;
    else if (character === "'" || character === '"') at = closingQuote(text, at, to);
  }
  return to;
}

/** Backslashes escape in double quotes only. Throws `syntax`. */
function closingQuote(text: string, at: number, to: number): number {
  const quote = text[at];
  for (let end = at + 1; end < to; end++) {
    if (text[end] === quote) return end;
    if (quote === '"' && text[end] === '\\') end++;
  }
  throw new Problem('syntax', 'No closing quotation', { place: { at, length: 1 } });
}

function tokenize(text: string, from: number, to: number): Word[] {
  const tokens: Word[] = [];
  let at = from;
  while (at < to) {
    if (/\s/.test(text[at]!)) {
      at++;
      continue;
    }
    const start = at;
    let content = '';
    while (at < to && !/\s/.test(text[at]!)) {
      const character = text[at]!;
      if (character === "'" || character === '"') {
        const end = closingQuote(text, at, to);
        const inner = text.slice(at + 1, end);
        content += character === '"' ? inner.replace(/\\(["\\])/g, '$1') : inner;
        at = end + 1;
      } else if (character === '\\') {
        content += text[at + 1] ?? '';
        at += 2;
      } else {
        content += character;
        at++;
      }
    }
    const place = { at: start, length: Math.min(at, to) - start };
    tokens.push({ text: markPlaceholders(content), place });
  }
  return tokens;
}

/** Throws `unknown_flag`, `missing_flag`, `bad_value`. */
export function parseFlagArguments(
  syntax: FlagSyntax,
  text: string,
  from: number,
  to: number,
): FlagArguments {
  const flags: Record<string, Word[]> = {};
  const words: Word[] = [];
  const tokens = tokenize(text, from, to);
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    if (!token.text.startsWith('--')) {
      if (syntax.word === null || words.length > 0) throw unrecognized(syntax, token);
      words.push(token);
      continue;
    }
    const equals = token.text.indexOf('=');
    const name = token.text.slice(2, equals < 0 ? undefined : equals);
    const flag = flagNamed(syntax, name, token);
    let value: Word;
    if (equals >= 0) value = { text: token.text.slice(equals + 1), place: token.place };
    else {
      const next = tokens[++index];
      if (!next || next.text.startsWith('--')) {
        throw badValue(syntax.name, flag.name, 'expected one argument', token.place);
      }
      value = next;
    }
    if (flag.isRepeatable) (flags[flag.name] ??= []).push(value);
    else flags[flag.name] = [value];
  }
  requireAll(syntax, flags, words);
  return { form: 'flag', flags, words };
}

export function badValue(command: string, flag: string, what: string, place: Place): Problem {
  return new Problem('bad_value', `${command}: error: argument --${flag}: ${what}`, { place });
}

function flagNamed(syntax: FlagSyntax, name: string, token: Word): Flag {
  const exact = syntax.flags.find((flag) => flag.name === name);
  if (exact) return exact;
  const fitting = name === '' ? [] : syntax.flags.filter((flag) => flag.name.startsWith(name));
  if (fitting.length === 1) return fitting[0]!;
  if (fitting.length === 0) throw unrecognized(syntax, token);
  const names = fitting.map((flag) => `--${flag.name}`);
  throw new Problem(
    'unknown_flag',
    `${syntax.name}: error: ambiguous option: --${name} could match ${names.join(', ')}`,
    { place: token.place, allowed: names },
  );
}

function unrecognized(syntax: FlagSyntax, token: Word): Problem {
  const names = syntax.flags.map((flag) => `--${flag.name}`);
  const written = token.text.split('=', 1)[0]!;
  const { allowed, suggestion } = unknownName(written, names);
  return new Problem(
    'unknown_flag',
    `${syntax.name}: error: unrecognized arguments: ${unmarkPlaceholders(token.text)}`,
    { place: token.place, allowed, suggestion: written.startsWith('-') ? suggestion : null },
  );
}

function requireAll(
  syntax: FlagSyntax,
  flags: Readonly<Record<string, unknown>>,
  words: readonly Word[],
): void {
  const missing = syntax.flags
    .filter((flag) => flag.isRequired && flags[flag.name] === undefined)
    .map((flag) => `--${flag.name}`);
  if (syntax.word !== null && words.length === 0) missing.unshift(syntax.word);
  if (missing.length === 0) return;
  throw new Problem(
    'missing_flag',
    `${syntax.name}: error: the following arguments are required: ${missing.join(', ')}`,
  );
}

export function printFlagArguments(args: FlagArguments): string {
  const words = args.words.map(({ text }) => shellQuoted(unmarkPlaceholders(text)));
  const flags = Object.entries(args.flags).flatMap(([name, values]) =>
    values.map(({ text }) => `--${name}=${shellQuoted(unmarkPlaceholders(text))}`),
  );
  return [...words, ...flags].join(' ');
}

function shellQuoted(text: string): string {
  if (/^[\w.,:@%+/-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
