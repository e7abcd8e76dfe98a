import { expect, test } from 'bun:test';
import { companionPaths, isCompanion } from '../../src/docroot/companions.ts';

test('a companion stands under the full name, else under the stem for its owner (DS-70, DS-72)', () => {
  expect(companionPaths('a/rep.v2.csv', null, true)).toEqual({
    schema: ['.svc/a/rep.v2.csv.schema.json', '.svc/a/rep.v2.schema.json'],
    options: ['.svc/a/rep.v2.csv.options.json', '.svc/a/rep.v2.options.json'],
  });
  expect(companionPaths('a.csv', null, false).schema).toEqual(['.svc/a.csv.schema.json']);
});

test('a sheet adds its name', () => {
  expect(companionPaths('inv.xlsx', 'Stock', true).schema).toEqual([
    '.svc/inv.xlsx.Stock.schema.json',
    '.svc/inv.Stock.schema.json',
  ]);
});

test('a sheet name cannot lead elsewhere', () => {
  const { schema, options } = companionPaths('inv.xlsx', '../../etc', true);
  for (const path of [...schema, ...options]) expect(path).toMatch(/^\.svc\/[^/]+$/);
  expect(companionPaths('inv.xlsx', 'Data/Orders', false).schema).toEqual([
    '.svc/inv.xlsx.Data.Orders.schema.json',
  ]);
});

test('companions are told from the rest of the state directory', () => {
  expect(isCompanion('.svc/a/b.csv.schema.json')).toBe(true);
  expect(isCompanion('.svc/b.options.json')).toBe(true);
  expect(isCompanion('.svc/svc.db')).toBe(false);
  expect(isCompanion('a.schema.json')).toBe(false);
});
