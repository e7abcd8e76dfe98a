/** What pasting over cells of the grid, filling them down and emptying them would change, as plain data. */
import { expect, test } from 'bun:test';
import {
  pastePlaces,
  planEmpty,
  planFill,
  planPaste,
  withoutMisfits,
} from '../../src/browser/grid/writing/block-plan.ts';
import { clipOf } from '../../src/browser/grid/table/clip.ts';
import type { GridColumn } from '../../src/pages/grid/model.ts';

const COLUMNS: readonly GridColumn[] = [
  { name: 'code', type: 'string', isWritable: true },
  { name: 'price', type: 'number', isWritable: true },
  { name: 'id', type: 'integer', isWritable: false },
  { name: 'sold', type: 'boolean', isWritable: true },
];
const ROWS = [
  { _row_id: 1, code: '007', price: 2.5, id: 11, sold: true },
  { _row_id: 2, code: 'b', price: 7, id: 12, sold: false },
  { _row_id: 3, code: '', price: '', id: 13, sold: '' },
];

function paste(cells: string[][], from: [row: number, column: number], to = from) {
  const block = { top: from[0], left: from[1], bottom: to[0], right: to[1] };
  const places = pastePlaces(cells, { block, columns: COLUMNS, total: ROWS.length });
  return planPaste(places, ROWS.slice(places.top, places.bottom + 1));
}
const changes = (edits: readonly { row: object; values: object }[]): unknown[] =>
  edits.map(({ row, values }) => [(row as { _row_id: number })._row_id, values]);

test('only what is another value is changed, and two texts that are one number are two texts', () => {
  const plan = paste(
    [
      ['7', '2.50'],
      ['b', '8'],
    ],
    [0, 0],
  );
  expect(changes(plan.edits)).toEqual([
    [1, { code: '7' }],
    [2, { price: '8' }],
  ]);
});

test('rows past the last one are new ones, columns past the last one are counted, read-only ones named', () => {
  const plan = paste(
    [
      ['1', '2', 'no', 'x', 'y'],
      ['3', '4', 'yes', 'x', 'y'],
      ['', '', '', '', ''],
    ],
    [2, 1],
  );
  expect(changes(plan.edits)).toEqual([[3, { price: '1', sold: 'no' }]]);
  expect(plan.added).toEqual([{ price: '3', sold: 'yes' }]);
  expect([plan.columns, plan.locked, plan.surplus]).toEqual([['price', 'sold'], ['id'], 2]);
});

test('a block that is several times as large as the text is filled with it, any other gets it once', () => {
  expect(changes(paste([['9']], [0, 0], [2, 1]).edits)).toEqual([
    [1, { code: '9', price: '9' }],
    [2, { code: '9', price: '9' }],
    [3, { code: '9', price: '9' }],
  ]);
  expect(changes(paste([['9'], ['8']], [0, 0], [2, 0]).edits)).toEqual([
    [1, { code: '9' }],
    [2, { code: '8' }],
  ]);
});

test('a first line that names columns says where the others go', () => {
  const plan = paste(
    [
      ['sold', 'Code'],
      ['false', 'z'],
    ],
    [1, 0],
  );
  expect([plan.hasHead, changes(plan.edits)]).toEqual([true, [[2, { code: 'z' }]]]);
  // On its own it is a value.
  expect(changes(paste([['sold']], [1, 0]).edits)).toEqual([[2, { code: 'sold' }]]);
});

test('the first row fills the others, and emptying leaves what is blank', () => {
  expect(changes(planFill(ROWS, COLUMNS))).toEqual([
    [2, { code: '007', price: 2.5, sold: true }],
    [3, { code: '007', price: 2.5, sold: true }],
  ]);
  expect(changes(planEmpty(ROWS, COLUMNS.slice(2)))).toEqual([
    [1, { sold: '' }],
    [2, { sold: '' }],
  ]);
});

test('what does not fit is left out, and a row without anything else with it', () => {
  const plan = paste([['dear'], ['3'], ['4'], ['x']], [0, 1]);
  const misfits = [
    { row: 0, column: 'price', message: '' },
    { row: 3, column: 'price', message: '' },
  ];
  const { edits, added } = withoutMisfits(plan, misfits);
  expect(changes(edits)).toEqual([
    [2, { price: '3' }],
    [3, { price: '4' }],
  ]);
  expect(added).toEqual([{}]);
});

test('commas are borders of cells in CSV, not in what a spreadsheet copied; a quote may be part of a text', () => {
  const clip = (texts: Record<string, string>): unknown =>
    clipOf({ getData: (type) => texts[type] ?? '' }).cells;
  expect(clip({ 'text/plain': 'a,b\nc,d' })).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(clip({ 'text/plain': 'a,b\r\nc,d\r\n', 'text/html': '<html><table><tr>' })).toEqual([
    ['a,b'],
    ['c,d'],
  ]);
  expect(clip({ 'text/plain': 'a, b' })).toEqual([['a, b']]);
  expect(clip({ 'text/plain': '"x\ny"\t"say ""so"""\n\t\n"bare" quote\t"open' })).toEqual([
    ['x\ny', 'say "so"'],
    ['', ''],
    ['"bare" quote', '"open'],
  ]);
});
