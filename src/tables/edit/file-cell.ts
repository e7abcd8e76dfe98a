/**
 * Request values as cells of a column typed by its file. Values the file could not give back are refused; only floats
 * take the nearest value.
 */
import { BOOLEAN_TEXT } from '../infer/declared-type.ts';
import { isIntegerSource, JsonNumber, jsonText, MAX_NUMBER_LENGTH } from '../../base/json/json.ts';
import {
  dateText,
  daysOf,
  momentOf,
  momentText,
  timeOf,
  timeText,
  UNITS_PER_SECOND,
} from '../values/calendar.ts';
import { type FileColumn, type FileType, type TimeUnit, wideNumber } from '../infer/file-type.ts';
import { shortestFloat } from '../values/shortest-float.ts';
import type { Cell } from '../types.ts';
import { decimalText, unscaledOf } from '../values/wide-number.ts';

/** What was expected, for the refusal's text. */
export class Misfit {
  constructor(readonly expected: string) {}
}

const NUMERIC_TEXT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const NON_FINITE_TEXT = /^[+-]?(?:nan|inf|infinity)$/i;
const UUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SECONDS_PER_DAY = 86_400n;
const INT64_LIMIT = 2n ** 63n;

/**
 * Numbers may be `JsonNumber` or bigint. Null and `""` become null where allowed, but `""` in a text column is a
 * text. Callers check text limits.
 */
export function fileCell(value: unknown, { type, isRequired }: FileColumn): Cell | Misfit {
  const isBlank = value === null || value === undefined || (value === '' && type.kind !== 'text');
  if (isBlank) return isRequired ? new Misfit(expectedName(type)) : null;
  return cellOf(value, type) ?? new Misfit(expectedName(type, value));
}

function cellOf(value: unknown, type: FileType): Cell | undefined {
  switch (type.kind) {
    case 'integer':
      return integerCell(value, type);
    case 'float':
      return floatCell(value, type.bits);
    case 'decimal':
      return decimalCell(value, type);
    case 'boolean':
      return booleanCell(value);
    case 'nested':
      if (typeof value === 'object' && !(value instanceof JsonNumber)) return jsonText(value);
      return typeof value === 'string' ? value : undefined;
    default:
      return typeof value === 'string' ? textCell(value, type) : undefined;
  }
}

function integerCell(
  value: unknown,
  type: Extract<FileType, { kind: 'integer' }>,
): Cell | undefined {
  const integer = integerOf(value);
  if (integer === undefined) return undefined;
  const { bits, isSigned } = type;
  if ((isSigned ? BigInt.asIntN(bits, integer) : BigInt.asUintN(bits, integer)) !== integer) {
    return undefined;
  }
  if (wideNumber(type)) return String(integer);
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : integer;
}

function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text.length <= MAX_NUMBER_LENGTH && isIntegerSource(text) ? BigInt(text) : undefined;
}

/** With all digits; undefined unless it is a finite number. */
function numberText(value: unknown): string | undefined {
  if (value instanceof JsonNumber) return value.source;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  const text = typeof value === 'string' ? value.trim() : '';
  return NUMERIC_TEXT.test(text) ? text : undefined;
}

function floatCell(value: unknown, bits: 16 | 32 | 64): Cell | undefined {
  const text = numberText(value);
  if (text === undefined) return undefined;
  const number = Number(text);
  const kept = bits === 64 ? number : bits === 32 ? Math.fround(number) : Math.f16round(number);
  if (!Number.isFinite(kept)) return undefined;
  return bits === 64 ? kept + 0 : shortestFloat(kept, bits) + 0;
}

function decimalCell(
  value: unknown,
  type: Extract<FileType, { kind: 'decimal' }>,
): Cell | undefined {
  const text = numberText(value);
  const unscaled = text === undefined ? null : unscaledOf(text, type.scale);
  const limit = 10n ** BigInt(type.precision);
  if (unscaled === null || unscaled >= limit || unscaled <= -limit) return undefined;
  const digits = decimalText(unscaled, type.scale);
  return wideNumber(type) ? digits : Number(digits);
}

function booleanCell(value: unknown): Cell | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 0 || value === 1) return value === 1;
  return typeof value === 'string' ? BOOLEAN_TEXT.get(value.trim().toLowerCase()) : undefined;
}

function textCell(text: string, type: FileType): Cell | undefined {
  switch (type.kind) {
    case 'uuid':
      return UUID_TEXT.test(text) ? text.toLowerCase() : undefined;
    case 'date': {
      const days = daysOf(text);
      return days === null ? undefined : dateText(days);
    }
    case 'time': {
      const time = timeOf(text, type.unit);
      return time === null ? undefined : timeText(time, type.unit);
    }
    case 'timestamp':
      return timestampCell(text, type.unit, type.isUtc);
    default:
      return text;
  }
}

function timestampCell(text: string, unit: TimeUnit, isUtc: boolean): Cell | undefined {
  const moment = momentOf(text, unit);
  if (moment === null || moment >= INT64_LIMIT || moment < -INT64_LIMIT) return undefined;
  const perDay = SECONDS_PER_DAY * BigInt(UNITS_PER_SECOND[unit]);
  const rest = moment % perDay;
  const time = rest < 0n ? rest + perDay : rest;
  return momentText(Number((moment - time) / perDay), Number(time), unit, isUtc);
}

function expectedName(type: FileType, value?: unknown): string {
  switch (type.kind) {
    case 'integer':
    case 'boolean':
    case 'date':
    case 'time':
    case 'timestamp':
      return type.kind;
    case 'float':
      // A number, but beyond the column's range.
      return isNonFinite(value) || numberText(value) !== undefined ? 'finite number' : 'number';
    case 'decimal':
      return isNonFinite(value) ? 'finite number' : 'number';
    default:
      return 'string';
  }
}

function isNonFinite(value: unknown): boolean {
  if (typeof value === 'string') return NON_FINITE_TEXT.test(value.trim());
  return (value instanceof JsonNumber && !Number.isFinite(value.value)) || value === Infinity;
}
