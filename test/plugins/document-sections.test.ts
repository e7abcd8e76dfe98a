/**
 * What search finds in documents, files and media (DS-151), read from bytes as the parse worker reads them.
 */
import { describe, expect, test } from 'bun:test';
import { kinds } from '../../plugins/index.ts';
import { createKindTable } from '../../src/docroot/registry/kind-table.ts';
import type { SearchSection } from '../../src/docroot/kind.ts';

const kindOf = createKindTable(kinds, { log: 'file', py: 'file', yaml: 'file' });

async function sectionsOf(rel: string, content: string | Uint8Array): Promise<SearchSection[]> {
  const bytes = Buffer.from(content as string);
  const source = {
    size: bytes.length,
    read: async (offset: number, length: number) => bytes.subarray(offset, offset + length),
  };
  return (await kindOf(rel)?.sections?.(source, { rel, maxBytes: 1_000_000 })) ?? [];
}

describe('Markdown', () => {
  test('every heading is a section with the id it has in the page', async () => {
    const text = 'Before.\n\n# First *one*\n\nText with `code`.\n\n## Same\na\n\n## Same\nb\n';
    expect(await sectionsOf('docs/guide.md', text)).toEqual([
      { title: 'guide', anchor: null, text: 'Before.' },
      { title: 'First one', anchor: 'first-one', text: 'Text with code.' },
      { title: 'Same', anchor: 'same', text: 'a' },
      { title: 'Same', anchor: 'same-1', text: 'b' },
    ]);
  });

  test('without headings it is one document titled by its name', async () => {
    expect(await sectionsOf('a/note.md', 'only words')).toEqual([
      { title: 'note', anchor: null, text: 'only words' },
    ]);
    expect(await sectionsOf('empty.md', '')).toEqual([{ title: 'empty', anchor: null, text: '' }]);
  });

  test('scripts and styles are no words, facts of the head are', async () => {
    const text = '---\ntags: [blue, green]\n---\n<script>var hidden</script>\n\nshown <b>bold</b>';
    expect(await sectionsOf('x.md', text)).toEqual([
      { title: 'x', anchor: null, text: 'blue, green shown bold' },
    ]);
  });
});

test('an HTML page is its title and its visible text', async () => {
  const page =
    '<!doctype html><title>Sales &amp; more</title><style>p{}</style><h1 id="a">Head</h1><p>one</p><p>two<script>no()</script>';
  expect(await sectionsOf('p.html', page)).toEqual([
    { title: 'Sales & more', anchor: null, text: 'Head one two' },
  ]);
  expect(await sectionsOf('dir/plain.html', 'just text')).toEqual([
    { title: 'plain', anchor: null, text: 'just text' },
  ]);
});

describe('files', () => {
  test.each([
    ['a.txt', 'some words', 'some words'],
    ['a.log', 'line one', 'line one'],
    ['a.py', 'print("x")', 'print("x")'],
    ['a.yaml', 'key: value', 'key: value'],
    ['a.xml', '<r><a>one</a><b>two</b></r>', 'one two'],
    ['a.svg', '<svg><title>t</title><text>label</text></svg>', 't label'],
  ])('%s is text', async (rel, content, text) => {
    expect(await sectionsOf(rel, content)).toEqual([{ title: 'a', anchor: null, text }]);
  });

  test('UTF-16 with its mark is text', async () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('größe', 'utf16le')]);
    expect((await sectionsOf('a.txt', bytes))[0]?.text).toBe('größe');
  });

  test.each([
    ['a.png', 'words'],
    ['a.pdf', '%PDF words'],
    ['a.txt', 'bytes\0bytes'],
    ['a.log', Buffer.from([0x80, 0x81, 0xff])],
  ])('%s is found by its name only', async (rel, content) => {
    expect(await sectionsOf(rel, content)).toEqual([]);
  });
});

test('a media file that says nothing is found by the words of its name', async () => {
  expect(await sectionsOf('films/summer-in_town.mp4', 'no film')).toEqual([
    { title: 'summer-in_town.mp4', anchor: null, text: 'summer in town video' },
  ]);
});
