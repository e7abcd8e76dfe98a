/**
 * The form "Filter and sort" of the page without script: a condition and an order, chosen from lists, become the filter and the
 * order that the API has (DS-51, DS-57). The server reads it, and so does the grid, for those who began before it was there.
 */
import { memberFor, withMember } from './conditions.ts';
import type { SortStep, View } from './view.ts';

/** Operators of the form, for columns of every type. */
export const FORM_OPERATORS = [
  ['$icontains', 'contains'],
  ['$eq', 'is'],
  ['$ne', 'is not'],
  ['$gte', 'is at least'],
  ['$lte', 'is at most'],
  ['$startswith', 'starts with'],
  ['blank', 'is blank'],
  ['filled', 'is not blank'],
] as const;

/** What the fields of the form ask for, its condition beside those of a filter. */
export function formView(fields: URLSearchParams, filter: string): Pick<View, 'filter' | 'sort'> {
  const last = (name: string): string => fields.getAll(name).at(-1) ?? '';
  const [column, operator] = [last('where'), last('is')];
  const isKnown = FORM_OPERATORS.some(([name]) => name === operator);
  const member = column === '' || !isKnown ? null : memberFor(operator, [last('value').trim()]);
  const ways = fields.getAll('way');
  const sort = fields
    .getAll('by')
    .flatMap((name, index): SortStep[] =>
      name === '' ? [] : [{ column: name, isDescending: ways[index] === 'desc' }],
    );
  return { filter: member === null ? filter : withMember(filter, column, member), sort };
}
