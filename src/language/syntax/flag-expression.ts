/**
 * `alias=expr`, `|` `&` `+ -` `* / %`, `- ~`, `**`. A bare name and a quoted text both mean a column; texts are
 * written `Value("x")`.
 */
import type { Expression, NamedArgument } from './ast.ts';
import { MAX_EXPRESSION_DEPTH } from '../limits.ts';
import { parseLiteral } from './literal.ts';
import { Problem, type Place } from './problem.ts';
import { numberValue } from '../expressions/expression.ts';
import { asQuoted } from './placeholder.ts';
import type { Value } from '../expressions/value.ts';

const CONSTANTS: Readonly<Record<string, Value>> = { True: true, False: false, None: null };
const PLAIN_NAME = /[A-Za-z_@][\w@]*(?:\.[\w@]+)*/y;
const MARK = /\uFDD0[^\uFDD1]*\uFDD1/y;
const NUMBER = /(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
/** Positions of arguments that are texts when quoted, not columns. */
const TAKES_TEXT: Readonly<Record<string, readonly number[]>> = {
  Value: [0],
  KT: [],
  Extract: [1],
  Trunc: [1],
  Q: [],
};

interface AliasedExpression {
  readonly alias: string | null;
  readonly expression: Expression;
}

/** Throws `bad_value` (`Invalid expression`), `too_large`; `place` is the whole token. */
export function parseFlagExpression(text: string, place: Place): AliasedExpression {
  const match = /^\s*([A-Za-z_@][\w@]*)\s*=(?!=)/.exec(text);
  const body = match ? text.slice(match[0].length) : text;
  return { alias: match?.[1] ?? null, expression: new FlagParser(body, text, place).all() };
}

class FlagParser {
  readonly #text: string;
  readonly #whole: string;
  readonly #place: Place;
  #at = 0;
  #depth = 0;

  constructor(text: string, whole: string, place: Place) {
    this.#text = text;
    this.#whole = whole;
    this.#place = place;
  }

  all(): Expression {
    const expression = this.#level(0);
    this.#skip();
    if (this.#at < this.#text.length) throw this.#invalid();
    return expression;
  }

  #invalid(): Problem {
    return new Problem('bad_value', `Invalid expression '${this.#whole}'`, { place: this.#place });
  }

  #skip(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #take(expected: string): boolean {
    this.#skip();
    if (!this.#text.startsWith(expected, this.#at)) return false;
    this.#at += expected.length;
    return true;
  }

  #match(pattern: RegExp): string | null {
    this.#skip();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined || found === '') return null;
    this.#at += found.length;
    return found;
  }

  #level(level: number): Expression {
    const operators = [['|'], ['&'], ['+', '-'], ['*', '/', '%']][level];
    if (operators === undefined) return this.#signed();
    let left = this.#level(level + 1);
    for (;;) {
      const op = operators.find(
        (sign) => !(sign === '*' && this.#isNext('**')) && this.#take(sign),
      );
      if (op === undefined) return left;
      left = { kind: 'binary', op, left, right: this.#level(level + 1) };
    }
  }

  #isNext(expected: string): boolean {
    this.#skip();
    return this.#text.startsWith(expected, this.#at);
  }

  #signed(): Expression {
    if (++this.#depth > MAX_EXPRESSION_DEPTH * 2) {
      throw new Problem('too_large', `Expressions may be ${MAX_EXPRESSION_DEPTH} deep`, {
        place: this.#place,
      });
    }
    const op = (['-', '~'] as const).find((sign) => this.#take(sign));
    const expression: Expression = op
      ? { kind: 'unary', op, operand: this.#signed() }
      : this.#power();
    this.#depth--;
    return expression;
  }

  #power(): Expression {
    const base = this.#atom();
    return this.#take('**')
      ? { kind: 'binary', op: '**', left: base, right: this.#signed() }
      : base;
  }

  #atom(): Expression {
    if (this.#take('(')) {
      const inner = this.#nested(() => this.#level(0));
      if (!this.#take(')')) throw this.#invalid();
      return inner;
    }
    const number = this.#match(NUMBER);
    if (number !== null) return { kind: 'value', value: numberValue(number) };
    const mark = this.#match(MARK);
    if (mark !== null) return { kind: 'text', text: mark, place: this.#place };
    const quotedName = this.#string();
    if (quotedName !== null) return { kind: 'name', name: quotedName, place: this.#place };
    const name = this.#match(PLAIN_NAME);
    if (name === null) throw this.#invalid();
    if (this.#take('(')) {
      // A dot before a call would be a method.
      if (name.includes('.')) throw this.#invalid();
      return this.#nested(() => this.#call(name));
    }
    if (Object.hasOwn(CONSTANTS, name)) return { kind: 'value', value: CONSTANTS[name]! };
    return { kind: 'name', name, place: this.#place };
  }

  #nested<T>(parse: () => T): T {
    this.#depth++;
    if (this.#depth > MAX_EXPRESSION_DEPTH * 2) {
      throw new Problem('too_large', `Expressions may be ${MAX_EXPRESSION_DEPTH} deep`, {
        place: this.#place,
      });
    }
    const result = parse();
    this.#depth--;
    return result;
  }

  #string(): string | null {
    this.#skip();
    const quote = this.#text[this.#at];
    if (quote !== '"' && quote !== "'") return null;
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== quote)
      end += this.#text[end] === '\\' ? 2 : 1;
    if (end >= this.#text.length) throw this.#invalid();
    const value = parseLiteral(this.#text.slice(this.#at, end + 1));
    if (typeof value !== 'string') throw this.#invalid();
    this.#at = end + 1;
    return value;
  }

  #call(name: string): Expression {
    const args: Expression[] = [];
    const named: NamedArgument[] = [];
    if (!this.#take(')')) {
      do {
        const key = this.#argumentName();
        const isText =
          name === 'Q' || (key === null && (TAKES_TEXT[name]?.includes(args.length) ?? false));
        const value = (isText ? this.#textArgument() : null) ?? this.#level(0);
        if (key === null) args.push(value);
        else named.push({ name: key, value });
      } while (this.#take(','));
      if (!this.#take(')')) throw this.#invalid();
    }
    return { kind: 'call', name, args, named, place: this.#place };
  }

  #argumentName(): string | null {
    const start = this.#at;
    const name = this.#match(PLAIN_NAME);
    if (name !== null && this.#isNext('=') && !this.#isNext('==')) {
      this.#take('=');
      return name;
    }
    this.#at = start;
    return null;
  }

  #textArgument(): Expression | null {
    const text = this.#string();
    return text === null ? null : { kind: 'text', text: asQuoted(text), place: this.#place };
  }
}
