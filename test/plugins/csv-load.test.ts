/** From CSV bytes to a typed copy: what is stored follows from the text in the file alone (DS-59 to DS-61). */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCsv } from '../../plugins/csv/reader.ts';
import { classify, emptyCounts, storedValue, typeOfCounts } from '../../src/tables/infer/infer.ts';
import { loadTable } from '../../src/tables/copy/load.ts';
import { encoded } from './csv-table.ts';
import { sourceOf } from './byte-source.ts';

const numbers = fc.stringMatching(/^-?[0-9]{1,3}(\.[0-9]{1,3})?$/);
const texts = fc.oneof(
  { weight: 5, arbitrary: numbers },
  fc.constantFrom('', ' ', '007', '1.50', '-0', '12345678901234567890', 'True', 'x', ' 5 ', '1e3'),
);

test('stored values and counts are those of the cells as text, whatever the reader delivers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'csv-load-test-'));
  const path = join(folder, 'copy.sqlite');
  const columns = fc.array(fc.array(texts, { minLength: 4, maxLength: 4 }), {
    minLength: 2,
    maxLength: 4,
  });
  const declared = fc.constantFrom(undefined, 'int', 'float', 'bool', 'str', 'anything');
  const property = fc.asyncProperty(columns, declared, async (cells, type) => {
    const names = cells.map((_, index) => `n${index}`);
    const lines = [0, 1, 2, 3].map((row) => cells.map((column) => column[row]).join(','));
    const file = encoded([names.join(','), ...lines].join('\n'));
    const table = await loadTable({
      path,
      companion: { columns: new Map(type === undefined ? [] : [['n0', { type }]]) },
      read: (sink) => readCsv(sourceOf(file), { delimiter: ',' }, sink),
    });
    const db = new Database(path);
    for (const [index, column] of table.columns.entries()) {
      const counts = emptyCounts();
      for (const text of cells[index]!) {
        const found = classify(text);
        if (found !== 'blank') counts[found]++;
      }
      expect(column.counts).toEqual(counts);
      if (!column.declared) expect(column.type).toBe(typeOfCounts(counts));
      const stored = db.query(`SELECT c${index} FROM rows ORDER BY _row_id`).values().flat();
      expect(stored as unknown[]).toEqual(cells[index]!.map((text) => storedValue(text, column)));
    }
    db.close();
  });
  await fc.assert(property, { numRuns: 150 });
  await rm(folder, { recursive: true });
});
