/**
 * The index and its ranges: what becomes live, what is cleared, and the words it knows.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { hasWords, queryWords } from '../../src/tables/filter/words.ts';
import { rowOf } from '../../src/fulltext/entry-id.ts';
import { openForReading } from '../../src/fulltext/index-file.ts';
import { IndexWriter } from '../../src/fulltext/index-writer.ts';
import { find } from '../../src/fulltext/rank.ts';
import { sourcesIn, writeCopy } from './row-copy.ts';

let folder: string;
let writer: IndexWriter;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-index-'));
  writer = new IndexWriter(join(folder, 'index.sqlite'));
});
afterEach(() => {
  writer.close();
  rmSync(folder, { recursive: true });
});

const dataset = { title: 'set', anchor: null, text: 'set.csv' };

function rowsWith(no: number, q: string): number[] {
  const request = {
    words: queryWords(q),
    resources: [no],
    offset: 0,
    limit: 5000,
    isTolerant: false,
  };
  using db = openForReading(join(folder, 'index.sqlite'))!;
  using sources = sourcesIn(folder);
  return find(db, request, sources)
    .hits.map(({ rowId }) => rowId ?? 0)
    .sort((a, b) => a - b);
}

test('a range is searched once it is complete; the one before is then cleared away', () => {
  const old = writer.begin('set.csv', ['a'], 'none');
  writer.changeRows(old, ['a'], { put: [[1, 'one']], remove: [] });
  expect(writer.live()).toEqual([]);
  expect(() => writer.finish(old, 'v0', dataset, 0)).toThrow('given up');

  const first = writer.begin('set.csv', ['a'], 'one');
  writer.changeRows(first, ['a'], { put: [[1, 'one']], remove: [] });
  writer.finish(first, 'v1', dataset, 0);
  const second = writer.begin('set.csv', ['a'], 'two');
  writer.changeRows(second, ['a'], {
    put: [
      [1, 'two'],
      [2, 'two'],
    ],
    remove: [],
  });
  writer.finish(second, 'v2', dataset, 3);
  expect(writer.live()).toEqual([
    { no: second, key: 'set.csv', version: 'v2', documents: 3, leftOut: 3, copy: 'two' },
  ]);
  while (writer.clear(1));
  expect(writer.db.query('SELECT count(*) FROM entries').values()).toEqual([[1]]);
  expect(writer.db.query('SELECT count(*) FROM words_docsize').values()).toEqual([[3]]);
  expect(writer.db.query('SELECT count(*) FROM resources').values()).toEqual([[1]]);
  expect(rowsWith(second, 'two')).toEqual([1, 2]);
});

test('putting a row twice leaves it once, with its last words', () => {
  const no = writer.begin('set.csv', ['a'], 'set');
  expect(writer.changeRows(no, ['a'], { put: [[1, 'one']], remove: [] })).toBe(1);
  expect(writer.changeRows(no, ['a'], { put: [[1, 'other']], remove: [] })).toBe(0);
  expect(rowsWith(no, 'one')).toEqual([]);
  expect(rowsWith(no, 'other')).toEqual([1]);
  expect(writer.changeRows(no, ['a'], { put: [], remove: [1, 7] })).toBe(-1);
  expect(rowsWith(no, 'other')).toEqual([]);
});

test('the index finds exactly the rows that hold the words of the query (DS-147)', () => {
  const part = fc.constantFrom(
    'ab',
    'AB',
    'a',
    'é',
    'É',
    'ß',
    'ss',
    'İ',
    'ά',
    'й',
    '1',
    '_',
    ' ',
    '-',
    '|',
    '\u001f',
    'ﬁ',
    '𝓐',
    'ǆ',
  );
  const text = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
  let generation = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 6 }), text, (rows, q) => {
      const name = `set${generation++}`;
      const columns = ['x', 'Éa ss'];
      const no = writer.begin(`${name}.csv`, columns, name);
      const put = rows.map((cells, index): [number, string, string] => [index + 1, ...cells]);
      writeCopy(folder, name, columns, put);
      writer.changeRows(no, columns, { put, remove: [] });
      const words = queryWords(q);
      if (words.length === 0) return;
      const expected = put.filter(([, ...cells]) => {
        const shown = cells.map((cell, at) =>
          cell.trim() === '' ? '' : `${columns[at]}: ${cell}`,
        );
        return hasWords(shown.join(' | '), words);
      });
      expect(rowsWith(no, q)).toEqual(expected.map(([id]) => id));
    }),
    { numRuns: 300, seed: 11 },
  );
});

test('the last word finds what begins with it, be it one word, a few or too many to look up, in few rows or thousands (DS-147)', () => {
  const endings = ['', 's', 'work', 'house', 'hous'];
  const wordOf = (row: number): string => {
    if (row % 3 === 0) return `part${row % 90}`;
    return `${row % 50 === 1 ? 'stem' : 'stone'}${endings[row % endings.length]}`;
  };
  const cells = Array.from({ length: 3_000 }, (_, row) =>
    row % 7 === 0 ? `flint ${wordOf(row)}` : `${wordOf(row)} amber`,
  );
  const no = writer.begin('set.csv', ['x'], 'set');
  writeCopy(
    folder,
    'set',
    ['x'],
    cells.map((cell, index) => [index + 1, cell]),
  );
  const put = cells.map((cell, index): [number, string] => [index + 1, cell]);
  writer.changeRows(no, ['x'], { put, remove: [] });
  writer.changeRows(no, ['x'], { put: [[3_001, 'amber stonemason']], remove: [] });
  writer.changeRows(no, ['x'], { put: [], remove: [3_001] });
  const asked = [
    'ston',
    'stone',
    'stoneh',
    'stones',
    'stonem',
    'stem',
    'stemw',
    'part',
    'part1',
    'part12',
    'absent',
  ];
  for (const q of asked.flatMap((word) => [word, `amber ${word}`, `flint ${word}`])) {
    const words = queryWords(q);
    const expected = put.filter(([, cell]) => hasWords(cell, words)).map(([id]) => id);
    expect([q, rowsWith(no, q)]).toEqual([q, expected]);
  }
});

test('numbers of entries tell resource and row', () => {
  expect(rowOf(2 ** 32 * 5 + 17)).toBe(17);
});
