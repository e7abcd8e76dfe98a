/** Random edits of random worksheets: DS-87. */
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { editWorkbook } from '../../plugins/workbook/edit/editor.ts';
import { classOf, emptyCounts } from '../../src/tables/infer/infer.ts';
import type { Cell, ClassCounts, EditPlan } from '../../src/tables/types.ts';
import {
  changesFor,
  edited,
  edits,
  fileOf,
  isBlank,
  type SheetModel,
  sheets,
  sheetXml,
  tableOf,
} from './workbook-edit-model.ts';
import { changedParts, changesOf, partOf, readTable } from './workbook-files.ts';
import { applied, sourceOf } from './byte-source.ts';

const TIMEOUT_MS = 300_000;
const SHEET = 'xl/worksheets/sheet1.xml';

function addTo(counts: ClassCounts[], position: number, cell: Cell, step: number): void {
  const found = classOf(cell);
  if (found !== 'blank') counts[position]![found] += step;
}

function countsOf(sheet: SheetModel): ClassCounts[] {
  const counts = Array.from({ length: 4 }, emptyCounts);
  for (const row of tableOf(sheet))
    row.forEach((cell, position) => addTo(counts, position, cell, 1));
  return counts;
}

function expectCounts(before: SheetModel, plan: EditPlan, after: SheetModel): void {
  const counts = countsOf(before);
  for (const { position, before: old, after: now } of plan.cells) {
    if (old !== undefined) addTo(counts, position, old, -1);
    if (now !== undefined) addTo(counts, position, now, 1);
  }
  expect(counts).toEqual(countsOf(after));
}

test(
  'an edit gives exactly the predicted XML, and every other part keeps its bytes (DS-87)',
  async () => {
    const rounds = fc.array(edits, { minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(sheets, rounds, async (start, roundsOfEdits) => {
      let sheet = start;
      let file = fileOf(sheet);
      const read = await readTable(file, { sheet: 'Data', headerRow: 1 });
      expect(read.rows).toEqual(tableOf(sheet));
      let { layout } = read;
      for (const round of roundsOfEdits) {
        const changes = changesFor(sheet, round);
        const plan = await editWorkbook(sourceOf(file), layout, changesOf(changes));
        const nextFile = applied(plan, file);
        const next = edited(sheet, changes);
        expect(partOf(nextFile, SHEET)).toBe(sheetXml(next));
        expect(changedParts(file, nextFile).filter((name) => name !== SHEET)).toEqual([]);
        const fresh = await readTable(nextFile, { sheet: 'Data', headerRow: 1 });
        expect(fresh.rows).toEqual(tableOf(next).filter((row) => !row.every(isBlank)));
        expectCounts(sheet, plan, next);
        const rows = plan.layout.segments.reduce((sum, segment) => sum + segment.rows, 0);
        expect(rows).toBe(next.mapped.length);
        [sheet, file, layout] = [next, nextFile, plan.layout];
      }
    });
    await fc.assert(property, { numRuns: Number(process.env['RUNS'] ?? 200) });
  },
  TIMEOUT_MS,
);
