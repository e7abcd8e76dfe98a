/** JSON or its Python-like relatives. */
import { MAX_EXPRESSION_DEPTH, MAX_LIST_VALUES } from '../limits.ts';
import { asQuoted } from './placeholder.ts';
import { Problem } from './problem.ts';
import { TerseReader } from './terse-reader.ts';
import type { Value } from '../expressions/value.ts';

/** Undefined when it is no literal. Throws `too_large`. */
export function parseLiteral(text: string): Value | undefined {
  const reader = new LiteralReader(text);
  const value = reader.value(0);
  return value !== undefined && reader.isAtEnd() ? value : undefined;
}

/** Also without brackets: `"a","b"`. */
export function parseList(text: string): readonly Value[] | undefined {
  const value = parseLiteral(text);
  if (Array.isArray(value)) return value as Value[];
  if (value !== undefined && !text.trimEnd().endsWith(',')) return undefined;
  const bare = parseLiteral(`(${text.trimEnd().endsWith(',') ? text : `${text},`})`);
  return text.includes(',') && Array.isArray(bare) ? (bare as Value[]) : undefined;
}

const WORDS: Readonly<Record<string, Value>> = {
  True: true,
  true: true,
  False: false,
  false: false,
  None: null,
  null: null,
};
const NUMBER =
  /[+-]?(?:0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)/y;
const MARK = /\uFDD0[^\uFDD1]*\uFDD1/y;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

class LiteralReader extends TerseReader {
  #count = 0;

  value(depth: number): Value | undefined {
    if (depth > MAX_EXPRESSION_DEPTH) {
      throw new Problem('too_large', `Expressions may be ${MAX_EXPRESSION_DEPTH} deep`);
    }
    const first = this.peek();
    if (first === '[') return this.#list(']', depth);
    if (first === '(') return this.#list(')', depth);
    if (first === '{') return this.#object(depth);
    if (first === '"' || first === "'") return this.#string(first);
    const mark = this.takeMatch(MARK);
    return mark ? mark.text : (this.#number() ?? this.#word());
  }

  /** As in Python `(x)` is the value x; `(x,)` and `[x]` are lists. */
  #list(close: string, depth: number): Value | undefined {
    this.at++;
    const items: Value[] = [];
    let hasComma = false;
    while (!this.take(close)) {
      const item = this.value(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      this.#countOne();
      if (this.take(',')) hasComma = true;
      else if (this.peek() !== close) return undefined;
    }
    return close === ')' && items.length === 1 && !hasComma ? items[0]! : items;
  }

  #object(depth: number): Value | undefined {
    this.at++;
    const members: [string, Value][] = [];
    while (!this.take('}')) {
      const name = this.value(depth + 1);
      if (typeof name !== 'string' || !this.take(':')) return undefined;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      members.push([name, value]);
      this.#countOne();
      if (!this.take(',') && this.peek() !== '}') return undefined;
    }
    return Object.fromEntries(members);
  }

  #countOne(): void {
    if (++this.#count > MAX_LIST_VALUES) {
      throw new Problem('too_large', `A list may have ${MAX_LIST_VALUES} values`);
    }
  }

  #string(quote: string): string | undefined {
    let text = '';
    for (let at = this.at + 1; at < this.text.length; at++) {
      const character = this.text[at]!;
      if (character === quote) {
        this.at = at + 1;
        return asQuoted(text);
      }
      if (character !== '\\') {
        text += character;
        continue;
      }
      at++;
      const escaped = this.text[at] ?? '';
      const code =
        escaped === 'u' ? /^[0-9a-fA-F]{4}/.exec(this.text.slice(at + 1))?.[0] : undefined;
      if (code !== undefined) {
        text += String.fromCharCode(Number.parseInt(code, 16));
        at += 4;
      } else if (escaped in ESCAPES && Object.hasOwn(ESCAPES, escaped)) text += ESCAPES[escaped]!;
      else text += /["'\\/]/.test(escaped) ? escaped : `\\${escaped}`;
    }
    return undefined;
  }

  #number(): number | bigint | undefined {
    const spelled = this.match(NUMBER);
    if (spelled === null) return undefined;
    const end = this.at + spelled.length;
    if (/[\w.]/.test(this.text[end] ?? '')) return undefined;
    const plain = spelled.replaceAll('_', '');
    const sign = plain.startsWith('-') ? -1 : 1;
    const bare = plain.replace(/^[+-]/, '');
    const number = Number(bare);
    if (!Number.isFinite(number)) return undefined;
    this.at = end;
    const isUnsafe = Number.isInteger(number) && !Number.isSafeInteger(number);
    if (isUnsafe && /^(?:0[xX][0-9a-fA-F]+|[0-9]+)$/.test(bare)) return BigInt(bare) * BigInt(sign);
    return number * sign + 0;
  }

  #word(): Value | undefined {
    const name = this.match(/[A-Za-z]*/y)!;
    if (!Object.hasOwn(WORDS, name)) return undefined;
    this.at += name.length;
    return WORDS[name];
  }
}
