/**
 * Operands of a filter, brought to the type of their column without loss or refused (DS-53).
 */
import { BOOLEAN_TEXT } from './boolean-text.ts';
import { exactNumber, jsonTypeOf, NumberLiteral } from './filter-json.ts';
import type { WideNumber } from './file-type.ts';
import type { FilterColumn, FilterType, FilterValue } from './filter.ts';
import { instantOf } from './instant.ts';
import { wideOperand } from './wide-number.ts';

/** JSON's number grammar between white space. */
const NUMBER_TEXT = /^\s*(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*$/;

/** The operand of an equality or range operator in the type of the column; undefined when it is refused. */
export function comparable(
  { type, wide }: Pick<FilterColumn, 'type' | 'wide'>,
  operand: unknown,
  kind: 'equality' | 'range',
): FilterValue | undefined {
  switch (type) {
    case 'integer':
    case 'number':
      return wide ? wideNumberOperand(operand, wide) : numberOperand(operand);
    case 'boolean':
      return booleanOperand(operand);
    case 'date-time':
      return typeof operand === 'string' ? (instantOf(operand) ?? undefined) : undefined;
    case 'string':
      if (typeof operand === 'boolean' && kind === 'equality') return String(operand);
      return kind === 'equality' ? textOperand(operand) : textOf(operand);
    case 'nested':
      return undefined;
  }
}

/** The operand of a text operator: a string, or a number for its JSON text. */
export function textOperand(operand: unknown): string | undefined {
  return operand instanceof NumberLiteral ? operand.source : textOf(operand);
}

/** What a column of this type wants, in the words of DS-55. */
export function expectedFor(type: FilterType, kind: 'equality' | 'range'): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'a number';
    case 'boolean':
      return 'a boolean';
    case 'date-time':
      return 'a date-time';
    case 'string':
      return kind === 'equality' ? 'a scalar' : 'a string';
    case 'nested':
      return 'a scalar';
  }
}

/** True for operands that DS-52 calls a scalar, and for null. */
export function isScalar(operand: unknown): boolean {
  const type = jsonTypeOf(operand);
  return type !== 'array' && type !== 'object';
}

function textOf(operand: unknown): string | undefined {
  return typeof operand === 'string' ? operand : undefined;
}

function numberOperand(operand: unknown): number | bigint | undefined {
  const source = numberSource(operand);
  return source === undefined ? undefined : exactNumber(source);
}

function wideNumberOperand(operand: unknown, wide: WideNumber): string | undefined {
  const source = numberSource(operand);
  return source === undefined ? undefined : (wideOperand(source, wide) ?? undefined);
}

function numberSource(operand: unknown): string | undefined {
  if (operand instanceof NumberLiteral) return operand.source;
  return typeof operand === 'string' ? NUMBER_TEXT.exec(operand)?.[1] : undefined;
}

function booleanOperand(operand: unknown): boolean | undefined {
  if (typeof operand === 'boolean') return operand;
  if (typeof operand === 'string') return BOOLEAN_TEXT.get(operand.toLowerCase());
  const value = operand instanceof NumberLiteral ? Number(operand.source) : undefined;
  return value === 0 || value === 1 ? value === 1 : undefined;
}
