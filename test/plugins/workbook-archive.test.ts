/** Hostile and damaged packages: the corpus B-X, DS-68. Every verdict comes soon. */
import { expect, test } from 'bun:test';
import { readWorkbook, readWorksheetNames } from '../../plugins/workbook/kind.ts';
import { AppError } from '../../src/base/errors.ts';
import { workSince } from '../support/patience.ts';
import { acceptedWorkbooks, parts, refusedWorkbooks, rows } from './workbook-corpus.ts';
import { readTable, workbookEntries, workbookFile, zip } from './workbook-files.ts';
import { sourceOf } from './byte-source.ts';

const MIB = 1024 * 1024;

/** Several times what a slow processor needs; what grows with the square of its input takes minutes. */
const MOST_WORK_MS = 3_000;

async function failureOf(file: Uint8Array): Promise<{ error: unknown; ms: number }> {
  const startedAt = process.cpuUsage();
  try {
    await readTable(file);
    return { error: null, ms: 0 };
  } catch (error) {
    return { error, ms: workSince(startedAt) };
  }
}

test.each(refusedWorkbooks)('%s is refused with a reason (DS-68)', async (_, make, reason) => {
  const { error, ms } = await failureOf(make());
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe('unreadable-file');
  expect((error as AppError).message).toMatch(reason);
  expect(ms).toBeLessThan(MOST_WORK_MS);
  expect(({} as { c?: unknown }).c).toBeUndefined();
});

test.each(acceptedWorkbooks)('%s is read', async (_, make) => {
  const startedAt = process.cpuUsage();
  const { names, rows: found } = await readTable(make());
  expect(names).toEqual(['a']);
  expect(found).toEqual([[1]]);
  expect(workSince(startedAt)).toBeLessThan(MOST_WORK_MS);
  expect(({} as { c?: unknown }).c).toBeUndefined();
});

test('a sheet named __proto__ is a sheet like any other', async () => {
  const file = workbookFile({ sheets: { __proto__x: rows, constructor: rows } });
  const entries = workbookEntries({ sheets: { __proto__x: rows } }).map((entry) =>
    entry.name === 'xl/workbook.xml'
      ? { ...entry, data: String(entry.data).replace('__proto__x', '__proto__') }
      : entry,
  );
  expect(await readWorksheetNames(sourceOf(file))).toEqual(['__proto__x', 'constructor']);
  expect(await readWorksheetNames(sourceOf(zip(entries)))).toEqual(['__proto__']);
  expect((await readTable(zip(entries), { sheet: '__proto__' })).rows).toEqual([[1]]);
});

test('a workbook is not expanded beyond the limit of the configuration (DS-68)', async () => {
  const file = workbookFile({ sheets: { Data: `<!--${'x'.repeat(100_000)}-->${rows}` } });
  const sink = { header() {}, segment() {}, layout() {} };
  expect(readWorkbook(sourceOf(file), {}, sink, { maxBytes: 50_000 })).rejects.toThrow(
    'it expands to more than 50000 bytes',
  );
  await readWorkbook(sourceOf(file), {}, sink, { maxBytes: 200_000 });
});

test('only the directory and the parts in question are read of the file', async () => {
  const picture = new Uint8Array(3 * MIB).map((_, index) => (index * 7919) >> 3);
  const file = workbookFile({
    ...parts,
    extra: [{ name: 'xl/media/a.png', data: picture, isStored: true }],
  });
  const source = sourceOf(file);
  await readWorkbook(source, {}, { header() {}, segment() {}, layout() {} });
  expect(source.readBytes).toBeLessThan(200_000);
});
