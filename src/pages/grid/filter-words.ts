/** A filter in words: `city is Bern or Basel`, `price ≥ 5 and ≤ 9`. An invalid filter stays JSON. */
import type { FilterObject } from './conditions.ts';
import { shownText } from './model.ts';

/** Plain and negated. Blank cells match no comparison, so `not >` is more than `≤`. */
const SIGNS: Readonly<Record<string, readonly [is: string, isNot: string]>> = {
  $eq: ['=', '≠'],
  $ne: ['≠', '='],
  $gt: ['>', 'is not >'],
  $gte: ['≥', 'is not ≥'],
  $lt: ['<', 'is not <'],
  $lte: ['≤', 'is not ≤'],
  $icontains: ['contains', 'does not contain'],
  $contains: ['contains exactly', 'does not contain exactly'],
  $startswith: ['starts with', 'does not start with'],
  $endswith: ['ends with', 'does not end with'],
  $regex: ['matches', 'does not match'],
};
/** The API refuses deeper filters. */
const MAX_DEPTH = 16;
/** Characters of a chip; the tooltip has the rest. */
const MAX_SHORT = 80;

/** Phrases of `and` and `or` need parentheses inside others. */
interface Phrase {
  readonly text: string;
  readonly kind: 'one' | 'and' | 'or';
}

interface Predicate {
  /** `≥`, `is`; `''` where the text says all. */
  readonly sign: string;
  readonly text: string;
  /** Set when the condition is true of exactly these values. */
  readonly values: readonly unknown[] | null;
}

export function describeMember(name: string, member: unknown): string {
  return memberPhrase(name, member, 1).text;
}

/** Cut between two words where possible. */
export function shortWords(text: string): string {
  if (text.length <= MAX_SHORT) return text;
  const start = text.slice(0, MAX_SHORT);
  const end = start.lastIndexOf(' ');
  return `${start.slice(0, end > MAX_SHORT / 2 ? end : MAX_SHORT).replace(/[\s,]+$/, '')}…`;
}

function memberPhrase(name: string, member: unknown, depth: number): Phrase {
  if (depth > MAX_DEPTH) return { text: '…', kind: 'one' };
  const isList = Array.isArray(member) && member.every(isObject);
  if (name === '$or' && isList) return anyPhrase(member, depth);
  if (name === '$and' && isList) return allPhrase(member, depth);
  if (name === '$not' && isObject(member)) return notPhrase(member, depth);
  if (name === '$or' || name === '$and' || name === '$not') {
    return { text: `${name} ${JSON.stringify(member)}`, kind: 'one' };
  }
  return columnPhrase(name, predicatesOf(member, depth));
}

function filterPhrase(filter: FilterObject, depth: number): Phrase {
  if (depth > MAX_DEPTH) return { text: '…', kind: 'one' };
  const members = Object.entries(filter);
  return together(
    members.map(([name, member]) => memberPhrase(name, member, depth)),
    'and',
    'every row',
  );
}

function allPhrase(filters: readonly FilterObject[], depth: number): Phrase {
  return together(
    filters.map((filter) => filterPhrase(filter, depth + 1)),
    'and',
    'every row',
  );
}

function anyPhrase(filters: readonly FilterObject[], depth: number): Phrase {
  const single = filters.map((filter) => onlyPredicate(filter, depth + 1));
  const [first] = single;
  const isOneColumn = single.every((one) => one !== null && one.name === first?.name);
  if (!isOneColumn || first == null) {
    return together(
      filters.map((filter) => filterPhrase(filter, depth + 1)),
      'or',
      'no row',
    );
  }
  const predicates = single.flatMap((one) => one?.predicate ?? []);
  const values = predicates.map((one) => one.values);
  if (values.every((list) => list !== null)) {
    return columnPhrase(first.name, [listed(values.flat(), false)]);
  }
  const texts = predicates.map(({ sign, text }, at) =>
    at > 0 && sign === predicates[at - 1]!.sign ? text : signed({ sign, text }),
  );
  return { text: `${first.name} ${texts.join(' or ')}`, kind: texts.length > 1 ? 'or' : 'one' };
}

function notPhrase(filter: FilterObject, depth: number): Phrase {
  const [only, ...others] = Object.entries(filter);
  if (only === undefined) return { text: 'no row', kind: 'one' };
  const [name, member] = only;
  if (others.length === 0 && !name.startsWith('$')) {
    return columnPhrase(name, predicatesOf({ $not: operatorsOf(member) }, depth + 1));
  }
  return { text: `not (${filterPhrase(filter, depth + 1).text})`, kind: 'one' };
}

/** Null when the filter says more than one thing. */
function onlyPredicate(
  filter: FilterObject,
  depth: number,
): { readonly name: string; readonly predicate: Predicate } | null {
  const [only, ...others] = Object.entries(filter);
  if (only === undefined || others.length > 0 || only[0].startsWith('$')) return null;
  const [predicate, ...more] = predicatesOf(only[1], depth);
  return predicate === undefined || more.length > 0 ? null : { name: only[0], predicate };
}

function together(phrases: readonly Phrase[], kind: 'and' | 'or', none: string): Phrase {
  const [first] = phrases;
  if (first === undefined) return { text: none, kind: 'one' };
  if (phrases.length === 1) return first;
  const texts = phrases.map((phrase) => {
    const isPlain = phrase.kind === 'one' || phrase.kind === kind;
    return isPlain ? phrase.text : `(${phrase.text})`;
  });
  return { text: texts.join(` ${kind} `), kind };
}

function columnPhrase(name: string, predicates: readonly Predicate[]): Phrase {
  if (predicates.length === 0) return { text: `${name} is anything`, kind: 'one' };
  const text = `${name} ${predicates.map(signed).join(' and ')}`;
  const isList = predicates.length === 1 && predicates[0]!.sign === 'is';
  return { text, kind: isList ? 'or' : predicates.length > 1 ? 'and' : 'one' };
}

function signed({ sign, text }: Pick<Predicate, 'sign' | 'text'>): string {
  return sign === '' ? text : `${sign} ${text}`;
}

function operatorsOf(member: unknown): FilterObject {
  return isObject(member) ? member : { $eq: member };
}

function predicatesOf(member: unknown, depth: number): Predicate[] {
  return Object.entries(operatorsOf(member)).map(([operator, operand]) =>
    predicateOf(operator, operand, false, depth),
  );
}

function predicateOf(operator: string, operand: unknown, isNot: boolean, depth: number): Predicate {
  if (depth > MAX_DEPTH) return { sign: '', text: '…', values: null };
  if (operator === '$null') {
    const isBlank = (operand === true) !== isNot;
    return { sign: '', text: isBlank ? 'is blank' : 'is not blank', values: null };
  }
  const isNoneOf = operator === '$nin';
  if ((operator === '$in' || isNoneOf) && Array.isArray(operand)) {
    return listed(operand, isNoneOf !== isNot);
  }
  if (operator === '$not' && isObject(operand)) return negated(operand, isNot, depth);
  const sign = Object.hasOwn(SIGNS, operator) ? SIGNS[operator]![isNot ? 1 : 0] : undefined;
  if (sign === undefined) {
    return {
      sign: isNot ? 'not' : '',
      text: `${operator} ${JSON.stringify(operand)}`,
      values: null,
    };
  }
  return { sign, text: operandText(operand), values: sign === '=' ? [operand] : null };
}

function negated(operators: FilterObject, isNot: boolean, depth: number): Predicate {
  const [only, ...others] = Object.entries(operators);
  if (only !== undefined && others.length === 0) {
    return predicateOf(only[0], only[1], !isNot, depth + 1);
  }
  if (only === undefined) {
    return { sign: '', text: isNot ? 'is anything' : 'is nothing', values: null };
  }
  const all = Object.entries(operators).map(([operator, operand]) =>
    signed(predicateOf(operator, operand, false, depth + 1)),
  );
  const text = all.join(' and ');
  return { sign: '', text: isNot ? text : `is not (${text})`, values: null };
}

function listed(values: readonly unknown[], isNot: boolean): Predicate {
  const known = isNot ? null : values;
  const texts = values.map(itemText);
  if (texts.length === 0) {
    return { sign: '', text: isNot ? 'is anything' : 'is nothing', values: known };
  }
  if (texts.length === 1) {
    return { sign: isNot ? '≠' : '=', text: operandText(values[0]), values: known };
  }
  const last = texts.at(-1)!;
  const others = texts.slice(0, -1).join(', ');
  return isNot
    ? { sign: 'is neither', text: `${others} nor ${last}`, values: known }
    : { sign: 'is', text: `${others} or ${last}`, values: known };
}

/** Quoted where it could be read as several values. */
function itemText(value: unknown): string {
  const text = operandText(value);
  return /,|\b(?:or|nor|and)\b/i.test(text) && !text.startsWith('“') ? `“${text}”` : text;
}

function operandText(operand: unknown): string {
  if (operand === '' || operand === null) return 'blank';
  if (typeof operand === 'number') return shownText(operand);
  const text = typeof operand === 'object' ? JSON.stringify(operand) : String(operand);
  return /^\s|\s$/.test(text) ? `“${text}”` : text;
}

function isObject(value: unknown): value is FilterObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
