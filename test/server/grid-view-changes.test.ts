/** Presses on heads and menus of columns, as the view that follows from them. */
import { expect, test } from 'bun:test';
import {
  columnHidden,
  columnMoved,
  pinToggled,
  sortedBy,
  sortToggled,
} from '../../src/browser/grid/view/view-changes.ts';

const up = (column: string) => ({ column, isDescending: false });
const down = (column: string) => ({ column, isDescending: true });

test('a head sorts upwards, then downwards, then as in the file', () => {
  expect(sortToggled({ sort: [] }, 'a', false)).toEqual({ sort: [up('a')] });
  expect(sortToggled({ sort: [up('a')] }, 'a', false)).toEqual({ sort: [down('a')] });
  expect(sortToggled({ sort: [down('a')] }, 'a', false)).toEqual({ sort: [] });
  expect(sortToggled({ sort: [down('b'), up('c')] }, 'a', false)).toEqual({ sort: [up('a')] });
});

test('with Shift a column keeps its place in the order, or comes last, or leaves it', () => {
  const sort = [up('a'), up('b')];
  expect(sortToggled({ sort }, 'a', true)).toEqual({ sort: [down('a'), up('b')] });
  expect(sortToggled({ sort }, 'c', true)).toEqual({ sort: [...sort, up('c')] });
  expect(sortToggled({ sort: [down('a'), up('b')] }, 'a', true)).toEqual({ sort: [up('b')] });
});

test('the menu sorts by a column alone or behind the others', () => {
  const sort = [up('a'), up('b')];
  expect(sortedBy({ sort }, down('a'), false)).toEqual({ sort: [down('a')] });
  expect(sortedBy({ sort }, down('a'), true)).toEqual({ sort: [up('b'), down('a')] });
});

test('columns are pinned, moved and hidden, but never the last one', () => {
  expect(pinToggled({ pinned: ['a'] }, 'b')).toEqual({ pinned: ['a', 'b'] });
  expect(pinToggled({ pinned: ['a', 'b'] }, 'a')).toEqual({ pinned: ['b'] });
  expect(columnMoved(['a', 'b', 'c'], 'c', -1)).toEqual({ columns: ['a', 'c', 'b'] });
  expect(columnMoved(['a', 'b'], 'a', -1)).toEqual({ columns: ['a', 'b'] });
  expect(columnMoved(['a', 'b'], 'c', 1)).toBeNull();
  expect(columnHidden(['a', 'b'], 'a')).toEqual({ columns: ['b'] });
  expect(columnHidden(['a'], 'a')).toBeNull();
});
