/**
 * What a server that starts reads of the index by itself, and what it leaves to the worker.
 */
import { expect, test } from 'bun:test';
import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Catalogue } from '../../src/fulltext/catalogue.ts';
import { areTitlesWritten, heldResources } from '../../src/fulltext/held-resources.ts';
import { IndexWriter } from '../../src/fulltext/index-writer.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const section = { title: 'Guide', anchor: null, text: 'words' };

test('an index without unfinished work is read without the worker', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'index.sqlite');
  expect(heldResources(path)).toBeNull();
  expect(existsSync(path)).toBe(false);
  const writer = new IndexWriter(path);
  expect(heldResources(path)).toEqual([]);
  writer.replaceDocument('guide.md', 'v1', [section]);
  expect(heldResources(path)).toEqual(writer.live());
  expect(heldResources(path)).toMatchObject([{ key: 'guide.md', version: 'v1', documents: 1 }]);
  writer.begin('data.csv', ['a'], 'copy');
  expect(heldResources(path)).toBeNull();
  writer.close();
  writeFileSync(path, 'this is no database'.repeat(1000));
  expect(heldResources(path)).toBeNull();
});

test('titles count as written when they are no older than the index and its log', () => {
  using folder = temporaryFolder();
  const at = (name: string, seconds: number): string => {
    const path = join(folder.path, name);
    writeFileSync(path, 'x');
    utimesSync(path, seconds, seconds);
    return path;
  };
  const path = at('index.sqlite', 1_000);
  const titles = join(folder.path, 'titles.json');
  expect(areTitlesWritten(path, titles)).toBe(false);
  at('titles.json', 1_001);
  expect(areTitlesWritten(path, titles)).toBe(true);
  at('index.sqlite-wal', 1_002);
  expect(areTitlesWritten(path, titles)).toBe(false);
});

test('titles that needed no change count as written once they were looked through', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'index.sqlite');
  const titles = join(folder.path, 'titles.json');
  const writer = new IndexWriter(path);
  writer.replaceDocument('guide.md', 'v1', [section]);
  const catalogue = new Catalogue(titles);
  expect(catalogue.follow(writer.db)).toBe(true);
  await catalogue.save();
  utimesSync(titles, 1_000, 1_000);
  expect(areTitlesWritten(path, titles)).toBe(false);
  const next = new Catalogue(titles);
  expect(next.follow(writer.db)).toBe(false);
  await next.confirm();
  expect(areTitlesWritten(path, titles)).toBe(true);
  writer.close();
});
