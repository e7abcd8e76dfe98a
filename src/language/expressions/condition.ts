/** Conditions of the flag form: `path__lookup=value`. Two-valued: no match means false, never null. */
import { compareTexts, holds } from './arithmetic.ts';
import { fold } from './term-match.ts';
import { parseList, parseLiteral } from '../syntax/literal.ts';
import {
  fillText,
  fillValue,
  hasPlaceholder,
  isLonePlaceholder,
  type Parameters,
} from '../syntax/placeholder.ts';
import { Problem, unknownName, type Place } from '../syntax/problem.ts';
import { type Reference, type Schema, timeReader, unknownColumn } from '../run/schema.ts';
import type { CompareOp } from '../sources/source.ts';
import { isTime, timeOf } from './time.ts';
import {
  compareValues,
  deepEqual,
  isArray,
  isNumber,
  isObject,
  numberOf,
  textOf,
  type Row,
  type Value,
} from './value.ts';

/** In the order error messages list them. */
export const LOOKUPS = [
  'exact',
  'iexact',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
  'in',
  'gt',
  'gte',
  'lt',
  'lte',
  'range',
  'isnull',
] as const;

export type Lookup = (typeof LOOKUPS)[number];

export const COMPARISONS: { readonly [lookup in Lookup]?: CompareOp } = {
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};

const REFUSED = [
  'regex',
  'iregex',
  'has_key',
  'has_keys',
  'has_any_keys',
  'contained_by',
  'search',
];

export interface Condition {
  readonly reference: Reference;
  readonly lookup: Lookup;
  /** Of the type the column compares with. */
  readonly operand: Value;
}

interface ConditionContext {
  readonly schema: Schema;
  readonly parameters: Parameters;
  readonly place: Place | null;
  readonly unknownText?: (column: string) => string;
}

export function splitCondition(
  text: string,
): { readonly path: string; readonly value: string } | null {
  const equals = text.indexOf('=');
  return equals <= 0 ? null : { path: text.slice(0, equals), value: text.slice(equals + 1) };
}

/** Throws `unknown_column`, `unknown_lookup`, `bad_value`, `bad_time`. */
export function readCondition(path: string, value: string, context: ConditionContext): Condition {
  const name = fillText(path, context.parameters, context.place);
  const { reference, lookup, column } = findPath(name, context);
  const raw = readValue(value, LISTED.includes(lookup), context);
  return { reference, lookup, operand: operandFor(reference, lookup, raw, column, context) };
}

function findPath(
  name: string,
  context: ConditionContext,
): { reference: Reference; lookup: Lookup; column: string } {
  const { schema, place } = context;
  if (schema.has(name))
    return { reference: schema.find(name, 'flag')!, lookup: 'exact', column: name };
  const cut = name.lastIndexOf('__');
  const head = cut > 0 ? name.slice(0, cut) : name;
  const last = cut > 0 ? name.slice(cut + 2) : '';
  const isLookup = (LOOKUPS as readonly string[]).includes(last);
  const headReference = cut > 0 ? schema.find(head, 'flag') : null;
  if (isLookup && headReference) {
    return { reference: headReference, lookup: last as Lookup, column: head };
  }
  if (headReference && (REFUSED.includes(last) || headReference.type !== 'json')) {
    throw new Problem('unknown_lookup', `Unknown lookup '${last}'`, {
      place,
      suggestion: unknownName(last, LOOKUPS).suggestion,
      allowed: LOOKUPS,
      listsAllowed: true,
    });
  }
  const reference = schema.find(name, 'flag');
  if (reference) return { reference, lookup: 'exact', column: name };
  const column = isLookup || REFUSED.includes(last) ? head : name;
  throw unknownColumn(column, schema, place, context.unknownText?.(column));
}

interface RawValue {
  /** Undefined when the text is no literal. */
  readonly literal: Value | undefined;
  readonly text: string;
}

/** Lookups that take a list, also without brackets. */
const LISTED: readonly Lookup[] = ['in', 'range'];

function readValue(
  written: string,
  isListed: boolean,
  { parameters, place }: ConditionContext,
): RawValue {
  const text = written.trim();
  if (isLonePlaceholder(text)) {
    const value = fillValue(text, parameters, place);
    return { literal: value, text: textOf(value) ?? '' };
  }
  const literal = parseLiteral(text) ?? (isListed ? (parseList(text) as Value) : undefined);
  if (literal !== undefined) {
    const filled = fillIn(literal, parameters, place);
    return { literal: filled, text: typeof filled === 'string' ? filled : text };
  }
  const filled = hasPlaceholder(text) ? fillText(text, parameters, place) : text;
  const word = /^(?:true|false|none|null)$/i.exec(filled)?.[0].toLowerCase();
  if (word !== undefined && filled === text) {
    return { literal: word === 'true' ? true : word === 'false' ? false : null, text };
  }
  return { literal: filled, text: filled };
}

export function fillIn(value: Value, parameters: Parameters, place: Place | null): Value {
  if (typeof value === 'string') return fillValue(value, parameters, place);
  if (isArray(value)) return value.map((one) => fillIn(one, parameters, place));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, one]) => [
    fillText(name, parameters, place),
    fillIn(one, parameters, place),
  ]);
  return Object.fromEntries(members) as Value;
}

function operandFor(
  reference: Reference,
  lookup: Lookup,
  raw: RawValue,
  column: string,
  context: ConditionContext,
): Value {
  const value = raw.literal ?? null;
  if (lookup === 'isnull') return truthOf(value);
  const each = (one: Value, text: string): Value =>
    typed(reference, lookup, one, text, column, context);
  if (lookup === 'range') {
    if (!isArray(value) || value.length !== 2) {
      const text = `Lookup 'range' expects a list of two values, got '${raw.text}'`;
      throw new Problem('bad_value', text, { place: context.place });
    }
    return value.map((one) => each(one, textOf(one) ?? 'None'));
  }
  if (lookup === 'in') {
    if (isArray(value)) return value.map((one) => each(one, textOf(one) ?? 'None'));
    return [each(value, raw.text)];
  }
  return each(value, raw.text);
}

function truthOf(value: Value): boolean {
  if (typeof value === 'string')
    return !['', '0', 'false', 'none', 'null'].includes(value.toLowerCase());
  return Boolean(value);
}

const ON_TEXT: readonly Lookup[] = [
  'iexact',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
];

/** Text for text, number for int, time for time; a json column keeps the type. */
function typed(
  { type }: Reference,
  lookup: Lookup,
  value: Value,
  text: string,
  column: string,
  { place }: ConditionContext,
): Value {
  if (value === null) return null;
  if (ON_TEXT.includes(lookup)) return isArray(value) ? textOf(value) : text;
  if (type === 'text') return isArray(value) ? value : text;
  if (type === 'int') {
    const number = numberOf(value);
    if (number !== null) return number;
    throw new Problem('bad_value', `Column '${column}' expects a number, got '${text}'`, { place });
  }
  if (type === 'time') {
    const time = timeOf(text);
    if (time !== null) return time;
    const expected = `Column '${column}' expects a date-time (YYYY-MM-DD or RFC 3339), got '${text}'`;
    throw new Problem('bad_time', expected, { place });
  }
  return value;
}

export function conditionTest({ reference, lookup, operand }: Condition): (row: Row) => boolean {
  const { get } = reference;
  const timed = inTimes(reference, lookup, operand);
  if (timed !== null) {
    const test = valueTest(lookup, timed.operand);
    return (row) => test(timed.get(row));
  }
  const test = valueTest(lookup, operand);
  return (row) => test(get(row));
}

/** For a column of dates that is compared with texts that are dates; else null. */
function inTimes(reference: Reference, lookup: Lookup, operand: Value) {
  const isComparison = lookup === 'exact' || LISTED.includes(lookup) || lookup in COMPARISONS;
  const read = isComparison ? timeReader(reference) : null;
  if (read === null) return null;
  const asTime = (value: Value): Value => (typeof value === 'string' ? read(value) : null);
  const times = isArray(operand) ? operand.map(asTime) : asTime(operand);
  if (times === null || (isArray(times) && times.includes(null))) return null;
  return {
    operand: times,
    // What is no date is neither equal to one nor before nor after it.
    get: (row: Row): Value => asTime(reference.get(row)),
  };
}

function valueTest(lookup: Lookup, operand: Value): (value: Value) => boolean {
  switch (lookup) {
    case 'exact':
      return (value) => isSame(value, operand);
    case 'isnull':
      return (value) => (value === null) === operand;
    case 'in': {
      const all = operand as readonly Value[];
      return (value) => all.some((one) => isSame(value, one));
    }
    case 'range': {
      const [from, to] = operand as readonly Value[];
      return (value) => isOrdered(value, '>=', from!) && isOrdered(value, '<=', to!);
    }
    default: {
      const op = COMPARISONS[lookup];
      return op ? (value) => isOrdered(value, op, operand) : textTest(lookup, operand);
    }
  }
}

function isSame(value: Value, operand: Value): boolean {
  if (
    typeof value === 'string' &&
    typeof operand === 'string' &&
    (isTime(value) || isTime(operand))
  ) {
    return compareTexts(value, operand) === 0;
  }
  return deepEqual(value, operand);
}

function isOrdered(value: Value, op: string, operand: Value): boolean {
  if (typeof value === 'string' && typeof operand === 'string')
    return holds(op, compareTexts(value, operand));
  return isNumber(value) && isNumber(operand) && holds(op, compareValues(value, operand));
}

function textTest(lookup: Lookup, operand: Value): (value: Value) => boolean {
  const plain = textOf(operand);
  if (plain === null) return () => false;
  const isFolded = lookup.startsWith('i');
  const wanted = isFolded ? fold(plain) : plain;
  const kind = lookup === 'iexact' ? 'exact' : isFolded ? lookup.slice(1) : lookup;
  return (value) => {
    const text = textOf(value);
    if (text === null) return false;
    const given = isFolded ? fold(text) : text;
    if (kind === 'contains') return given.includes(wanted);
    if (kind === 'startswith') return given.startsWith(wanted);
    return kind === 'endswith' ? given.endsWith(wanted) : given === wanted;
  };
}
