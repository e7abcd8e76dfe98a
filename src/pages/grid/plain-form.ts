/**
 * The form "Filter and sort" of the page without script. The server reads it, and so does the grid, for readers who used it
 * before the grid loaded.
 */
import { memberFor, withMember } from './conditions.ts';
import type { SortStep, View } from './view.ts';

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

/** The condition of the form, added to those of a filter. */
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
