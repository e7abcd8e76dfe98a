/**
 * The filter of a list as a checked tree, of admin lists too: only existing columns and operands of their types.
 *
 * Negated operators are `not` around their positive, so that only `not` can match by absence.
 */
import { AppError } from '../../base/errors.ts';
import { jsonTypeOf, parseFilterJson } from './filter-json.ts';
import {
  comparable,
  expectedFor,
  isScalar,
  textOperand,
  type FilterColumn,
  type FilterValue,
} from './filter-operand.ts';
import { indexNames } from '../read/name-list.ts';
import { compileRegex } from './regex.ts';
import { foldCase } from './words.ts';

const MAX_FILTER_BYTES = 65_536;
/** Nested logical operators. Checked before recursing, so a deep filter costs nothing. */
const MAX_DEPTH = 16;
const MAX_LIST_VALUES = 1_000;

export type RangeOperator = 'gt' | 'gte' | 'lt' | 'lte';
/** On the text form of a cell. */
type TextOperator = 'contains' | 'icontains' | 'startswith' | 'endswith' | 'regex';

/** `column` indexes the columns the filter was parsed with. */
export type Comparison = { readonly column: number } & (
  | {
      /** Equal to one of the values, blank (`""`) or null. */
      readonly op: 'in';
      readonly values: readonly FilterValue[];
      readonly blank: boolean;
      readonly null: boolean;
    }
  | { readonly op: RangeOperator; readonly value: FilterValue }
  /** `icontains` holds its text case-folded. */
  | { readonly op: TextOperator; readonly text: string }
  /** Null or `""`. */
  | { readonly op: 'absent' }
);

/** `all` of nothing matches every row, `any` of nothing none. */
export type Filter =
  | { readonly op: 'all' | 'any'; readonly filters: readonly Filter[] }
  | { readonly op: 'not'; readonly filter: Filter }
  | Comparison;

const RANGES = new Map<string, RangeOperator>([
  ['$gt', 'gt'],
  ['$gte', 'gte'],
  ['$lt', 'lt'],
  ['$lte', 'lte'],
]);
const TEXTS = new Map<string, TextOperator>([
  ['$contains', 'contains'],
  ['$icontains', 'icontains'],
  ['$startswith', 'startswith'],
  ['$endswith', 'endswith'],
  ['$regex', 'regex'],
]);

/**
 * Null for no filter (empty text or JSON `null`). Throws `invalid-query`. At most 64 KiB, so at most some 8,000
 * comparisons.
 */
export function parseFilter(text: string, columns: readonly FilterColumn[]): Filter | null {
  if (text === '') return null;
  if (Buffer.byteLength(text) > MAX_FILTER_BYTES) {
    throw invalidFilter(`too large (maximum ${MAX_FILTER_BYTES} bytes)`);
  }
  const value = parsedText(text);
  if (value === null) return null;
  if (jsonTypeOf(value) !== 'object') throw invalidFilter('expected a JSON object');
  return new FilterParser(columns).filter(value, 0);
}

function parsedText(text: string): unknown {
  try {
    return parseFilterJson(text);
  } catch (error) {
    // Thousands of levels end the reviver's recursion.
    throw error instanceof RangeError ? tooDeep() : invalidFilter('not valid JSON');
  }
}

class FilterParser {
  readonly #columns: readonly FilterColumn[];
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(columns: readonly FilterColumn[]) {
    this.#columns = columns;
    this.#indexes = indexNames(columns);
  }

  filter(value: unknown, depth: number): Filter {
    if (depth > MAX_DEPTH) throw tooDeep();
    return all(
      Object.entries(value as object).map(([key, operand]) => this.#member(key, operand, depth)),
    );
  }

  #member(key: string, operand: unknown, depth: number): Filter {
    if (key === '$and' || key === '$or') {
      if (!Array.isArray(operand) || operand.some((item) => jsonTypeOf(item) !== 'object')) {
        throw invalidFilter(`${key} ${expects('an array of objects', operand)}`);
      }
      const filters = operand.map((item) => this.filter(item, depth + 1));
      return key === '$and' ? all(filters) : { op: 'any', filters };
    }
    if (key === '$not') {
      if (jsonTypeOf(operand) !== 'object') {
        throw invalidFilter(`${key} ${expects('an object', operand)}`);
      }
      return not(this.filter(operand, depth + 1));
    }
    const index = this.#indexes.get(key);
    if (index === undefined) {
      throw invalidFilter(`unknown ${key.startsWith('$') ? 'operator' : 'column'} '${key}'`);
    }
    if (jsonTypeOf(operand) !== 'object') return this.#comparison(index, '$eq', operand, depth);
    return this.#operators(index, operand, depth);
  }

  #operators(index: number, operand: unknown, depth: number): Filter {
    if (depth > MAX_DEPTH) throw tooDeep();
    return all(
      Object.entries(operand as object).map(([operator, value]) =>
        this.#comparison(index, operator, value, depth),
      ),
    );
  }

  #comparison(index: number, operator: string, operand: unknown, depth: number): Filter {
    const range = RANGES.get(operator);
    if (range) return { column: index, op: range, value: this.#range(index, operator, operand) };
    const text = TEXTS.get(operator);
    if (text) return { column: index, op: text, text: this.#text(index, operator, operand) };
    switch (operator) {
      case '$eq':
        return this.#in(index, operator, [operand]);
      case '$ne':
        return not(this.#in(index, operator, [operand]));
      case '$in':
        return this.#in(index, operator, this.#list(index, operator, operand));
      case '$nin':
        return not(this.#in(index, operator, this.#list(index, operator, operand)));
      case '$null':
        if (typeof operand !== 'boolean') throw this.#wrong(index, operator, 'a boolean', operand);
        return operand ? { column: index, op: 'absent' } : not({ column: index, op: 'absent' });
      case '$not':
        if (jsonTypeOf(operand) !== 'object')
          throw this.#wrong(index, operator, 'an object', operand);
        return not(this.#operators(index, operand, depth + 1));
      default:
        throw invalidFilter(`unknown operator '${operator}'`);
    }
  }

  #in(index: number, operator: string, operands: readonly unknown[]): Comparison {
    const { type } = this.#columns[index]!;
    const values: FilterValue[] = [];
    for (const operand of operands) {
      if (operand === null || operand === '') continue;
      const value = comparable(this.#columns[index]!, operand, 'equality');
      if (value === undefined) {
        throw this.#wrong(index, operator, expectedFor(type, 'equality'), operand);
      }
      values.push(value);
    }
    return {
      column: index,
      op: 'in',
      values,
      blank: operands.includes(''),
      null: operands.includes(null),
    };
  }

  #list(index: number, operator: string, operand: unknown): readonly unknown[] {
    const isList =
      Array.isArray(operand) && operand.length <= MAX_LIST_VALUES && operand.every(isScalar);
    if (!isList) throw this.#wrong(index, operator, 'an array of scalars', operand);
    return operand;
  }

  #range(index: number, operator: string, operand: unknown): FilterValue {
    const { type } = this.#columns[index]!;
    const value = comparable(this.#columns[index]!, operand, 'range');
    if (value === undefined)
      throw this.#wrong(index, operator, expectedFor(type, 'range'), operand);
    return value;
  }

  #text(index: number, operator: string, operand: unknown): string {
    const text = textOperand(operand);
    if (text === undefined) throw this.#wrong(index, operator, 'a string', operand);
    if (operator === '$regex' && compileRegex(text) === null) {
      throw invalidFilter(`column '${this.#columns[index]!.name}': invalid regex '${text}'`);
    }
    return operator === '$icontains' ? foldCase(text) : text;
  }

  #wrong(index: number, operator: string, expected: string, operand: unknown): AppError {
    const { name } = this.#columns[index]!;
    return invalidFilter(`column '${name}': operator ${operator} ${expects(expected, operand)}`);
  }
}

function expects(expected: string, operand: unknown): string {
  return `expects ${expected}, received ${jsonTypeOf(operand)}`;
}

function all(filters: readonly Filter[]): Filter {
  return filters.length === 1 ? filters[0]! : { op: 'all', filters };
}

function not(filter: Filter): Filter {
  return { op: 'not', filter };
}

function tooDeep(): AppError {
  return invalidFilter(`too deep (maximum ${MAX_DEPTH})`);
}

function invalidFilter(problem: string): AppError {
  return new AppError('invalid-query', `Invalid filter: ${problem}`);
}
