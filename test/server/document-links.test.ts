/** Links of rendered documents: those in tags lead to where files are shown, the text is left as it was written. */
import { expect, test } from 'bun:test';
import { resolveLinks } from '../../src/pages/files/document-links.ts';

const place = {
  path: '/guide/',
  rel: 'guide/index.md',
  familyOf: (rel: string) => (rel.endsWith('.csv') ? ('dataset' as const) : ('content' as const)),
};

test('links and images are resolved against the folder of the document', () => {
  const markup = '<p><a href="a.csv">rows</a> <img src="b.png" alt="&gt; b" /></p>';
  expect(resolveLinks(markup, place)).toContain('href="/ui/guide/a.csv"');
});

test('examples in the text are no links, and quotes in it swallow no tags', () => {
  const example = '<p><code>&lt;a href="a.csv"&gt;</code> and href="<b title="x">bold</b></p>';
  expect(resolveLinks(example, place)).toBe(example);
});
