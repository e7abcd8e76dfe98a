/**
 * The plain form of a dataset page, as it is sent: who has no script filters by the same words as everybody else.
 */
import { formView } from './grid/plain-form.ts';
import { rowsQuery } from './grid/view.ts';
import type { Context } from '../http/context.ts';

/** Parameters the form changes; null when the form was not sent. */
export function sentViewForm(
  context: Context,
): { readonly filter: string | null; readonly sort: string | null } | null {
  const { query } = context;
  if (!query.has('where') && !query.has('by')) return null;
  const { filter, sort } = formView(query, context.queryValue('filter') ?? '');
  return {
    filter: filter === '' ? null : filter,
    sort: rowsQuery({ q: '', filter: '', sort }).get('sort'),
  };
}
