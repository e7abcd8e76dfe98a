/** Rows and columns of a table that somebody else chose: no parameter of the reader shows more of it. */
import { AppError } from '../../base/errors.ts';
import type { ListParameters } from './list-parameters.ts';
import { joinNames } from './name-list.ts';

export interface FixedView {
  /** Names; in this order. */
  readonly columns: readonly string[];
  /** Texts as the API takes them; `''` for none. */
  readonly filter: string;
  readonly sort: string;
  readonly q: string;
}

/** What a reader may still choose: a part of the rows, and their form. */
const FREE: ReadonlySet<string> = new Set(['limit', 'offset', 'format']);
/** One row by its number, within the view. */
const ONE_ROW = /^\{"_row_id":\d+\}$/;

/** Throws `invalid-query` for a parameter that is fixed, whatever it says. */
export function withinView(parameters: ListParameters, view: FixedView): ListParameters {
  const isRow = ONE_ROW.test(parameters.filter);
  for (const [name, value] of Object.entries(parameters)) {
    if (FREE.has(name) || isAbsent(value) || (name === 'filter' && isRow)) continue;
    throw new AppError('invalid-query', `This is a fixed view: ${name} cannot be chosen`);
  }
  const { columns, filter, sort, q } = view;
  const filters = [filter, isRow ? parameters.filter : ''].filter((text) => text !== '');
  return {
    ...parameters,
    filter: filters.length === 2 ? `{"$and":[${filters.join(',')}]}` : (filters[0] ?? ''),
    sort,
    q,
    columns: [joinNames(columns)],
  };
}

function isAbsent(value: unknown): boolean {
  const isEmptyList = Array.isArray(value) && value.length === 0;
  return value === '' || value === null || value === undefined || value === 'asc' || isEmptyList;
}
