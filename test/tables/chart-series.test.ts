/** What facets and quick charts are made of. */
import { expect, test } from 'bun:test';
import { ChartCollector, type ChartOrder } from '../../src/tables/read/chart-series.ts';
import {
  ColumnFactsCollector,
  type FactValue,
  histogramOf,
} from '../../src/tables/read/column-facts.ts';

function factsOf(values: readonly FactValue[]) {
  const facts = new ColumnFactsCollector();
  for (const value of values) facts.add(value);
  return facts.facts();
}

function seriesOf(order: ChartOrder, rows: readonly (readonly [FactValue, FactValue])[]) {
  const chart = new ChartCollector(order);
  for (const [x, y] of rows) chart.add(x, y);
  return chart.series();
}

test('facts count blanks, find frequent values and the range', () => {
  expect(factsOf(['b', 'a', '', 'b', null])).toEqual({
    rows: 5,
    blanks: 2,
    distinct: 2,
    isDistinctBound: false,
    top: [
      { value: 'b', rows: 2 },
      { value: 'a', rows: 1 },
    ],
    min: 'a',
    max: 'b',
    mean: null,
    histogram: [],
  });
  const numbers = factsOf([1, 2, 3, 6]);
  expect([numbers.min, numbers.max, numbers.mean]).toEqual([1, 6, 3]);
  expect(numbers.histogram.reduce((sum, bar) => sum + bar.rows, 0)).toBe(4);
});

test('histograms have round bars that hold every number once, also the greatest', () => {
  const bars = histogramOf([0, 0.1, 0.25, 0.3, 1], 10);
  expect(bars[0]).toEqual({ from: 0, to: 0.1, rows: 1 });
  expect(bars.at(-1)).toEqual({ from: 0.9, to: 1, rows: 1 });
  expect(bars.map(({ rows }) => rows).reduce((a, b) => a + b)).toBe(5);
  expect(histogramOf([7, 7], 10)).toEqual([]);
  expect(histogramOf([-1e300, 1e300], 10).length).toBeLessThanOrEqual(12);
  expect(histogramOf([9007199254740991, 9007199254740990], 24).length).toBeLessThanOrEqual(26);
});

test('bars measure the rows of each value, the largest first, and say what they leave out', () => {
  const rows = Array.from({ length: 100 }, (_, index) => [`v${index % 40}`, index] as const);
  const series = seriesOf({ type: 'bar', measure: 'max' }, rows);
  expect(series.points).toHaveLength(30);
  expect(series.points[0]).toEqual({ x: 'v19', y: 99 });
  expect(series.note).toBe('The largest 30 of 40 values.');
});

test('bars of days and of numbers are in their order, the largest of them when there are many', () => {
  const order = { type: 'bar', measure: 'sum' } as const;
  const xs = (rows: readonly (readonly [FactValue, FactValue])[]) =>
    seriesOf(order, rows).points.map(({ x }) => x);
  expect(
    xs([
      ['2024-02-01', 1],
      ['2024-01-01', 9],
      ['2024-03-01', 5],
    ]),
  ).toEqual(['2024-01-01', '2024-02-01', '2024-03-01']);
  expect(
    xs([
      [10, 1],
      [9, 2],
    ]),
  ).toEqual(['9', '10']);
  const many = xs(Array.from({ length: 40 }, (_, at) => [2000 + at, at] as const));
  expect([many.length, many[0], many.at(-1)]).toEqual([30, '2010', '2039']);
});

test('lines recognise dates, put many rows together and keep to their order', () => {
  const days = Array.from({ length: 1000 }, (_, index) => {
    const day = new Date(Date.UTC(2020, 0, 1 + index)).toISOString().slice(0, 10);
    return [day, index] as const;
  });
  const series = seriesOf({ type: 'line', measure: 'mean' }, [...days, ['', 1], ['2020-13-45', 2]]);
  expect(series.axis).toBe('time');
  expect(series.points.length).toBeLessThanOrEqual(301);
  expect(series.skipped).toBe(2);
  const xs = series.points.map(({ x }) => x as number);
  expect(xs).toEqual(xs.toSorted((a, b) => a - b));
  expect(
    seriesOf({ type: 'line', measure: 'count' }, [
      ['b', null],
      ['a', null],
    ]).points,
  ).toEqual([
    { x: 'a', y: 1 },
    { x: 'b', y: 1 },
  ]);
});

test('scatter charts need numbers, and draw some of many', () => {
  const many = Array.from({ length: 5000 }, (_, index) => [index, -index] as const);
  const series = seriesOf({ type: 'scatter', measure: 'count' }, many);
  expect(series.points.length).toBeLessThanOrEqual(2000);
  expect(series.note).toBe('One row of 3 is drawn.');
  expect(seriesOf({ type: 'scatter', measure: 'count' }, [['a', 1]]).points).toEqual([]);
});
