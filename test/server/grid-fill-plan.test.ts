/**
 * What pulling the corner of a block writes: patterns and series, in every direction.
 */
import { expect, test } from 'bun:test';
import { fillArea, planFillArea } from '../../src/browser/grid/writing/fill-plan.ts';
import type { GridColumn, GridRow } from '../../src/pages/grid/model.ts';
import type { CellBlock, Place } from '../../src/browser/grid/table/places.ts';

const COLUMNS: readonly GridColumn[] = [
  { name: 'text', type: 'string', isWritable: true },
  { name: 'n', type: 'integer', isWritable: true },
  { name: 'locked', type: 'string', isWritable: false },
  { name: 'size', type: 'number', isWritable: true },
];
const TOP = 10;

function rowsOf(cells: readonly (readonly [string, number, string, number])[]): GridRow[] {
  return cells.map(([text, n, locked, size], at) => ({ _row_id: at + 1, text, n, locked, size }));
}

/** What a fill of these rows, which stand from place 10 on, changes: rows by their ids. */
function filled(
  cells: Parameters<typeof rowsOf>[0],
  source: CellBlock,
  to: Place,
  isCopy = false,
): { edits: Record<number, object>; goesOn: readonly string[] } {
  const area = fillArea(source, to)!;
  const top = Math.min(source.top, area.top);
  const rows = rowsOf(cells).slice(top - TOP);
  const { edits, goesOn } = planFillArea({ source, area }, { top, rows }, COLUMNS, isCopy);
  const byId = edits.map(({ row, values }) => [Number(row['_row_id']), values] as const);
  return { edits: Object.fromEntries(byId), goesOn };
}

const plain: [string, number, string, number][] = [
  ['a', 1, 'x', 1],
  ['b', 5, 'x', 2],
  ['c', 6, 'x', 3],
  ['d', 7, 'x', 4],
  ['e', 8, 'x', 5],
];
const column = (left: number, top: number, bottom = top, right = left): CellBlock => ({
  top,
  bottom,
  left,
  right,
});

test('the area is on the side that the pointer is further away on, and none within the block', () => {
  const block = column(1, 10, 11, 2);
  expect(fillArea(block, { row: 14, column: 3 })).toEqual(column(1, 12, 14, 2));
  expect(fillArea(block, { row: 8, column: 1 })).toEqual(column(1, 8, 9, 2));
  expect(fillArea(block, { row: 11, column: 5 })).toEqual(column(3, 10, 11, 5));
  expect(fillArea(block, { row: 11, column: 0 })).toEqual(column(0, 10, 11, 0));
  expect(fillArea(block, { row: 11, column: 2 })).toBeNull();
});

test('one value is repeated, and a pattern goes on in both directions', () => {
  expect(filled(plain, column(0, 10), { row: 12, column: 0 })).toEqual({
    edits: { 2: { text: 'a' }, 3: { text: 'a' } },
    goesOn: [],
  });
  expect(filled(plain, column(0, 10, 11), { row: 14, column: 0 }).edits).toEqual({
    3: { text: 'a' },
    4: { text: 'b' },
    5: { text: 'a' },
  });
  expect(filled(plain, column(0, 13, 14), { row: 10, column: 0 }).edits).toEqual({
    1: { text: 'e' },
    2: { text: 'd' },
    3: { text: 'e' },
  });
});

test('two integers with a step go on, one alone, other numbers and whoever wants copies do not', () => {
  const rows = plain.with(1, ['b', 3, 'x', 2]);
  expect(filled(rows, column(1, 10, 11), { row: 14, column: 1 })).toEqual({
    edits: { 3: { n: 5 }, 5: { n: 9 } },
    goesOn: ['n'],
  });
  expect(filled(rows, column(1, 13, 14), { row: 10, column: 1 }).edits).toEqual({
    1: { n: 4 },
    2: { n: 5 },
  });
  expect(filled(rows, column(1, 10, 11), { row: 13, column: 1 }, true)).toEqual({
    edits: { 3: { n: 1 }, 4: { n: 3 } },
    goesOn: [],
  });
  expect(filled(rows, column(1, 11, 13), { row: 14, column: 1 }).goesOn).toEqual([]);
  expect(filled(rows, column(3, 10, 11), { row: 12, column: 3 })).toEqual({
    edits: { 3: { size: 1 } },
    goesOn: [],
  });
});

test('days go on by days, months by months, what is no date is repeated', () => {
  const dates = (one: string, other: string): string[] => {
    const rows = [one, other, '', '', ''].map((text): (typeof plain)[number] => [text, 1, 'x', 1]);
    const { edits } = filled(rows, column(0, 10, 11), { row: 14, column: 0 });
    return Object.values(edits).map((values) => (values as { text: string }).text);
  };
  expect(dates('2024-02-27', '2024-02-28')).toEqual(['2024-02-29', '2024-03-01', '2024-03-02']);
  expect(dates('2024-01-01', '2024-02-01')).toEqual(['2024-03-01', '2024-04-01', '2024-05-01']);
  expect(dates('2024-10-31', '2024-12-31')).toEqual(['2025-02-28', '2025-04-30', '2025-06-30']);
  expect(dates('2024-02-28', '2023-02-28')).toEqual(['2022-02-28', '2021-02-28', '2020-02-28']);
  expect(dates('2024-02-30', '2024-02-31')).toEqual(['2024-02-30', '2024-02-31', '2024-02-30']);
});

test('sideways goes what the cells say, and columns nobody may write stay', () => {
  const result = filled(plain, column(0, 10), { row: 10, column: 3 });
  expect(result).toEqual({ edits: { 1: { n: 'a', size: 'a' } }, goesOn: [] });
  const back = filled(plain, column(3, 10, 11), { row: 11, column: 0 });
  expect(back.edits).toEqual({ 1: { text: '1' }, 2: { text: '2', n: '2' } });
});
