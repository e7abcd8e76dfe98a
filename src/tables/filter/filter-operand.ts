import { MAX_NUMBER_LENGTH } from '../../base/json/json.ts';
import { BOOLEAN_TEXT } from '../infer/declared-type.ts';
import { exactNumber, jsonTypeOf, NumberLiteral } from './filter-json.ts';
import type { ColumnType, WideNumber } from '../infer/file-type.ts';
import { type ColumnDates, operandKey } from '../values/column-dates.ts';
import { instantOf } from '../values/instant.ts';
import { type NumberStyle, spelledNumber } from '../values/number-spelling.ts';
import { wideOperand } from '../values/wide-number.ts';

/** Types a filter distinguishes; date-time and nested values are text in rows. */
type FilterType = ColumnType | 'date-time' | 'nested';

/** A column as the parser needs it. Names are unique. */
export interface FilterColumn {
  readonly name: string;
  readonly type: FilterType;
  /** Set for numbers that are held as keys of `wide-number.ts`; their operands are such keys. */
  readonly wide?: WideNumber | null;
  /** Set for texts that are dates; their operands are keys (`dateKey`). */
  readonly dates?: ColumnDates;
  /** Set for numbers with marks; texts spelled so are operands as well. */
  readonly numbers?: NumberStyle;
}

/**
 * An operand in the type of its column: bigint only for integers past ±(2^53−1), a date-time as the text of
 * `instantOf`.
 */
export type FilterValue = number | bigint | boolean | string;

/** JSON's number grammar between white space. */
const NUMBER_TEXT = /^\s*(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*$/;

/** For equality and range operators; undefined when refused. */
export function comparable(
  column: Pick<FilterColumn, 'type' | 'wide' | 'dates' | 'numbers'>,
  operand: unknown,
  kind: 'equality' | 'range',
): FilterValue | undefined {
  const { type, wide, dates, numbers } = column;
  const text = typeof operand === 'string' ? operand : undefined;
  switch (type) {
    case 'integer':
    case 'number': {
      const source = numberSource(operand);
      const spelled = numbers && text !== undefined ? spelledNumber(text, numbers.marks) : NaN;
      if (!Number.isNaN(spelled)) {
        // Where `.` groups, `1.234` is one number here and another in JSON.
        return source === undefined || Number(source) === spelled ? spelled : undefined;
      }
      if (source === undefined) return undefined;
      return wide ? (wideOperand(source, wide) ?? undefined) : exactNumber(source);
    }
    case 'boolean':
      return booleanOperand(operand);
    case 'date-time':
      if (text === undefined) return undefined;
      return (
        (kind === 'range' ? firstInstant(text, dates) : null) ??
        (dates ? operandKey(text, dates) : instantOf(text)) ??
        undefined
      );
    case 'string':
      if (kind === 'range') return text;
      return typeof operand === 'boolean' ? String(operand) : textOperand(operand);
    case 'nested':
      return undefined;
  }
}

/** Of a year or a month; null for any other text. */
function firstInstant(text: string, dates: ColumnDates | undefined): string | null {
  const isMonth = /^\d{4}-\d{2}$/.test(text);
  if (!isMonth && !/^\d{4}$/.test(text)) return null;
  const day = `${text}${isMonth ? '' : '-01'}-01`;
  return dates ? operandKey(day, dates) : instantOf(day);
}

/** A string, or a number's JSON text; undefined when refused. */
export function textOperand(operand: unknown): string | undefined {
  if (operand instanceof NumberLiteral) return operand.source;
  return typeof operand === 'string' ? operand : undefined;
}

/** For the refusal's text. */
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

/** Also true for null. */
export function isScalar(operand: unknown): boolean {
  const type = jsonTypeOf(operand);
  return type !== 'array' && type !== 'object';
}

function numberSource(operand: unknown): string | undefined {
  if (operand instanceof NumberLiteral) return operand.source;
  if (typeof operand !== 'string' || operand.length > MAX_NUMBER_LENGTH) return undefined;
  return NUMBER_TEXT.exec(operand)?.[1];
}

function booleanOperand(operand: unknown): boolean | undefined {
  if (typeof operand === 'boolean') return operand;
  if (typeof operand === 'string') return BOOLEAN_TEXT.get(operand.toLowerCase());
  const value = operand instanceof NumberLiteral ? Number(operand.source) : undefined;
  return value === 0 || value === 1 ? value === 1 : undefined;
}
