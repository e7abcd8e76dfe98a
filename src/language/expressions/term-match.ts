/** Two-valued: NOT is true wherever the rest is not. */
import type { Terms, TermValue } from '../syntax/ast.ts';
import { holds } from './arithmetic.ts';
import { wildcardParts, wildcardTest } from './patterns.ts';
import { fillText, fillValue, isLonePlaceholder, type Parameters } from '../syntax/placeholder.ts';
import { byCodePoint, Problem } from '../syntax/problem.ts';
import { type Reference, type Schema, timeReader } from '../run/schema.ts';
import { searchTime, timeOf } from './time.ts';
import {
  compareValues,
  isArray,
  isNumber,
  isObject,
  numberOf,
  textOf,
  type Evaluate,
  type Row,
  type Value,
} from './value.ts';
import { foldCase } from '../../tables/filter/words.ts';

interface TermContext {
  readonly schema: Schema;
  readonly parameters: Parameters;
  readonly now: string;
}

/** From inclusive, to exclusive. */
interface TimeRange {
  readonly earliest: string | null;
  readonly latest: string | null;
}

type Test = (row: Row) => boolean;

/** Throws `unknown_column`, `bad_time`, `unknown_placeholder`. */
export function termsTest(terms: Terms, context: TermContext): Test {
  return build(terms, context, true);
}

function build(terms: Terms, context: TermContext, isTop: boolean): Test {
  switch (terms.kind) {
    case 'all':
    case 'and': {
      const tests = terms.items.map((item) => build(item, context, isTop));
      return tests.length === 1 ? tests[0]! : (row) => tests.every((test) => test(row));
    }
    case 'or': {
      const tests = terms.items.map((item) => build(item, context, false));
      return (row) => tests.some((test) => test(row));
    }
    case 'not': {
      const test = build(terms.item, context, false);
      return (row) => !test(row);
    }
    case 'word':
      return wordTest(
        fillText(terms.word.text, context.parameters, terms.word.place),
        terms.isQuoted,
        context.schema,
      );
    case 'compare':
      return comparison(terms, context, isTop);
  }
}

/** Folded; they must occur in order. */
export function wordParts(text: string, isQuoted: boolean): string[] {
  return isQuoted
    ? [fold(text)]
    : wildcardParts(text)
        .map(fold)
        .filter((part) => part !== '');
}

function containsParts(text: string, parts: readonly string[]): boolean {
  let at = 0;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}

function wordTest(text: string, isQuoted: boolean, schema: Schema): Test {
  const parts = wordParts(text, isQuoted);
  if (!isQuoted && parts.length === 0) return () => true;
  const data = schema.indexOf('data');
  const cells = data >= 0 ? [data] : schema.shown.map(({ index }) => index);
  for (const cell of cells) schema.use(cell);
  return (row) =>
    cells.some((cell) => {
      const content = textOf(row[cell] ?? null);
      return content !== null && containsParts(fold(content), parts);
    });
}

type Compare = Extract<Terms, { kind: 'compare' }>;

export function timeBound(terms: Compare): 'earliest' | 'latest' | null {
  const { text } = terms.field;
  return terms.op === '=' && !terms.isList && (text === 'earliest' || text === 'latest')
    ? text
    : null;
}

function comparison(terms: Compare, context: TermContext, isTop: boolean): Test {
  const bound = timeBound(terms);
  if (bound !== null) return boundTest(terms, bound, context, isTop);
  const { place } = terms.field;
  const name = fillText(terms.field.text, context.parameters, place);
  const reference = context.schema.require(name, 'terse', place);
  const { get, values } = inTimes(reference, terms, context);
  const tests = values.map((value) => cellTest(terms.op, value, context));
  if (terms.op === '!=') {
    const isEqual = cellTest('=', values[0]!, context);
    return (row) => {
      const cell = get(row);
      return cell !== null && !isEqual(cell);
    };
  }
  if (tests.length === 1) {
    const [test] = tests;
    return (row) => test!(get(row));
  }
  return (row) => {
    const cell = get(row);
    return tests.some((test) => test(cell));
  };
}

/** Where all of that is a time; else as it is. */
function inTimes(
  reference: Reference,
  { op, values }: Compare,
  { parameters, now }: TermContext,
): { readonly get: Evaluate; readonly values: readonly TermValue[] } {
  const { get } = reference;
  const read = timeReader(reference);
  const times = values.map(({ text, place }) => {
    const given = fillText(text, parameters, place);
    // Epoch seconds look like a year.
    return read && (read(given) ?? (/^\d*$/.test(given) ? null : searchTime(given, now)));
  });
  if (read === null || times.includes(null)) return { get, values };
  return {
    get: (row) => {
      const cell = get(row);
      // A blank cell is neither before nor after a time.
      const other = op === '=' || op === '!=' ? cell : null;
      return (typeof cell === 'string' ? read(cell) : null) ?? other;
    },
    values: values.map((value, at) => ({ ...value, text: times[at]!, isQuoted: true })),
  };
}

function boundTest(
  terms: Compare,
  bound: 'earliest' | 'latest',
  context: TermContext,
  isTop: boolean,
): Test {
  if (!isTop) {
    throw new Problem('bad_time', `${bound}= cannot be used inside OR or NOT`, {
      place: terms.field.place,
    });
  }
  const time = boundTime(terms.values[0]!, context);
  const { get } = context.schema.require('_time', 'terse', terms.field.place);
  return (row) => {
    const value = get(row);
    if (typeof value !== 'string') return false;
    const given = timeOf(value) ?? value;
    return bound === 'earliest' ? byCodePoint(given, time) >= 0 : byCodePoint(given, time) < 0;
  };
}

function boundTime(value: TermValue, { parameters, now }: TermContext): string {
  const text = fillText(value.text, parameters, value.place);
  const time = searchTime(text, now);
  if (time !== null) return time;
  const message = `'${text}' is not a time; use now, -24h, -1d@d, epoch seconds or RFC 3339`;
  throw new Problem('bad_time', message, { place: value.place });
}

/** Only of top-level terms, the narrowest. Throws `bad_time`. */
export function timeRangeOf(terms: Terms, context: TermContext): TimeRange {
  const range: { earliest: string | null; latest: string | null } = {
    earliest: null,
    latest: null,
  };
  const collect = (item: Terms): void => {
    if (item.kind === 'all' || item.kind === 'and') item.items.forEach(collect);
    const bound = item.kind === 'compare' ? timeBound(item) : null;
    if (bound === null || item.kind !== 'compare') return;
    const time = boundTime(item.values[0]!, context);
    const known = range[bound];
    const isNarrower = known === null || (bound === 'earliest' ? time > known : time < known);
    if (isNarrower) range[bound] = time;
  };
  collect(terms);
  return range;
}

function cellTest(
  op: Compare['op'],
  value: TermValue,
  { parameters, now }: Pick<TermContext, 'parameters' | 'now'>,
): (cell: Value) => boolean {
  const filled = isLonePlaceholder(value.text)
    ? fillValue(value.text, parameters, value.place)
    : fillText(value.text, parameters, value.place);
  const text = textOf(filled) ?? '';
  // A value from a parameter never becomes a wildcard.
  const isLiteral = value.isQuoted || isLonePlaceholder(value.text);
  const scalar =
    op === '=' || op === '!='
      ? equalTest(text, value, isLiteral, parameters)
      : orderTest(op, text, now);
  const test = (cell: Value): boolean => (isArray(cell) ? cell.some(test) : scalar(cell));
  return test;
}

function equalTest(
  text: string,
  value: TermValue,
  isLiteral: boolean,
  parameters: Parameters,
): (cell: Value) => boolean {
  if (!isLiteral && /^\*+$/.test(text)) return (cell) => cell !== null;
  const number = numberOf(text);
  const wanted = isLiteral ? fold(text) : '';
  const hasWildcard = !isLiteral && /[*\\]/.test(value.text);
  const fits = isLiteral
    ? (given: string) => given === wanted
    : hasWildcard
      ? wildcardTest(fold(fillEscaped(value, parameters)))
      : (
          (plain) => (given: string) =>
            given === plain
        )(fold(text));
  const time = hasWildcard ? null : timeOf(text);
  const truth = /^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : null;
  return (cell) => {
    if (typeof cell === 'string') {
      if (time !== null) {
        const given = timeOf(cell);
        if (given !== null) return given === time;
      }
      return fits(fold(cell));
    }
    if (isNumber(cell)) return number !== null && compareValues(cell, number) === 0;
    return typeof cell === 'boolean' && truth === cell;
  };
}

/** Escapes stars of parameters, so that only written ones are wildcards. */
function fillEscaped(value: TermValue, parameters: Parameters): string {
  const escaped = new Map(
    [...parameters].map(([name, one]) => [
      name,
      typeof one === 'string' ? one.replaceAll('*', '\\*') : one,
    ]),
  );
  return fillText(value.text, escaped, value.place);
}

function orderTest(op: string, text: string, now: string): (cell: Value) => boolean {
  const number = numberOf(text);
  const time = searchTime(text, now);
  const isPlainNumber = number !== null;
  const wanted = fold(text);
  return (cell) => {
    if (isNumber(cell)) return number !== null && holds(op, compareValues(cell, number));
    if (typeof cell !== 'string' || isObject(cell)) return false;
    const given = timeOf(cell);
    if (given !== null && time !== null) return holds(op, byCodePoint(given, time));
    const cellNumber = numberOf(cell);
    if (isPlainNumber) return cellNumber !== null && holds(op, compareValues(cellNumber, number));
    return holds(op, byCodePoint(fold(cell), wanted));
  };
}

const NON_ASCII = /[^\x00-\x7f]/;

/** NFC, upper case, lower case, final sigma to sigma. Accents still count. */
export function fold(text: string): string {
  return NON_ASCII.test(text) ? foldCase(text.normalize('NFC')) : text.toLowerCase();
}
