import type { Word } from './ast.ts';
import { asQuoted, markPlaceholders } from './placeholder.ts';
import { Problem, type Place } from './problem.ts';

const SPACE = /\s/;
const IDENT = /[A-Za-z_@][A-Za-z0-9_@]*/y;
const NAME = /[A-Za-z_@][A-Za-z0-9_@]*(?:\.(?:[A-Za-z_@][A-Za-z0-9_@]*|[0-9]+))*/y;
const NUMBER = /(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
const FOREIGN_LETTER = /^(?![A-Za-z0-9])[\p{L}\p{N}]/u;
const WORD_BEFORE = /[\p{L}\p{M}\p{N}_@.]*$/u;
/** Of a word that a message repeats; looking for its start costs the square of this. */
const MAX_WORD = 200;
const WORD_AFTER = /^[\p{L}\p{M}\p{N}_@.]*/u;
const PLACEHOLDER = /\{[A-Za-z_]\w*(?::[^{}]*)?\}/y;

/** Reads from left to right, over white space. */
export class TerseReader {
  readonly text: string;
  readonly to: number;
  at: number;

  constructor(text: string, from = 0, to = text.length) {
    this.text = text;
    this.at = from;
    let end = to;
    while (end > from && SPACE.test(text[end - 1]!)) end--;
    this.to = end;
  }

  skip(): void {
    while (this.at < this.to && SPACE.test(this.text[this.at]!)) this.at++;
  }

  isAtEnd(): boolean {
    this.skip();
    return this.at >= this.to;
  }

  /** After white space; empty at the end. */
  peek(): string {
    return this.isAtEnd() ? '' : this.text[this.at]!;
  }

  placeFrom(at: number): Place {
    return { at, length: Math.max(1, this.at - at) };
  }

  take(expected: string): boolean {
    this.skip();
    if (!this.text.startsWith(expected, this.at) || this.at + expected.length > this.to)
      return false;
    this.at += expected.length;
    return true;
  }

  /** What a sticky pattern finds next. */
  match(pattern: RegExp): string | null {
    this.skip();
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text)?.[0];
    return match === undefined || this.at + match.length > this.to ? null : match;
  }

  takeMatch(pattern: RegExp): Word | null {
    const text = this.match(pattern);
    if (text === null) return null;
    const at = this.at;
    this.at += text.length;
    return { text, place: { at, length: text.length } };
  }

  /** In any case. */
  takeKeyword(word: string): boolean {
    return this.isKeyword(word) && this.takeMatch(IDENT) !== null;
  }

  isKeyword(word: string): boolean {
    const next = this.match(IDENT);
    return next !== null && next.toUpperCase() === word && this.text[this.at + next.length] !== '.';
  }

  takeIdent(): Word | null {
    return this.takeMatch(IDENT);
  }

  takeNumber(): Word | null {
    return this.takeMatch(NUMBER);
  }

  takePlaceholder(): Word | null {
    const found = this.takeMatch(PLACEHOLDER);
    return found && { ...found, text: markPlaceholders(found.text) };
  }

  /** Braces stay as written. In lists a text in double quotes is a name too. */
  takeName(options: { readonly inList?: boolean } = {}): Word | null {
    const next = this.peek();
    if (next === "'") return this.#singleQuoted();
    if (next === '"' && options.inList) return this.takeString({ isVerbatim: true });
    return this.takeMatch(NAME);
  }

  /** Throws `syntax`. */
  name(options: { readonly inList?: boolean; readonly what?: string } = {}): Word {
    const name = this.takeName(options);
    if (name === null) throw this.expected(options.what ?? 'a field name');
    return name;
  }

  /** Placeholders marked. */
  takeSingleQuoted(): Word | null {
    if (this.peek() !== "'") return null;
    const { text, place } = this.#singleQuoted();
    return { text: markPlaceholders(text), place };
  }

  #singleQuoted(): Word {
    const at = this.at;
    const end = this.text.indexOf("'", at + 1);
    if (end < 0 || end >= this.to) throw unclosed(at);
    this.at = end + 1;
    return { text: this.text.slice(at + 1, end), place: this.placeFrom(at) };
  }

  /** Escapes undone. Placeholders are marked unless `isVerbatim`. */
  takeString(options: { readonly isVerbatim?: boolean } = {}): Word | null {
    if (this.peek() !== '"') return null;
    const at = this.at;
    const end = stringEnd(this.text, at, this.to);
    this.at = end + 1;
    const text = unescape(this.text.slice(at + 1, end));
    const place = this.placeFrom(at);
    return { text: options.isVerbatim ? text : asQuoted(markPlaceholders(text)), place };
  }

  /** Up to white space or one of `stops`. */
  takeWord(stops = '",()|'): Word | null {
    this.skip();
    const at = this.at;
    while (
      this.at < this.to &&
      !SPACE.test(this.text[this.at]!) &&
      !stops.includes(this.text[this.at]!)
    ) {
      this.at++;
    }
    if (this.at === at) return null;
    return { text: markPlaceholders(this.text.slice(at, this.at)), place: this.placeFrom(at) };
  }

  /** The value is a word or a quoted text. */
  takeOption(names?: readonly string[]): { readonly name: string; readonly value: Word } | null {
    this.skip();
    const start = this.at;
    const name = this.takeMatch(IDENT);
    if (name && (!names || names.includes(name.text.toLowerCase())) && this.text[this.at] === '=') {
      this.at++;
      const value = this.text[this.at] === '"' ? this.takeString() : this.#adjacentWord();
      if (value === null) throw this.expected('a value');
      return { name: names ? name.text.toLowerCase() : name.text, value };
    }
    this.at = start;
    return null;
  }

  isOption(names: readonly string[]): boolean {
    const start = this.at;
    const name = this.takeIdent();
    const isOption =
      name !== null && names.includes(name.text.toLowerCase()) && this.text[this.at] === '=';
    this.at = start;
    return isOption;
  }

  #adjacentWord(): Word | null {
    return this.at >= this.to || SPACE.test(this.text[this.at]!) ? null : this.takeWord();
  }

  /** The last of a name counts. */
  options<Name extends string>(names: readonly Name[]): { readonly [name in Name]?: Word } {
    const options: Record<string, Word> = {};
    for (let next = this.takeOption(names); next; next = this.takeOption(names)) {
      options[next.name] = next.value;
    }
    return options as { [name in Name]?: Word };
  }

  /** Separated by commas, at least one. */
  list<Item>(item: () => Item): Item[] {
    const items: Item[] = [];
    do items.push(item());
    while (this.take(','));
    return items;
  }

  /** `AS <name>`, if it comes next. */
  alias(): string | null {
    return this.takeKeyword('AS') ? this.name({ inList: true }).text : null;
  }

  /** What an error points at; null at the end of the stage. */
  next(): Word | null {
    if (this.isAtEnd()) return null;
    const start = this.at;
    // `limit=5` where no such option is known is reported as typed, not as the name `limit`.
    if (this.text[start] === '=')
      while (this.at > 0 && /[A-Za-z0-9_@]/.test(this.text[this.at - 1]!)) this.at--;
    const from = this.at;
    const word = this.takeWord();
    if (word === null) this.at++;
    const text = this.text.slice(from, this.at);
    const place = this.placeFrom(from);
    this.at = start;
    return { text, place };
  }

  /** `Expected <what>, found …` */
  expected(what: string): Problem {
    const next = this.next();
    const found = next === null ? 'end of stage' : `'${next.text}'`;
    const place = next?.place ?? { at: this.to, length: 1 };
    const suggestion = next && this.#quoted(next.place.at);
    return new Problem('syntax', `Expected ${what}, found ${found}`, { place, suggestion });
  }

  requireEnd(): void {
    const next = this.next();
    if (next === null) return;
    if (next.text.startsWith(')')) {
      throw new Problem('syntax', "Unmatched ')'", { place: { at: next.place.at, length: 1 } });
    }
    const { place, text } = next;
    const suggestion = this.#quoted(place.at);
    throw new Problem('syntax', `Unexpected text, found '${text}'`, { place, suggestion });
  }

  /** Suggests quotes for a word with a letter bare words cannot have: a text behind an operator, else a name. */
  #quoted(at: number): string | null {
    if (!FOREIGN_LETTER.test(this.text.slice(at, this.to))) return null;
    const before = WORD_BEFORE.exec(this.text.slice(Math.max(0, at - MAX_WORD), at))![0];
    const word = before + WORD_AFTER.exec(this.text.slice(at, this.to))![0];
    return /[=<>]\s*$/.test(this.text.slice(0, at - before.length)) ? `"${word}"` : `'${word}'`;
  }
}

function unclosed(at: number): Problem {
  return new Problem('syntax', 'No closing quotation', { place: { at, length: 1 } });
}

function stringEnd(text: string, at: number, to: number): number {
  for (let end = at + 1; end < to; end++) {
    if (text[end] === '"') return end;
    if (text[end] === '\\') end++;
  }
  throw unclosed(at);
}

function unescape(text: string): string {
  return text.replace(/\\(["\\nt])/g, (_whole, code: string) =>
    code === 'n' ? '\n' : code === 't' ? '\t' : code,
  );
}

export function quoted(text: string): string {
  const escaped = text.replace(/["\\\n\t]/g, (character) =>
    character === '\n' ? '\\n' : character === '\t' ? '\\t' : `\\${character}`,
  );
  return `"${escaped}"`;
}

/** The next `|` outside double quotes, brackets, and single quotes where names may stand in them. */
export function terseStageEnd(
  text: string,
  from: number,
  to: number,
  options: { readonly hasNames: boolean; readonly hasBrackets: boolean },
): number {
  let depth = 0;
  for (let at = from; at < to; at++) {
    const character = text[at];
    if (character === '|' && depth === 0) return at;
    if (character === '"') at = stringEnd(text, at, to);
    else if (character === "'" && options.hasNames) {
      const end = text.indexOf("'", at + 1);
      if (end < 0 || end >= to) throw unclosed(at);
      at = end;
    } else if (options.hasBrackets && character === '[') depth++;
    else if (options.hasBrackets && character === ']' && depth > 0) depth--;
  }
  return to;
}
