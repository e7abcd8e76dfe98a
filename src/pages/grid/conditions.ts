/**
 * The filter as column menus edit it: one condition per column. The rest (`$or`, several operators) is kept unchanged,
 * shown in words and edited as JSON.
 */
import type { GridColumn } from './model.ts';

export interface Condition {
  readonly operator: string;
  readonly operand: unknown;
}

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

export function operatorsOf(type: GridColumn['type']): readonly Choice[] {
  return CHOICES[type];
}

export function operandCount(operator: string): number {
  if (WITHOUT_OPERAND.has(operator)) return 0;
  return operator === 'between' ? 2 : 1;
}

/** Null: no operand was typed. */
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

/** Null: the menu cannot express it. */
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

export function isInMenu(member: unknown, { type }: GridColumn): boolean {
  const chosen = chosenIn(member);
  return chosen !== null && CHOICES[type].some(([operator]) => operator === chosen.operator);
}

export function parseFilter(text: string): FilterObject | null {
  if (text.trim() === '') return {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (parsed === null) return {};
    return typeof parsed === 'object' && !Array.isArray(parsed) ? (parsed as FilterObject) : null;
  } catch {
    // The server answers with what is wrong.
    return null;
  }
}

/** Null removes the condition. */
export function withMember(text: string, column: string, member: unknown): string {
  const filter = parseFilter(text) ?? {};
  const entries = Object.entries(filter).filter(([name]) => name !== column);
  if (member !== null) entries.push([column, member]);
  // `fromEntries`, so that a column called __proto__ is an own property.
  return entries.length === 0 ? '' : JSON.stringify(Object.fromEntries(entries));
}
