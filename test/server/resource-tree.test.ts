/** The list of the start page: folders, sheets, and what happens when there is too much for one page (DS-183). */
import { expect, test } from 'bun:test';
import {
  type ResourceTree,
  resourceTree,
  type TreeLevel,
} from '../../src/pages/files/resource-tree.ts';
import type { ResourceView } from '../../src/http/context.ts';

const NO_FACTS = { size: null, rows: null, changedAt: null };

function csv(name: string, problem: string | null = null): ResourceView {
  return { rel: `${name}.csv`, sheet: null, type: 'csv', family: 'dataset', name, problem };
}

function sheet(workbook: string, name: string): ResourceView {
  const rel = `${workbook}.xlsx`;
  const full = `${workbook}/${name}`;
  return { rel, sheet: name, type: 'excel', family: 'dataset', name: full, problem: null };
}

function treeOf(
  resources: readonly ResourceView[],
  { folder = '', filter = '', offset = 0 } = {},
): ResourceTree {
  return resourceTree(resources, {
    folder,
    filter,
    offset,
    factsOf: () => NO_FACTS,
    placedAs: (rel) => ({ rel, mayMove: false, mayWrite: false }),
    others: [],
  });
}

/** Names of a level, folders with a slash and what is in them. */
function shape({ folders, entries }: TreeLevel): unknown[] {
  return [
    ...folders.map(({ label, content }) => [`${label}/`, content === null ? '…' : shape(content)]),
    ...entries.map(({ label }) => label),
  ];
}

const some = [csv('a/b/deep'), csv('a/z10'), csv('a/z9', 'broken'), csv('top'), sheet('inv', 'S')];

test('folders come first, numbers in names in their order, sheets in their workbook', () => {
  const { level, count } = treeOf(some);
  expect(shape(level)).toEqual([['a/', [['b/', ['deep']], 'z9', 'z10']], ['inv/', ['S']], 'top']);
  expect(count).toBe(5);
  const [a, inv] = level.folders;
  expect([a?.count, a?.problems, a?.isOpen, a?.isWorkbook]).toEqual([3, 1, true, false]);
  expect([inv?.isWorkbook, inv?.content?.entries[0]?.kind]).toEqual([true, 'Excel']);
});

test('a folder is a page of its own, and a filter holds for names and file names', () => {
  expect(shape(treeOf(some, { folder: 'a' }).level)).toEqual([['b/', ['deep']], 'z9', 'z10']);
  expect(shape(treeOf(some, { folder: 'a/b' }).level)).toEqual(['deep']);
  expect(shape(treeOf(some, { filter: 'DEEP' }).level)).toEqual([['a/', [['b/', ['deep']]]]]);
  expect(shape(treeOf(some, { filter: '.xlsx' }).level)).toEqual([['inv/', ['S']]]);
  expect(treeOf(some, { folder: 'nowhere' }).count).toBe(0);
});

test('what is too much for a page stays folded: folders are links, long levels come in parts', () => {
  const many = Array.from({ length: 900 }, (_, index) => csv(`f${index % 2}/x${index}`));
  const { level, next } = treeOf(many);
  expect(shape(level)).toEqual([
    ['f0/', '…'],
    ['f1/', '…'],
  ]);
  expect(level.folders.map(({ href }) => href)).toEqual(['/ui/f0/', '/ui/f1/']);
  expect(next).toBeNull();
  expect(treeOf(many, { folder: 'f1' }).level.entries).toHaveLength(450);
  const flat = Array.from({ length: 1250 }, (_, index) => csv(`x${index}`));
  const parts = [0, 500, 1000].map((offset) => treeOf(flat, { offset }));
  expect(parts.map(({ level: { entries } }) => entries.length)).toEqual([500, 500, 250]);
  expect(parts.map(({ previous, next }) => [previous, next])).toEqual([
    [null, 500],
    [0, 1000],
    [500, null],
  ]);
  const labels = parts.flatMap(({ level: { entries } }) => entries.map(({ label }) => label));
  expect(new Set(labels).size).toBe(1250);
});

test('a few are open, many are folded, and matches are open again', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => csv(`f/x${index}`));
  const isOpen = (filter: string) => treeOf(hundred, { filter }).level.folders[0]?.isOpen;
  expect([isOpen(''), isOpen('x')]).toEqual([false, true]);
});
