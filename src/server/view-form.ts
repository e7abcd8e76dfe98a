/**
 * The plain form of a dataset page: a condition and an order, chosen from lists, become the parameters that the API has
 * (DS-51, DS-57). Who has no script filters by the same words as everybody else.
 */
import { memberFor, withMember } from './client/grid/conditions.ts';
import { rowsQuery, type SortStep } from './client/grid/view.ts';
import type { Context } from './context.ts';

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

/** Parameters the form changes; null when the form was not sent. */
export function sentViewForm(
  context: Context,
): { readonly filter: string | null; readonly sort: string | null } | null {
  const { query } = context;
  if (!query.has('where') && !query.has('by')) return null;
  const before = context.queryValue('filter') ?? '';
  const column = context.queryValue('where') ?? '';
  const operator = context.queryValue('is') ?? '';
  const isKnown = FORM_OPERATORS.some(([name]) => name === operator);
  const text = (context.queryValue('value') ?? '').trim();
  const member = column === '' || !isKnown ? null : memberFor(operator, [text]);
  const filter = member === null ? before : withMember(before, column, member);
  const ways = query.getAll('way');
  const sort = query
    .getAll('by')
    .flatMap((name, index): SortStep[] =>
      name === '' ? [] : [{ column: name, isDescending: ways[index] === 'desc' }],
    );
  return {
    filter: filter === '' ? null : filter,
    sort: rowsQuery({ q: '', filter: '', sort }).get('sort'),
  };
}
