/**
 * Words with typing mistakes: what the catalogue offers and what is taken (DS-148).
 */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Catalogue } from '../../src/fulltext/catalogue.ts';
import { entryId } from '../../src/fulltext/entry-id.ts';
import { IndexWriter } from '../../src/fulltext/index-writer.ts';
import { editDistance, tolerated, typosIn } from '../../src/fulltext/typos.ts';

test('words of 4 to 7 letters may have one wrong letter, longer ones two', () => {
  expect(['abc', 'abcd', 'abcdefg', 'abcdefgh'].map(tolerated)).toEqual([0, 1, 1, 2]);
});

test('the distance of two words is that of the textbook', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '𝓐'), maxLength: 7 });
  const naive = (a: string[], b: string[]): number => {
    if (a.length === 0 || b.length === 0) return a.length + b.length;
    const rest = naive(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1);
    return Math.min(rest, naive(a.slice(1), b) + 1, naive(a, b.slice(1)) + 1);
  };
  fc.assert(
    fc.property(word, word, (a, b) => {
      expect(editDistance(a, b)).toBe(naive([...a], [...b]));
    }),
    { numRuns: 60, seed: 7 },
  );
});

test('a document counts when every word is there, exactly or mistyped in the title', () => {
  const document = { title: 'Installation guide', body: 'Unpack the archive' };
  expect(typosIn(document, ['instalation', 'guide'])).toBe(1);
  expect(typosIn(document, ['instalation', 'archive'])).toBe(1);
  expect(typosIn(document, ['instalation', 'archve'])).toBeNull();
  expect(typosIn(document, ['installation', 'guide'])).toBeNull();
  expect(typosIn(document, ['guide', 'instal'])).toBeNull();
});

test('the catalogue follows the index, and its snapshot spares it the work; a damaged one does not matter', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-catalogue-'));
  try {
    const writer = new IndexWriter(join(folder, 'index.sqlite'));
    const section = (title: string) => ({ title, anchor: null, text: '' });
    const first = writer.replaceDocument('a.md', '1', [
      section('Installation'),
      section('constructor'),
    ]);
    const snapshot = join(folder, 'titles.json');
    const catalogue = new Catalogue(snapshot);
    expect(catalogue.follow(writer.db)).toBe(true);
    expect(catalogue.near('instalation', 2)).toEqual([entryId(first, 0)]);
    expect(catalogue.near('constructer', 2)).toEqual([entryId(first, 1)]);
    await catalogue.save();

    const again = new Catalogue(snapshot);
    expect(again.follow(writer.db)).toBe(false);
    expect(again.near('instalation', 2)).toEqual([entryId(first, 0)]);
    const second = writer.replaceDocument('a.md', '2', [section('Deinstallation')]);
    expect(again.follow(writer.db)).toBe(true);
    expect(again.near('instalation', 2)).toEqual([]);
    expect(again.near('deinstalation', 2)).toEqual([entryId(second, 0)]);

    writeFileSync(snapshot, '{"format":1,"ids":[[1,');
    const rebuilt = new Catalogue(snapshot);
    expect(rebuilt.follow(writer.db)).toBe(true);
    expect(rebuilt.size).toBe(1);
    writer.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a mistyped word that is frequent in titles the caller may not read costs as one that stands nowhere (DS-150)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-catalogue-'));
  try {
    const writer = new IndexWriter(join(folder, 'index.sqlite'));
    const titled = (title: string) => ({ title, anchor: null, text: '' });
    const hidden = Array.from({ length: 20_000 }, (_, n) => titled(`confidential report ${n}`));
    writer.replaceDocument('hidden.md', '1', hidden);
    const own = writer.replaceDocument('own.md', '1', [titled('confidential'), titled('public')]);
    const catalogue = new Catalogue(join(folder, 'titles.json'));
    catalogue.follow(writer.db);
    const accepts = (no: number): boolean => no === own;
    expect(catalogue.near('confidentail', 2, accepts)).toEqual([entryId(own, 0)]);
    const fastest = (word: string): number =>
      Math.min(
        ...Array.from({ length: 15 }, () => {
          const start = performance.now();
          catalogue.near(word, 2, accepts);
          return performance.now() - start;
        }),
      );
    fastest('warming up');
    expect(fastest('confidentail')).toBeLessThan(10 * fastest('zzzzzzzzzzzz'));
    writer.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
