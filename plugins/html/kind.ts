import type { FileSource } from '../../src/base/files/file-source.ts';
import { fileNameOf, stemOf } from '../../src/base/paths.ts';
import { readMarkup } from '../../src/base/text/markup-text.ts';
import { readText } from '../../src/base/text/text-bytes.ts';
import type { DocumentOrder, Kind, SearchSection } from '../../src/docroot/kind.ts';

/** HTML pages, served unchanged under a content policy of their own. */
export const html: Kind = {
  type: 'html',
  family: 'content',
  extensions: ['.html'],
  sections: htmlSections,
};

/** Title and visible text, as one document titled by the page's title, else the file's name. */
async function htmlSections(
  source: FileSource,
  { rel, maxBytes }: DocumentOrder,
): Promise<SearchSection[]> {
  const { title, sections } = await readMarkup(await readText(source, maxBytes));
  const text = sections
    .flatMap(({ heading, text: below }) => (heading === null ? [below] : [heading.text, below]))
    .join(' ')
    .trim();
  return [{ title: title ?? fileNameOf(stemOf(rel)), anchor: null, text }];
}
