/**
 * `alias=expr`, `|` `&` `+ -` `* / %`, `- ~`, `**`. A bare name and a quoted text both mean a column; texts are
 * written `Value("x")`.
 */
import type { Expression, NamedArgument } from './ast.ts';
import { MAX_EXPRESSION_DEPTH, MAX_OPERATORS } from '../limits.ts';
import { parseLiteral } from './literal.ts';
import { Problem, type Place } from './problem.ts';
import { numberValue, tooManyOperators } from '../expressions/expression.ts';
import { asQuoted } from './placeholder.ts';
import { TerseReader } from './terse-reader.ts';
import type { Value } from '../expressions/value.ts';

const CONSTANTS: Readonly<Record<string, Value>> = { True: true, False: false, None: null };
const PLAIN_NAME = /[A-Za-z_@][\w@]*(?:\.[\w@]+)*/y;
const MARK = /\uFDD0[^\uFDD1]*\uFDD1/y;
const QUOTED = /"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'/y;
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

class FlagParser extends TerseReader {
  readonly #whole: string;
  readonly #place: Place;
  #depth = 0;
  #operators = 0;

  constructor(text: string, whole: string, place: Place) {
    super(text);
    this.#whole = whole;
    this.#place = place;
  }

  all(): Expression {
    const expression = this.#level(0);
    if (!this.isAtEnd()) throw this.#invalid();
    return expression;
  }

  #invalid(): Problem {
    return new Problem('bad_value', `Invalid expression '${this.#whole}'`, { place: this.#place });
  }

  #level(level: number): Expression {
    const operators = [['|'], ['&'], ['+', '-'], ['*', '/', '%']][level];
    if (operators === undefined) return this.#signed();
    let left = this.#level(level + 1);
    for (;;) {
      const op = operators.find(
        (sign) => !(sign === '*' && this.match(/\*\*/y)) && this.take(sign),
      );
      if (op === undefined) return left;
      if (++this.#operators > MAX_OPERATORS) throw tooManyOperators();
      left = { kind: 'binary', op, left, right: this.#level(level + 1) };
    }
  }

  #signed(): Expression {
    return this.#nested(() => {
      const op = (['-', '~'] as const).find((sign) => this.take(sign));
      return op ? { kind: 'unary', op, operand: this.#signed() } : this.#power();
    });
  }

  #power(): Expression {
    const base = this.#atom();
    return this.take('**') ? { kind: 'binary', op: '**', left: base, right: this.#signed() } : base;
  }

  #atom(): Expression {
    if (this.take('(')) {
      const inner = this.#nested(() => this.#level(0));
      if (!this.take(')')) throw this.#invalid();
      return inner;
    }
    const number = this.takeMatch(NUMBER);
    if (number) return { kind: 'value', value: numberValue(number.text) };
    const mark = this.takeMatch(MARK);
    if (mark) return { kind: 'text', text: mark.text, place: this.#place };
    const quotedName = this.#string();
    if (quotedName !== null) return { kind: 'name', name: quotedName, place: this.#place };
    const name = this.takeMatch(PLAIN_NAME)?.text;
    if (name === undefined) throw this.#invalid();
    if (this.take('(')) {
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
    const quote = this.peek();
    if (quote !== '"' && quote !== "'") return null;
    const quoted = this.takeMatch(QUOTED);
    const value = quoted && parseLiteral(quoted.text);
    if (typeof value !== 'string') throw this.#invalid();
    return value;
  }

  #call(name: string): Expression {
    const args: Expression[] = [];
    const named: NamedArgument[] = [];
    if (!this.take(')')) {
      do {
        const key = this.#argumentName();
        const isText =
          name === 'Q' || (key === null && (TAKES_TEXT[name]?.includes(args.length) ?? false));
        const value = (isText ? this.#textArgument() : null) ?? this.#level(0);
        if (key === null) args.push(value);
        else named.push({ name: key, value });
      } while (this.take(','));
      if (!this.take(')')) throw this.#invalid();
    }
    return { kind: 'call', name, args, named, place: this.#place };
  }

  #argumentName(): string | null {
    const start = this.at;
    const name = this.takeMatch(PLAIN_NAME)?.text;
    if (name !== undefined && this.takeMatch(/=(?!=)/y)) return name;
    this.at = start;
    return null;
  }

  #textArgument(): Expression | null {
    const text = this.#string();
    return text === null ? null : { kind: 'text', text: asQuoted(text), place: this.#place };
  }
}
