/**
 * Beginnings of many words, most of them where the caller may not read: the answer is that of one who may read all, without what is
 * hidden, and the search costs by what he may read (DS-150).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queryWords } from '../../src/tables/filter/words.ts';
import { openForReading } from '../../src/fulltext/index-file.ts';
import { type DocumentEntry, IndexWriter } from '../../src/fulltext/index-writer.ts';
import { find, type FoundPage } from '../../src/fulltext/rank.ts';
import { sourcesIn, writeCopy } from './row-copy.ts';

/** Many more than SQLite may put together for a caller who may not read all of them. */
const HIDDEN_ROWS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'svc-hidden-'));
const path = join(folder, 'index.sqlite');
const own: number[] = [];
let hidden = 0;

beforeAll(() => {
  const writer = new IndexWriter(path);
  const put = (name: string, columns: readonly string[], rows: readonly string[][]): number => {
    const no = writer.begin(name, columns, name);
    writeCopy(
      folder,
      name,
      columns,
      rows.map((cells, n) => [n + 1, ...cells]),
    );
    for (let at = 0; at < rows.length; at += 10_000) {
      const some = rows.slice(at, at + 10_000);
      const texts = some.map((cells, n) => [at + n + 1, ...cells] as [number, ...string[]]);
      writer.changeRows(no, columns, { put: texts, remove: [] });
    }
    writer.finish(no, 'v', { title: name, anchor: null, text: name }, 0);
    return no;
  };
  const section = (title: string, text: string): DocumentEntry => ({ title, anchor: null, text });
  const range = (count: number) => Array.from({ length: count }, (_, n) => n);
  own.push(
    put(
      'few.csv',
      ['a', 'b'],
      [
        ['plain', 'Confidence 7'],
        ['CONFIDENT', 'x'],
        ['unconfident', 'no'],
        ['cönfident', 'diacritics'],
        ['ｃonfident', 'wide'],
        ['x', 'other words'],
      ],
    ),
  );
  hidden = put(
    'hidden.csv',
    ['a'],
    range(HIDDEN_ROWS).map((n) => [`confidential${n} more`]),
  );
  own.push(
    put(
      'names.csv',
      ['Confident', 'n'],
      range(1_200).map((n) => ['x', `${n}`]),
    ),
    put(
      'many.csv',
      ['a', 'b'],
      range(3_000).map((n) => [n % 97 ? 'x' : 'confide', `confi${n} w`]),
    ),
    writer.replaceDocument('page.md', 'v', [
      section('About confidence', 'nothing'),
      section('Long', `${'filler '.repeat(3_000)} confident at the end`),
      section('Cut', `${'x'.repeat(16_380)} confident`),
      section('Not', 'con fident'),
    ]),
  );
  writer.close();
});
const sources = sourcesIn(folder);
afterAll(() => {
  sources[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

function ask(q: string, resources: readonly number[], limit = 200_000): FoundPage {
  using db = openForReading(path)!;
  const request = { words: queryWords(q), resources, offset: 0, limit, isTolerant: false };
  return find(db, request, sources);
}

test.each([
  'confid',
  'confident',
  'CONFI',
  'con',
  'w confi',
  'x conf',
  'confidential5',
  'about conf',
])('who may not read all finds for %p what one who may finds in his part, in that order', (q) => {
  const all = [own[0]!, hidden, ...own.slice(1)];
  const expected = ask(q, all).hits.filter(({ no }) => no !== hidden);
  expect(ask(q, own).hits).toEqual(expected);
  const page = ask(q, own, 10);
  expect(page.hits).toEqual(expected.slice(0, 10));
  expect(page.hasMore).toBe(expected.length > 10);
});

test('a beginning that is frequent in what is hidden costs what the caller may read', () => {
  const fastest = (resources: readonly number[]): number =>
    Math.min(
      ...Array.from({ length: 7 }, () => {
        const start = performance.now();
        ask('confidential', resources, 10);
        return performance.now() - start;
      }),
    );
  const [few, all] = [fastest([own[0]!]), fastest([own[0]!, hidden, ...own.slice(1)])];
  expect(few).toBeLessThan(all / 4);
});
