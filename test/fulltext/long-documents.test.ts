/**
 * Words far back in a long document count as those at its start: where titles are guessed at, too (DS-145, DS-148).
 */
import { afterAll, expect, test } from 'bun:test';
import { queryWords } from '../../src/tables/filter/words.ts';
import { Catalogue } from '../../src/fulltext/catalogue.ts';
import { Datasets } from '../../src/fulltext/datasets.ts';
import { HEAD_CHARACTERS, openForReading } from '../../src/fulltext/index-file.ts';
import { IndexWriter } from '../../src/fulltext/index-writer.ts';
import { find } from '../../src/fulltext/rank.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const path = folder.at('index.sqlite');
const writer = new IndexWriter(path);
const text = `${'lorem '.repeat(HEAD_CHARACTERS / 6 + 1)} color zebra`;
const no = writer.replaceDocument('a.md', 'v', [{ title: 'Colour guide', anchor: null, text }]);
writer.close();

const cases: readonly (readonly [string, number])[] = [
  ['color', 1],
  ['zebra', 1],
  // Mistyped beside a word that only the text has.
  ['zebra giude', 0],
  ['zebra guida', 1],
  ['guida zebr', 1],
  ['guida zebu', 0],
];
for (const [q, count] of cases) {
  test(`${q}: found ${count} times`, () => {
    using db = openForReading(path)!;
    const catalogue = new Catalogue(folder.at('titles.json'));
    const order = { words: queryWords(q), resources: [no], offset: 0, limit: 10, isTolerant: true };
    const { hits } = find(db, order, {
      catalogue: () => {
        catalogue.follow(db);
        return catalogue;
      },
      datasets: new Datasets(),
      copyAt: () => null,
    });
    expect(hits.map((hit) => hit.title)).toEqual(new Array(count).fill('Colour guide'));
  });
}
