import { expect, test } from 'bun:test';
import { createKindTable } from '../../src/docroot/registry/kind-table.ts';
import { testKinds } from '../support/kinds.ts';

test('extensions decide in any case (DS-23)', () => {
  const kindOf = createKindTable(testKinds);
  expect(kindOf('a/DATA.CSV')?.type).toBe('csv');
  expect(kindOf('a.csv/readme')).toBeUndefined();
  expect(kindOf('a.exe')).toBeUndefined();
});

test('overrides add, move and switch off extensions, with or without the dot (DS-197)', () => {
  const kindOf = createKindTable(testKinds, { DAT: 'csv', '.txt': 'none', md: 'file' });
  expect(kindOf('a.dat')?.type).toBe('csv');
  expect(kindOf('a.txt')).toBeUndefined();
  expect(kindOf('a.md')?.type).toBe('file');
  expect(kindOf('a.csv')?.type).toBe('csv');
});

test('a type nobody provides publishes nothing', () => {
  const kindOf = createKindTable(testKinds, { csv: 'parquet' });
  expect(kindOf('a.csv')).toBeUndefined();
});
