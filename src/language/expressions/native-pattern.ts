/**
 * Patterns that the runtime's own backtracking engine matches in linear time, ten times as fast as RE2JS (6 ms
 * against 70 for 30,000 lines).
 *
 * Sequences that begin with fixed characters, where each repeated class is followed by a character it does not hold,
 * and where one of the fixed characters is in no repeated class.
 */
import { STRATEGY } from '../limits.ts';

/** ASCII characters, and all others or none. */
interface CharacterSet {
  readonly ascii: ReadonlySet<number>;
  readonly others: boolean;
}

interface Item {
  readonly set: CharacterSet;
  readonly isRepeated: boolean;
  readonly source: string;
}

const ASCII = 128;
const LITERAL = /[\w \-:;,<>=@#%&!~'"/`]/;
/** Escapes both engines read alike; the runtime's own `\s` holds more than RE2's. */
const CLASSES: Readonly<Record<string, RegExp>> = { d: /[0-9]/, w: /[0-9A-Za-z_]/ };

/** Null when only RE2JS keeps it linear, or reads it. */
export function nativePattern(pattern: string): RegExp | null {
  const parsed = new Reader(pattern).read();
  if (parsed === null || parsed.items.length > STRATEGY.nativeItems || !isLinear(parsed.items))
    return null;
  return new RegExp(parsed.source, 'gu');
}

function isLinear(items: readonly Item[]): boolean {
  const start = items.findIndex(({ isRepeated }) => isRepeated);
  const fixed = start < 0 ? items : items.slice(0, start);
  const repeated = items.filter(({ isRepeated }) => isRepeated);
  const isSeparated = items.every(
    ({ set, isRepeated }, at) =>
      !isRepeated || at === items.length - 1 || isDisjoint(set, items[at + 1]!.set),
  );
  const hasAnchor = fixed.some(({ set }) => repeated.every((other) => isDisjoint(set, other.set)));
  return isSeparated && hasAnchor;
}

function isDisjoint(one: CharacterSet, other: CharacterSet): boolean {
  if (one.others && other.others) return false;
  return [...one.ascii].every((code) => !other.ascii.has(code));
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Null for anything but characters, classes, `+` behind a class, and groups. */
  read(): { readonly items: readonly Item[]; readonly source: string } | null {
    const items: Item[] = [];
    let source = '';
    let depth = 0;
    while (this.#at < this.#text.length) {
      const open = /^\((?:\?P?<([A-Za-z_]\w*)>|(?!\?))/.exec(
        this.#text.slice(this.#at, this.#at + 80),
      );
      if (open) {
        this.#at += open[0].length;
        depth++;
        source += open[1] === undefined ? '(' : `(?<${open[1]}>`;
      } else if (this.#text[this.#at] === ')') {
        this.#at++;
        if (--depth < 0 || /[*+?{]/.test(this.#text[this.#at] ?? '')) return null;
        source += ')';
      } else {
        const item = this.#item();
        if (item === null) return null;
        items.push(item);
        source += item.source;
      }
    }
    return depth === 0 ? { items, source } : null;
  }

  #item(): Item | null {
    const taken = this.#set();
    if (taken === null) return null;
    const next = this.#text[this.#at] ?? '';
    if (next === '+') {
      this.#at++;
      if (/[*+?{]/.test(this.#text[this.#at] ?? '')) return null;
      return { set: taken.set, isRepeated: true, source: `${taken.source}+` };
    }
    return /[*?{]/.test(next) ? null : { ...taken, isRepeated: false };
  }

  #set(): { readonly set: CharacterSet; readonly source: string } | null {
    const character = this.#text[this.#at]!;
    if (character === '[') return this.#class();
    if (character === '.') {
      this.#at++;
      return { set: { ascii: without(new Set([10])), others: true }, source: '[^\\n]' };
    }
    const escaped = character === '\\' ? this.#text[this.#at + 1] : undefined;
    if (escaped !== undefined) {
      this.#at += 2;
      const known = CLASSES[escaped];
      if (known) return { set: { ascii: matching(known), others: false }, source: `\\${escaped}` };
      return /[[\](){}.*+?^$|\\/]/.test(escaped) ? this.#one(escaped, `\\${escaped}`) : null;
    }
    if (!LITERAL.test(character)) return null;
    this.#at++;
    return this.#one(character, character === '/' ? '\\/' : character);
  }

  #one(character: string, source: string) {
    return { set: { ascii: new Set([character.charCodeAt(0)]), others: false }, source };
  }

  /** Plain characters, ranges of letters and digits, `\d` and `\w`. */
  #class(): { readonly set: CharacterSet; readonly source: string } | null {
    const match =
      /^\[(\^?)((?:\\[dw\].\-\\[/]|[0-9a-zA-Z]-[0-9a-zA-Z]|[\w .:;,<>=@#%!~'"/{}()+*?$])+)\]/.exec(
        this.#text.slice(this.#at, this.#at + 200),
      );
    if (!match) return null;
    const [whole, negation, members] = match;
    const parts = members!.match(/\\.|.-.|./gs)!;
    const ascii = new Set<number>();
    for (const part of parts) {
      if (part.length === 3) {
        if (part[0]! > part[2]!) return null;
        for (let code = part.charCodeAt(0); code <= part.charCodeAt(2); code++) ascii.add(code);
      } else {
        const known = part.length === 2 ? CLASSES[part[1]!] : undefined;
        if (known) for (const code of matching(known)) ascii.add(code);
        else ascii.add(part.charCodeAt(part.length - 1));
      }
    }
    this.#at += whole.length;
    // The runtime's strict mode demands escapes for these in a class.
    const source = parts.map((part) => (/^[/(){}]$/.test(part) ? `\\${part}` : part)).join('');
    const set =
      negation === '^' ? { ascii: without(ascii), others: true } : { ascii, others: false };
    return { set, source: `[${negation}${source}]` };
  }
}

function without(codes: ReadonlySet<number>): Set<number> {
  return new Set(
    Array.from({ length: ASCII }, (_, code) => code).filter((code) => !codes.has(code)),
  );
}

function matching(pattern: RegExp): Set<number> {
  const all = Array.from({ length: ASCII }, (_, code) => code);
  return new Set(all.filter((code) => pattern.test(String.fromCharCode(code))));
}
