import type { Kind, DocumentOrder, SearchSection } from '../../src/docroot/kind.ts';
import { renderMarkdown, safeMarkup } from './render.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { readMarkup } from '../../src/base/text/markup-text.ts';
import { fileNameOf, stemOf } from '../../src/base/paths.ts';
import { readText } from '../../src/base/text/text-bytes.ts';
import { splitFrontMatter } from './front-matter.ts';

export const markdown: Kind = {
  type: 'markdown',
  family: 'content',
  extensions: ['.md'],
  sections: markdownSections,
  render: renderMarkdown,
};

/**
 * A section per heading, with the anchors of `renderMarkdown`, and one for what precedes them. A section without
 * words still has its title.
 */
export async function markdownSections(
  source: FileSource,
  { rel, maxBytes }: DocumentOrder,
): Promise<SearchSection[]> {
  const { facts, text } = splitFrontMatter(await readText(source, maxBytes));
  const { sections } = await readMarkup(await safeMarkup(text, rel, { isColoured: false }));
  const stem = fileNameOf(stemOf(rel));
  const words = facts.map((fact) => fact.text).join(' ');
  return sections
    .map(({ heading, text: below }) =>
      heading === null
        ? { title: stem, anchor: null, text: `${words} ${below}`.trim() }
        : { title: heading.text || stem, anchor: heading.anchor, text: below },
    )
    .filter(({ anchor, text: below }) => anchor !== null || below !== '' || sections.length === 1);
}
