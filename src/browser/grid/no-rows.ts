import type { GridData } from '../../pages/grid/model.ts';
import type { View } from '../../pages/grid/view.ts';
import type { Refused } from '../shared/ask.ts';
import { make, quietButton } from '../shared/element.ts';
import { signInAddress } from './notices.ts';

interface NoRowsOptions {
  readonly data: GridData;
  readonly view: View;
  /** Controls for adding the first rows; null without write access. */
  readonly firstRows: readonly HTMLElement[] | null;
  show(part: Partial<View>): void;
}

export function emptyRows({ data, view, firstRows, show }: NoRowsOptions): Node[] {
  const { q, filter } = view;
  const said = (text: string, ...ways: readonly HTMLElement[]): Node[] => {
    const told = make('p.empty', text);
    return ways.length === 0 ? [told] : [told, make('div.tool-group', ways)];
  };
  if (data.columns.length === 0) {
    return said(`${data.file} is empty: it has no columns. Its first line should name them.`);
  }
  if (q === '' && filter === '') {
    const none = `${data.file} has no rows yet.`;
    if (firstRows !== null) return said(none, ...firstRows);
    return said(
      `${none} You may read it, not change it: rows that others add appear here by themselves.`,
    );
  }
  const way = (label: string, part: Partial<View>): HTMLElement =>
    quietButton(label, () => show(part));
  const all = way('Show all rows', { filter: '', q: '' });
  if (q === '' || filter === '') return said('No rows match.', all);
  const one = [way('Clear the search', { q: '' }), way('Clear the filter', { filter: '' })];
  return said('No rows match.', ...one, all);
}

export function refusedRows(
  { status, message }: Refused,
  { show, reload }: Pick<NoRowsOptions, 'show'> & { reload(): void },
): Node[] {
  const isView = status === 422 && /^Invalid (?:filter|sort)/.test(message);
  const again = isView
    ? quietButton('Show all rows', () => show({ filter: '', sort: [], q: '' }))
    : quietButton('Try again', reload);
  const signIn = status === 401 ? make('a', { href: signInAddress() }, 'Sign in') : null;
  return [make('p.problem', { role: 'alert' }, message), make('p', again, signIn)];
}
