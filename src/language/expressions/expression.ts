import type { Expression } from '../syntax/ast.ts';
import { MAX_EXPRESSION_DEPTH, MAX_LIST_VALUES, MAX_OPERATORS } from '../limits.ts';
import { unmarkPlaceholders } from '../syntax/placeholder.ts';
import { Problem } from '../syntax/problem.ts';
import { quoted, type TerseReader } from '../syntax/terse-reader.ts';
import { jsonOf, type Value } from './value.ts';

const COMPARISONS = ['==', '!=', '<=', '>=', '=', '<', '>'] as const;
const CONSTANTS: Readonly<Record<string, Value>> = { TRUE: true, FALSE: false, NULL: null };
const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'IN', 'LIKE', 'IS']);

/** Throws `syntax`, `too_large`. */
export function parseExpression(reader: TerseReader): Expression {
  return new ExpressionParser(reader).either();
}

class ExpressionParser {
  readonly #reader: TerseReader;
  #depth = 0;
  #operators = 0;

  constructor(reader: TerseReader) {
    this.#reader = reader;
  }

  either(): Expression {
    return this.#deeper(() => {
      let left = this.#both();
      while (this.#reader.takeKeyword('OR')) left = this.#binary('OR', left, this.#both());
      return left;
    });
  }

  #binary(op: string, left: Expression, right: Expression): Expression {
    if (++this.#operators > MAX_OPERATORS) throw tooManyOperators();
    return { kind: 'binary', op, left, right };
  }

  #deeper<T>(parse: () => T): T {
    if (++this.#depth > MAX_EXPRESSION_DEPTH) {
      throw new Problem('too_large', `Expressions may be ${MAX_EXPRESSION_DEPTH} deep`);
    }
    const result = parse();
    this.#depth--;
    return result;
  }

  #both(): Expression {
    let left = this.#negated();
    while (this.#reader.takeKeyword('AND')) left = this.#binary('AND', left, this.#negated());
    return left;
  }

  #negated(): Expression {
    if (!this.#reader.takeKeyword('NOT')) return this.#relation();
    return { kind: 'unary', op: 'NOT', operand: this.#deeper(() => this.#negated()) };
  }

  #relation(): Expression {
    const left = this.#sum();
    const op = COMPARISONS.find((candidate) => this.#reader.take(candidate));
    if (op !== undefined) return this.#binary(op === '==' ? '=' : op, left, this.#sum());
    if (this.#reader.takeKeyword('IS')) {
      const isNegated = this.#reader.takeKeyword('NOT');
      if (!this.#reader.takeKeyword('NULL')) throw this.#reader.expected('NULL');
      return { kind: 'null-test', operand: left, isNegated };
    }
    const { at } = this.#reader;
    const isNegated = this.#reader.takeKeyword('NOT');
    if (this.#reader.takeKeyword('IN')) return this.#list(left, isNegated);
    if (this.#reader.takeKeyword('LIKE')) {
      const like = this.#binary('LIKE', left, this.#sum());
      return isNegated ? { kind: 'unary', op: 'NOT', operand: like } : like;
    }
    this.#reader.at = at;
    return left;
  }

  #list(operand: Expression, isNegated: boolean): Expression {
    if (!this.#reader.take('(')) throw this.#reader.expected("'('");
    const list = this.#reader.list(() => this.either());
    if (!this.#reader.take(')')) throw this.#reader.expected("',' or ')'");
    if (list.length > MAX_LIST_VALUES) {
      throw new Problem('too_large', `A list may have ${MAX_LIST_VALUES} values`);
    }
    return { kind: 'in', operand, list, isNegated };
  }

  #sum(): Expression {
    let left = this.#product();
    for (;;) {
      const op =
        ['+', '-'].find((sign) => this.#reader.take(sign)) ?? (this.#takeDot() ? '.' : null);
      if (op === null) return left;
      left = this.#binary(op, left, this.#product());
    }
  }

  /** The operator that joins texts. A dot before a name was read with the name; one before a digit belongs to a number. */
  #takeDot(): boolean {
    const { text } = this.#reader;
    this.#reader.skip();
    const { at } = this.#reader;
    const isDot = text[at] === '.' && !/[0-9]/.test(text[at + 1] ?? '');
    return isDot && this.#reader.take('.');
  }

  #product(): Expression {
    let left = this.#signed();
    for (;;) {
      const op = ['*', '/', '%'].find((sign) => this.#reader.take(sign));
      if (op === undefined) return left;
      left = this.#binary(op, left, this.#signed());
    }
  }

  #signed(): Expression {
    if (!this.#reader.take('-')) return this.#atom();
    return { kind: 'unary', op: '-', operand: this.#deeper(() => this.#signed()) };
  }

  #atom(): Expression {
    const reader = this.#reader;
    const number = reader.takeNumber();
    if (number) return { kind: 'value', value: numberValue(number.text) };
    const text = reader.takeString() ?? reader.takePlaceholder();
    if (text) return { kind: 'text', ...text };
    if (reader.peek() === '(') return this.#parenthesised();
    const isQuoted = reader.peek() === "'";
    const { at } = reader;
    const name = reader.takeName();
    if (name === null) throw reader.expected('an expression');
    const word = name.text.toUpperCase();
    const isCall = reader.peek() === '(';
    if (!isQuoted && KEYWORDS.has(word) && !(word === 'LIKE' && isCall)) {
      reader.at = at;
      throw reader.expected('an expression');
    }
    if (!isQuoted && Object.hasOwn(CONSTANTS, word)) {
      const { at: end } = reader;
      if (!(reader.take('(') && reader.take(')'))) reader.at = end;
      return { kind: 'value', value: CONSTANTS[word]! };
    }
    if (!isQuoted && isCall) return this.#call(name.text, name.place);
    return { kind: 'name', name: name.text, place: name.place };
  }

  #parenthesised(): Expression {
    const { at } = this.#reader;
    this.#reader.take('(');
    const inner = this.either();
    if (this.#reader.take(')')) return inner;
    if (!this.#reader.isAtEnd()) throw this.#reader.expected("')'");
    throw new Problem('syntax', "Missing ')'", { place: { at, length: 1 } });
  }

  #call(name: string, place: { at: number; length: number }): Expression {
    const { at } = this.#reader;
    this.#reader.take('(');
    let args: Expression[] = [];
    if (!this.#reader.take(')')) {
      args = this.#reader.list(() => this.either());
      if (!this.#reader.take(')')) {
        if (!this.#reader.isAtEnd()) throw this.#reader.expected("',' or ')'");
        throw new Problem('syntax', "Missing ')'", { place: { at, length: 1 } });
      }
    }
    return { kind: 'call', name: name.toLowerCase(), args, named: [], place };
  }
}

/** Integers past 2^53 keep their digits. */
export function numberValue(text: string): number | bigint | null {
  const number = Number(text);
  if (!Number.isFinite(number)) return null;
  const isUnsafe = Number.isInteger(number) && !Number.isSafeInteger(number);
  return isUnsafe && /^[0-9]+$/.test(text) ? BigInt(text) : number;
}

/** Bare when possible, else quoted; only lists may have names with `'` in them. */
export function printName(name: string): string {
  const isBare =
    /^[A-Za-z_@][A-Za-z0-9_@]*(?:\.(?:[A-Za-z_@][A-Za-z0-9_@]*|[0-9]+))*$/.test(name) &&
    !KEYWORDS.has(name.toUpperCase()) &&
    !Object.hasOwn(CONSTANTS, name.toUpperCase()) &&
    !['BY', 'AS', 'FROM', 'OUTPUT'].includes(name.toUpperCase());
  if (isBare) return name;
  return name.includes("'") ? quoted(name) : `'${name}'`;
}

export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'value':
      return expression.value === null ? 'null' : jsonOf(expression.value);
    case 'text': {
      const text = unmarkPlaceholders(expression.text);
      return isBarePlaceholder(expression.text) ? text : quoted(text);
    }
    case 'name':
      return printName(expression.name);
    case 'call':
      return `${expression.name}(${expression.args.map(printExpression).join(', ')})`;
    case 'unary':
      return `${expression.op === 'NOT' ? 'NOT ' : '-'}${operand(expression.operand)}`;
    case 'binary':
      return `${operand(expression.left)} ${expression.op} ${operand(expression.right)}`;
    case 'in': {
      const list = expression.list.map(printExpression).join(', ');
      return `${operand(expression.operand)} ${expression.isNegated ? 'NOT ' : ''}IN (${list})`;
    }
    case 'null-test':
      return `${operand(expression.operand)} IS ${expression.isNegated ? 'NOT ' : ''}NULL`;
  }
}

function isBarePlaceholder(text: string): boolean {
  return /^\uFDD0[A-Za-z_][^\uFDD1]*\uFDD1$/.test(text);
}

function operand(expression: Expression): string {
  const isPlain =
    expression.kind === 'value' ||
    expression.kind === 'text' ||
    expression.kind === 'name' ||
    expression.kind === 'call';
  return isPlain ? printExpression(expression) : `(${printExpression(expression)})`;
}

export function tooManyOperators(): Problem {
  return new Problem('too_large', `An expression may have ${MAX_OPERATORS} operators`);
}
