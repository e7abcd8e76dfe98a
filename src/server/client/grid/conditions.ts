/**
 * The filter as the grid offers it: one condition for each column, written as the JSON object of the API. What else a filter
 * may say (`$or`, several operators) is kept as it is, told in words by `filter-words.ts`, and changed as JSON.
 */
import type { GridColumn } from './model.ts';

/** The condition of a column: an operator and its operand. */
export interface Condition {
  readonly operator: string;
  readonly operand: unknown;
}

/** A filter as an object; null: the text is none. */
export type FilterObject = Record<string, unknown>;

type Choice = readonly [operator: string, label: string];

const BLANKS: readonly Choice[] = [
  ['blank', 'is blank'],
  ['filled', 'is not blank'],
];
const ORDERED: readonly Choice[] = [
  ['$gte', '≥ at least'],
  ['$lte', '≤ at most'],
  ['$gt', '> more than'],
  ['$lt', '< less than'],
];
const CHOICES: Readonly<Record<GridColumn['type'], readonly Choice[]>> = {
  string: [
    ['$icontains', 'contains'],
    ['$eq', 'is'],
    ['$ne', 'is not'],
    ['$startswith', 'starts with'],
    ['$endswith', 'ends with'],
    ['$regex', 'matches (RE2)'],
    ['between', 'is between'],
    ['$gte', 'is from … on'],
    ['$lte', 'is up to'],
    ...BLANKS,
  ],
  integer: [['$eq', '= is'], ['between', 'is between'], ...ORDERED, ['$ne', '≠ is not'], ...BLANKS],
  number: [['$eq', '= is'], ['between', 'is between'], ...ORDERED, ['$ne', '≠ is not'], ...BLANKS],
  boolean: [['true', 'is true'], ['false', 'is false'], ...BLANKS],
};
const WITHOUT_OPERAND = new Set(['true', 'false', 'blank', 'filled']);

/** Operators offered for a type, with their labels. */
export function operatorsOf(type: GridColumn['type']): readonly Choice[] {
  return CHOICES[type];
}

/** How many operands the person writes for an operator: 0, 1 or 2. */
export function operandCount(operator: string): number {
  if (WITHOUT_OPERAND.has(operator)) return 0;
  return operator === 'between' ? 2 : 1;
}

/** What a chosen operator and the texts written for it mean in a filter; null: nothing was written. */
export function memberFor(operator: string, texts: readonly string[]): unknown {
  if (operator === 'blank') return { $null: true };
  if (operator === 'filled') return { $null: false };
  if (operator === 'true' || operator === 'false') return { $eq: operator === 'true' };
  const [first = '', second = ''] = texts;
  if (operator !== 'between') return first === '' ? null : { [operator]: first };
  const range = {
    ...(first !== '' && { $gte: first }),
    ...(second !== '' && { $lte: second }),
  };
  return Object.keys(range).length === 0 ? null : range;
}

/** The operator and texts that a member of a filter stands for; null: it is beyond the menu. */
export function chosenIn(member: unknown): { operator: string; texts: string[] } | null {
  if (typeof member !== 'object' || member === null) {
    return member === null ? null : { operator: '$eq', texts: [String(member)] };
  }
  const entries = Object.entries(member);
  if (entries.length === 2 && '$gte' in member && '$lte' in member) {
    return { operator: 'between', texts: [String(member.$gte), String(member.$lte)] };
  }
  const [[operator, operand] = ['', null]] = entries;
  if (entries.length !== 1) return null;
  if (operator === '$null') return { operator: operand === true ? 'blank' : 'filled', texts: [] };
  if (operator === '$eq' && typeof operand === 'boolean') {
    return { operator: String(operand), texts: [] };
  }
  const isPlain = typeof operand === 'string' || typeof operand === 'number';
  return isPlain ? { operator, texts: [String(operand)] } : null;
}

/** Whether the menu of the column shows and changes all that a member of a filter says. */
export function isInMenu(member: unknown, { type }: GridColumn): boolean {
  const chosen = chosenIn(member);
  return chosen !== null && CHOICES[type].some(([operator]) => operator === chosen.operator);
}

/** The filter of a view as an object; null when its text is no JSON object. */
export function parseFilter(text: string): FilterObject | null {
  if (text.trim() === '') return {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (parsed === null) return {};
    return typeof parsed === 'object' && !Array.isArray(parsed) ? (parsed as FilterObject) : null;
  } catch {
    // The server answers with what is wrong about it.
    return null;
  }
}

/** The filter with another condition for a column; null takes it away. */
export function withMember(text: string, column: string, member: unknown): string {
  const filter = parseFilter(text) ?? {};
  const entries = Object.entries(filter).filter(([name]) => name !== column);
  if (member !== null) entries.push([column, member]);
  // From entries, so that a column called __proto__ is one.
  return entries.length === 0 ? '' : JSON.stringify(Object.fromEntries(entries));
}
