/**
 * Search in pages, texts, media and handlers (DS-146, DS-148, DS-151).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startService, type Client, type Service } from '../support/service.ts';
import { eventually, PICK_UP_MS } from './eventually.ts';
import { found, searched } from './searching.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let svc: Service;
let root: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'guide.md':
        'Preamble about gardening.\n\n# Watering plants\n\nUse a *watering can*, twice a week.\n\n## Fertilizer schedule\n\nFeed **tomatoes** in spring.\n',
      'docs/bare.md': 'Only some prose about marmalade here.\n',
      'page.html':
        '<html><head><title>Orchard catalogue</title><style>.hidden{}</style><script>var scripted="x"</script></head><body><h1>Apples</h1><p>Crisp russet apples.</p></body></html>',
      'notes/todo.txt': 'buy seeds and a trowel',
      'data.json': '{"vegetable":"kohlrabi"}',
      'images/greenhouse.png': PNG,
      'rows.csv': 'plant,when\ntomatoes,spring\n',
      'long.txt': `${'filler words all along '.repeat(4000)} pomegranate ${'more of the same '.repeat(4000)}`,
    },
  });
  await svc.createSuperuser('root');
  root = await svc.as('root');
  await eventually(async () => {
    for (const q of [
      'watering',
      'marmalade',
      'russet',
      'trowel',
      'kohlrabi',
      'greenhouse',
      'plant',
      'pomegranate',
    ])
      expect(await found(root, q)).not.toEqual([]);
  });
});
afterAll(async () => svc[Symbol.asyncDispose]());

test('every section of a Markdown document is a result of its own, with its anchor (DS-151)', async () => {
  const { results } = await searched(root, 'fertilizer');
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({
    resource: 'guide',
    type: 'markdown',
    title: 'Fertilizer schedule',
    ui_url: '/guide#fertilizer-schedule',
  });
  expect(results[0]).not.toHaveProperty('row_id');
  expect(results[0]).not.toHaveProperty('api_url');
  expect((await searched(root, 'gardening')).results[0]).toMatchObject({
    title: 'guide',
    ui_url: '/guide',
  });
  expect((await searched(root, 'marmalade')).results[0]).toMatchObject({
    title: 'bare',
    resource: 'docs/bare',
  });
});

test('snippets of documents are their text without markup (DS-149)', async () => {
  expect((await searched(root, 'feed')).results[0]!.snippet).toBe(
    '<mark>Feed</mark> tomatoes in spring.',
  );
});

test('pages are found by title and visible text, not by what they hide (DS-151)', async () => {
  expect((await searched(root, 'russet')).results[0]).toMatchObject({
    resource: 'page',
    type: 'html',
    title: 'Orchard catalogue',
    ui_url: '/page',
  });
  expect(await found(root, 'scripted')).toEqual([]);
});

test('texts are found by their words, images by their name (DS-151)', async () => {
  expect((await searched(root, 'trowel')).results[0]).toMatchObject({
    resource: 'notes/todo',
    title: 'todo',
    type: 'file',
  });
  expect(await found(root, 'kohlrabi')).toEqual(['data']);
  expect((await searched(root, 'greenhouse')).results[0]).toMatchObject({
    resource: 'images/greenhouse',
    title: 'greenhouse.png',
    snippet: '',
  });
});

test('rows and documents stand in one list, titles first (DS-148)', async () => {
  const results = await found(root, 'tomatoes spring');
  expect(results).toEqual(['rows#1', 'guide']);
});

test('a hit far into a long text has its snippet', async () => {
  const { snippet } = (await searched(root, 'pomegranate')).results[0]!;
  expect(snippet).toContain('<mark>pomegranate</mark>');
  expect(snippet).toStartWith('…');
});

test('mistyped headings are found, with the other words anywhere in the section (DS-148)', async () => {
  expect(await found(root, 'fertiliser')).toEqual(['guide']);
  expect(await found(root, 'fertiliser tomatoes')).toEqual(['guide']);
  expect(await found(root, 'fertiliser marmalade')).toEqual([]);
  expect(await found(root, 'orchid')).toEqual([]);
  expect(await found(root, 'orchart catalogue')).toEqual(['page']);
});

test('a changed document is found by its new words only, within a second (DS-152)', async () => {
  svc.write('notes/todo.txt', 'sell the wheelbarrow');
  await eventually(async () => {
    expect(await found(root, 'wheelbarrow')).toEqual(['notes/todo']);
    expect(await found(root, 'trowel')).toEqual([]);
  }, PICK_UP_MS);
});

test('mistyped titles of unreadable documents are not suggested (DS-150)', async () => {
  await svc.accounts.grant('gardener', 'rows', 'read');
  const gardener = await svc.as('gardener');
  expect(await found(gardener, 'fertiliser')).toEqual([]);
  expect(await found(gardener, 'orchart')).toEqual([]);
  expect(await found(gardener, 'tomatoes')).toEqual(['rows#1']);
});

test('switched off, nothing is guessed', async () => {
  await using strict = await startService({
    files: { 'fertilizer.csv': 'a\n1\n' },
    config: { search: { typo_tolerance: false } },
  });
  await strict.createSuperuser('root');
  const client = await strict.as('root');
  await eventually(async () => expect(await found(client, 'fertilizer')).toEqual(['fertilizer']));
  expect(await found(client, 'fertiliser')).toEqual([]);
});
