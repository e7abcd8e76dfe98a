import { make, quietButton } from './element.ts';
import { signInAddress } from './out-of-reach.ts';
import type { GridData } from '../../pages/grid/model.ts';
import type { RowsProblem } from './table/rows.ts';
import type { View } from '../../pages/grid/view.ts';

interface NoRowsOptions {
  readonly data: GridData;
  readonly view: View;
  /** Controls for adding the first rows; null without write access. */
  readonly firstRows: readonly HTMLElement[] | null;
  show(part: Partial<View>): void;
}

export function emptyRows({ data, view, firstRows, show }: NoRowsOptions): Node[] {
  const { q, filter } = view;
  if (data.columns.length === 0) {
    const text = `${data.file} is empty: it has no columns. Its first line should name them.`;
    return [make('p', { class: 'empty' }, text)];
  }
  if (q === '' && filter === '') {
    const none = `${data.file} has no rows yet.`;
    if (firstRows !== null) return [make('p', { class: 'empty' }, none), waysOn(...firstRows)];
    const text = `${none} You may read it, not change it: rows that others add appear here by themselves.`;
    return [make('p', { class: 'empty' }, text)];
  }
  const hasBoth = q !== '' && filter !== '';
  return [
    make('p', { class: 'empty' }, 'No rows match.'),
    waysOn(
      hasBoth ? quietButton('Clear the search', () => show({ q: '' })) : null,
      hasBoth ? quietButton('Clear the filter', () => show({ filter: '' })) : null,
      quietButton('Show all rows', () => show({ filter: '', q: '' })),
    ),
  ];
}

export function refusedRows(
  { status, message }: RowsProblem,
  { show, reload }: Pick<NoRowsOptions, 'show'> & { reload(): void },
): Node[] {
  const isView = status === 422 && /^Invalid (?:filter|sort)/.test(message);
  const again = isView
    ? quietButton('Show all rows', () => show({ filter: '', sort: [], q: '' }))
    : quietButton('Try again', reload);
  const signIn = status === 401 ? make('a', { href: signInAddress() }, 'Sign in') : null;
  return [make('p', { class: 'problem', role: 'alert' }, message), make('p', {}, again, signIn)];
}

function waysOn(...ways: readonly (HTMLElement | null)[]): HTMLElement {
  return make('div', { class: 'tool-group' }, ...ways);
}
